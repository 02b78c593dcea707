// The option matrix: what the GPU computes, and of what it leaves to WebAssembly, why. Tests draw their combinations from here.

import type { AttentionProblem, Normalizer, ScoreKind, ScoreStage, WeightForm } from "../backend.js";

/** True: computed on the GPU. A text: why it runs on wasm. */
export type Cell = true | string;

const SELECTION =
  "it needs a selection over a whole row of scores, which the GPU kernels, seeing a block at a time, do not make";

export const SUPPORT = {
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
  topK: { off: true, on: SELECTION } satisfies Record<"off" | "on", Cell>,
  cache: {
    off: true,
    on: "its pages are written a token at a time, in memory of WebAssembly",
  } satisfies Record<"off" | "on", Cell>,
  blocks: {
    off: true,
    on: "the GPU kernels walk one range of keys a tile, and would compute what blocks leave out",
  } satisfies Record<"off" | "on", Cell>,
  probMod: {
    off: true,
    on: "it rewrites weights of which all scores are known, and the GPU kernels make outputs before they are",
  } satisfies Record<"off" | "on", Cell>,
  weights: { rows: true, mean: true } satisfies Record<WeightForm["of"], Cell>,
  scores: { raw: true, capped: true, masked: true } satisfies Record<ScoreStage, Cell>,
  size: { some: true, none: "there is nothing to compute" } satisfies Record<"some" | "none", Cell>,
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
    ["topK", SUPPORT.topK[topK === null ? "off" : "on"]],
    ["a cache", SUPPORT.cache[pages === null ? "off" : "on"]],
    ["blocks", SUPPORT.blocks[blocks === null ? "off" : "on"]],
    ["probMod", SUPPORT.probMod[programs?.words[WEIGHT_PROGRAM] ? "on" : "off"]],
    ["an empty input", SUPPORT.size[isEmpty ? "none" : "some"]],
  ];
  return cells.flatMap(([name, cell]) => (cell === true ? [] : [`${name} runs on wasm: ${cell}`]));
}
