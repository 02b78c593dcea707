// Score functions for the problems of cases.ts: any kind, parameters for all heads or for each.

import type { PlainScore } from "../../web/src/index.js";
import type { Random } from "./random.js";

interface Parameter {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

/** What both the engine and the reference take, with its parameters in plain data. */
export type PlainDataScore =
  | PlainScore
  | "additive"
  | { readonly type: "general"; readonly w: Parameter }
  | {
      readonly type: "additive";
      readonly wq?: Parameter;
      readonly wk?: Parameter;
      readonly b?: Parameter | Float32Array;
      readonly v?: Parameter;
    }
  | { readonly type: "gated"; readonly w: Parameter | Float32Array; readonly b?: number | readonly number[] }
  | { readonly type: "rbf"; readonly bandwidth: number | readonly number[] };

/** A score function for keys of `headDim` numbers, and the numbers that a query then has. Scores are of moderate size. */
export function drawScore(
  random: Random,
  heads: number,
  headDim: number,
): { readonly score: PlainDataScore; readonly queryDim: number } {
  const isPerHead = random.chance(0.4);
  const parameter = (...shape: number[]): Parameter => {
    const full = isPerHead ? [heads, ...shape] : shape;
    const count = full.reduce((total, size) => total * size, 1);
    return { data: random.floats(count, 1 / Math.sqrt(shape[shape.length - 1] ?? 1)), shape: full };
  };
  const numbers = (least: number, most: number): number | number[] => {
    const draw = (): number => least + random.next() * (most - least);
    return isPerHead ? Array.from({ length: heads }, draw) : draw();
  };
  const other = random.chance(0.5) ? headDim : random.whole(1, 24);
  const kind = random.pick(["scaled-dot", "dot", "cosine", "distance", "general", "additive", "gated", "rbf"] as const);
  switch (kind) {
    case "general":
      return { score: { type: kind, w: parameter(other, headDim) }, queryDim: other };
    case "additive": {
      if (random.chance(0.3)) return { score: kind, queryDim: headDim };
      const hidden = random.whole(1, 20);
      const [wq, wk] = [parameter(hidden, other), parameter(hidden, headDim)];
      const b = random.chance(0.5) ? { b: parameter(hidden) } : {};
      const v = random.chance(0.5) ? { v: parameter(hidden) } : {};
      return { score: { type: kind, wq, wk, ...b, ...v }, queryDim: other };
    }
    case "gated": {
      const w = parameter(2 * headDim);
      const b = random.chance(0.5) ? { b: numbers(-1, 1) } : {};
      return { score: { type: kind, w: random.chance(0.5) ? w : w.data, ...b }, queryDim: headDim };
    }
    case "rbf":
      return { score: { type: kind, bandwidth: numbers(0.4, 2) }, queryDim: headDim };
    default:
      return { score: kind, queryDim: headDim };
  }
}
