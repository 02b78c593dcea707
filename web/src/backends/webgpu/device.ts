// A GPU device, heed's own or the caller's, with what lives as long as it does: pipelines, pooled buffers, and the news of its loss.

import { causeText, HeedError } from "../../base/errors.js";
import { BufferPool } from "./buffer-pool.js";
import { Ending } from "./ending.js";
import type { Gpu, GpuAdapter, GpuAdapterInfo, GpuDevice } from "./gpu.js";
import { Pipelines } from "./pipelines.js";
import type { Machine } from "./plan.js";
import { adapterName, tuningsOf } from "./tuning.js";

const WANTED_LIMITS = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxComputeWorkgroupStorageSize",
] as const;

const WANTED_FEATURES = ["shader-f16", "subgroups"] as const;

const LEAST_BUFFERS = 8;

/** What `capabilities.webgpu` says. */
export interface DeviceInfo {
  readonly vendor: string;
  readonly architecture: string;
  readonly f16: boolean;
  readonly subgroups: boolean;
}

export class OpenDevice {
  readonly device: GpuDevice;
  readonly isOwn: boolean;
  readonly info: DeviceInfo;
  /** The name under which tunings are kept. */
  readonly adapter: string;
  readonly machine: Machine;
  readonly pool: BufferPool;
  readonly pipelines: Pipelines;
  /** Ends with HeedError `device-lost` when the device is lost. */
  readonly loss = new Ending();

  constructor(device: GpuDevice, isOwn: boolean, info: GpuAdapterInfo | undefined) {
    this.device = device;
    this.isOwn = isOwn;
    this.info = {
      vendor: info?.vendor ?? "",
      architecture: info?.architecture ?? "",
      f16: device.features.has("shader-f16"),
      subgroups: device.features.has("subgroups"),
    };
    this.adapter = adapterName(info);
    const tunings = tuningsOf(this.adapter);
    const { f16, subgroups } = this.info;
    this.machine = {
      limits: device.limits,
      isSoftware: info !== undefined && isSoftware(info),
      f16,
      subgroups,
      tunings,
    };
    this.pool = new BufferPool(device);
    this.pipelines = new Pipelines(device);
    void device.lost.then(({ reason, message }) => {
      const why = message === "" ? (reason ?? "unknown") : message;
      this.loss.end(new HeedError("device-lost", `the GPU device is lost: ${why}`));
    });
  }

  dispose(): void {
    this.pool.dispose();
    if (this.isOwn) this.device.destroy();
  }
}

/**
 * Browsers mark a software adapter with the flag; Dawn and older browsers only name it. lavapipe does not count as one, because it compiles
 * the kernels for GPUs in less time than those for software adapters, and runs them faster.
 */
function isSoftware({ isFallbackAdapter, architecture, description }: GpuAdapterInfo): boolean {
  const name = `${architecture} ${description}`;
  return !/llvmpipe/i.test(name) && (isFallbackAdapter === true || /swiftshader|basic render/i.test(name));
}

/** A device of heed's own. Rejects with HeedError `unsupported`. */
export async function openDevice(gpu: Gpu | undefined): Promise<OpenDevice> {
  const fail = (why: string, cause?: unknown): never => {
    throw new HeedError("unsupported", `createHeed: WebGPU cannot be used here: ${why}`, { cause });
  };
  if (gpu === undefined) return fail("there is no navigator.gpu");
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) return fail("no adapter was found");
  const { maxStorageBuffersPerShaderStage: buffers } = adapter.limits;
  if (buffers < LEAST_BUFFERS) return fail(`its adapter binds ${buffers} buffers, heed needs ${LEAST_BUFFERS}`);
  try {
    return new OpenDevice(await requestDevice(adapter), true, adapter.info);
  } catch (cause) {
    return fail(`its adapter gave no device: ${causeText(cause)}`, cause);
  }
}

function requestDevice(adapter: GpuAdapter): Promise<GpuDevice> {
  return adapter.requestDevice({
    requiredFeatures: WANTED_FEATURES.filter((feature) => adapter.features.has(feature)),
    requiredLimits: Object.fromEntries(WANTED_LIMITS.map((name) => [name, adapter.limits[name]])),
  });
}

/** Wraps the caller's device. */
export function adoptDevice(device: GpuDevice): OpenDevice {
  return new OpenDevice(device, false, device.adapterInfo);
}
