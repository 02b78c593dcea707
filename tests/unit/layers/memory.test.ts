// What an engine's layers hold, and that the last `dispose` gives all of it back: WebAssembly memory grows, and never shrinks.

import { expect, test } from "vitest";
import type { Heed } from "../../../web/src/index.js";
import { Linear, Pooling } from "../../../web/src/layers/index.js";
import { nameOf, openKind } from "../../support/engines.js";

const MIB = 2 ** 20;
const SIZE = 4096;

/** Ones in the first column of three rows: the first three results are x[0], the others 0. */
const WEIGHTS = { data: new Float32Array(SIZE * SIZE), shape: [SIZE, SIZE] };
for (let row = 0; row < 3; row++) WEIGHTS.data[row * SIZE] = 1;

/** 64 MiB of parameters. */
function large(engine: Heed): Linear {
  return new Linear({ inFeatures: SIZE, outFeatures: SIZE, bias: false, engine }).load({ weight: WEIGHTS });
}

function small(engine: Heed): Linear {
  const weight = { data: Float32Array.of(2), shape: [1, 1] };
  return new Linear({ inFeatures: 1, outFeatures: 1, bias: false, engine }).load({ weight });
}

const X = { data: new Float32Array(SIZE).fill(5), shape: [1, SIZE] };
const Y = [5, 5, 5, 0];
const ONE = { data: Float32Array.of(7), shape: [1, 1] };

async function firstOf(layer: Linear): Promise<number[]> {
  return [...(await layer.forward(X)).data.subarray(0, 4)];
}

/** Until what promises do at once is done. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

const KINDS = (["shared-memory", "private-memory", null] as const).map((worker) => ({
  variant: "simd" as const,
  worker,
}));

test.each(KINDS.map((kind) => [nameOf(kind), kind] as const))(
  "%s: the last layer that is disposed of gives the memory back, and the next pass opens a small one",
  async (_, kind) => {
    using engine = await openKind(kind, { threads: kind.worker === null ? undefined : 1 });
    const before = engine.memory();
    const layer = large(engine);
    for (let round = 0; round < 2; round++) {
      expect(await firstOf(layer)).toEqual(Y);
      expect(engine.memory().tensorBytes).toBe(64 * MIB);
      expect(engine.memory().total - before.total).toBeGreaterThan(64 * MIB);
      layer.dispose();
      await settled();
      expect(engine.memory()).toEqual(before);
    }
    const other = small(engine);
    expect([...(await other.forward(ONE)).data]).toEqual([14]);
    expect(engine.memory().total - before.total).toBeLessThan(16 * MIB);
  },
);

test("what lives keeps the memory: another layer, a tensor, a pass under way", async () => {
  using engine = await openKind({ variant: "simd", worker: "shared-memory" }, { threads: 1 });
  const before = engine.memory();
  const [layer, other] = [large(engine), small(engine)];
  const kept = await other.forward(ONE, { keep: true });
  expect(await firstOf(layer)).toEqual(Y);
  const { engine: heap } = engine.memory();
  const passes = [other.forward(ONE), layer.forward(X), other.forward(kept)] as const;
  layer.dispose();
  const [first, second, third] = await Promise.all(passes);
  expect([[...first.data], [...second.data.subarray(0, 4)], [...third.data]]).toEqual([[14], Y, [28]]);
  layer.dispose();
  await settled();
  expect(engine.memory()).toMatchObject({ engine: heap, tensors: 2 });
  other.dispose();
  await settled();
  expect(engine.memory()).toMatchObject({ engine: heap, tensors: 1 });
  expect([...(await kept.read())]).toEqual([14]);
  // A pass without parameters begins as the last tensor goes.
  const pooling = new Pooling({ kind: "mean", engine });
  const pooled = pooling.forward({ data: Float32Array.of(1, 3), shape: [1, 2, 1] });
  kept.dispose();
  expect([...(await pooled).data]).toEqual([2]);
  expect([...(await other.forward(ONE)).data]).toEqual([14]);
  other.dispose();
  await settled();
  expect(engine.memory()).toEqual(before);
});

test("the last tensor gives the memory back where the layers are gone", async () => {
  using engine = await openKind({ variant: "simd", worker: null });
  const before = engine.memory();
  const layer = small(engine);
  const kept = await layer.forward(ONE, { keep: true });
  layer.dispose();
  await settled();
  expect(engine.memory().tensors).toBe(1);
  kept.dispose();
  expect(engine.memory()).toEqual(before);
});

test("no pass opens the memory anew while a layer lives, loaded again or not", async () => {
  using engine = await openKind({ variant: "simd", worker: null });
  const layer = large(engine);
  await layer.forward(X);
  const { engine: heap } = engine.memory();
  layer.load({ weight: WEIGHTS });
  await settled();
  expect(engine.memory()).toMatchObject({ engine: heap, tensors: 0 });
  expect(await firstOf(layer)).toEqual(Y);
});

test("a layer can be disposed of after its engine, and in a pass", async () => {
  const engine = await openKind({ variant: "simd", worker: "shared-memory" }, { threads: 1 });
  const layer = large(engine);
  const pass = layer.forward(X);
  layer.dispose();
  expect([...(await pass).data.subarray(0, 4)]).toEqual(Y);
  engine.dispose();
  layer.dispose();
  await settled();
  await expect(layer.forward(X)).rejects.toMatchObject({ code: "disposed" });
});

test("twelve rounds of passes and disposing leave no memory behind", { timeout: 300_000 }, async () => {
  using engine = await openKind({ variant: "simd", worker: "shared-memory" }, { threads: 1 });
  const layer = large(engine);
  const taken: number[] = [];
  for (let round = 0; round < 12; round++) {
    await layer.forward(X);
    layer.dispose();
    await settled();
    globalThis.gc?.();
    taken.push(process.memoryUsage.rss());
  }
  // Workers end some time after they are told to. Seven heaps that stay would be 448 MiB.
  expect(Math.min(...taken.slice(-5)) - Math.min(...taken.slice(0, 5))).toBeLessThan(256 * MIB);
});
