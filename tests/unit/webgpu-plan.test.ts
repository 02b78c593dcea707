// The GPU's plans, tables and pool, none of which needs a GPU.

import { describe, expect, test } from "vitest";
import { check } from "../../web/src/api/attention.js";
import type { AttentionProblem } from "../../web/src/backends/backend.js";
import { sizeClass } from "../../web/src/backends/webgpu/buffer-pool.js";
import { choose } from "../../web/src/backends/webgpu/choose.js";
import { isSoonerThanAnyOnGpu } from "../../web/src/backends/webgpu/costs.js";
import { classOf } from "../../web/src/backends/webgpu/dispatch.js";
import { Ending } from "../../web/src/backends/webgpu/ending.js";
import { scoped } from "../../web/src/backends/webgpu/error-scopes.js";
import type { GpuDevice } from "../../web/src/backends/webgpu/gpu.js";
import type { DecodeKernel, TilesKernel, UntiledKernel } from "../../web/src/backends/webgpu/kernel.js";
import { PARAMS_STRUCT, packParams } from "../../web/src/backends/webgpu/params.js";
import { shaderOf } from "../../web/src/backends/webgpu/pipelines.js";
import type { Machine, Plan } from "../../web/src/backends/webgpu/plan.js";
import { planAttention } from "../../web/src/backends/webgpu/plan-attention.js";
import { hasRanges, RANGE_STRIDE, rowRanges } from "../../web/src/backends/webgpu/row-ranges.js";
import { decodeBytes, tileBytes } from "../../web/src/backends/webgpu/shaders/sizes.js";
import { untuned } from "../../web/src/backends/webgpu/tuning.js";
import { HeedError } from "../../web/src/index.js";
import { attention as reference } from "../../web/src/reference/index.js";
import { cases } from "../support/cases.js";
import { LIMITS, MACHINE } from "../support/gpu-machine.js";
import { zeros } from "../support/tensors.js";

const SOFTWARE: Machine = { ...MACHINE, isSoftware: true };

interface Sizes {
  readonly heads?: number;
  readonly kvHeads?: number;
  readonly queries: number;
  readonly keys: number;
  readonly dim?: number;
}

function problemOf({ heads = 1, kvHeads = heads, queries, keys, dim = 64 }: Sizes, options = {}): AttentionProblem {
  const tensors = {
    query: zeros(heads, queries, dim),
    key: zeros(kvHeads, keys, dim),
    value: zeros(kvHeads, keys, dim),
  };
  return check("attention", null, tensors, options).checked.problem;
}

function attentionOf(plan: Plan): UntiledKernel | TilesKernel | DecodeKernel {
  for (const { kernel } of plan.steps) {
    if (kernel.kind === "untiled" || kernel.kind === "tiles" || kernel.kind === "decode") return kernel;
  }
  throw new Error("no such kernel");
}

const kinds = (plan: Plan): readonly string[] => plan.steps.map(({ kernel }) => kernel.kind);

