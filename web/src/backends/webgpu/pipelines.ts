// Kernels compiled, each once a device: shaders are composed from their records, and compiled off the calling thread.

import { causeText, HeedError } from "../../base/errors.js";
import { COMPUTE, type GpuDevice } from "./gpu.js";
import { type Kernel, kernelKey } from "./kernel.js";
import {
  attentionBindings,
  combineBindings,
  combineShader,
  decodeShader,
  tilesShader,
  untiledShader,
} from "./shaders/attention.js";
import { type Bound, enabled } from "./shaders/common.js";
import { pairsBindings, pairsShader } from "./shaders/pairs.js";
import { prepareBindings, prepareShader } from "./shaders/prepare.js";
import { ropeBindings, ropeShader } from "./shaders/rope.js";

export interface Pipeline {
  readonly pipeline: object;
  readonly layout: object;
}

export class Pipelines {
  readonly #device: GpuDevice;
  readonly #made = new Map<string, Promise<Pipeline>>();

  constructor(device: GpuDevice) {
    this.#device = device;
  }

  get count(): number {
    return this.#made.size;
  }

  /** Rejects with HeedError `load`; what failed is tried again when it is asked for again. */
  get(where: string, kernel: Kernel): Promise<Pipeline> {
    const key = kernelKey(kernel);
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const preparation = this.#compile(where, kernel).catch((error: unknown) => {
      this.#made.delete(key);
      throw error;
    });
    this.#made.set(key, preparation);
    return preparation;
  }

  async #compile(where: string, kernel: Kernel): Promise<Pipeline> {
    const { code, bound } = shaderOf(kernel);
    this.#device.pushErrorScope("validation");
    const module = this.#device.createShaderModule({ code, label: `heed ${kernel.kind}` });
    const layout = this.#device.createBindGroupLayout({ entries: layoutEntries(bound) });
    const whole = this.#device.createPipelineLayout({ bindGroupLayouts: [layout] });
    const refused = this.#device.popErrorScope();
    try {
      const compute = { module, entryPoint: "main" };
      const pipeline = this.#device.createComputePipelineAsync({ layout: whole, compute });
      const error = await refused;
      if (error !== null) {
        await pipeline.catch(() => {});
        throw new Error(error.message);
      }
      return { pipeline: await pipeline, layout };
    } catch (cause) {
      throw new HeedError("load", `${where}: the GPU refused its ${kernel.kind} kernel: ${causeText(cause)}`, {
        cause,
      });
    }
  }
}

export function shaderOf(kernel: Kernel): { readonly code: string; readonly bound: readonly Bound[] } {
  const [code, bound] = textOf(kernel);
  return { code: `${enabled(code, bound)}${code}`, bound };
}

function textOf(kernel: Kernel): readonly [string, readonly Bound[]] {
  switch (kernel.kind) {
    case "untiled":
      return [untiledShader(kernel), attentionBindings(kernel)];
    case "tiles":
      return [tilesShader(kernel), attentionBindings(kernel)];
    case "decode":
      return [decodeShader(kernel), attentionBindings(kernel)];
    case "combine":
      return [combineShader(kernel), combineBindings(kernel)];
    case "pairs":
      return [pairsShader(kernel), pairsBindings(kernel)];
    case "prepare":
      return [prepareShader(kernel), prepareBindings(kernel)];
    case "rope":
      return [ropeShader(kernel), ropeBindings(kernel)];
  }
}

function layoutEntries(bound: readonly Bound[]): readonly object[] {
  const uniform = { binding: 0, visibility: COMPUTE, buffer: { type: "uniform" } };
  const storage = bound.map(({ access }, index) => {
    const type = access === "read" ? "read-only-storage" : "storage";
    return { binding: index + 1, visibility: COMPUTE, buffer: { type } };
  });
  return [uniform, ...storage];
}
