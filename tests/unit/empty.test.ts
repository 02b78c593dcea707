// Calls without rows, tokens, queries or keys, forward and backward. Memory holds NaN before a call (see support/poison.ts), so a
// result that nobody wrote is none of the numbers that follow from the definitions: sums of nothing.

import { afterAll, describe, expect, test } from "vitest";
import { denseView } from "../../web/src/api/layout.js";
import type { Operand, Operation } from "../../web/src/backends/backend.js";
import type { WasmBackend } from "../../web/src/backends/wasm/wasm-backend.js";
import { add, mul, sub, table } from "../../web/src/expr/index.js";
import type { AttentionVjpOptions, LinearOptions, TensorLike } from "../../web/src/index.js";
import { PACK } from "../../web/src/operations/affine.js";
import { GRU } from "../../web/src/operations/gru.js";
import { NARROW_GATHER } from "../../web/src/operations/narrow/narrow-gather.js";
import { NARROW_GRU } from "../../web/src/operations/narrow/narrow-gru.js";
import { NARROW_PRODUCT } from "../../web/src/operations/narrow/narrow-product.js";
import type { Rows } from "../../web/src/operations/rows.js";
import { SQUARE_SUM } from "../../web/src/operations/training/combine.js";
import { GRU_BACKWARD } from "../../web/src/operations/training/gru-backward.js";
import { CROSS_ENTROPY, ELEMENT_LOSSES } from "../../web/src/operations/training/losses.js";
import { NORM_BACKWARD } from "../../web/src/operations/training/norm-backward.js";
import { PRODUCT } from "../../web/src/operations/training/product.js";
import { ROW_SUMS } from "../../web/src/operations/training/row-sums.js";
import { SCATTER_ADD } from "../../web/src/operations/training/scatter-add.js";
import { FEW_KINDS, openBackend, openKind } from "../support/engines.js";
import { RULES } from "../support/linear.js";

const size = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
const ones = (...shape: number[]): TensorLike => ({ data: new Float32Array(size(shape)).fill(1), shape });

interface Call<P extends object = object> {
  readonly operation: Operation<P>;
  readonly problem: P;
  /** The number that every number of a result is. */
  readonly wanted: readonly number[];
}

const call = <P extends object>(operation: Operation<P>, problem: P, ...wanted: number[]): Call =>
  ({ operation, problem, wanted }) as unknown as Call;

