// The graph as a drawing: nodes as full as what they hold, edges as wide as what passes along them.

import { at, largest } from "../../src/model/matrix.js";
import { mix, type Shape, type View } from "../../src/ui/board.js";
import { type GraphScene, NAMES } from "./graph.js";
import { CHOSEN, circle } from "./shapes.js";
import { NODES } from "./state.js";

/** Where the nodes stand, from 0 to 1: two groups and a bridge. */
const PLACES: readonly (readonly [number, number])[] = [
  [0.08, 0.22],
  [0.1, 0.78],
  [0.32, 0.5],
  [0.52, 0.5],
  [0.7, 0.5],
  [0.93, 0.24],
  [0.92, 0.78],
];
const HEIGHT = 260;

/** `place`: rounds, of which the last one may be under way: its messages travel. */
export function drawGraph({ state, weights, before, after }: GraphScene, place: number, width: number): View {
  const { edges, node, rounds } = state;
  const way = rounds === 0 ? 1 : Math.min(1, Math.max(0, place - rounds + 1));
  const x = (index: number): number => 20 + (PLACES[index]?.[0] ?? 0) * (width - 40);
  const y = (index: number): number => 34 + (PLACES[index]?.[1] ?? 0) * (HEIGHT - 56);
  const full = Math.max(largest(before), largest(after), 1e-9);
  const lines = edges.flatMap((edge): Shape[] => {
    const [a, b] = [Math.floor(edge / NODES), edge % NODES];
    const other = a === node ? b : b === node ? a : -1;
    const thick = 1.2 + 9 * (other < 0 ? 0 : at(weights, node, other));
    const stroke = other < 0 ? "var(--line)" : CHOSEN;
    const line = { x1: x(a), y1: y(a), x2: x(b), y2: y(b), "stroke-width": thick.toFixed(2), stroke };
    const message = (from: number, to: number): Shape[] => {
      const size = Math.sqrt(Math.abs(at(weights, to, from) * at(before, from, 0)) / full);
      const [cx, cy] = [mix(x(from), x(to), way), mix(y(from), y(to), way)];
      const attributes = { cx, cy, r: 10 * size, fill: CHOSEN, class: "message" };
      return way === 1 || size === 0 ? [] : [{ key: `message ${from} ${to}`, tag: "circle", attributes }];
    };
    return [{ key: `edge ${edge}`, tag: "line", attributes: line }, ...message(a, b), ...message(b, a)];
  });
  const nodes = NAMES.flatMap((name, index) => {
    const value = mix(at(before, index, 0), at(after, index, 0), way);
    const isChosen = index === node;
    return circle(`node ${index}`, { x: x(index), y: y(index), name, value, full, isChosen, pick: String(index) });
  });
  return { height: HEIGHT, shapes: [...lines, ...nodes], said: `A graph of ${NODES} nodes after ${rounds} rounds` };
}
