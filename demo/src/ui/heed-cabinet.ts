// <heed-cabinet>: drawers that are pulled out as far as they are asked; pressing one asks for exactly what stands on it.

import { button, h } from "./dom.js";
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
  #drawers: readonly ReturnType<typeof drawerOf>[] = [];

  connectedCallback(): void {
    this.append(this.#list);
  }

  show(drawers: readonly Drawer[]): void {
    if (this.#drawers.length !== drawers.length) {
      this.#drawers = drawers.map((_, index) => drawerOf(() => this.choose(index)));
      this.#list.replaceChildren(...this.#drawers.map(({ item }) => item));
    }
    const most = Math.max(...drawers.map(({ share }) => share));
    this.#drawers.forEach(({ item, front, figure, text }, index) => {
      const { name, content, share, asked } = drawers[index] ?? NOTHING;
      item.style.setProperty("--share-of-all", share.toFixed(4));
      item.classList.toggle("best", share === most);
      front.textContent = name;
      front.ariaPressed = String(asked);
      figure.textContent = percent(share);
      text.textContent = content;
    });
  }
}

const NOTHING: Drawer = { name: "", content: "", share: 0, asked: false };

function drawerOf(choose: () => void) {
  const front = button("", choose, "drawer");
  const [figure, text] = [h("b", { class: "drawer-share" }), h("span", { class: "drawer-content", dir: "auto" })];
  front.dir = "auto";
  const depth = h("span", { class: "drawer-depth", "aria-hidden": "true" });
  const item = h("li", {}, h("span", { class: "drawer-rail" }, depth, front), figure, text);
  return { item, front, figure, text };
}

customElements.define("heed-cabinet", HeedCabinet);
