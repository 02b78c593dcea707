// A machine for plans, which need no GPU.

import type { GpuLimits } from "../../web/src/backends/webgpu/gpu.js";
import type { Machine } from "../../web/src/backends/webgpu/plan.js";

/** WebGPU's defaults, which every adapter has. */
export const LIMITS: GpuLimits = {
  maxBufferSize: 256 * 2 ** 20,
  maxStorageBufferBindingSize: 128 * 2 ** 20,
  maxStorageBuffersPerShaderStage: 8,
  maxComputeWorkgroupStorageSize: 16_384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupsPerDimension: 65_535,
};

export const MACHINE: Machine = { limits: LIMITS, isSoftware: false, f16: false, subgroups: false };
