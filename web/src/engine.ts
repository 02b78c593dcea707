// The composition root: probe -> select -> load -> backend. Only this file knows every backend.

import { attend, attendSync, check } from "./api/attention.js";
import type { CacheOptions, KVCache } from "./api/cache-types.js";
import type { Capabilities, Heed } from "./api/heed.js";
import { product, readShape, readTensorData } from "./api/operands.js";
import type {
  LinearOptions,
  LinearResult,
  RelativeKeysOptions,
  RelativeValuesOptions,
  RopeOptions,
} from "./api/operations/options.js";
import type { AttentionVjp, AttentionVjpOptions, LinearGradients, LinearVjpOptions } from "./api/operations/vjp.js";
import {
  type AttentionOptions,
  type CreateOptions,
  TENSOR_OPTIONS,
  type TensorInput,
  type TensorOptions,
} from "./api/options.js";
import { type ReadCreateOptions, readCreateOptions } from "./api/read-create-options.js";
import type { AnyAttentionResult, AttentionResult, NoAttentionOptions, NoOptions, Returned } from "./api/results.js";
import { type ArrayTensor, Tensor } from "./api/tensor.js";
import {
  type AttentionProblem,
  type Backend,
  type DType,
  ENGINE,
  type Explanation,
  type MemoryReport,
} from "./backends/backend.js";
import { compileOverride, importsMemory } from "./backends/wasm/binary.js";
import { MODULES } from "./backends/wasm/inlined.js";
import { WasmBackend } from "./backends/wasm/wasm-backend.js";
import { causeText, HeedError } from "./base/errors.js";
import { guard, guardAsync } from "./base/guard.js";
import { isRecord, readChoice, readRecord } from "./base/read-values.js";
import { type HalfArray, plainDType } from "./base/typed-array.js";
import { LazyOperations, type Name } from "./lazy-operations.js";
import { DISPOSE } from "./memory/disposable.js";
import { ATTENTION } from "./operations/attention.js";
import { type Features, features } from "./platform/features.js";
import { autoThreads, select } from "./platform/select.js";

/** Multiplications of Q K^T from which on the GPU is worth opening: some milliseconds of WebAssembly. */
const LARGE = 2 ** 26;

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
  const backend = await WasmBackend.open(choice, {
    workerUrl,
    workerFactory,
    threads,
    cores: found.cores,
    offload: read.offload,
    grain: null,
    compiled,
    modules: MODULES,
  });
  const { backend: mode, device } = read;
  const isLazy = mode === "auto" && device === null;
  const engine = { backend, operations: new LazyOperations() };
  const opensGpu = isLazy && "gpu" in (globalThis.navigator ?? {});
  if (isLazy || mode === "wasm") return new Engine(engine, found, opensGpu);
  try {
    await addGpu(engine, mode, device);
  } catch (error) {
    backend.dispose();
    throw error;
  }
  return new Engine(engine, found, opensGpu);
}

/** What computes: a GPU may join it later. */
interface Parts {
  backend: Backend;
  readonly operations: LazyOperations;
}

/** From then on a GPU computes what it is faster at; tensors stay where they are. Rejects with HeedError `unsupported` where there is none. */
async function addGpu(parts: Parts, mode: "auto" | "webgpu", device: object | null): Promise<void> {
  const [{ openGpu }] = await Promise.all([import("./gpu.js"), parts.operations.load("createHeed")]);
  const gpu = await openGpu(parts.backend, mode, device);
  if (parts.operations.disposed) gpu.dispose();
  parts.backend = gpu;
}

class Engine implements Heed {
  readonly #parts: Parts;
  readonly #features: Features;
  /** Whether the first large call is to open a GPU. */
  #opensGpu: boolean;
  /** Why there is no GPU, after opening one failed. */
  readonly #refusals: string[] = [];

  constructor(parts: Parts, found: Features, opensGpu: boolean) {
    this.#parts = parts;
    this.#features = found;
    this.#opensGpu = opensGpu;
  }

