// Both ways of a gradient from the output, as wide as it is large: to the left through the scores, to the right into the values.

import { svg } from "../../src/ui/dom.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { KEYS, type LearningScene, total } from "./scene.js";

const HEIGHT = 300;
const TOP = 64;
/** Pixels of a gradient of 1, and of a weight of 1. */
const [GRADIENT_WIDTH, WEIGHT_WIDTH] = [14, 22];

export function pathsDrawing() {
  const element = svg("svg", { class: "paths", role: "img" });
  let scene: LearningScene | undefined;
  let width = 0;

  function draw(): void {
    if (scene === undefined) return;
    const { dScores, weights, dOutput } = scene;
    // How large the gradients are: of each score, and of each value as a whole.
    const values = weights.map((weight) => weight * Math.hypot(...dOutput));
    const [inScores, inValues] = [exact(total(dScores.map(Math.abs)), 3), exact(total(values), 3)];
    element.setAttribute(
      "aria-label",
      `The gradient of the output goes back on two paths. Through the scores arrive ${inScores} in all, into the values ${inValues}.`,
    );
    if (width === 0) return;
    element.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const [q, key, output, value] = [18, 0.3 * width, 0.58 * width, width - 30];
    const middle = (TOP + HEIGHT) / 2 - 8;
    const rows = weights.map((weight, index) => {
      const y = TOP + 16 + (index * (HEIGHT - TOP - 48)) / (KEYS - 1);
      const along = [curve(q, middle, key, y), curve(key, y, output, middle), curve(output, middle, value, y)];
      const flow = Math.abs(dScores[index] ?? 0);
      return { index, y, weight, along, flows: [flow, flow, values[index] ?? 0] };
    });
    const line = (kind: string, d: string, size: number): SVGElement =>
      svg("path", { class: `path ${kind}`, d, "stroke-width": size.toFixed(2) });
    const text = (x: number, y: number, words: string, kind: string, anchor = "middle"): SVGElement =>
      svg("text", { class: kind, x, y, "text-anchor": anchor }, words);
    element.replaceChildren(
      ...rows.flatMap(({ along, weight }) => along.slice(1).map((d) => line("forward", d, WEIGHT_WIDTH * weight))),
      ...rows.flatMap(({ along }) => along.map((d) => line("wire", d, 1))),
      ...rows.flatMap(({ along, flows }) =>
        along.map((d, part) => line("gradient", d, GRADIENT_WIDTH * (flows[part] ?? 0))),
      ),
      ...rows.flatMap(({ index, y, weight }) => [
        svg("circle", { class: "node", cx: key, cy: y, r: 4 }),
        svg("circle", { class: "node", cx: value, cy: y, r: 4 }),
        text(key, y - 6 - Math.max(3, (WEIGHT_WIDTH * weight) / 2), `k${index + 1} ${percent(weight)}`, "path-label"),
        text(value + 8, y + 4, `v${index + 1}`, "path-label", "start"),
      ]),
      svg("circle", { class: "node", cx: q, cy: middle, r: 5 }),
      svg("circle", { class: "node output", cx: output, cy: middle, r: 9 }),
      text(q, middle + 24, "q", "path-label"),
      text(output, middle + 30, "output", "path-label"),
      text(0, 16, "← through the softmax", "path-label", "start"),
      text(0, 42, inScores, "path-sum", "start"),
      text(width, 16, "into the values →", "path-label", "end"),
      text(width, 42, inValues, "path-sum", "end"),
    );
  }

  new ResizeObserver(() => {
    width = element.clientWidth;
    draw();
  }).observe(element);
  return {
    element,
    show: (next: LearningScene) => {
      scene = next;
      draw();
    },
  };
}

function curve(fromX: number, fromY: number, toX: number, toY: number): string {
  const half = (fromX + toX) / 2;
  return `M${fromX} ${fromY}C${half} ${fromY} ${half} ${toY} ${toX} ${toY}`;
}
