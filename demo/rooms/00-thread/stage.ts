// The stage beside the text: a picture, and one sentence. Shapes stay from one state to the next, so that what changes moves.

import { Board } from "../../src/ui/board.js";
import { h } from "../../src/ui/dom.js";
import { LAID_OUT } from "../../src/ui/pieces.js";
import type { ThreadScene } from "./scene.js";
import { listenToSketch, type Sketch } from "./sketch.js";

/** `sketched`: somebody draws over its picture. */
export function stageOf(sketched: (next: Sketch) => void = () => {}) {
  const text = h("p", { class: "thread-said", role: "status" });
  const board = new Board({ steps: [""] });
  let sketch: Sketch | undefined;
  listenToSketch(board.element, () => sketch, sketched);
  return {
    element: h("div", { class: "thread-picture" }, board.element, text),
    show: (scene: ThreadScene): void => {
      sketch = scene.sketch;
      board.show(scene.draw);
      // Its width is known before the page is painted.
      board.element.dispatchEvent(new Event(LAID_OUT));
      // What can be reached is no part of an image.
      board.element.querySelector("svg")?.setAttribute("role", sketch === undefined ? "img" : "group");
      const powers = scene.said.split(/\^([\d.−]+)/);
      text.replaceChildren(...powers.map((part, place) => (place % 2 === 0 ? part : h("sup", {}, part))));
    },
  };
}
