// What the room's parts say with: a figure below a picture, and the largest difference between two results.

import { h } from "../../src/ui/dom.js";

export function widest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let most = 0;
  for (let index = 0; index < a.length; index++) {
    most = Math.max(most, Math.abs((a[index] ?? Number.NaN) - (b[index] ?? Number.NaN)));
  }
  return most;
}

export function figure(name: string, value: string, note: string): HTMLElement {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value, " ", h("small", {}, note)));
}
