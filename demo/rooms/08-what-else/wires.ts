// A dense layer as wires, the same wires bundled through heads, and the wires that attention makes from its input.

import { at, largest, type Matrix } from "../../src/model/matrix.js";
import { during, mix, type Shape, type View } from "../../src/ui/board.js";
import { ABOVE, BELOW, CHOSEN, circle } from "./shapes.js";

export const WIRE_STEPS = ["A dense layer", "Through its heads", "Attention’s own wires"] as const;

interface Wired {
  /** A row each. */
  readonly inputs: Matrix;
  readonly dense: Matrix;
  readonly mixed: Matrix;
  /** Of the layer: one row an output. */
  readonly weights: Matrix;
  /** Of the heads, one row each, and of attention that is left to itself: a row a word. */
  readonly heads: Matrix;
  readonly own: Matrix;
}

const HEIGHT = 330;

type Point = readonly [number, number];

export function wires({ inputs, dense, mixed, weights, heads, own }: Wired, place: number, width: number): View {
  const [bundled, handed, parted] = [during(place, 0, 1), during(place, 0.6, 1), during(place, 1, 2)];
  const count = inputs.cols;
  const spread = (index: number, all: number): number => 16 + ((HEIGHT - 16) * (index + 0.5)) / all;
  const input = (index: number): Point => [50, spread(index, count)];
  const head = (index: number): Point => [width * 0.42, spread(index, count)];
  const output = (index: number): Point => [
    width - 50,
    mix(spread(index, weights.rows), spread(index, own.rows), parted),
  ];
  const shapes: Shape[] = [];
  const wire = (key: string, points: readonly Point[], weight: number, stroke: string, opacity: number): void => {
    if (Math.abs(weight) < 0.005 || opacity < 0.01) return;
    const d = `M${points.map((point) => point.map((part) => part.toFixed(1)).join(" ")).join("L")}`;
    const thick = (1 + 8 * Math.abs(weight)).toFixed(2);
    shapes.push({ key, tag: "path", attributes: { d, stroke, fill: "none", "stroke-width": thick, opacity } });
  };
  const most = Math.max(1e-9, largest(weights));
  const indices = Array.from({ length: count }, (_, index) => index);
  for (const from of indices) {
    for (let to = 0; to < weights.rows; to++) {
      const [start, end, through] = [input(from), output(to), head(from)];
      const straight = start[1] + ((end[1] - start[1]) * (through[0] - start[0])) / (end[0] - start[0]);
      const middle: Point = [through[0], mix(straight, through[1], bundled)];
      const first: Point = [mix(start[0], middle[0], handed), mix(start[1], middle[1], handed)];
      const weight = at(weights, to, from);
      wire(`dense ${from} ${to}`, [first, middle, end], weight / most, weight < 0 ? BELOW : ABOVE, 1 - parted);
    }
    for (const to of indices) {
      wire(`read ${from} ${to}`, [input(from), head(to)], at(heads, to, from), CHOSEN, handed - parted);
      wire(`own ${from} ${to}`, [input(from), output(to)], at(own, to, from), CHOSEN, parted);
    }
  }
  const full = Math.max(1, largest(inputs), largest(dense));
  for (const index of indices) {
    const node = (key: string, [x, y]: Point, name: string, value: number, opacity = 1): void => {
      shapes.push(...circle(`${key}${index + 1}`, { x, y, name: `${name}${index + 1}`, value, full, opacity }));
    };
    const read = indices.reduce((sum, from) => sum + at(heads, index, from) * at(inputs, 0, from), 0);
    const attention = at(mixed, 0, index);
    const isDense = index < dense.cols;
    node("x", input(index), "x", at(inputs, 0, index));
    node("h", head(index), "head ", read, bundled - parted);
    const value = isDense ? mix(at(dense, 0, index), attention, parted) : attention;
    node("y", output(index), "y", value, isDense ? 1 : parted);
  }
  return { height: HEIGHT, shapes, said: `${WIRE_STEPS[Math.round(place)]}: ${count} inputs` };
}
