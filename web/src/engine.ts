// The composition root: probe -> select -> load -> backend. Only this file knows every backend.

import { attend, attendSync, check } from "./api/attention.js";
import type { CacheOptions, KVCache } from "./api/cache/types.js";
import { HeedError } from "./api/errors.js";
import type {
  LinearOptions,
  LinearResult,
  RelativeKeysOptions,
  RelativeValuesOptions,
  RopeOptions,
} from "./api/extra/options.js";
import { guard, guardAsync } from "./api/guard.js";
import type { Capabilities, Heed } from "./api/heed.js";
import { product, readShape, readTensorData } from "./api/operands.js";
import {
  type AttentionOptions,
  type CreateOptions,
  TENSOR_OPTIONS,
  type TensorInput,
  type TensorOptions,
} from "./api/options.js";
import { type ReadCreateOptions, readCreateOptions } from "./api/read-create-options.js";
import { isRecord, readChoice, readRecord } from "./api/read-values.js";
import type { AnyAttentionResult, AttentionResult, NoAttentionOptions, NoOptions, Returned } from "./api/results.js";
import { type ArrayTensor, Tensor } from "./api/tensor.js";
import { type HalfArray, plainDType } from "./api/typed-array.js";
import type { Backend, DType, Explanation, MemoryReport } from "./backends/backend.js";
import { LAYERS, type LayerBackend } from "./backends/layer-backend.js";
import { compileOverride, importsMemory } from "./backends/wasm/binary.js";
import { VARIANTS } from "./backends/wasm/inlined.js";
import { WasmBackend } from "./backends/wasm/wasm-backend.js";
import { LazyExtra } from "./lazy-extra.js";
import { LazyGpu } from "./lazy-gpu.js";
import { DISPOSE } from "./memory/disposable.js";
import { type Features, features } from "./platform/features.js";
import { autoThreads, select } from "./platform/select.js";

/** Makes an engine. Rejects with HeedError `option`, `unsupported` or `load`. */
export async function createHeed(options?: CreateOptions): Promise<Heed> {
  const read = guard("option", "createHeed: reading its options", () => readCreateOptions(options));
  return guardAsync("load", "createHeed: opening an engine", async () => openEngine(read, await features()));
}

/** Makes the engine for a machine with these features. Tests pass other features than this machine's. */
export async function openEngine(read: ReadCreateOptions, found: Features): Promise<Heed> {
  const compiled = await compileOverride(read.wasm);
  const { workerUrl, workerFactory } = read.wasm;
  const choice = select(found, {
    variant: read.variant,
    offload: read.offload !== false,
    importsMemory: compiled && importsMemory(compiled),
    ownWorkers: workerUrl !== null || workerFactory !== null,
  });
  if (choice.ladder.length === 0) {
    throw new HeedError("unsupported", `createHeed: heed cannot run here: ${choice.reasons.join("; ")}`);
  }
  const threads = read.threads === "auto" ? autoThreads(found.cores) : read.threads;
  const overrides = { workerUrl, workerFactory, threads, cores: found.cores, offload: read.offload, grain: null };
  const backend = await WasmBackend.open(choice, { ...overrides, compiled, variants: VARIANTS });
  const routed = await withGpu(backend, read);
  return new Engine(routed, new LazyExtra(routed, choice, overrides), found);
}

/** "auto" opens a GPU at the first large call, unless it was given a device. */
async function withGpu(wasm: Backend, { backend, device }: ReadCreateOptions): Promise<Backend> {
  const isLazy = backend === "auto" && device === null;
  if (backend === "wasm" || (isLazy && !("gpu" in (globalThis.navigator ?? {})))) return wasm;
  const gpu = new LazyGpu(wasm, device);
  if (isLazy) return gpu;
  try {
    await gpu.open(backend);
  } catch (error) {
    wasm.dispose();
    throw error;
  }
  return gpu;
}

class Engine implements Heed {
  readonly #backend: Backend;
  readonly #extra: LazyExtra;
  readonly #features: Features;

  constructor(backend: Backend, extra: LazyExtra, found: Features) {
    this.#backend = backend;
    this.#extra = extra;
    this.#features = found;
  }

