// Problems whose operands are zeros, for measurements.

import type { AttentionProblem, Operand } from "../backend.js";

export interface ZeroSizes {
  readonly heads: number;
  readonly kvHeads: number;
  readonly queries: number;
  readonly keys: number;
  readonly headDim: number;
  readonly valueDim: number;
}

const NO_STRUCTURE: AttentionProblem["structure"] = {
  windowLeft: null,
  windowRight: null,
  qOffsets: null,
  qLengths: null,
  kvLengths: null,
  sequences: null,
  alibiSlopes: null,
  sinks: null,
};

export function zeroProblem({ heads, kvHeads, queries, keys, headDim, valueDim }: ZeroSizes): AttentionProblem {
  const operand = (count: number, length: number, dim: number): Operand => {
    const array = new Float32Array(count * length * dim);
    return { source: { kind: "array", array }, dtype: "f32", elements: array.length, ...rows(count, length, dim) };
  };
  return {
    query: operand(heads, queries, headDim),
    key: operand(kvHeads, keys, headDim),
    value: operand(kvHeads, keys, valueDim),
    pages: null,
    mask: null,
    bias: null,
    blocks: null,
    programs: null,
    score: { kind: "scaled-dot", hidden: headDim, w: null, wq: null, wk: null, b: null, v: null, bandwidth: null },
    scale: 1 / Math.sqrt(headDim),
    softcap: null,
    normalizer: "softmax",
    topK: null,
    causal: "none",
    dropout: null,
    structure: NO_STRUCTURE,
    output: { elements: heads * queries * valueDim, ...rows(heads, queries, valueDim) },
    weights: null,
    lse: null,
    scores: null,
    scoreStage: "raw",
    entropy: null,
    into: null,
    keep: false,
    retry: false,
  };
}

function rows(heads: number, length: number, dim: number): Pick<Operand, "shape" | "strides"> {
  return { shape: [1, heads, length, dim], strides: [heads * length * dim, length * dim, dim, 1] };
}
