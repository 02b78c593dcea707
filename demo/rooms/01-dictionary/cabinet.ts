// Drawers that are pulled out as far as they are asked; pressing one asks for exactly what stands on it.

import { button, h } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";

export interface Drawer {
  readonly name: string;
  /** What it is compared by, where its name does not say it. */
  readonly card: string;
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
  // The whole drawer can be pressed; the keyboard has its front.
  const front = button("", () => {}, "drawer");
  const [label, numbers] = [h("span", {}), h("small", {})];
  front.append(label, numbers);
  const [figure, text] = [h("b", { class: "drawer-share" }), h("span", { class: "drawer-content", dir: "auto" })];
  front.dir = "auto";
  const depth = h("span", { class: "drawer-depth", "aria-hidden": "true" });
  const rail = h("span", { class: "drawer-rail" }, depth, front);
  rail.addEventListener("click", choose);
  const item = h("li", {}, rail, figure, text);
  const show = ({ name, card, content, share, asked }: Drawer, isBest: boolean): void => {
    item.style.setProperty("--share-of-all", share.toFixed(4));
    item.classList.toggle("best", isBest);
    label.textContent = name;
    numbers.textContent = card === "" ? "" : ` ${card}`;
    front.ariaPressed = String(asked);
    figure.textContent = percent(share);
    text.textContent = content;
  };
  return { item, show };
}
