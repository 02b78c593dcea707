// Both ways of a gradient from the output, as wide as it is large: to the left through the scores, to the right into the values.

import { type Shape, shape, type View } from "../../src/ui/board.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { KEYS, type LearningScene, total } from "./scene.js";

const HEIGHT = 300;
const TOP = 64;
/** Pixels of a gradient of 1, and of a weight of 1. */
const [GRADIENT_WIDTH, WEIGHT_WIDTH] = [14, 22];

const STROKES = {
  forward: { stroke: "var(--share)", opacity: 0.22 },
  wire: { stroke: "var(--line)" },
  gradient: { stroke: "var(--below)" },
} as const;

export function paths({ dScores, weights, dOutput }: LearningScene, width: number): View {
  // How large the gradients are: of each score, and of each value as a whole.
  const values = weights.map((weight) => weight * Math.hypot(...dOutput));
  const [inScores, inValues] = [exact(total(dScores.map(Math.abs)), 3), exact(total(values), 3)];
  const [q, key, output, value] = [18, 0.3 * width, 0.58 * width, width - 30];
  const middle = (TOP + HEIGHT) / 2 - 8;
  const rows = weights.map((weight, index) => {
    const y = TOP + 16 + (index * (HEIGHT - TOP - 48)) / (KEYS - 1);
    const along = [curve(q, middle, key, y), curve(key, y, output, middle), curve(output, middle, value, y)];
    const flow = Math.abs(dScores[index] ?? 0);
    return { index, y, weight, along, flows: [flow, flow, values[index] ?? 0] };
  });
  const line = (kind: keyof typeof STROKES, d: string, size: number): Shape =>
    shape("path", `${kind} ${d}`, { ...STROKES[kind], fill: "none", d, "stroke-width": size.toFixed(2) });
  const text = (x: number, y: number, words: string, anchor = "middle", kind?: string): Shape =>
    shape("text", `${x} ${y}`, { class: kind, x, y, "text-anchor": anchor }, words);
  const node = (cx: number, cy: number, r: number, fill = "var(--paper)"): Shape =>
    shape("circle", `${cx} ${cy}`, { cx, cy, r, fill, stroke: "var(--ink)", "stroke-width": 1.5 });
  const shapes = [
    ...rows.flatMap(({ along, weight }) => along.slice(1).map((d) => line("forward", d, WEIGHT_WIDTH * weight))),
    ...rows.flatMap(({ along }) => along.map((d) => line("wire", d, 1))),
    ...rows.flatMap(({ along, flows }) =>
      along.map((d, part) => line("gradient", d, GRADIENT_WIDTH * (flows[part] ?? 0))),
    ),
    ...rows.flatMap(({ index, y, weight }) => [
      node(key, y, 4),
      node(value, y, 4),
      text(key, y - 6 - Math.max(3, (WEIGHT_WIDTH * weight) / 2), `k${index + 1} ${percent(weight)}`),
      text(value + 8, y + 4, `v${index + 1}`, "start"),
    ]),
    node(q, middle, 5),
    node(output, middle, 9, "var(--ink)"),
    text(q, middle + 24, "q"),
    text(output, middle + 30, "output"),
    text(0, 16, "← through the softmax", "start"),
    text(0, 42, inScores, "start", "path-sum"),
    text(width, 16, "into the values →", "end"),
    text(width, 42, inValues, "end", "path-sum"),
  ];
  const said = `The gradient of the output goes back on two paths. Through the scores arrive ${inScores} in all, into the values ${inValues}.`;
  return { height: HEIGHT, shapes, said };
}

function curve(fromX: number, fromY: number, toX: number, toY: number): string {
  const half = (fromX + toX) / 2;
  return `M${fromX} ${fromY}C${half} ${fromY} ${half} ${toY} ${toX} ${toY}`;
}
