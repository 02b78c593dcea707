// The view of a gradient.

import type { Dims4, Operand, OutputView } from "../backends/backend.js";

/** The same shape without gaps, its axes in the same order in memory. Axes of stride 0 have size 1 in what was given. */
export function denseLike({ elements: all, shape, strides }: Operand): OutputView {
  // Strides of nothing say nothing of an order.
  if (all === 0) return { elements: 0, shape, strides };
  const order = [0, 1, 2, 3].sort((a, b) => (strides[a] ?? 0) - (strides[b] ?? 0) || b - a);
  const dense = [0, 0, 0, 0];
  let elements = 1;
  for (const axis of order) {
    dense[axis] = elements;
    elements *= shape[axis] ?? 1;
  }
  return { elements, shape, strides: dense as unknown as Dims4 };
}
