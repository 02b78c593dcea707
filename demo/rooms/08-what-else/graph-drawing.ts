// The graph as a drawing: nodes as full as what they hold, edges as wide as what passes along them.

import { at, largest, type Matrix } from "../../src/model/matrix.js";
import { svg } from "../../src/ui/dom.js";
import { exact } from "../../src/ui/numbers.js";
import { NAMES } from "./graph.js";
import { NODES, type WhatElseState } from "./state.js";

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
export const [WIDTH, HEIGHT] = [560, 250];

export function drawGraph({ edges, node }: WhatElseState, shares: Matrix, held: Matrix): readonly SVGElement[] {
  const x = (index: number): number => 30 + (PLACES[index]?.[0] ?? 0) * (WIDTH - 60);
  const y = (index: number): number => 30 + (PLACES[index]?.[1] ?? 0) * (HEIGHT - 60);
  const most = Math.max(largest(held), 1e-9);
  const lines = edges.map((edge) => {
    const [a, b] = [Math.floor(edge / NODES), edge % NODES];
    const other = a === node ? b : b === node ? a : -1;
    const share = other < 0 ? 0 : at(shares, node, other);
    return svg("line", {
      class: other < 0 ? "graph-edge" : "graph-edge heard",
      x1: x(a),
      y1: y(a),
      x2: x(b),
      y2: y(b),
      "stroke-width": (1.2 + 9 * share).toFixed(2),
    });
  });
  const circles = NAMES.flatMap((name, index) => {
    const value = at(held, index, 0);
    return [
      svg(
        "g",
        { class: index === node ? "graph-node chosen" : "graph-node", "data-node": index },
        svg("circle", { class: "graph-ground", cx: x(index), cy: y(index), r: 22 }),
        svg("circle", {
          class: value < 0 ? "graph-held below" : "graph-held",
          cx: x(index),
          cy: y(index),
          r: 22,
          "fill-opacity": (0.75 * Math.sqrt(Math.abs(value) / most)).toFixed(3),
        }),
        label(x(index), y(index) - 27, name, "graph-name"),
        label(x(index), y(index) + 5, exact(value, 2), "graph-value"),
      ),
    ];
  });
  return [...lines, ...circles];
}

function label(x: number, y: number, text: string, name: string): SVGTextElement {
  return svg("text", { class: name, x, y, "text-anchor": "middle" }, document.createTextNode(text));
}
