// heed on a GPU from Node, through Dawn: GFLOP/s of attention, beside a plain tiled GEMM on the same device.
// node bench/gpu/run.js [--shapes=16x4096x64,16x4096x128] [--size=2048] [--dawn=the npm package "webgpu", or where it lies]

import { createHeed } from "../../dist/index.js";
import { openDawn } from "../../scripts/lib/dawn.js";
import { matmulRate } from "./matmul.js";

const REPEATS = 5;
const defaults = { shapes: "16x4096x64,16x4096x128,8x1024x64,8x1:4096x64", size: "2048", dawn: "webgpu" };
/** @type {Record<keyof typeof defaults, string>} */
const wishes = { ...defaults };
for (const argument of process.argv.slice(2)) {
  const [, name = "", value = ""] = /^--(\w+)=(.+)$/.exec(argument) ?? [];
  if (!(name in defaults)) throw new Error(`bench/gpu: no option is called ${argument}`);
  Object.assign(wishes, { [name]: value });
}

const gpu = await openDawn(wishes.dawn);
/** A new adapter for every device: an adapter gives only one. */
async function newAdapter() {
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter !== null) return adapter;
  throw new Error("bench/gpu: Dawn found no adapter: it needs a Vulkan driver, and VK_DRIVER_FILES to name it");
}

const adapter = await newAdapter();
const { vendor, architecture, description } = adapter.info;
console.log(`adapter: ${vendor} ${architecture} ${description}`);

const size = Number(wishes.size);
const peak = await matmulRate(await newAdapter(), size, REPEATS);
console.log(`matmul ${size}: ${peak.toFixed(1)} GFLOP/s`);

const { maxBufferSize, maxStorageBufferBindingSize, maxComputeWorkgroupStorageSize } = adapter.limits;
const device = await adapter.requestDevice({
  requiredFeatures: ["shader-f16", "subgroups"].filter((feature) => adapter.features.has(feature)),
  requiredLimits: { maxBufferSize, maxStorageBufferBindingSize, maxComputeWorkgroupStorageSize },
});
const heed = await createHeed({ backend: "webgpu", device });
for (const shape of wishes.shapes.split(",")) {
  const [, heads = 0, queries = 0, keys = queries, dim = 0] = (/^(\d+)x(\d+)(?::(\d+))?x(\d+)$/.exec(shape) ?? []).map(
    (text) => (text === undefined ? undefined : Number(text)),
  );
  for (const causal of [false, true]) {
    const { rate, plan } = await attentionRate({ heads, queries, keys, dim, causal });
    const name = `${shape}${causal ? " causal" : ""}`;
    const share = `${((100 * rate) / peak).toFixed(0)}% of the GEMM`;
    console.log(`attention ${name}: ${rate.toFixed(1)} GFLOP/s, ${share}, ${plan}`);
  }
}
heed.dispose();
process.exit(0);

/** @param {{ heads: number, queries: number, keys: number, dim: number, causal: boolean }} shape */
async function attentionRate({ heads, queries, keys, dim, causal }) {
  const tensor = (/** @type {number} */ length) =>
    heed.tensor(
      Float32Array.from({ length: heads * length * dim }, () => Math.random() - 0.5),
      [heads, length, dim],
    );
  const [query, key, value] = [tensor(queries), tensor(keys), tensor(keys)];
  // A result that stays on the device is returned when its call is queued, and is computed when the queue is done.
  const run = async () => {
    const { output } = await heed.attention(query, key, value, { causal, keep: true });
    await device.queue.onSubmittedWorkDone();
    output.dispose();
  };
  const plan = heed.explain(query, key, value, { causal }).reasons.at(-1);
  await run();
  const ms = await fastest(run);
  for (const one of [query, key, value]) one.dispose();
  let pairs = queries * keys;
  if (causal) {
    pairs = 0;
    for (let i = 0; i < queries; i++) pairs += Math.max(0, Math.min(keys, i + 1 + keys - queries));
  }
  return { rate: (4 * heads * pairs * dim) / ms / 1e6, plan };
}

/** Milliseconds. @param {() => Promise<void>} run */
async function fastest(run) {
  let best = Number.POSITIVE_INFINITY;
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const start = performance.now();
    await run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}