  /** A large call opens the GPU, and does not wait for it. Tensors stay where they are. */
  #watch({ query, key }: AttentionProblem): void {
    if (!this.#opensGpu || query.elements * key.shape[2] <= LARGE) return;
    this.#opensGpu = false;
    addGpu(this.#parts, "auto", null).catch((error: unknown) => {
      this.#refusals.push(causeText(error));
    });
  }

  get #backend(): Backend {
    return this.#parts.backend;
  }

  get capabilities(): Capabilities {
    const { simd, relaxedSimd, sharedMemory, isolated, cores } = this.#features;
    const report = this.#backend.report();
    const reasons = [...report.reasons, ...this.#refusals];
    return { simd, relaxedSimd, sharedMemory, isolated, cores, webgpu: null, ...report, reasons };
  }

  attention<const O extends AttentionOptions = NoAttentionOptions>(
    query: TensorInput,
    key: TensorInput,
    value: TensorInput,
    options?: O,
  ): Promise<AttentionResult<O>>;
  attention(query: unknown, key: unknown, value: unknown, options?: unknown): Promise<AnyAttentionResult> {
    return attend(this.#backend, { query, key, value }, options, (problem) => this.#watch(problem));
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
    const { problem } = check("explain", this.#backend, { query, key, value }, options).checked;
    return this.#backend.explain(ATTENTION, problem);
  }

  #run<N extends Name>(
    name: N,
    tensors: readonly unknown[],
    options: unknown,
  ): ReturnType<typeof LazyOperations.prototype.run<N>> {
    return this.#parts.operations.run(this.#backend, name, { tensors, options });
  }

  attentionVjp<const O extends AttentionVjpOptions = NoAttentionOptions>(
    query: TensorInput,
    key: TensorInput,
    value: TensorInput,
    options?: O,
  ): Promise<AttentionVjp<O>>;
  attentionVjp(query: unknown, key: unknown, value: unknown, options?: unknown): Promise<unknown> {
    return this.#run("attentionVjp", [query, key, value], options);
  }

  rope<const O extends RopeOptions = NoOptions>(x: TensorInput, options?: O): Promise<Returned<O>>;
  rope(x: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.#run("rope", [x], options);
  }

  linearAttention<const O extends LinearOptions>(
    query: TensorInput,
    key: TensorInput,
    value: TensorInput,
    options: O,
  ): Promise<LinearResult<O>>;
  linearAttention(query: unknown, key: unknown, value: unknown, options: unknown): Promise<unknown> {
    return this.#run("linearAttention", [query, key, value], options);
  }

  linearAttentionVjp<const O extends LinearVjpOptions>(
    query: TensorInput,
    key: TensorInput,
    value: TensorInput,
    options: O,
  ): Promise<LinearGradients<O>>;
  linearAttentionVjp(query: unknown, key: unknown, value: unknown, options: unknown): Promise<unknown> {
    return this.#run("linearAttentionVjp", [query, key, value], options);
  }

  relativeKeys<const O extends RelativeKeysOptions = NoOptions>(
    q: TensorInput,
    table: TensorInput,
    options?: O,
  ): Promise<Returned<O>>;
  relativeKeys(q: unknown, table: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.#run("relativeKeys", [q, table], options);
  }

  relativeValues<const O extends RelativeValuesOptions = NoOptions>(
    weights: TensorInput,
    table: TensorInput,
    options?: O,
  ): Promise<Returned<O>>;
  relativeValues(weights: unknown, table: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.#run("relativeValues", [weights, table], options);
  }

  /** Called by heed/layers, which may come from another entry of the package. */
  [ENGINE](): Backend {
    this.#parts.operations.assertUsable("heed/layers");
    return this.#backend;
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
    const { createCache } = await this.#parts.operations.load("createCache");
    return createCache(this.#backend, options);
  }

  #adopt(buffer: object, shape: readonly number[], options: TensorOptions | undefined): Tensor {
    const { sizes, dtype } = readSizes("tensor", shape, options);
    const resident = this.#backend.adopt?.(buffer, product(sizes), dtype);
    if (resident !== undefined) return new Tensor(this.#backend, resident, sizes);
    throw new HeedError("unsupported", "tensor: a GPUBuffer needs an engine with its device");
  }

  memory(): MemoryReport {
    return this.#backend.memory();
  }

  dispose(): void {
    this.#parts.operations.dispose();
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
