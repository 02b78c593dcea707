// Types by their names in NumPy and onnxruntime-web, float32 and float16, wherever a dtype is read.

import { afterAll, expect, test } from "vitest";
import { createHeed } from "../../web/src/index.js";
import { Linear, loadSafetensors, saveSafetensors } from "../../web/src/layers/index.js";

const engine = await createHeed();
afterAll(() => engine.dispose());

/** The f16 bits of 1.5 and -2. */
const BITS = Uint16Array.of(0x3e00, 0xc000);
const shape = [1, 2];

test("tensors of a call", async () => {
  const f16 = { data: BITS, shape, dtype: "float16" } as const;
  const f32 = { data: Float32Array.of(1.5, -2), shape, dtype: "float32" } as const;
  for (const value of [f16, f32]) {
    const { output } = await engine.attention(f16, f32, value);
    expect([...output.data]).toEqual([1.5, -2]);
  }
  await expect(engine.attention({ ...f32, dtype: "float64" as never }, f16, f16)).rejects.toThrow('got "float64"');
});

test("tensors that live in the engine", async () => {
  const f16 = engine.tensor(Float32Array.of(1.5, -2), shape, { dtype: "float16" });
  expect([f16.dtype, ...(await f16.read())]).toEqual(["f16", 1.5, -2]);
  expect(engine.zeros([2], { dtype: "float16" }).dtype).toBe("f16");
});

test("caches, parameters and files", async () => {
  expect((await engine.createCache({ kvHeads: 1, headDim: 2, maxLength: 2, dtype: "float16" })).dtype).toBe("f16");
  const weight = { data: BITS, shape, dtype: "float16" } as never;
  const linear = new Linear({ inFeatures: 2, outFeatures: 1, bias: false, engine }).load({ weight });
  expect([...(linear.parameters().get("weight")?.data ?? [])]).toEqual([1.5, -2]);
  const file = saveSafetensors({ x: { data: Float32Array.of(1.5, -2), shape, dtype: "float16" } });
  expect((await loadSafetensors(file, { keepHalves: true })).get("x")?.data).toEqual(BITS);
});

test("the memory that layers hold is the engine's, until they are disposed of", async () => {
  const data = new Float32Array(2 ** 20);
  const linear = new Linear({ inFeatures: 2 ** 10, outFeatures: 2 ** 10, bias: false, engine });
  linear.load({ weight: { data, shape: [2 ** 10, 2 ** 10] } });
  const before = engine.memory();
  await linear.forward({ data: new Float32Array(2 ** 10), shape: [1, 2 ** 10] });
  const during = engine.memory();
  expect(during.total - before.total).toBeGreaterThanOrEqual(data.byteLength);
  expect(during.tensorBytes - before.tensorBytes).toBe(data.byteLength);
  linear.dispose();
  await engine.attention(
    { data: BITS, shape, dtype: "f16" },
    { data: BITS, shape, dtype: "f16" },
    { data: BITS, shape, dtype: "f16" },
  );
  expect(engine.memory().tensorBytes).toBe(before.tensorBytes);
});