/** What results of operations beside attention are: zero, or the one of what is added to or passed on. */
async function callsOf(backend: WasmBackend): Promise<Readonly<Record<string, Call>>> {
  const rows = (count: number, length: number): Rows => ({
    resident: backend.upload(new Float32Array(count * length).fill(1)),
    count,
    length,
  });
  const packed = async (matrices: number, outputs: number, inputs: number) => {
    const shape = [1, matrices, outputs, inputs] as const;
    const array = new Float32Array(size(shape)).fill(1);
    const matrix: Operand = {
      ...denseView("bhnd", shape),
      source: { kind: "array", array },
      dtype: "f32",
      elements: array.length,
    };
    const [made] = await backend.run(PACK, matrix, null);
    if (made?.kind !== "resident") throw new TypeError("packed weights are kept");
    return made.resident;
  };
  const [batch, hidden] = [3, 5];
  const gru = {
    gates: rows(0, 3 * hidden),
    weights: await packed(3, hidden, hidden),
    bias: null,
    batch,
    isReversed: false,
  };
  // Three matrices of zeros, in int8.
  const weights = { resident: backend.zeros(3 * 2 * 144, "f32"), format: "int8" } as const;
  const narrowGru = { gates: rows(0, 96), weights, bias: null, batch, isReversed: false };
  const transposed = await packed(1, hidden, 3 * hidden);
  const backward = { states: rows(0, hidden), transposed, stateGradients: null };
  const none = new Int32Array();
  const norm = { input: rows(0, 9), weight: rows(1, 9), gradient: rows(0, 9), epsilon: 1e-5 };
  return {
    product: call(PRODUCT, { left: rows(7, 0), isTransposed: false, right: rows(0, 9), addend: null }, 0),
    "product, added to": call(
      PRODUCT,
      { left: rows(0, 7), isTransposed: true, right: rows(0, 9), addend: rows(7, 9) },
      1,
    ),
    rowSums: call(ROW_SUMS, { rows: rows(0, 9), addend: null }, 0),
    "rowSums, added to": call(ROW_SUMS, { rows: rows(0, 9), addend: rows(1, 9) }, 1),
    scatterAdd: call(SCATTER_ADD, { rows: rows(0, 9), indices: none, count: 7, addend: null }, 0),
    "scatterAdd, added to": call(SCATTER_ADD, { rows: rows(0, 9), indices: none, count: 7, addend: rows(7, 9) }, 1),
    normBackward: call(NORM_BACKWARD, { ...norm, isCentred: true }, 0, 0, 0),
    "normBackward, not centred": call(NORM_BACKWARD, { ...norm, isCentred: false }, 0, 0, 0),
    crossEntropy: call(CROSS_ENTROPY, { logits: rows(0, 9), targets: none, ignored: -100, smoothing: 0 }, 0, 0),
    "crossEntropy, all ignored": call(
      CROSS_ENTROPY,
      { logits: rows(2, 9), targets: Int32Array.of(-100, -100), ignored: -100, smoothing: 0.1 },
      0,
      0,
    ),
    loss: call(ELEMENT_LOSSES, { predictions: rows(1, 0), targets: rows(1, 0), kind: "squared-error" }, 0, 0),
    squareSum: call(SQUARE_SUM, { rows: rows(1, 0) }, 0),
    gru: call(GRU, { ...gru, state: null }, 0, 0),
    "gru, a state": call(GRU, { ...gru, state: rows(batch, hidden) }, 1, 1),
    narrowGru: call(NARROW_GRU, { ...narrowGru, state: null }, 0, 0),
    "narrowGru, a state": call(NARROW_GRU, { ...narrowGru, state: rows(batch, 32) }, 1, 1),
    narrowGather: call(NARROW_GATHER, { table: weights, count: 48, length: 32, indices: none, keep: true }, 0),
    narrowProduct: call(NARROW_PRODUCT, { left: rows(0, 48), weights, inputs: 32, addend: null }, 0),
    gruBackward: call(GRU_BACKWARD, { forward: { ...gru, state: null }, ...backward, lastGradient: null }, 0, 0, 0, 0),
    "gruBackward, a state": call(
      GRU_BACKWARD,
      { forward: { ...gru, state: rows(batch, hidden) }, ...backward, lastGradient: rows(batch, hidden) },
      1,
      1,
      1,
      1,
    ),
  };
}

const D = 4;
const TABLE = table(ones(3));

/** Parameters of every score function, and of what is added to scores. */
const SCORES: readonly AttentionVjpOptions[] = [
  {},
  { score: "cosine" },
  { score: { type: "general", w: ones(D, D) } },
  { score: { type: "additive", wq: ones(3, D), wk: ones(3, D), b: ones(3), v: ones(3) } },
  { score: { type: "gated", w: ones(2 * D), b: 1 } },
  { score: { type: "rbf", bandwidth: 1 } },
  { score: "distance" },
  { sinks: [1, 1], temperature: 2 },
  { scoreMod: ({ score, q, k }) => add(score, TABLE.at(sub(q, k))) },
  { probMod: ({ prob, h }) => mul(prob, TABLE.at(h)) },
  ...(["sparsemax", "sigmoid", "hard", "none"] as const).map((normalize) => ({ normalize })),
  { topK: 2 },
];

/** Batch entries, queries and keys. */
const SIZES: readonly (readonly [number, number, number])[] = [
  [2, 0, 5],
  [2, 5, 0],
  [2, 0, 0],
  [0, 5, 5],
];

const biasesOf = ([batch, queries, keys]: (typeof SIZES)[number]): readonly TensorLike[] =>
  [batch, 1].flatMap((b) => [queries, 1].flatMap((i) => [keys, 1].map((j) => ones(b, 2, i, j))));

const skipData = (key: string, value: unknown): unknown => (key === "data" ? undefined : value);

