// The option matrix: what the GPU computes, and why the rest runs on WebAssembly. Tests draw their combinations from here.

import type { AttentionProblem, DType, Normalizer, ScoreKind, ScoreStage, WeightForm } from "../backend.js";

/** True: the GPU computes it. A text: why it runs on wasm. */
export type Cell = true | string;

const SELECTION =
  "it needs a selection over a whole row of scores, which the GPU kernels, seeing a block at a time, do not make";

const TOKEN_BY_TOKEN =
  "its state goes from token to token, and the GPU kernels are made for queries that know nothing of each other";

export const SUPPORT = {
  /** What an engine computes. */
  operation: {
    attention: true,
    attentionSync: "a GPU cannot be waited for",
    attentionVjp: "its tiles sum gradients of keys and of queries at once, for which the GPU has no kernels",
    rope: true,
    linearAttention: TOKEN_BY_TOKEN,
    linearAttentionVjp: TOKEN_BY_TOKEN,
    relativeKeys: "it looks up, on the calling thread, scores that attention computes, which may run on the GPU",
    relativeValues: "it is sums, made on the calling thread, and a product of linear attention's",
    createCache: "its pages are written a token at a time, in memory of WebAssembly",
    "heed/layers": "from the embedding to the logits activations stay in one memory of WebAssembly, as do parameters",
  } satisfies Record<string, Cell>,
  /** Options of attention. */
  option: {
    scale: true,
    temperature: true,
    score: true,
    scoreMod: true,
    maskMod: true,
    probMod: "it rewrites weights of which all scores are known, and the GPU kernels make outputs before they are",
    bias: true,
    mask: true,
    softcap: true,
    causal: true,
    qOffset: true,
    window: true,
    qLengths: true,
    kvLengths: true,
    cuSeqlensQ: true,
    cuSeqlensK: true,
    alibiSlopes: true,
    sinks: true,
    blocks: "the GPU kernels iterate over one range of keys a tile, and would compute the empty blocks too",
    normalize: true,
    topK: SELECTION,
    dropout: true,
    cache: "its pages are written a token at a time, in memory of WebAssembly",
    return: true,
    layout: true,
    heads: true,
    kvHeads: true,
    keep: true,
    retry: true,
    out: true,
    signal: true,
  } satisfies Record<string, Cell>,
  score: {
    "scaled-dot": true,
    dot: true,
    cosine: true,
    general: true,
    additive: true,
    gated: true,
    rbf: true,
    distance: true,
  } satisfies Record<ScoreKind, Cell>,
  normalize: {
    softmax: true,
    sigmoid: true,
    none: true,
    sparsemax: SELECTION,
    hard: SELECTION,
  } satisfies Record<Normalizer, Cell>,
  weights: { rows: true, mean: true } satisfies Record<WeightForm["of"], Cell>,
  scores: { raw: true, capped: true, masked: true } satisfies Record<ScoreStage, Cell>,
  /** Options of rope. */
  rope: {
    base: true,
    interleaved: true,
    rotaryDim: true,
    positions: true,
    scaling: true,
    inverse: true,
    cos: true,
    sin: true,
    layout: true,
    heads: true,
    keep: true,
    retry: true,
    signal: true,
  } satisfies Record<string, Cell>,
  /** Numbers of an input. */
  size: { some: true, none: "there is nothing to compute" } satisfies Record<"some" | "none", Cell>,
  /** Of tensors. */
  dtype: { f32: true, f16: true } satisfies Record<DType, Cell>,
} as const;

/** Where programs say that there is one for weights. */
const WEIGHT_PROGRAM = 2;

/** Why the GPU does not compute this problem, in the words of the matrix; empty where it does. */
export function unsupported(problem: AttentionProblem): readonly string[] {
  const { query, key, score, normalizer, topK, pages, blocks, programs } = problem;
  const isEmpty = query.elements === 0 || key.elements === 0;
  const cells: readonly (readonly [string, Cell])[] = [
    [`score ${score.kind}`, SUPPORT.score[score.kind]],
    [`normalize ${normalizer}`, SUPPORT.normalize[normalizer]],
    ["topK", topK === null || SUPPORT.option.topK],
    ["a cache", pages === null || SUPPORT.option.cache],
    ["blocks", blocks === null || SUPPORT.option.blocks],
    ["probMod", !programs?.words[WEIGHT_PROGRAM] || SUPPORT.option.probMod],
    ["an empty input", SUPPORT.size[isEmpty ? "none" : "some"]],
  ];
  return cells.flatMap(([name, cell]) => (cell === true ? [] : [`${name} runs on wasm: ${cell}`]));
}
