// Both ways of a gradient from the output, as wide as it is large: to the left through the scores, to the right into the values.

import { svg } from "../../src/ui/dom.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { KEYS, type LearningScene, total } from "./scene.js";

const HEIGHT = 300;
const TOP = 64;
/** Pixels of a gradient of 1, and of a weight of 1. */
const [GRADIENT_WIDTH, WEIGHT_WIDTH] = [14, 22];

export class Paths {
  readonly element = svg("svg", { class: "paths", role: "img" });
  #scene: LearningScene | undefined;
  #width = 0;

  constructor() {
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry?.contentRect.width ?? 0);
      if (width === this.#width || width === 0) return;
      this.#width = width;
      this.#draw();
    }).observe(this.element);
  }

  show(scene: LearningScene): void {
    this.#scene = scene;
    this.#draw();
  }

  #draw(): void {
    const [scene, width] = [this.#scene, this.#width];
    if (scene === undefined) return;
    const [scores, values] = sizesOf(scene);
    const sums = [exact(total(scores), 3), exact(total(values), 3)] as const;
    this.element.setAttribute(
      "aria-label",
      `The gradient of the output goes back on two paths. Through the scores arrive ${sums[0]} in all, into the values ${sums[1]}.`,
    );
    if (width === 0) return;
    this.element.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const [q, key, output, value] = [18, 0.3 * width, 0.58 * width, width - 30];
    const middle = (TOP + HEIGHT) / 2 - 8;
    const rows = scores.map((gradient, index) => {
      const y = TOP + 16 + (index * (HEIGHT - TOP - 48)) / (KEYS - 1);
      const weight = scene.weights[index] ?? 0;
      const along = [curve(q, middle, key, y), curve(key, y, output, middle), curve(output, middle, value, y)];
      return { gradient, index, y, weight, along, flow: values[index] ?? 0 };
    });
    const line = (kind: string, d: string, size: number): SVGElement =>
      svg("path", { class: `path ${kind}`, d, "stroke-width": size.toFixed(2) });
    const text = (x: number, y: number, words: string, kind: string, anchor = "middle"): SVGElement =>
      svg("text", { class: kind, x, y, "text-anchor": anchor }, document.createTextNode(words));
    this.element.replaceChildren(
      ...rows.flatMap(({ along, weight }) => along.slice(1).map((d) => line("forward", d, WEIGHT_WIDTH * weight))),
      ...rows.flatMap(({ along }) => along.map((d) => line("wire", d, 1))),
      ...rows.flatMap(({ along, gradient, flow }) =>
        along.map((d, part) => line("gradient", d, GRADIENT_WIDTH * (part < 2 ? gradient : flow))),
      ),
      ...rows.flatMap(({ index, y, weight }) => [
        svg("circle", { class: "node", cx: key, cy: y, r: 4 }),
        svg("circle", { class: "node", cx: value, cy: y, r: 4 }),
        text(key, y - 9, `k${index + 1} ${percent(weight)}`, "path-label"),
        text(value + 8, y + 4, `v${index + 1}`, "path-label", "start"),
      ]),
      svg("circle", { class: "node", cx: q, cy: middle, r: 5 }),
      svg("circle", { class: "node output", cx: output, cy: middle, r: 9 }),
      text(q, middle + 24, "q", "path-label"),
      text(output, middle + 30, "output", "path-label"),
      text(0, 16, "← through the softmax", "path-label", "start"),
      text(0, 42, sums[0], "path-sum", "start"),
      text(width, 16, "into the values →", "path-label", "end"),
      text(width, 42, sums[1], "path-sum", "end"),
    );
  }
}

/** How large the gradients are: of each score, and of each value as a whole. */
export function sizesOf({ dScores, weights, dOutput }: LearningScene): readonly [readonly number[], readonly number[]] {
  return [dScores.map(Math.abs), weights.map((weight) => weight * Math.hypot(...dOutput))];
}

function curve(fromX: number, fromY: number, toX: number, toY: number): string {
  const half = (fromX + toX) / 2;
  return `M${fromX} ${fromY}C${half} ${fromY} ${half} ${toY} ${toX} ${toY}`;
}
