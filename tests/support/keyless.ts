// Queries whose every score is -Infinity, from products and from score functions: they are queries without a key, on every path.

import type { AttentionOptions, CacheOptions, Heed, Normalizer, TensorLike } from "../../web/src/index.js";
import { Random } from "./random.js";

/** With these dimensions the decode kernel multiplies f16 without widening it to memory first. */
const [HEADS, KV_HEADS, DIM] = [4, 2, 16];

/** Every third query has no score within the range of f32. */
const isKeyless = (i: number): boolean => i % 3 === 0;

export interface KeylessProblem {
  readonly name: string;
  readonly query: TensorLike;
  readonly key: TensorLike;
  readonly value: TensorLike;
  readonly options: AttentionOptions;
}

/** One query and a few, with KV splits, and many; whole vectors of keys and not; several KV blocks. */
const SIZES = [
  [1, 3],
  [1, 64],
  [4, 700],
  [2, 1024],
  [8, 16],
  [70, 130],
] as const;

const OPTIONS: readonly AttentionOptions[] = [
  {},
  { causal: true, sinks: [0, 1, -1, 20] },
  { score: "distance" },
  { score: { type: "rbf", bandwidth: 1 } },
];

const NORMALIZERS: readonly Normalizer[] = ["softmax", "sparsemax", "sigmoid", "hard", "none"];

export function keylessProblems(): readonly KeylessProblem[] {
  const random = new Random(71);
  return SIZES.flatMap(([queries, keys]) => {
    // Exact in every type of a cache.
    const key = { data: new Float32Array(KV_HEADS * keys * DIM).fill(4), shape: [KV_HEADS, keys, DIM] };
    const value = { data: random.floats(KV_HEADS * keys * DIM), shape: [KV_HEADS, keys, DIM] };
    const data = Float32Array.from({ length: HEADS * queries * DIM }, (_, at) =>
      isKeyless(Math.floor(at / DIM) % queries) ? -1e38 : random.next(),
    );
    const query = { data, shape: [HEADS, queries, DIM] };
    return [...OPTIONS, ...NORMALIZERS.map((normalize) => ({ normalize })), { topK: 2 }].map((options) => ({
      name: `${queries} queries, ${keys} keys, ${JSON.stringify(options)}`,
      query,
      key,
      value,
      options,
    }));
  });
}

/**
 * Says which results are not those of a query without a key, or are so for another query. `lean`: only the results of the kernel that computes
 * outputs are asked for.
 */
export async function keylessErrors(
  heed: Heed,
  { query, key, value, options }: KeylessProblem,
  { dtype, lean: isLean = false }: { readonly dtype?: CacheOptions["dtype"] | undefined; readonly lean?: boolean } = {},
): Promise<readonly string[]> {
  const queries = query.shape[1] ?? 0;
  const keys = key.shape[1] ?? 0;
  const call = async (wanted: AttentionOptions["return"]): Promise<Record<string, { readonly data: Float32Array }>> => {
    if (dtype === undefined) return (await heed.attention(query, key, value, { ...options, return: wanted })) as never;
    using cache = await heed.createCache({ kvHeads: KV_HEADS, headDim: DIM, maxLength: keys, dtype });
    return (await heed.attention(query, key, value, { ...options, cache, return: wanted })) as never;
  };
  const { normalize = "softmax" } = options;
  const ofRow = normalize === "softmax" ? ({ lse: true, entropy: true } as const) : {};
  const lean = await call(ofRow);
  const full = isLean ? lean : await call({ weights: true, scores: "masked", ...ofRow });
  const mean = isLean ? undefined : (await call({ weights: "mean" }))["weights"];
  const errors: string[] = [];
  const hold = (name: string, data: Float32Array | undefined, length: number, wanted: number): void => {
    if (data === undefined) return;
    for (let row = 0; row * length < data.length; row++) {
      const numbers = data.subarray(row * length, (row + 1) * length);
      const isEmpty = numbers.every((number) => number === wanted);
      if (isEmpty === isKeyless(row % queries)) continue;
      errors.push(`${name} of row ${row}: ${numbers.subarray(0, 4)}`);
    }
  };
  for (const [name, result] of Object.entries({ lean, full })) {
    hold(`${name} output`, result["output"]?.data, DIM, 0);
    hold(`${name} lse`, result["lse"]?.data, 1, Number.NEGATIVE_INFINITY);
  }
  hold("weights", full["weights"]?.data, keys, 0);
  hold("mean weights", mean?.data, keys, 0);
  hold("scores", full["scores"]?.data, keys, Number.NEGATIVE_INFINITY);
  // The entropy of a query with a single key is 0 as well.
  for (const [row, entropy] of (full["entropy"]?.data ?? []).entries()) {
    if (isKeyless(row % queries) && entropy !== 0) errors.push(`entropy of row ${row}: ${entropy}`);
  }
  return errors;
}