describe("a plan", () => {
  test("gives prefill tiles, shares keys among the rows of decode, and gives each thread a row where threads share nothing", () => {
    const many = problemOf({ queries: 300, keys: 64 });
    const decoding = problemOf({ heads: 8, kvHeads: 2, queries: 1, keys: 64 });
    expect(attentionOf(planAttention(many, MACHINE))).toMatchObject({ kind: "tiles", rows: 64 });
    expect(attentionOf(planAttention(problemOf({ queries: 20, keys: 64 }), MACHINE))).toMatchObject({ rows: 32 });
    expect(attentionOf(planAttention(decoding, MACHINE))).toMatchObject({ kind: "decode", rows: 4 });
    const apart = new Map([many, decoding].map((one) => [classOf(one), { ...untuned(false), shared: false }]));
    const alone = (problem: AttentionProblem) => attentionOf(planAttention(problem, { ...MACHINE, tunings: apart }));
    expect(alone(many)).toMatchObject({ kind: "untiled", rows: 64, slices: 1 });
    expect(alone(decoding)).toMatchObject({ kind: "untiled", rows: 4, slices: 16 });
  });

  test("uses what features the adapter has, and says so", () => {
    const f16 = { dtype: "f16" as const, data: new Uint16Array(64 * 64), shape: [64, 64] };
    const { problem } = check("attention", null, { query: f16, key: f16, value: f16 }, {}).checked;
    const plain = planAttention(problem, MACHINE);
    expect(attentionOf(plain)).toMatchObject({ key: { dtype: "f16" }, subgroups: false });
    expect(plain.summary).toBe("computed by tiles of 64 rows and 32 keys");
    const all = planAttention(problem, { ...MACHINE, f16: true, subgroups: true });
    expect(attentionOf(all)).toMatchObject({
      key: { dtype: "native-f16" },
      value: { dtype: "native-f16" },
      subgroups: true,
    });
    expect(all.summary).toBe("computed by tiles of 64 rows and 32 keys, subgroups, shader-f16");
    const [step] = all.steps;
    if (step === undefined) throw new Error("no step");
    expect(shaderOf(step.kernel).code).toMatch(/^enable subgroups;\nenable f16;\n/);
  });

  test("splits the keys where there are few workgroups, and combines the splits", () => {
    const plan = planAttention(problemOf({ queries: 1, keys: 4096 }), MACHINE);
    expect(kinds(plan)).toEqual(["decode", "combine"]);
    expect(plan.summary).toBe("computed by eight threads a key, for all rows that share it, 16 KV splits");
    expect(plan.bytes.get("partials")).toBe(16 * (1 + 16) * 16);
    expect(kinds(planAttention(problemOf({ heads: 300, queries: 1, keys: 4096 }), MACHINE))).toEqual(["decode"]);
  });

  test("keeps within the memory of a workgroup, whatever rows are like", () => {
    for (const dim of [8, 64, 100, 128, 512]) {
      for (const [memory, queries] of [16_384, 32_768].flatMap((bytes) =>
        [1, 8, 20, 300].map((count) => [bytes, count] as const),
      )) {
        const problem = problemOf({ queries, keys: 64, dim });
        const tuning = { ...untuned(false), memory, rows: 128 };
        const limits = { ...LIMITS, maxComputeWorkgroupStorageSize: memory };
        const kernel = attentionOf(
          planAttention(problem, { ...MACHINE, limits, tunings: new Map([[classOf(problem), tuning]]) }),
        );
        if (kernel.kind === "tiles") expect(tileBytes(kernel)).toBeLessThanOrEqual(memory);
        if (kernel.kind === "decode") expect(decodeBytes(kernel)).toBeLessThanOrEqual(memory);
        if (dim <= 128) expect(kernel.kind).toBe(queries > 8 ? "tiles" : "decode");
      }
    }
    const long = problemOf({ queries: 8, keys: 64, dim: 512 });
    expect(attentionOf(planAttention(long, MACHINE))).toMatchObject({ kind: "untiled", valueVectors: 32 });
  });

  test("gives each thread of a software adapter rows of its own, and never tiles", () => {
    const kernelOf = (sizes: Sizes): unknown => attentionOf(planAttention(problemOf(sizes), SOFTWARE));
    expect(kernelOf({ queries: 300, keys: 64 })).toMatchObject({ kind: "untiled", slices: 1, step: 8 });
    const decoding = { heads: 8, kvHeads: 2, queries: 1, keys: 4096 };
    expect(kernelOf(decoding)).toMatchObject({ kind: "untiled", rows: 4, slices: 16, split: true });
  });

  test("uses what was measured for its kernels, and no other measurements", () => {
    const problem = problemOf({ queries: 300, keys: 4096 });
    const tuning = { shared: true, subgroups: false, memory: 32_768, rows: 32, step: 2, groups: 8 };
    const machine = { ...MACHINE, limits: { ...LIMITS, maxComputeWorkgroupStorageSize: 32_768 }, subgroups: true };
    const tuned = { ...machine, tunings: new Map([[classOf(problem), tuning]]) };
    expect(attentionOf(planAttention(problem, tuned))).toMatchObject({ rows: 32, resident: true, subgroups: false });
    expect(kinds(planAttention(problem, tuned))).toEqual(["tiles"]);
    expect(kinds(planAttention(problem, machine))).toEqual(["tiles", "combine"]);
    const other = problemOf({ queries: 300, keys: 4096, dim: 32 });
    expect(planAttention(other, tuned)).toEqual(planAttention(other, machine));
    const apart = { ...machine, tunings: new Map([[classOf(problem), { ...tuning, shared: false }]]) };
    expect(attentionOf(planAttention(problem, apart))).toMatchObject({ kind: "untiled", step: 2 });
  });

  test("takes memory that grows with L + S, whatever their product", () => {
    const bytesOf = (length: number): number => {
      const { bytes } = planAttention(
        problemOf({ heads: 8, queries: length, keys: length }, { causal: true }),
        MACHINE,
      );
      return [...bytes.values()].reduce((sum, size) => sum + size, 0);
    };
    expect(bytesOf(16_384)).toBeLessThan(4.1 * bytesOf(4096));
  });

  test("names a kernel by what it does, not by the sizes of the call", () => {
    const kernelsOf = (queries: number): unknown =>
      planAttention(problemOf({ queries, keys: 96 }), MACHINE).steps[0]?.kernel;
    expect(kernelsOf(128)).toEqual(kernelsOf(1000));
  });

  test("needs at most the eight buffers that every adapter binds", () => {
    const everything = {
      mask: { data: new Uint8Array(100), shape: [100] },
      bias: { data: new Float32Array(100), shape: [100] },
      alibiSlopes: [1],
      sinks: [0],
      causal: true,
      dropout: { p: 0.5, seed: 1 },
      score: { type: "gated", w: new Float32Array(128) },
      return: { weights: true, scores: "masked", lse: true, entropy: true },
    };
    for (const weights of [true, "mean"]) {
      const options = { ...everything, return: { ...everything.return, weights } };
      const plan = planAttention(problemOf({ queries: 70, keys: 100 }, options), MACHINE);
      expect(plan.tooLarge).toBeNull();
      for (const { kernel, buffers } of plan.steps) {
        expect(buffers.length).toBeLessThanOrEqual(8);
        expect(buffers.length).toBe(shaderOf(kernel).bound.length);
      }
    }
  });

  test("refuses what the adapter cannot bind, by name, and the call runs on wasm", () => {
    const problem = problemOf({ queries: 8, keys: 8 }, { return: { weights: true } });
    const machine = { ...MACHINE, limits: { ...LIMITS, maxStorageBufferBindingSize: 2048 } };
    const why = "results takes 2304 bytes, of which the adapter binds 2048";
    expect(planAttention(problem, machine).tooLarge).toBe(why);
    expect(choose(problem, machine, null)).toMatchObject({
      backend: "wasm",
      reasons: [`too large for the GPU: ${why}`],
    });
  });
});

