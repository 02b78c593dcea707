// Passes calls on to WebAssembly until one is so large that the GPU backend is loaded, and to that from then on.

import { causeText } from "./api/errors.js";
import type {
  AttentionComputed,
  AttentionProblem,
  Backend,
  BackendReport,
  DType,
  Explanation,
  ExtraCall,
  MemoryReport,
  Resident,
  Span,
} from "./backends/backend.js";
import type { OpenGpu } from "./webgpu.js";

/** Multiplications of Q K^T from which on the GPU is worth opening: some milliseconds of WebAssembly. */
const LARGE = 2 ** 26;

export class LazyGpu implements Backend {
  #backend: Backend;
  readonly #device: object | null;
  #opening: Promise<void> | null = null;
  #gpu: OpenGpu | null = null;
  /** Why there is no GPU, after opening one failed. */
  #refusal: readonly string[] = [];
  #disposed = false;

  constructor(wasm: Backend, device: object | null) {
    this.#backend = wasm;
    this.#device = device;
  }

  /** Opens the GPU once. Rejects with HeedError `unsupported`. */
  open(mode: "auto" | "webgpu"): Promise<void> {
    this.#opening ??= this.#load(mode);
    return this.#opening;
  }

  async #load(mode: "auto" | "webgpu"): Promise<void> {
    const { openGpu } = await import("./webgpu.js");
    const gpu = await openGpu(this.#backend, mode, this.#device);
    if (this.#disposed) gpu.backend.dispose();
    this.#gpu = gpu;
    this.#backend = gpu.backend;
  }

  /** A large call opens the GPU, and does not wait for it. */
  attention(problem: AttentionProblem, signal: AbortSignal | null): Promise<AttentionComputed> {
    const { query, key } = problem;
    if (query.elements * key.shape[2] > LARGE) {
      this.open("auto").catch((error: unknown) => {
        this.#refusal = [causeText(error)];
      });
    }
    return this.#backend.attention(problem, signal);
  }

  attentionSync(problem: AttentionProblem): AttentionComputed {
    return this.#backend.attentionSync(problem);
  }

  report(): BackendReport {
    const report = this.#backend.report();
    return { ...report, reasons: [...report.reasons, ...this.#refusal] };
  }

  explain(problem: AttentionProblem): Explanation {
    return this.#backend.explain(problem);
  }

  upload(data: Float32Array | Uint16Array): Resident {
    return this.#backend.upload(data);
  }

  zeros(elements: number, dtype: DType): Resident {
    return this.#backend.zeros(elements, dtype);
  }

  adopt(buffer: object, elements: number, dtype: DType): Resident | undefined {
    return this.#backend.adopt?.(buffer, elements, dtype);
  }

  extra(...call: ExtraCall): Promise<unknown> | null {
    return this.#gpu?.extra(this, ...call) ?? null;
  }

  download(resident: Resident): Promise<Float32Array | Uint16Array> {
    return this.#backend.download(resident);
  }

  free(resident: Resident): void {
    this.#backend.free(resident);
  }

  page(bytes: number): Resident {
    return this.#backend.page(bytes);
  }

  bytesOf(where: string, resident: Resident): Uint8Array<ArrayBuffer> {
    return this.#backend.bytesOf(where, resident);
  }

  changed(resident: Resident, spans: readonly Span[]): void {
    this.#backend.changed(resident, spans);
  }

  memory(): MemoryReport {
    return this.#backend.memory();
  }

  dispose(): void {
    this.#disposed = true;
    this.#backend.dispose();
  }
}
