// What is loaded when a GPU is wanted: the backend that computes there, around the one that computes in WebAssembly.

import { HeedError } from "./api/errors.js";
import type { Backend } from "./backends/backend.js";
import { adoptDevice, openDevice } from "./backends/webgpu/device.js";
import type { Gpu, GpuDevice } from "./backends/webgpu/gpu.js";
import { GpuBackend } from "./backends/webgpu/gpu-backend.js";

/** `device` is the caller's; null: one of heed's own is made. Rejects with HeedError `unsupported` where there is none. */
export async function openGpu(wasm: Backend, mode: "auto" | "webgpu", device: object | null): Promise<GpuBackend> {
  if (device !== null) return GpuBackend.open({ wasm, mode, open: adoptDevice(asDevice(device)), reopen: null });
  const reopen = (): ReturnType<typeof openDevice> => openDevice(hostGpu());
  return GpuBackend.open({ wasm, mode, open: await reopen(), reopen });
}

function hostGpu(): Gpu | undefined {
  const { navigator } = globalThis as { readonly navigator?: { readonly gpu?: Gpu } };
  return navigator?.gpu;
}

function asDevice(device: object): GpuDevice {
  if ("createComputePipelineAsync" in device && "queue" in device) return device as GpuDevice;
  throw new HeedError("option", "createHeed: device must be a GPUDevice");
}
