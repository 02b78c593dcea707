// Products with weights of 16, 8 and 4 bits: within their error of the dequantized product in double precision, on numbers of every kind,
// and of the same bits wherever they are computed, by however many threads, alone or among other rows.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Heed } from "../../../web/src/index.js";
import { Embedding, Linear, type StoredTensor } from "../../../web/src/layers/index.js";
import { ENGINE_KINDS, nameOf, openKind } from "../../support/engines.js";
import { Random } from "../../support/random.js";
import {
  decoded,
  exactProduct,
  type Narrow,
  product,
  productBounds,
  randomStored,
} from "../../support/stored-weights.js";

const SEED = 91;

const FORMATS = ["f16", "bf16", "int8", "int4", "int4-min", "q4-k"] as const satisfies readonly Narrow[];

/** Outputs and inputs: panels in whole and in part, more of them than workers, more inputs than a block of the depth. */
const SIZES = [
  [1, 256],
  [16, 512],
  [37, 256],
  [200, 768],
] as const;

/** Rows of activations: normal ones, and those whose groups are hard to round. */
function rowsOf(random: Random, inputs: number): Float32Array[] {
  const normal = (): Float32Array => random.floats(inputs);
  const groupMaxima = normal().map((number, at) => (at % 32 === 0 ? 100 : Math.sign(number)));
  const allMaxima = normal().map((number) => 3 * Math.sign(number));
  const huge = normal();
  huge[inputs - 5] = 1e30;
  const subnormal = normal().map((number) => number * 1e-40);
  const small = normal().map((number) => number * 1e-30);
  const sparse = normal().map((number, at) => (at % 61 === 0 ? number : 0));
  const mixed = normal().map((number, at) => number * 10 ** (Math.floor(at / 32) % 9));
  return [normal(), groupMaxima, allMaxima, huge, subnormal, small, sparse, mixed, new Float32Array(inputs)];
}

const linear = (engine: Heed, weight: StoredTensor): Linear => {
  const [outFeatures = 0, inFeatures = 0] = weight.shape;
  return new Linear({ inFeatures, outFeatures, bias: false, engine }).load({ weight }, { weights: "as stored" });
};

/** [rows, inputs] */
const tensorOf = (rows: readonly Float32Array[]) => ({
  data: Float32Array.from(rows.flatMap((row) => [...row])),
  shape: [rows.length, rows[0]?.length ?? 0],
});

interface Scene {
  readonly weight: StoredTensor;
  readonly rows: readonly Float32Array[];
}

const scenes = FORMATS.flatMap((format) => {
  const random = new Random(SEED);
  return SIZES.map(([outputs, inputs]): readonly [string, Scene] => [
    `${format}, [${outputs}, ${inputs}]`,
    { weight: randomStored(random, format, outputs, inputs), rows: rowsOf(random, inputs) },
  ]);
});

