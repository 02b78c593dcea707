// What the GPU leaves to WebAssembly, and why. It computes everything else: tests go over all options and their values.

import type { AttentionProblem, Normalizer } from "../backend.js";

const SELECTION =
  "it needs a selection over a whole row of scores, which the GPU kernels, seeing a block at a time, do not make";

const TOKEN_BY_TOKEN =
  "its state goes from token to token, and the GPU kernels are made for queries that know nothing of each other";

const PAGES = "its pages are written a token at a time, in memory of WebAssembly";

const NORMALIZE: Readonly<Partial<Record<Normalizer, string>>> = { sparsemax: SELECTION, hard: SELECTION };

/** Reasons, by what an engine computes, by options of attention and by their values. */
export const UNSUPPORTED = {
  operation: {
    attentionSync: "a GPU cannot be waited for",
    attentionVjp: "its tiles sum gradients of keys and of queries at once, for which the GPU has no kernels",
    linearAttention: TOKEN_BY_TOKEN,
    linearAttentionVjp: TOKEN_BY_TOKEN,
    relativeKeys: "it looks up, on the calling thread, scores that attention computes, which may run on the GPU",
    relativeValues: "it is sums, made on the calling thread, and a product of linear attention's",
    createCache: PAGES,
    "heed/layers": "from the embedding to the logits activations stay in one memory of WebAssembly, as do parameters",
  },
  option: {
    probMod: "it rewrites weights of which all scores are known, and the GPU kernels make outputs before they are",
    blocks: "the GPU kernels iterate over one range of keys a tile, and would compute the empty blocks too",
    topK: SELECTION,
    cache: PAGES,
  },
  normalize: NORMALIZE,
  /** Numbers of an input. */
  size: { none: "there is nothing to compute" },
} as const;

/** Where programs say that there is one for weights. */
const WEIGHT_PROGRAM = 2;

/** Why the GPU does not compute this problem; empty where it does. */
export function unsupported(problem: AttentionProblem): readonly string[] {
  const { query, key, normalizer, topK, pages, blocks, programs } = problem;
  const { option, normalize, size } = UNSUPPORTED;
  const reasons: readonly (readonly [string, string | false | undefined])[] = [
    [`normalize ${normalizer}`, normalize[normalizer]],
    ["topK", topK !== null && option.topK],
    ["a cache", pages !== null && option.cache],
    ["blocks", blocks !== null && option.blocks],
    ["probMod", Boolean(programs?.words[WEIGHT_PROGRAM]) && option.probMod],
    ["an empty input", (query.elements === 0 || key.elements === 0) && size.none],
  ];
  return reasons.flatMap(([name, why]) => (why ? [`${name} runs on wasm: ${why}`] : []));
}
