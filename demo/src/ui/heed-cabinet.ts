// <heed-cabinet>: drawers that are pulled out as far as they are asked; pressing one asks for exactly what stands on it.

import { h } from "./dom.js";
import { percent } from "./numbers.js";

export interface Drawer {
  readonly name: string;
  readonly content: string;
  readonly share: number;
  /** The question is exactly what stands on this one. */
  readonly asked: boolean;
}

export class HeedCabinet extends HTMLElement {
  choose: (index: number) => void = () => {};
  #list = h("ol", { class: "drawers" });
  #items: HTMLLIElement[] = [];

  connectedCallback(): void {
    if (this.firstChild !== null) return;
    this.append(this.#list);
    this.#list.addEventListener("click", (event) => {
      const item = event.target instanceof Element ? event.target.closest("li") : null;
      if (item !== null && event.target instanceof Element && event.target.closest("button") !== null) {
        this.choose(this.#items.indexOf(item));
      }
    });
  }

  show(drawers: readonly Drawer[]): void {
    if (this.#items.length !== drawers.length) this.#rebuild(drawers.length);
    const most = Math.max(...drawers.map(({ share }) => share));
    drawers.forEach((drawer, index) => {
      mark(this.#items[index], drawer, most);
    });
  }

  #rebuild(count: number): void {
    this.#items = Array.from({ length: count }, () =>
      h(
        "li",
        {},
        h(
          "span",
          { class: "drawer-rail" },
          h("span", { class: "drawer-depth", "aria-hidden": "true" }),
          h("button", { type: "button", class: "drawer", dir: "auto" }),
        ),
        h("b", { class: "drawer-share" }),
        h("span", { class: "drawer-content", dir: "auto" }),
      ),
    );
    this.#list.replaceChildren(...this.#items);
  }
}

function mark(item: HTMLLIElement | undefined, { name, content, share, asked }: Drawer, most: number): void {
  if (item === undefined) return;
  item.style.setProperty("--share-of-all", share.toFixed(4));
  item.classList.toggle("best", share === most);
  const [button, figure, text] = [
    item.querySelector("button"),
    item.querySelector(".drawer-share"),
    item.querySelector(".drawer-content"),
  ];
  if (button !== null) {
    button.textContent = name;
    button.setAttribute("aria-pressed", String(asked));
  }
  if (figure !== null) figure.textContent = percent(share);
  if (text !== null) text.textContent = content;
}

customElements.define("heed-cabinet", HeedCabinet);