describe("a choice by costs", () => {
  const costModel = (fixed: number, perMegaflop: number) => ({ fixed, perMegaflop, perMegabyte: 0 });
  const costs = { gpu: costModel(1, 0.001), wasm: costModel(0, 0.05) };

  test("sends a small call to wasm and a large one to the GPU, and says what it expects", () => {
    const small = choose(problemOf({ queries: 8, keys: 8 }), MACHINE, costs);
    expect([small.backend, small.plan]).toEqual(["wasm", null]);
    const large = choose(problemOf({ heads: 8, queries: 1024, keys: 1024 }), MACHINE, costs);
    expect(large.backend).toBe("webgpu");
    expect(large.reasons).toEqual(["about 3.15 ms on the GPU and 107.37 ms on wasm, as measured on this machine"]);
  });

  test("needs no measurement where wasm is done before the GPU could begin", () => {
    const isSooner = (sizes: Parameters<typeof problemOf>[0]) => isSoonerThanAnyOnGpu(costs, problemOf(sizes));
    expect([isSooner({ queries: 8, keys: 8 }), isSooner({ heads: 8, queries: 1024, keys: 1024 })]).toEqual([
      true,
      false,
    ]);
  });
});

describe("row ranges", () => {
  test("give each query the keys that the reference gives it", () => {
    for (const { query, key, value, options, name } of cases(77, 40)) {
      const {
        mask: _mask,
        bias: _bias,
        blocks: _blocks,
        maskMod: _maskMod,
        scoreMod: _scoreMod,
        ...structure
      } = options;
      const { problem } = check("attention", null, { query, key, value }, structure).checked;
      const [, heads, queries] = problem.query.shape;
      const keys = problem.key.shape[2];
      const { masked } = reference(query, key, value, { ...structure, alibiSlopes: undefined }).scores;
      const ranges = rowRanges(problem);
      const isSeen = Array.from(masked.data, (one) => one !== Number.NEGATIVE_INFINITY);
      const inRange = isSeen.map((_, index) => {
        const row = Math.floor(index / keys);
        const at = (Math.floor(row / queries / heads) * queries + (row % queries)) * RANGE_STRIDE;
        return index % keys >= (ranges[at] ?? 0) && index % keys < (ranges[at + 1] ?? 0);
      });
      expect(inRange, name).toEqual(isSeen);
      if (!hasRanges(problem)) expect(isSeen.every(Boolean), name).toBe(true);
    }
  });
});