/** The results that hold another number, by their names. */
function othersThan(wanted: number, results: object, path = ""): readonly string[] {
  return Object.entries(results).flatMap(([name, result]: [string, unknown]) => {
    if (typeof result === "number") return result === wanted ? [] : [`${path}${name}: ${result}`];
    if (typeof result !== "object" || result === null) return [];
    const { data } = result as { data?: unknown };
    if (!(data instanceof Float32Array)) return othersThan(wanted, result, `${path}${name}.`);
    return data.every((number) => number === wanted)
      ? []
      : [`${path}${name}: ${data.find((number) => number !== wanted)}`];
  });
}

describe.each(FEW_KINDS)("$variant, $worker worker", async (kind) => {
  const heed = await openKind(kind);
  afterAll(() => heed.dispose());

  test("operations make sums of nothing, and pass on what is added to them", async () => {
    const backend = await openBackend(kind);
    for (const [name, { operation, problem, wanted }] of Object.entries(await callsOf(backend))) {
      const results = await backend.run(operation, problem, null);
      expect(results.length, name).toBe(wanted.length);
      for (const [at, result] of results.entries()) {
        const numbers = result.kind === "array" ? result.array : await backend.download(result.resident);
        expect(
          [...new Set(numbers)].filter((number) => number !== wanted[at]),
          `${name} ${at}`,
        ).toEqual([]);
      }
    }
    backend.dispose();
  });

  test.each(SIZES)("attention of %i batch entries, %i queries and %i keys", async (...sizes) => {
    const [batch, queries, keys] = sizes;
    const [q, k, v] = [ones(batch, 2, queries, D), ones(batch, 1, keys, D), ones(batch, 1, keys, 3)];
    const withBias: readonly AttentionVjpOptions[] = biasesOf(sizes).map((bias) => ({ bias }));
    for (const options of [...SCORES, ...withBias]) {
      const name = `${Object.keys(options)} ${JSON.stringify(options.bias ?? options.score ?? options.normalize, skipData)}`;
      const isSoftmax = options.normalize === undefined;
      const wanted = { weights: true, scores: "raw", ...(isSoftmax ? { lse: true, entropy: true } : {}) } as const;
      const { lse, ...made } = await heed.attention(q, k, v, { ...options, return: wanted });
      expect(othersThan(0, made), name).toEqual([]);
      if (isSoftmax) expect(othersThan(Number.NEGATIVE_INFINITY, { lse }), name).toEqual([]);
      const { backward } = await heed.attentionVjp(q, k, v, options);
      expect(othersThan(0, await backward(ones(batch, 2, queries, 3))), name).toEqual([]);
    }
  });

  test.each(SIZES)("linear attention of %i batch entries, %i queries and %i keys", async (...sizes) => {
    const [batch, queries, keys] = sizes;
    for (const rule of RULES) {
      const isCausal = rule !== "elu";
      const tokens = isCausal ? queries : keys;
      if (isCausal && batch > 0 && queries > 0) continue;
      const [q, k, v] = [ones(batch, 2, queries, D), ones(batch, 1, tokens, D), ones(batch, 1, tokens, 3)];
      const options = {
        rule,
        ...(rule === "elu" ? { causal: false } : {}),
        ...(rule.startsWith("gated") ? { decay: ones(batch, 1, tokens, 1) } : {}),
        ...(rule.endsWith("delta") ? { beta: ones(batch, 1, tokens) } : {}),
        keep: false,
      } as LinearOptions & { keep: false };
      const { output, state } = await heed.linearAttention(q, k, v, options);
      if (tokens === 0) expect(othersThan(0, { output, state }), rule).toEqual([]);
      const finalStateGradient = ones(...state.shape);
      const made = await heed.linearAttentionVjp(q, k, v, {
        ...options,
        state: { data: new Float32Array(state.data.length), shape: state.shape },
        outputGradient: ones(batch, 2, queries, 3),
        finalStateGradient,
      });
      const { initialState, ...others } = made;
      // Some tokens change the gradient of the state, which they are not to keep from being written.
      expect([...(initialState?.data ?? [])].filter(Number.isNaN), rule).toEqual([]);
      if (queries > 0 || tokens > 0) continue;
      expect(othersThan(0, others), rule).toEqual([]);
      expect(othersThan(1, { initialState }), rule).toEqual([]);
    }
  });
});
