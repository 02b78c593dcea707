// The program that runs on each adapter, in Node or Deno: seeded problems against the reference in double precision. It prints its findings
// as JSON.

import { openDawn } from "../../scripts/lib/dawn.js";
import { attend } from "../../web/src/api/attention.js";
import { OpenDevice } from "../../web/src/backends/webgpu/device.js";
import type { GpuAdapterInfo } from "../../web/src/backends/webgpu/gpu.js";
import { GpuBackend } from "../../web/src/backends/webgpu/gpu-backend.js";
import { type Case, caseOf, EVERYTHING, type EverythingResult, firstError, type Sizes } from "../support/cases.js";
import { openBackend } from "../support/engines.js";
import { WGSL } from "../support/error-model.js";
import { f16Case } from "../support/f16-case.js";
import { testDevice } from "../support/gpu-device.js";
import { runLanes } from "../support/lanes.js";
import { Random } from "../support/random.js";

export interface Findings {
  readonly features: readonly string[];
  /** The adapter's own description; some have none. */
  readonly description: string;
  /** Lanes of a subgroup; 0: the adapter does not say. */
  readonly lanes: number;
  readonly checked: number;
  /** Kernels that were compiled, with the features that their shaders ask for. */
  readonly kernels: readonly string[];
  /** Eight threads shared by subgroup operations. */
  readonly byLanes: boolean;
  readonly wrong: readonly string[];
  readonly uncaptured: readonly string[];
}

const SEED = 20261124;

/** Sizes for which plans differ: one row, few rows, KV splits, long rows, many rows. */
const SHAPES: readonly Sizes[] = [
  { batch: 1, heads: 4, kvHeads: 2, queryLength: 1, keyLength: 600, headDim: 8, valueDim: 8 },
  { batch: 1, heads: 1, kvHeads: 1, queryLength: 3, keyLength: 530, headDim: 4, valueDim: 6 },
  { batch: 1, heads: 1, kvHeads: 1, queryLength: 5, keyLength: 9, headDim: 136, valueDim: 132 },
  { batch: 1, heads: 4, kvHeads: 2, queryLength: 40, keyLength: 70, headDim: 7, valueDim: 5 },
  { batch: 2, heads: 1, kvHeads: 1, queryLength: 20, keyLength: 75, headDim: 8, valueDim: 8 },
  { batch: 1, heads: 1, kvHeads: 1, queryLength: 130, keyLength: 65, headDim: 16, valueDim: 12 },
];

/** Sizes for which kernels differ whose threads share what they read: several rows together and KV splits, queries that do not stay in workgroup memory. */
const SHARED_SHAPES: readonly Sizes[] = [
  { batch: 1, heads: 6, kvHeads: 1, queryLength: 1, keyLength: 600, headDim: 36, valueDim: 20 },
  { batch: 1, heads: 2, kvHeads: 1, queryLength: 33, keyLength: 90, headDim: 68, valueDim: 36 },
];

function problems(shapes: readonly Sizes[]): readonly Case[] {
  const random = new Random(SEED);
  return shapes.map((sizes, index) => {
    const drawn = caseOf(random, `seed ${SEED} shape ${index}`, sizes);
    // Blocks would run on wasm.
    const { blocks: _blocks, ...options } = drawn.options;
    return { ...drawn, options };
  });
}

const { HEED_DAWN, HEED_FEATURES = "", HEED_KERNELS = "all" } = process.env;
const isShort = HEED_KERNELS === "shared";
if (HEED_DAWN !== undefined) await openDawn(HEED_DAWN);
const { device, uncaptured } = await testDevice(HEED_FEATURES.split(" "));
const info = device.adapterInfo as GpuAdapterInfo | undefined;
const wasm = await openBackend({ variant: "simd", worker: null });
const wrong: string[] = [];
const kernels = new Set<string>();
let checked = 0;

const compile = device.createShaderModule;
device.createShaderModule = (descriptor) => {
  const { label = "", code } = descriptor;
  const asked = [...code.matchAll(/^enable (\w+);/gm)].map(([, feature]) => feature);
  if (/untiled|tiles|decode/.test(label)) kernels.add([label.replace("heed ", ""), ...asked].join(" "));
  return compile.call(device, descriptor);
};

const subgroups = device.features.has("subgroups");
const eights = await Promise.all([32, 64, 128].map((threads) => runLanes(device, threads, subgroups)));
wrong.push(...eights.flatMap((one) => one.wrong));

/** Plans for a software adapter, and for a GPU, whose threads share what they read. */
for (const isSoftware of isShort ? [false] : [true, false]) {
  const open = new OpenDevice(
    device,
    false,
    isSoftware ? ({ ...info, isFallbackAdapter: true } as GpuAdapterInfo) : undefined,
  );
  const backend = new GpuBackend({ wasm, costs: null, open, reopen: null });
  const check = async (one: Case, inputs: Readonly<Record<string, unknown>>): Promise<void> => {
    const got = await attend(backend, inputs as never, { ...one.options, ...EVERYTHING });
    const error = firstError(one, got as EverythingResult, WGSL);
    checked += 1;
    if (error !== null) wrong.push(`${isSoftware ? "each thread for itself" : "shared"}: ${error}`);
  };
  for (const one of problems([...(isShort ? [] : SHAPES), ...(isSoftware ? [] : SHARED_SHAPES)])) {
    const { query, key, value } = one;
    await check(one, { query, key, value });
    const { rounded, inputs } = f16Case(one);
    await check(rounded, inputs);
  }
}

const findings: Findings = {
  features: [...device.features].filter((feature) => HEED_FEATURES.includes(feature)).sort(),
  description: info?.description ?? "",
  lanes: Number(Reflect.get(info ?? {}, "subgroupMinSize") ?? 0),
  checked,
  kernels: [...kernels].sort(),
  byLanes: eights.every(({ byLanes }) => byLanes),
  wrong,
  uncaptured,
};
console.log(JSON.stringify(findings));
// Dawn's devices keep Node from ending.
process.exit(0);