describe("parameters", () => {
  test("are at the offsets of the shader's struct", () => {
    const names = [...PARAMS_STRUCT.matchAll(/(\w+): ([fu])32/g)].map(
      ([, name = "", type = ""]) => [name, type] as const,
    );
    const values = Object.fromEntries(names.map(([name], index) => [name, index + 1]));
    const words = Reflect.apply(packParams, null, [values]) as Uint32Array<ArrayBuffer>;
    const floats = new Float32Array(words.buffer);
    for (const [index, [, type]] of names.entries()) expect((type === "f" ? floats : words)[index]).toBe(index + 1);
    expect(words.byteLength % 16).toBe(0);
  });
});

test("sizes of pooled buffers waste at most an eighth, and like sizes share one", () => {
  for (const bytes of [1, 256, 257, 5000, 70_000, 10 ** 6 + 1, 2 ** 27 + 5]) {
    const size = sizeClass(bytes);
    expect(size).toBeGreaterThanOrEqual(bytes);
    expect(size).toBeLessThanOrEqual(Math.max(512, bytes * 1.125 + 1));
  }
  expect(sizeClass(1_000_000)).toBe(sizeClass(1_010_000));
});

describe("error scopes", () => {
  /** A device that has something to say of one kind. */
  const device = (filter: string, said: string): GpuDevice => {
    const scopes: string[] = [];
    const fake: Partial<GpuDevice> = {
      pushErrorScope: (pushed) => void scopes.push(pushed),
      popErrorScope: async () => (scopes.pop() === filter ? { message: said } : null),
    };
    // The part of a device that scopes use.
    return fake as GpuDevice;
  };

  test("make HeedErrors of the call of what a device says afterwards", async () => {
    const full = scoped(device("out-of-memory", "no more"), "attention", () => 1);
    expect(full.made).toBe(1);
    expect(await full.refused).toMatchObject({
      name: "HeedError",
      code: "memory",
      message: "attention: the GPU has no room: no more",
    });
    const wrong = scoped(device("validation", "bad binding"), "attention", () => 1);
    expect(await wrong.refused).toMatchObject({
      code: "load",
      message: "attention: the GPU refused the call: bad binding",
    });
    expect(await scoped(device("none", ""), "attention", () => 1).refused).toBeNull();
  });
});

describe("an ending", () => {
  test("rejects whoever waits and whoever comes late, and leaves what is over alone", async () => {
    const ending = new Ending();
    expect(await ending.unless(Promise.resolve(7))).toBe(7);
    const waiting = ending.unless(new Promise(() => {}));
    const error = new HeedError("device-lost", "gone");
    ending.end(error);
    await expect(waiting).rejects.toBe(error);
    await expect(ending.unless(Promise.resolve(7))).rejects.toBe(error);
  });
});
