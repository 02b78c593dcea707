// The shader of results with one number a query and key.

import type { PairsKernel } from "../kernel.js";
import { type Bound, bindings, WORKGROUP } from "./common.js";
import { compose } from "./compose.js";
import direct from "./direct-score.wgsl?raw";
import grid from "./grid.wgsl?raw";
import pairs from "./pairs.wgsl?raw";
import { scoreBindings, scoreParts } from "./scores.js";

export function pairsBindings(kernel: PairsKernel): readonly Bound[] {
  const { weights, normalizer } = kernel;
  return [
    ...scoreBindings(kernel),
    // Row max and row sum, from the kernel before.
    ...(weights !== null && normalizer === "softmax"
      ? [{ name: "stats", type: "vec2f", access: "read" } as const]
      : []),
    { name: "results", type: "u32", access: "read_write" },
  ];
}

export function pairsShader(kernel: PairsKernel): string {
  const { files, constants } = scoreParts(kernel);
  const { scores, weights } = kernel;
  return compose([bindings(pairsBindings(kernel)), grid, ...files, direct, pairs], {
    ...constants,
    WORKGROUP,
    SCORES: scores !== null,
    CAPPED: scores === "capped",
    MASKED: scores === "masked",
    WEIGHTS: weights !== null,
    MEAN: weights === "mean",
  });
}
