// The operations beside attention, cut into slices: the bits of the whole call, wherever the slices are computed, and none longer than
// it should be.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { denseView } from "../../web/src/api/layout.js";
import type { Dims4, Operand, Operation, OutputView, Resident } from "../../web/src/backends/backend.js";
import { type Grain, slicesOf } from "../../web/src/backends/wasm/slices.js";
import type { WasmBackend } from "../../web/src/backends/wasm/wasm-backend.js";
import { fromF16, toF16 } from "../../web/src/base/f16.js";
import { AFFINE, PACK } from "../../web/src/operations/affine.js";
import { GATHER } from "../../web/src/operations/gather.js";
import { GRU } from "../../web/src/operations/gru.js";
import { LINEAR_ATTENTION, type LinearProblem } from "../../web/src/operations/linear-attention.js";
import { NARROW_AFFINE } from "../../web/src/operations/narrow/narrow-affine.js";
import { NARROW_GATHER } from "../../web/src/operations/narrow/narrow-gather.js";
import { NARROW_GRU } from "../../web/src/operations/narrow/narrow-gru.js";
import { NARROW_PRODUCT } from "../../web/src/operations/narrow/narrow-product.js";
import { PACK_NARROW } from "../../web/src/operations/narrow/pack-narrow.js";
import type { NarrowWeights } from "../../web/src/operations/narrow/weights.js";
import { NORM } from "../../web/src/operations/norm.js";
import { POINTWISE } from "../../web/src/operations/pointwise.js";
import { ROPE, type RopeProblem } from "../../web/src/operations/rope.js";
import type { Rows } from "../../web/src/operations/rows.js";
import { PRODUCT } from "../../web/src/operations/training/product.js";
import { differentIndex } from "../support/cases.js";
import { FEW_KINDS, openBackend } from "../support/engines.js";
import { RULES } from "../support/linear.js";
import { Random } from "../support/random.js";
import { BLOCKS, type Narrow, randomStored } from "../support/stored-weights.js";
import { counted } from "../support/tasks-done.js";

const SEED = 77;

/** Slices as small as they can be, or a few. */
const FINEST: Grain = { least: 1, most: 1, count: 1, upTo: 1000 };
const FINE: Grain = { ...FINEST, upTo: 5 };

/** A call, of which the numbers depend on nothing but its name. */
interface Call<P extends object = object> {
  readonly operation: Operation<P>;
  readonly problem: P;
}

type Make = (given: Given) => Call | Promise<Call>;

/** Makes the operands of a call. */
class Given {
  readonly #random = new Random(SEED);
  readonly #backend: WasmBackend;

  constructor(backend: WasmBackend) {
    this.#backend = backend;
  }

