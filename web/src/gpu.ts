// The chunk that is loaded when a GPU is wanted: the WebGPU backend, which passes on to the WebAssembly backend what it does not
// compute, and the autotuning of its kernels.

import { check } from "./api/attention.js";
import type { Backend } from "./backends/backend.js";
import { type AutotuneOptions, tune } from "./backends/webgpu/autotune.js";
import { type MakeZeros, measureCosts } from "./backends/webgpu/costs.js";
import { adoptDevice, openDevice } from "./backends/webgpu/device.js";
import type { Gpu, GpuDevice } from "./backends/webgpu/gpu.js";
import { GpuBackend } from "./backends/webgpu/gpu-backend.js";
import type { Tuned } from "./backends/webgpu/tuning.js";
import { HeedError } from "./base/errors.js";
import { isRecord } from "./base/read-values.js";

/**
 * `device` is the caller's; null: heed makes one. Mode "auto" measures both backends for some milliseconds first. Rejects with
 * HeedError `unsupported` when there is no GPU.
 */
export async function openGpu(wasm: Backend, mode: "auto" | "webgpu", device: object | null): Promise<Backend> {
  const reopen = device === null ? () => openDevice(hostGpu()) : null;
  const open = await (device === null ? openDevice(hostGpu()) : adoptDevice(asDevice(device)));
  const costs = mode === "auto" ? await measureCosts(open, wasm, zeroProblem) : null;
  return new GpuBackend({ wasm, costs, open, reopen });
}

/** Measures on the caller's device, or where it is undefined on one that is opened for this. */
export async function tuneOn(device: unknown, sizes: AutotuneOptions): Promise<Tuned> {
  if (device !== undefined) return tune(adoptDevice(asDevice(device)), sizes, zeroProblem);
  const open = await openDevice(hostGpu());
  try {
    return await tune(open, sizes, zeroProblem);
  } finally {
    open.dispose();
  }
}

/** Checked like a caller's call, so that what measures knows none of the options. */
const zeroProblem: MakeZeros = ({ heads, kvHeads, queries, keys, headDim, valueDim }, causal) => {
  const zeros = (count: number, length: number, dim: number) => ({
    data: new Float32Array(count * length * dim),
    shape: [count, length, dim],
  });
  const tensors = {
    query: zeros(heads, queries, headDim),
    key: zeros(kvHeads, keys, headDim),
    value: zeros(kvHeads, keys, valueDim),
  };
  return check("autotune", null, tensors, { causal }).checked.problem;
};

function hostGpu(): Gpu | undefined {
  const { navigator } = globalThis as { readonly navigator?: { readonly gpu?: Gpu } };
  return navigator?.gpu;
}

function asDevice(device: unknown): GpuDevice {
  // What else a device must be is found out by using it.
  if (isRecord(device) && "createComputePipelineAsync" in device && "queue" in device) return device as never;
  throw new HeedError("option", "createHeed: device must be a GPUDevice");
}
