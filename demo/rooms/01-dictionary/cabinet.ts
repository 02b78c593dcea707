// Drawers that are pulled out as far as they are asked; pressing one asks for exactly what stands on it.

import { button, h } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";

export interface Drawer {
  readonly name: string;
  readonly content: string;
  readonly share: number;
  /** The question is exactly what stands on this one. */
  readonly asked: boolean;
}

export function cabinet(choose: (index: number) => void) {
  const element = h("ol", { class: "drawers" });
  let known: readonly ReturnType<typeof drawerOf>[] = [];
  return {
    element,
    show: (drawers: readonly Drawer[]): void => {
      if (known.length !== drawers.length) {
        known = drawers.map((_, index) => drawerOf(() => choose(index)));
        element.replaceChildren(...known.map(({ item }) => item));
      }
      const most = Math.max(...drawers.map(({ share }) => share));
      drawers.forEach((drawer, index) => {
        known[index]?.show(drawer, drawer.share === most);
      });
    },
  };
}

function drawerOf(choose: () => void) {
  const front = button("", choose, "drawer");
  const [figure, text] = [h("b", { class: "drawer-share" }), h("span", { class: "drawer-content", dir: "auto" })];
  front.dir = "auto";
  const depth = h("span", { class: "drawer-depth", "aria-hidden": "true" });
  const item = h("li", {}, h("span", { class: "drawer-rail" }, depth, front), figure, text);
  const show = ({ name, content, share, asked }: Drawer, isBest: boolean): void => {
    item.style.setProperty("--share-of-all", share.toFixed(4));
    item.classList.toggle("best", isBest);
    front.textContent = name;
    front.ariaPressed = String(asked);
    figure.textContent = percent(share);
    text.textContent = content;
  };
  return { item, show };
}
