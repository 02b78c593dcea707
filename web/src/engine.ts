// The composition root: probe -> select -> load -> backend. Only this file knows every backend.

import { attend, attendSync, check } from "./api/attention.js";
import type { Capabilities, Heed } from "./api/heed.js";
import { product, readShape, readTensorData } from "./api/operands.js";
import { type CreateOptions, TENSOR_OPTIONS, type TensorOptions } from "./api/options.js";
import { type ReadCreateOptions, readCreateOptions } from "./api/read-create-options.js";
import type { AnyAttentionResult } from "./api/results.js";
import { Tensor } from "./api/tensor.js";
import {
  type AttentionProblem,
  type Backend,
  type DType,
  ENGINE,
  type Explanation,
  type MemoryReport,
} from "./backends/backend.js";
import { MODULES } from "./backends/wasm/inlined.js";
import { WasmBackend } from "./backends/wasm/wasm-backend.js";
import { causeText, HeedError } from "./base/errors.js";
import { guard, guardAsync } from "./base/guard.js";
import { isRecord, readChoice, readRecord } from "./base/read-values.js";
import { type HalfArray, plainDType } from "./base/typed-array.js";
import { assertUsable, type FunctionName, lazyMethods, load, type Parts } from "./functions.js";
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
  const { url, binary, module, workerUrl, workerFactory } = read.wasm;
  const isGiven = [url, binary, module].some((one) => one !== null);
  const given = isGiven ? await (await import("./backends/wasm/given-binary.js")).compileGiven(read.wasm) : null;
  const choice = select(found, {
    variant: read.variant,
    offload: read.offload !== false,
    importsMemory: given?.importsMemory ?? null,
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
    compiled: given?.compiled ?? null,
    modules: MODULES,
  });
  const { backend: mode, device } = read;
  const isLazy = mode === "auto" && device === null;
  const parts = { backend, isDisposed: false };
  const opensGpu = isLazy && "gpu" in (globalThis.navigator ?? {});
  if (isLazy || mode === "wasm") return engineOf(parts, found, opensGpu);
  try {
    await addGpu(parts, mode, device);
  } catch (error) {
    backend.dispose();
    throw error;
  }
  return engineOf(parts, found, opensGpu);
}

/** From then on a GPU computes what it is faster at; tensors stay where they are. Rejects with HeedError `unsupported` where there is none. */
async function addGpu(parts: Parts, mode: "auto" | "webgpu", device: object | null): Promise<void> {
  // What a GPU computes beside attention is there before the GPU, so that calls reach it in the order in which they are made.
  const [{ openGpu }] = await Promise.all([import("./gpu.js"), load("rope")]);
  const gpu = await openGpu(parts.backend, mode, device);
  if (parts.isDisposed) gpu.dispose();
  parts.backend = gpu;
}

/** An engine has the methods of its table beside those of its class. What they return follows from their options, which TypeScript cannot see here. */
function engineOf(parts: Parts, found: Features, opensGpu: boolean): Heed {
  return Object.assign(new Engine(parts, found, opensGpu), lazyMethods(parts)) as Heed;
}

class Engine implements Omit<Heed, FunctionName | "attentionSync"> {
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

  attention(query: unknown, key: unknown, value: unknown, options?: unknown): Promise<AnyAttentionResult> {
    return attend(this.#backend, { query, key, value }, options, (problem) => this.#watch(problem));
  }

  attentionSync(query: unknown, key: unknown, value: unknown, options?: unknown): AnyAttentionResult {
    return attendSync(this.#backend, { query, key, value }, options);
  }

  explain(query: unknown, key: unknown, value: unknown, options?: unknown): Explanation {
    const { problem } = check("explain", this.#backend, { query, key, value }, options).checked;
    return this.#backend.explain(ATTENTION, problem);
  }

  /** Called by heed/layers, which may come from another entry of the package. */
  [ENGINE](): Backend {
    assertUsable("heed/layers", this.#parts);
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
    this.#parts.isDisposed = true;
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