  rows(count: number, length: number): Rows {
    return { resident: this.#backend.upload(this.#random.floats(count * length)), count, length };
  }

  operand(...shape: Dims4): Operand {
    const array = this.#random.floats(size(shape));
    return { ...denseView("bhnd", shape), source: { kind: "array", array }, dtype: "f32", elements: array.length };
  }

  /** Of any sign and size that decays, betas and keys of the rules may have. */
  small(...shape: Dims4): Operand {
    const array = this.#random.floats(size(shape)).map((number) => -Math.abs(number) / 8);
    return { ...this.operand(...shape), source: { kind: "array", array } };
  }

  f16(...shape: Dims4): Operand {
    const array = toF16(this.#random.floats(size(shape)));
    return { ...this.operand(...shape), source: { kind: "array", array }, dtype: "f16" };
  }

  async packed(matrices: number, outputs: number, inputs: number): Promise<Resident> {
    const [packed] = await this.#backend.run(PACK, this.operand(1, matrices, outputs, inputs), null);
    if (packed?.kind !== "resident") throw new TypeError("packed weights are kept");
    return packed.resident;
  }

  /** Packed in pieces of so many rows. */
  async narrow(
    format: Narrow,
    matrices: number,
    outputs: number,
    inputs: number,
    rows = outputs,
  ): Promise<NarrowWeights> {
    const [numbers, bytes] = BLOCKS[format];
    const rowBytes = (inputs / numbers) * bytes;
    const panels = Math.ceil(outputs / 16);
    const words = { f16: 8, bf16: 8, int8: 4.5, int4: 2.5, "int4-min": 3, "q4-k": 3 }[format] * inputs;
    const packed = this.#backend.zeros(matrices * panels * words, "f32");
    const { data } = randomStored(this.#random, format, matrices * outputs, inputs);
    const all = new Uint8Array(data.buffer);
    for (let matrix = 0; matrix < matrices; matrix++) {
      for (let first = 0; first < outputs; first += rows) {
        const count = Math.min(rows, outputs - first);
        const stored = new Float32Array(Math.ceil((count * rowBytes) / 4));
        const from = (matrix * outputs + first) * rowBytes;
        new Uint8Array(stored.buffer).set(all.subarray(from, from + count * rowBytes));
        const firstOutput = matrix * panels * 16 + first;
        const problem = { format, stored, areFloats: false, rowBytes, packed, outputs: count, inputs, firstOutput };
        await this.#backend.run(PACK_NARROW, problem, null);
      }
    }
    return { resident: packed, format };
  }

  /** Positions or indices. */
  wholes(count: number, below: number): number[] {
    return Array.from({ length: count }, () => this.#random.whole(0, below - 1));
  }
}

const size = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
const call = <P extends object>(operation: Operation<P>, problem: P): Call => ({ operation, problem }) as Call;
const output = (...shape: Dims4): OutputView => ({ elements: size(shape), ...denseView("bhnd", shape) });

const NO_RULE = { activation: "none", bias: null, factor: null, addend: null } as const;

const affine =
  (count: number, inputs: number, outputs: number, repeated: number | null): Make =>
  async (given) => {
    const epilogue = {
      activation: "gelu",
      bias: given.rows(1, outputs),
      factor: given.rows(1, outputs),
      addend: given.rows(repeated ?? 1, outputs),
    } as const;
    const rule = repeated === null ? NO_RULE : epilogue;
    const weights = await given.packed(1, outputs, inputs);
    return call(AFFINE, { input: given.rows(count, inputs), weights, outputs, rule });
  };

const pointwise =
  (count: number, length: number, factor: number, addend: number): Make =>
  (given) => {
    const rule = {
      activation: "silu",
      bias: given.rows(1, length),
      factor: given.rows(factor, length),
      addend: given.rows(addend, length),
    } as const;
    return call(POINTWISE, { input: given.rows(count, length), rule });
  };

const norm =
  (count: number, length: number, isCentred: boolean): Make =>
  (given) => {
    const [weight, bias] = [given.rows(1, length), isCentred ? given.rows(1, length) : null];
    return call(NORM, { input: given.rows(count, length), isCentred, epsilon: 1e-5, weight, bias });
  };

const product =
  (isTransposed: boolean, hasAddend: boolean): Make =>
  (given) => {
    const [left, right] = [isTransposed ? given.rows(37, 26) : given.rows(26, 37), given.rows(37, 41)];
    return call(PRODUCT, { left, isTransposed, right, addend: hasAddend ? given.rows(26, 41) : null });
  };

const gather =
  (count: number, length: number): Make =>
  (given) =>
    call(GATHER, { table: given.rows(19, length), indices: Int32Array.from(given.wholes(count, 19)) });

const pack =
  (matrices: number, outputs: number, inputs: number): Make =>
  (given) =>
    call(PACK, given.operand(1, matrices, outputs, inputs));

const gru =
  (batch: number, steps: number, hidden: number, isReversed: boolean, hasState: boolean): Make =>
  async (given) =>
    call(GRU, {
      gates: given.rows(batch * steps, 3 * hidden),
      weights: await given.packed(3, hidden, hidden),
      bias: given.rows(1, 3 * hidden),
      state: hasState ? given.rows(batch, hidden) : null,
      batch,
      isReversed,
    });

const narrowAffine =
  (format: Narrow, count: number, inputs: number, outputs: number, repeated: number | null): Make =>
  async (given) => {
    const epilogue = {
      activation: "gelu",
      bias: given.rows(1, outputs),
      factor: given.rows(1, outputs),
      addend: given.rows(repeated ?? 1, outputs),
    } as const;
    const rule = repeated === null ? NO_RULE : epilogue;
    const weights = await given.narrow(format, 1, outputs, inputs, 32);
    return call(NARROW_AFFINE, { input: given.rows(count, inputs), weights, outputs, rule });
  };

const narrowGather =
  (format: Narrow, indices: number): Make =>
  async (given) => {
    const table = await given.narrow(format, 1, 83, 256);
    return call(NARROW_GATHER, {
      table,
      count: 83,
      length: 256,
      indices: Int32Array.from(given.wholes(indices, 83)),
      keep: false,
    });
  };

const narrowGru =
  (batch: number, steps: number, isReversed: boolean, hasState: boolean): Make =>
  async (given) =>
    call(NARROW_GRU, {
      gates: given.rows(batch * steps, 3 * 32),
      weights: await given.narrow("int8", 3, 32, 32),
      bias: given.rows(1, 3 * 32),
      state: hasState ? given.rows(batch, 32) : null,
      batch,
      isReversed,
    });

const narrowProduct =
  (format: Narrow, rows: number, hasAddend: boolean): Make =>
  async (given) => {
    const weights = await given.narrow(format, 1, 150, 288);
    const addend = hasAddend ? given.rows(rows, 288) : null;
    return call(NARROW_PRODUCT, { left: given.rows(rows, 150), weights, inputs: 288, addend });
  };

interface RopeShape {
  readonly shape: Dims4;
  readonly positions?: "one" | "each";
  readonly tables?: number;
  readonly f16?: boolean;
}

const rope =
  ({ shape, positions, tables, f16 }: RopeShape): Make =>
  (given) => {
    const [batch, , length, dim] = shape;
    const rows = 2 * length;
    const table = (): Operand => given.operand(tables ?? 1, 1, rows, dim / 2);
    const count = positions === "each" ? batch * length : length;
    return call(ROPE, {
      input: f16 ? given.f16(...shape) : given.operand(...shape),
      output: output(...shape),
      tables: tables === undefined ? null : { cosines: table(), sines: table() },
      frequencies: tables === undefined ? Float64Array.from({ length: dim / 2 }, (_, at) => 10 ** -at) : null,
      positions: positions === undefined ? null : Float64Array.from(given.wholes(count, rows)),
      positionsByBatch: positions === "each",
      rotaryDim: dim,
      interleaved: batch === 1,
      inverse: false,
      magnitude: 1,
      keep: false,
      retry: false,
    } satisfies RopeProblem);
  };

interface LinearShape {
  readonly batch: number;
  readonly groups: number;
  readonly heads?: number;
  readonly keyHeads?: number;
  readonly length: number;
  readonly valueDim: number;
  readonly keys?: number;
  readonly hasState?: boolean;
}

const linear =
  (rule: LinearProblem["rule"], shape: LinearShape): Make =>
  (given) => {
    const { batch, groups, heads = 2 * groups, keyHeads = groups, length, valueDim, keys, hasState } = shape;
    const dim = 8;
    const state = [batch, groups, dim, valueDim + (rule === "elu" ? 1 : 0)] as const;
    const tokens = keys ?? length;
    return call(LINEAR_ATTENTION, {
      query: given.operand(batch, heads, length, dim),
      key: given.small(batch, keyHeads, tokens, dim),
      value: given.f16(batch, groups, tokens, valueDim),
      decay: rule.startsWith("gated") ? given.small(batch, groups, tokens, batch === 1 ? 1 : dim) : null,
      beta: rule.endsWith("delta") ? given.small(batch, batch === 1 ? 1 : groups, tokens, 1) : null,
      state: hasState ? given.operand(...state) : null,
      rule,
      causal: keys === undefined,
      scale: null,
      output: output(batch, Math.max(heads, groups), length, valueDim),
      newState: output(...state),
      keep: batch === 1,
    } satisfies LinearProblem);
  };

const CALLS: Readonly<Record<string, Make>> = {
  "affine, one row": affine(1, 40, 83, 1),
  "affine, one row and one panel": affine(1, 9, 7, null),
  "affine, two rows": affine(2, 40, 24, null),
  "affine, a row beyond whole tiles": affine(97, 30, 20, 97),
  "affine, more rows than columns": affine(197, 24, 50, 1),
  "affine, an addend that repeats": affine(60, 24, 100, 5),
  "affine, an addend that repeats in pairs": affine(98, 24, 10, 2),
  "affine, deeper than a block": affine(193, 530, 30, null),
  "pointwise, one row": pointwise(1, 50, 1, 1),
  "pointwise, rows that repeat differently": pointwise(24, 17, 4, 6),
  "pointwise, rows of its own": pointwise(37, 8, 37, 1),
  "norm, one row": norm(1, 50, true),
  "norm, some rows": norm(35, 33, false),
  "gather, some rows": gather(41, 13),
  "pack, one matrix": pack(1, 83, 21),
  "pack, three matrices": pack(3, 20, 11),
  "gru, one entry": gru(1, 23, 20, false, false),
  "gru, one entry, from the end, with a state": gru(1, 23, 20, true, true),
  "gru, two entries": gru(2, 5, 16, false, true),
  "gru, seven entries, from the end": gru(7, 11, 12, true, true),
  "rope, one entry": rope({ shape: [1, 3, 200, 8] }),
  "rope, f16 and positions": rope({ shape: [2, 2, 130, 6], positions: "one", f16: true }),
  "rope, positions of each entry": rope({ shape: [3, 4, 70, 6], positions: "each" }),
  "rope, tables": rope({ shape: [2, 2, 70, 6], tables: 1 }),
  "product of rows": product(false, false),
  "product of columns, added to": product(true, true),
  "rope, tables and positions of each entry": rope({ shape: [3, 2, 70, 4], tables: 3, positions: "each" }),
  ...Object.fromEntries(
    RULES.flatMap((rule) => [
      [`${rule}, one head`, linear(rule, { batch: 1, groups: 1, length: 61, valueDim: 21 })],
      [`${rule}, a state`, linear(rule, { batch: 2, groups: 3, length: 36, valueDim: 8, hasState: true })],
    ]),
  ),
  "gated delta, states that share queries": linear("gated-delta", {
    batch: 2,
    groups: 4,
    heads: 2,
    keyHeads: 2,
    length: 40,
    valueDim: 9,
    hasState: true,
  }),
  "delta, states that share a key": linear("delta", {
    batch: 1,
    groups: 4,
    heads: 4,
    keyHeads: 1,
    length: 40,
    valueDim: 9,
  }),
  "linear, by two and by three": linear("linear", {
    batch: 1,
    groups: 6,
    heads: 2,
    keyHeads: 3,
    length: 40,
    valueDim: 9,
  }),
  "elu, not causal": linear("elu", { batch: 1, groups: 2, length: 31, keys: 50, valueDim: 9 }),
  "elu, one key": linear("elu", { batch: 2, groups: 1, length: 31, keys: 1, valueDim: 9, hasState: true }),
};

/** They bring a module of other bits, so they come apart. */
const NARROW_CALLS: Readonly<Record<string, Make>> = {
  "narrow affine, one row of int8": narrowAffine("int8", 1, 256, 83, 1),
  "narrow affine, rows of int4": narrowAffine("int4", 97, 96, 50, null),
  "narrow affine, an addend that repeats": narrowAffine("q4-k", 60, 256, 100, 5),
  "narrow affine, f16": narrowAffine("f16", 197, 40, 50, 1),
  "narrow gather of int8": narrowGather("int8", 41),
  "narrow gather of q4-k": narrowGather("q4-k", 41),
  "narrow gru, one entry, from the end, with a state": narrowGru(1, 23, true, true),
  "narrow gru, seven entries": narrowGru(7, 11, false, false),
  "narrow product of int8": narrowProduct("int8", 26, false),
  "narrow product of int4-min, added to": narrowProduct("int4-min", 9, true),
  "narrow product of bf16": narrowProduct("bf16", 1, false),
};

/** The numbers of all results. */
async function resultsOf(backend: WasmBackend, make: Make): Promise<readonly Float32Array[]> {
  const { operation, problem } = await make(new Given(backend));
  const results = await backend.run(operation, problem, null);
  return Promise.all(
    results.map(async (part) => {
      if (part.kind === "array") return part.array;
      const numbers = await backend.download(part.resident);
      return numbers instanceof Float32Array ? numbers : fromF16(numbers);
    }),
  );
}

describe.each(
  FEW_KINDS.filter(({ worker }) => worker !== "shared-memory").flatMap((kind) => [
    { kind, calls: CALLS, what: "operations" },
    { kind, calls: NARROW_CALLS, what: "stored weights" },
  ]),
)("$what, $kind.variant, $kind.worker worker", ({ kind, calls }) => {
  let whole: WasmBackend;
  beforeAll(async () => {
    whole = await openBackend({ ...kind, worker: null }, 1, { offload: false });
  });
  afterAll(() => whole.dispose());

  test.each([
    [1, FINEST],
    [2, FINE],
    [3, FINEST],
  ])("%i threads and fine slices give the bits of the whole call", async (threads, grain) => {
    const count = kind.worker === null ? 1 : threads;
    const { backend, tasksDone } = await counted(count, (modules) => openBackend(kind, count, { grain, modules }));
    for (const [name, make] of Object.entries(calls)) {
      const [wanted, got] = [await resultsOf(whole, make), await resultsOf(backend, make)];
      expect(got.length, name).toBe(wanted.length);
      for (const [index, numbers] of got.entries()) {
        expect(differentIndex(numbers, wanted[index] ?? new Float32Array(0)), `${name}, result ${index}`).toBe(-1);
      }
    }
    // What reads stored weights is not sent, unless in a program.
    const isSent = kind.worker !== null && calls !== NARROW_CALLS;
    for (let worker = 0; worker < threads && isSent; worker++) expect(tasksDone(worker)).toBeGreaterThan(1);
    backend.dispose();
  });
});

/** Rows of a tensor that is in no engine: cuts read only their sizes. */
const rows = (count: number, length: number): Rows => ({ resident: NOWHERE, count, length });
const NOWHERE = { elements: 0, dtype: "f32", live: true } as const;

const LARGE: Readonly<Record<string, Call>> = {
  "a token's logits": call(AFFINE, { input: rows(1, 768), weights: NOWHERE, outputs: 50_257, rule: NO_RULE }),
  "a prefill's logits": call(AFFINE, { input: rows(512, 768), weights: NOWHERE, outputs: 50_257, rule: NO_RULE }),
  "many short rows": call(AFFINE, { input: rows(400_000, 32), weights: NOWHERE, outputs: 30, rule: NO_RULE }),
  "a token's logits in int8": call(NARROW_AFFINE, {
    input: rows(1, 768),
    weights: { resident: NOWHERE, format: "int8" },
    outputs: 50_257,
    rule: NO_RULE,
  }),
  "deep rows": call(AFFINE, { input: rows(50, 16_384), weights: NOWHERE, outputs: 4096, rule: NO_RULE }),
};

describe("slices on the calling thread", () => {
  /** About two milliseconds of multiplications. */
  const GRAIN: Grain = { least: 2 ** 24, most: 2 ** 25, count: 1, upTo: Number.POSITIVE_INFINITY };

  /** Weights that are read in this time. */
  const MOST_READ = 2 ** 23;

  test.each(Object.keys(LARGE))("of %s cost no more than the grain", (name) => {
    const { operation, problem } = LARGE[name] as Call;
    const cut = operation.cut(problem, 0, GRAIN.most);
    const work = operation.work(problem);
    const most = name.startsWith("a token") ? MOST_READ * (name.endsWith("int8") ? 2 : 1) : 1.3 * GRAIN.most;
    const slices = slicesOf(cut, work * (cut.memoryBound ?? 1), GRAIN);
    for (const slice of slices) {
      const share = slice.reduce(
        (part, { begin, end }, axis) => (part * (end - begin)) / (cut.axes[axis]?.count ?? 0),
        1,
      );
      expect(share * work).toBeLessThanOrEqual(most);
    }
  });
});

test("one of several workers keeps the weights of a program, whatever the number of rows", async () => {
  const backend = await openBackend({ variant: "simd", worker: "private-memory" }, 4);
  const given = new Given(backend);
  const [inputs, outputs] = [256, 8192];
  const weights = await given.packed(1, outputs, inputs);
  for (const count of [1, 2, 40, 1]) {
    const program = await backend.program(null, "full");
    await program.run(AFFINE, { input: given.rows(count, inputs), weights, outputs, rule: NO_RULE });
    await program.flush();
    await program.close();
  }
  // Once, beside their stacks and a call's rows.
  expect(backend.memory().workers).toBeLessThan(2 * inputs * outputs * Float32Array.BYTES_PER_ELEMENT);
  backend.dispose();
});