describe("on the calling thread", () => {
  let engine: Heed;
  beforeAll(async () => {
    engine = await openKind({ variant: "simd", worker: null });
  });
  afterAll(() => engine.dispose());

  test.each(scenes)("%s: every number is within its bound", async (name, { weight, rows }) => {
    const [outputs = 0, inputs = 0] = weight.shape;
    const weights = decoded(weight);
    const { data } = await linear(engine, weight).forward(tensorOf(rows));
    let closest = 0;
    for (const [at, row] of rows.entries()) {
      const wanted = product(weights, inputs, row);
      const bounds = productBounds(weight, row);
      const shares = wanted.map((number, output) => {
        return Math.abs((data[at * outputs + output] ?? 0) - number) / (bounds[output] ?? 0);
      });
      const worst = shares.reduce((most, share) => (share <= most ? most : share), 0);
      expect(worst, `${name}, row ${at}, seed ${SEED}`).toBeLessThanOrEqual(1);
      closest = Math.max(closest, worst);
    }
    // The bound is one that can be missed.
    expect(closest).toBeGreaterThan(0.01);
  });

  test.each(scenes.filter(([, { weight }]) => !(weight.data instanceof Uint16Array)))(
    "%s: bits are those that follow from the definition",
    async (_, { weight, rows }) => {
      const [outputs = 0] = weight.shape;
      const { data } = await linear(engine, weight).forward(tensorOf(rows));
      for (const [at, row] of rows.entries()) {
        const wanted = exactProduct(weight, row);
        expect(wanted.findIndex((number, output) => number !== data[at * outputs + output])).toBe(-1);
      }
    },
  );

  test.each(scenes.filter((_, at) => at % SIZES.length === 2))(
    "%s: what is not finite stays in its row",
    async (_, { weight, rows }) => {
      const layer = linear(engine, weight);
      const [outputs = 0] = weight.shape;
      const spoilt = rows.map((row) => row.slice());
      for (const [at, number] of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].entries()) {
        const row = spoilt[2 * at];
        if (row !== undefined) row[7 + 40 * at] = number;
      }
      const clean = await layer.forward(tensorOf(rows));
      const { data } = await layer.forward(tensorOf(spoilt));
      for (const at of rows.keys()) {
        const row = data.subarray(at * outputs, (at + 1) * outputs);
        if (at % 2 === 0 && at < 6) expect(row.some(Number.isFinite)).toBe(false);
        else expect([...row]).toEqual([...clean.data.subarray(at * outputs, (at + 1) * outputs)]);
      }
    },
  );

  test.each(scenes)("%s: a table gives its rows exactly", async (_, { weight }) => {
    const [count = 0, dim = 0] = weight.shape;
    const table = new Embedding({ count, dim, engine }).load({ weight }, { weights: "as stored" });
    const indices = [count - 1, 0, count - 1, count >> 1];
    const { data } = await table.forward(indices);
    const numbers = decoded(weight);
    const wanted = indices.flatMap((index) => [...numbers.subarray(index * dim, (index + 1) * dim)]);
    expect(data.findIndex((number, at) => number !== wanted[at])).toBe(-1);
    await expect(table.forward([count])).rejects.toMatchObject({ code: "option" });
  });
});

const bitsOf = (floats: Float32Array): string => Buffer.from(floats.slice().buffer).toString("base64");

/** Rows of the number that few rows, some rows and many rows are computed by. */
const COUNTS = [1, 2, 7, 9, 200];

/** The bits of every product, whole and by numbers of rows. */
async function allBits(engine: Heed): Promise<Map<string, string[]>> {
  const bits = new Map<string, string[]>();
  for (const [name, { weight, rows }] of scenes) {
    const layer = linear(engine, weight);
    const [outputs = 0] = weight.shape;
    const many = Array.from({ length: 200 }, (_, at) => rows[at % rows.length] ?? new Float32Array());
    const byCount: string[] = [];
    for (const count of COUNTS) {
      const { data } = await layer.forward(tensorOf(many.slice(0, count)));
      byCount.push(bitsOf(data.subarray(0, outputs)), bitsOf(data.subarray((count - 1) * outputs)));
    }
    bits.set(name, byCount);
    layer.dispose();
  }
  return bits;
}

describe("bits", () => {
  let wanted: Map<string, string[]>;
  beforeAll(async () => {
    using engine = await openKind({ variant: "simd", worker: null });
    wanted = await allBits(engine);
  });

  test("of a row do not depend on the rows beside it", () => {
    for (const [name, byCount] of wanted) {
      const first = byCount.filter((_, at) => at % 2 === 0);
      expect(new Set(first).size, name).toBe(1);
      // The last of 9 is alone in being zeros, the last of 200 is the second one.
      expect(byCount.at(-1), name).toBe(byCount[3]);
    }
  });

  const THREADS = {
    "relaxed, shared-memory worker": [1, 2, 3, 4],
    "simd, shared-memory worker": [4],
    "relaxed, private-memory worker": [3],
    "simd, private-memory worker": [1, 2],
  };
  const kinds = ENGINE_KINDS.flatMap((kind) => {
    const counts = THREADS[nameOf(kind) as keyof typeof THREADS] ?? [undefined];
    return counts.map((threads) => ({ kind, threads }));
  });
  test.each(kinds.map((one) => [`${nameOf(one.kind)}, ${one.threads ?? 1} threads`, one] as const))(
    "%s",
    { timeout: 120_000 },
    async (_, { kind, threads }) => {
      using engine = await openKind(kind, { threads });
      for (const [name, bits] of await allBits(engine)) expect(bits, name).toEqual(wanted.get(name));
    },
  );
});
