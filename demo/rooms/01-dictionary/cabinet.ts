// Drawers that are pulled out as far as they are asked; pressing one asks for exactly what stands on it.

import { h, refill } from "../../src/ui/dom.js";
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
  // The whole drawer can be pressed; the keyboard has its front.
  element.addEventListener("click", ({ target }) => {
    const rail = target instanceof Element ? target.closest(".drawer-rail") : null;
    const index = Array.from(element.children).findIndex((item) => item.firstElementChild === rail);
    if (index >= 0) choose(index);
  });
  return {
    element,
    show: (drawers: readonly Drawer[]): void => {
      const most = Math.max(...drawers.map(({ share }) => share));
      refill(element, ...drawers.map((drawer) => drawerOf(drawer, drawer.share === most)));
      // Not as an attribute, which the page's policy forbids.
      element.querySelectorAll("li").forEach((item, index) => {
        item.style.setProperty("--share-of-all", drawers[index]?.share.toFixed(4) ?? "0");
      });
    },
  };
}

function drawerOf({ name, card, content, share, asked }: Drawer, isBest: boolean): HTMLElement {
  const label = [h("span", {}, name), h("small", {}, card === "" ? "" : ` ${card}`)];
  const front = h("button", { type: "button", class: "drawer", dir: "auto", "aria-pressed": String(asked) }, ...label);
  const rail = h("span", { class: "drawer-rail" }, h("span", { class: "drawer-depth", "aria-hidden": "true" }), front);
  const text = h("span", { class: "drawer-content", dir: "auto" }, content);
  return h("li", { class: isBest ? "best" : "" }, rail, h("b", { class: "drawer-share" }, percent(share)), text);
}
