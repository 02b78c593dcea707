// The parts of shaders that make scores.

import type { PairKind, ScoreFeatures } from "../kernel.js";
import { type Bound, loader, operand, type Parts } from "./common.js";
import floorDiv from "./floor-div.wgsl?raw";
import numbers from "./numbers.wgsl?raw";
import additive from "./pair-additive.wgsl?raw";
import distance from "./pair-distance.wgsl?raw";
import product from "./pair-product.wgsl?raw";
import scores from "./scores.wgsl?raw";
import tanh from "./tanh.wgsl?raw";
import weights from "./weights.wgsl?raw";

const PAIRS: Readonly<Record<PairKind, string>> = {
  product,
  gated: product,
  rbf: distance,
  distance,
  additive,
};

/** The buffers of query and key come first, then, after those of the kernel's other operands, these. */
export function scoreBindings(features: ScoreFeatures, others: readonly Bound[] = []): readonly Bound[] {
  return [
    operand("q", features.query),
    operand("k", features.key),
    ...others,
    ...(features.mask ? [{ name: "mask_data", type: "u32", access: "read" } as const] : []),
    ...(features.bias ? [{ name: "bias_data", type: "u32", access: "read" } as const] : []),
    { name: "tables", type: "u32", access: "read" },
  ];
}

export function scoreParts(features: ScoreFeatures): Parts {
  const { pair, vectors, steps, ranges, mask, bias, scoreMod, maskMod, dropout, normalizer } = features;
  const query = loader("q", features.query);
  const key = loader("k", features.key);
  return {
    files: [
      numbers,
      weights,
      scores,
      PAIRS[pair],
      ...query.files,
      ...key.files,
      tanh,
      floorDiv,
      ...(pair === "additive" ? [tanh.replaceAll("f32", "vec4f")] : []),
      ...modFunction("score_mod", scoreMod),
      ...modFunction("mask_mod", maskMod),
    ],
    constants: {
      ...query.constants,
      ...key.constants,
      ...steps,
      // All vectors of a gated row but the gate's own.
      TERMS: pair === "gated" ? vectors - 1 : vectors,
      GATED: pair === "gated",
      RBF: pair === "rbf",
      RANGES: ranges,
      MASK: mask,
      BIAS: bias,
      SCORE_MOD: scoreMod !== null,
      MASK_MOD: maskMod !== null,
      DROPOUT: dropout,
      SOFTMAX: normalizer === "softmax",
      SIGMOID: normalizer === "sigmoid",
    },
  };
}

function modFunction(name: string, body: string | null): readonly string[] {
  return body === null ? [] : [`fn ${name}(score: f32, row: Row, k: f32) -> f32 {\n  ${body}\n}`];
}
