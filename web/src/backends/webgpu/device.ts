// A GPU device, heed's own or the caller's, and what lives as long as it does: pipelines, buffers, the knowledge that it is lost.

import { causeText, HeedError } from "../../api/errors.js";
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
  /** What tunings go by. */
  readonly adapter: string;
  readonly machine: Machine;
  readonly pool: BufferPool;
  readonly pipelines: Pipelines;
  /** Comes with HeedError `device-lost` when it is. */
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
      this.loss.come(new HeedError("device-lost", `attention: the GPU device is lost: ${why}`));
    });
  }

  dispose(): void {
    this.pool.dispose();
    if (this.isOwn) this.device.destroy();
  }
}

/**
 * Browsers tell a software adapter by the flag, Dawn and older ones only by what it is called. Not meant is lavapipe, which compiles what suits
 * GPUs in less time than the rest, and runs it faster.
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

/** Around the caller's. */
export function adoptDevice(device: GpuDevice): OpenDevice {
  return new OpenDevice(device, false, device.adapterInfo);
}
