// Docs and examples: pages to read, with the frame that every page has.

import { startFrame } from "../../src/page/frame.js";
import "../../style/document.css";

startFrame();

const filter = document.querySelector<HTMLInputElement>("#api-filter");
if (filter !== null) findNames(filter);

/** Shows the names of the API, and what is said of them, in which all typed words are. */
function findNames(filter: HTMLInputElement): void {
  const items = Array.from(document.querySelectorAll<HTMLElement>(".api-names li"), (element) => ({
    element,
    text: element.innerText.toLowerCase(),
  }));
  const found = document.querySelector("#api-found");
  const show = (): void => {
    const words = filter.value.toLowerCase().split(/\s+/);
    for (const { element, text } of items) element.hidden = !words.every((word) => text.includes(word));
    const count = items.filter(({ element }) => !element.hidden).length;
    if (found !== null) found.textContent = filter.value === "" ? "" : `${count} of ${items.length}`;
    for (const section of document.querySelectorAll<HTMLElement>("article section"))
      section.hidden = filter.value !== "" && section.querySelector("li:not([hidden])") === null;
  };
  filter.addEventListener("input", show);
  filter.closest("p")?.removeAttribute("hidden");
  show();
}