  get capabilities(): Capabilities {
    const { simd, relaxedSimd, sharedMemory, isolated, cores } = this.#features;
    return { simd, relaxedSimd, sharedMemory, isolated, cores, webgpu: null, ...this.#backend.report() };
  }

  attention<const O extends AttentionOptions = NoAttentionOptions>(
    query: TensorInput,
    key: TensorInput,
    value: TensorInput,
    options?: O,
  ): Promise<AttentionResult<O>>;
  attention(query: unknown, key: unknown, value: unknown, options?: unknown): Promise<AnyAttentionResult> {
    return attend(this.#backend, { query, key, value }, options);
  }

  attentionSync<const O extends AttentionOptions = NoAttentionOptions>(
    query: TensorInput,
    key: TensorInput,
    value: TensorInput,
    options?: O,
  ): AttentionResult<O>;
  attentionSync(query: unknown, key: unknown, value: unknown, options?: unknown): AnyAttentionResult {
    return attendSync(this.#backend, { query, key, value }, options);
  }

  explain(query: unknown, key: unknown, value: unknown, options?: unknown): Explanation {
    return this.#backend.explain(check("explain", this.#backend, { query, key, value }, options).checked.problem);
  }

  rope<const O extends RopeOptions = NoOptions>(x: TensorInput, options?: O): Promise<Returned<O>>;
  rope(x: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.#extra.run("rope", { tensors: [x], options });
  }

  linearAttention<const O extends LinearOptions>(
    query: TensorInput,
    key: TensorInput,
    value: TensorInput,
    options: O,
  ): Promise<LinearResult<O>>;
  linearAttention(query: unknown, key: unknown, value: unknown, options: unknown): Promise<unknown> {
    return this.#extra.run("linearAttention", { tensors: [query, key, value], options });
  }

  relativeKeys<const O extends RelativeKeysOptions = NoOptions>(
    q: TensorInput,
    table: TensorInput,
    options?: O,
  ): Promise<Returned<O>>;
  relativeKeys(q: unknown, table: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.#extra.run("relativeKeys", { tensors: [q, table], options });
  }

  relativeValues<const O extends RelativeValuesOptions = NoOptions>(
    weights: TensorInput,
    table: TensorInput,
    options?: O,
  ): Promise<Returned<O>>;
  relativeValues(weights: unknown, table: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.#extra.run("relativeValues", { tensors: [weights, table], options });
  }

  /** Called by heed/layers, which may come from another entry of the package. */
  [LAYERS](): Promise<LayerBackend> {
    return this.#extra.layers();
  }

  tensor(
    data: Float32Array | HalfArray | Uint16Array | GPUBuffer,
    shape: readonly number[],
    options?: TensorOptions,
  ): Tensor {
    const doing = "tensor: reading its arguments";
    if (guard("option", doing, () => isRecord(data) && "mapAsync" in data)) return this.#adopt(data, shape, options);
    const { numbers, sizes } = guard("option", doing, () => {
      const { dtype } = readRecord("tensor", "options", options, TENSOR_OPTIONS);
      return readTensorData("tensor", data, shape, dtype);
    });
    return guard("memory", "tensor: copying", () => new Tensor(this.#backend, this.#backend.upload(numbers()), sizes));
  }

  zeros(shape: readonly number[], options?: TensorOptions): Tensor {
    const { sizes, dtype } = readSizes("zeros", shape, options);
    return guard("memory", "zeros: making them", () => {
      return new Tensor(this.#backend, this.#backend.zeros(product(sizes), dtype), sizes);
    });
  }

  async createCache(options: CacheOptions): Promise<KVCache> {
    return guardAsync("load", "createCache: loading its code", async () => {
      const { createCache } = await import("./extra.js");
      this.#extra.assertUsable("createCache");
      return createCache(this.#backend, options);
    });
  }

  #adopt(buffer: object, shape: readonly number[], options: TensorOptions | undefined): Tensor {
    const { sizes, dtype } = readSizes("tensor", shape, options);
    const resident = this.#backend.adopt?.(buffer, product(sizes), dtype);
    if (resident !== undefined) return new Tensor(this.#backend, resident, sizes);
    throw new HeedError("unsupported", "tensor: a GPUBuffer needs an engine with its device");
  }

  memory(): MemoryReport {
    return this.#extra.memory();
  }

  dispose(): void {
    this.#extra.dispose();
    this.#backend.dispose();
  }

  [DISPOSE](): void {
    this.dispose();
  }
}

function readSizes(where: string, shape: unknown, options: unknown): { sizes: readonly number[]; dtype: DType } {
  return guard("option", `${where}: reading its arguments`, () => {
    const given = readRecord(where, "options", options, TENSOR_OPTIONS);
    const dtype = readChoice(where, "dtype", plainDType(given["dtype"]), ["f32", "f16"], "f32");
    return { sizes: readShape(where, "shape", shape), dtype };
  });
}
