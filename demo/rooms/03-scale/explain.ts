// One number of the room taken apart: a score, a scaled score, a weight, or a slope.

import { at } from "../../src/model/matrix.js";
import { type Explanation, products, softened } from "../../src/ui/explanation.js";
import { exact, small } from "../../src/ui/numbers.js";
import type { ScaleScene } from "./scene.js";
import { jacobian } from "./softmax.js";

export const ROWS = ["S", "Z", "A", "J"] as const;

export interface Spot {
  readonly name: (typeof ROWS)[number];
  readonly row: number;
  readonly col: number;
}

/** `kernel`: its weights of the row. */
export function explain(
  scene: ScaleScene,
  { name, row, col }: Spot,
  kernel?: ArrayLike<number>,
): Explanation | undefined {
  if (row >= (name === "J" ? scene.raw.length : 1) || col >= scene.raw.length) return undefined;
  switch (name) {
    case "S":
      return explainScore(scene, col);
    case "Z":
      return explainScaled(scene, col);
    case "A":
      return explainWeight(scene, col, kernel?.[col]);
    case "J":
      return explainSlope(scene, row, col);
  }
}

function explainScore({ q, k, raw, state }: ScaleScene, key: number): Explanation {
  const names = Array.from({ length: state.width }, (_, index) => String(index + 1));
  return {
    subject: `q · k${key + 1}`,
    sentence: `The sum of ${state.width === 1 ? "one product" : `${state.width} products`}, component by component.`,
    ...products(
      names,
      (index) => at(q, 0, index),
      (index) => at(k, key, index),
      ["", "q", `k${key + 1}`],
    ),
    result: raw[key] ?? Number.NaN,
    lights: [{ name: "S", row: 0, col: key }],
  };
}

function explainScaled({ raw, scaled, factor, state }: ScaleScene, key: number): Explanation {
  const [from, result] = [raw[key] ?? Number.NaN, scaled[key] ?? Number.NaN];
  const by = state.scaling === "root" ? `√${state.width} = ${exact(Math.sqrt(state.width))}` : "nothing";
  return {
    subject: `z${key + 1}`,
    sentence: `The score divided by ${by}, and by the temperature ${state.temperature}.`,
    last: `${exact(from)} × ${exact(factor, 6)} = ${exact(result)}`,
    result,
    lights: [
      { name: "S", row: 0, col: key },
      { name: "Z", row: 0, col: key },
    ],
  };
}

function explainWeight({ scaled }: ScaleScene, at: number, kernel?: number): Explanation {
  const names = scaled.map((_, key) => `k${key + 1}`);
  const told = softened(scaled, names, { subject: `weight of ${names[at]}`, at, kernel });
  return {
    ...told,
    lights: [
      { name: "Z", row: 0 },
      { name: "A", row: 0, col: at },
    ],
  };
}

function explainSlope({ soft }: ScaleScene, i: number, j: number): Explanation {
  const [a, b] = [soft.shares[i] ?? Number.NaN, soft.shares[j] ?? Number.NaN];
  const result = jacobian(soft.shares, i, j);
  return {
    subject: `∂a${i + 1} / ∂z${j + 1}`,
    sentence:
      i === j
        ? "A weight moves with its own score by a (1 − a): most at one half, not at all at 0 and 1."
        : "A weight gives way to another key’s score by the product of both weights.",
    last:
      i === j ? `${small(a)} × (1 − ${small(a)}) = ${small(result)}` : `−${small(a)} × ${small(b)} = ${small(result)}`,
    result,
    lights: [
      { name: "A", row: 0, col: i },
      { name: "J", row: i, col: j },
    ],
  };
}
