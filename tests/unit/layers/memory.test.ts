// What an engine's layers hold, and that `dispose` gives it back. WebAssembly memory never shrinks, so what is left moves to a new one.

import { expect, test, vi } from "vitest";
import type { Heed, MemoryReport } from "../../../web/src/index.js";
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

/** Until the engine has moved to a memory like this. */
const shrunk = (engine: Heed, to: Partial<MemoryReport>): Promise<void> =>
  vi.waitFor(() => expect(engine.memory()).toMatchObject(to), { timeout: 30_000, interval: 5 });

const KINDS = (["shared-memory", "private-memory", null] as const).map((worker) => ({
  variant: "simd" as const,
  worker,
}));

test.each(KINDS.map((kind) => [nameOf(kind), kind] as const))(
  "%s: a large layer that is disposed of gives its memory back, and the next pass opens a small one",
  async (_, kind) => {
    using engine = await openKind(kind, { threads: kind.worker === null ? undefined : 1 });
    const before = engine.memory();
    const layer = large(engine);
    for (let round = 0; round < 2; round++) {
      expect(await firstOf(layer)).toEqual(Y);
      expect(engine.memory().tensorBytes).toBe(64 * MIB);
      expect(engine.memory().total - before.total).toBeGreaterThan(64 * MIB);
      layer.dispose();
      await shrunk(engine, before);
    }
    const other = small(engine);
    expect([...(await other.forward(ONE)).data]).toEqual([14]);
    expect(engine.memory().total - before.total).toBeLessThan(16 * MIB);
  },
);

test("what lives moves along: another layer and a tensor; a pass under way ends first", async () => {
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
  expect(engine.memory().engine).toBeGreaterThanOrEqual(heap);
  layer.dispose();
  await shrunk(engine, { engine: before.engine, tensors: 2 });
  expect([...(await kept.read())]).toEqual([14]);
  expect([...(await other.forward(kept)).data]).toEqual([28]);
  other.dispose();
  await shrunk(engine, { engine: before.engine, tensors: 1 });
  // A pass begins as the engine moves.
  const pooling = new Pooling({ kind: "mean", engine });
  const pooled = pooling.forward({ data: Float32Array.of(1, 3), shape: [1, 2, 1] });
  kept.dispose();
  expect([...(await pooled).data]).toEqual([2]);
  expect([...(await other.forward(ONE)).data]).toEqual([14]);
  other.dispose();
  await shrunk(engine, before);
});

test("one memory: layers take the engine's tensors, attention takes what layers keep, and neither is copied", async () => {
  using engine = await openKind({ variant: "simd", worker: "shared-memory" }, { threads: 1 });
  const double = small(engine);
  using given = engine.tensor(Float32Array.of(1, 2, 3), [3, 1]);
  const kept = await double.forward(given, { keep: true });
  const { tensors } = engine.memory();
  using attended = await engine
    .attention(kept, given, given, { normalize: "none", scale: 1, keep: true })
    .then((r) => r.output);
  using pair = engine.tensor(Float32Array.of(3, 4), [1, 2]);
  using rotated = await engine.rope(pair, { keep: true });
  // The results and the pair: nothing was uploaded for a call.
  expect(engine.memory().tensors).toBe(tensors + 3);
  expect([...(await attended.read())]).toEqual([2, 4, 6].map((q) => q * (1 + 4 + 9)));
  expect([...(await rotated.read())]).toEqual([3, 4]);
  kept.dispose();
});

test("a cache and its tokens move with the engine, to every operation and back", async () => {
  using engine = await openKind({ variant: "simd", worker: "shared-memory" }, { threads: 1 });
  using cache = await engine.createCache({ kvHeads: 1, headDim: 1, maxLength: 9 });
  const token = (value: number) => ({ data: Float32Array.of(value), shape: [1, 1, 1, 1] });
  const [zero, key] = [token(0), token(1)];
  await engine.attention(zero, key, token(1), { cache });
  const layer = large(engine);
  await layer.forward(X);
  expect([...(await engine.attention(zero, key, token(3), { cache })).output.data]).toEqual([2]);
  layer.dispose();
  await shrunk(engine, { tensors: 1 });
  await vi.waitFor(() => expect(engine.memory().engine).toBeLessThan(16 * MIB));
  expect([...(await engine.attention(zero, key, token(8), { cache })).output.data]).toEqual([4]);
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
  const before = engine.memory();
  const layer = large(engine);
  const taken: number[] = [];
  for (let round = 0; round < 12; round++) {
    await layer.forward(X);
    layer.dispose();
    await shrunk(engine, { tensors: 0, engine: before.engine });
    globalThis.gc?.();
    taken.push(process.memoryUsage.rss());
  }
  // Workers end some time after they are told to. Seven heaps that stay would be 448 MiB.
  expect(Math.min(...taken.slice(-5)) - Math.min(...taken.slice(0, 5))).toBeLessThan(256 * MIB);
});
