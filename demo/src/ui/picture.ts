// A picture with its heading, a sentence, and the means to take it away as SVG, PNG or JSON.

import { h } from "./dom.js";
import { saveJson, savePng, saveSvg } from "./save.js";

export interface Picture {
  readonly element: HTMLElement;
  readonly say: (text: string) => void;
}

export interface PictureParts {
  /** Of the file that it is saved as. */
  readonly name: string;
  readonly title: string;
  readonly body: readonly HTMLElement[];
  /** What the picture shows, as numbers. */
  readonly data: () => unknown;
  /** Beside the sentence: a formula, say. */
  readonly aside?: Element;
}

export function picture({ name, title, body, data, aside }: PictureParts): Picture {
  const text = h("p", { class: "picture-text" });
  const content = h("div", { class: "picture-body" }, ...body);
  const tools = saveTools(name, title, content, data);
  const foot = h(
    "div",
    { class: "picture-foot" },
    text,
    ...(aside === undefined ? [] : [h("div", { class: "picture-aside" }, aside)]),
  );
  return {
    element: h("section", { class: "picture", "data-picture": name }, h("h2", {}, title), content, foot, tools),
    say: (said) => {
      text.textContent = said;
    },
  };
}

export function saveTools(name: string, title: string, content: HTMLElement, data: () => unknown): HTMLElement {
  const file = `heed-${name}`;
  const failed = h("span", { role: "status" });
  const tool = (kind: string, save: () => void | Promise<void>): HTMLButtonElement => {
    const button = h("button", { type: "button", class: "link", "data-save": kind }, kind);
    button.setAttribute("aria-label", `Save “${title}” as ${kind}`);
    button.addEventListener("click", () => {
      failed.textContent = "";
      Promise.resolve()
        .then(save)
        .catch((error: unknown) => {
          failed.textContent = `Not saved: ${error instanceof Error ? error.message : String(error)}.`;
        });
    });
    return button;
  };
  return h(
    "div",
    { class: "picture-tools" },
    h("span", { class: "small-label" }, "Save as"),
    tool("SVG", () => saveSvg(file, content)),
    tool("PNG", () => savePng(file, content)),
    tool("JSON", () => saveJson(file, data())),
    failed,
  );
}
