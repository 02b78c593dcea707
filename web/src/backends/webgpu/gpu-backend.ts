// The backend that wraps the wasm backend: it sends each call to the GPU, or to wasm if wasm is faster or the GPU does not support the call.

import { HeedError } from "../../base/errors.js";
import { ROPE, type RopeProblem } from "../../operations/rope.js";
import type {
  AttentionComputed,
  AttentionProblem,
  Backend,
  BackendReport,
  Computed,
  DType,
  Explanation,
  MemoryReport,
  Operation,
  Resident,
  RootBackend,
  Span,
} from "../backend.js";
import { CallOrder } from "./call-order.js";
import { type Choice, choose } from "./choose.js";
import { type Costs, isSoonerThanAnyOnGpu } from "./costs.js";
import type { OpenDevice } from "./device.js";
import { runOnGpu } from "./gpu-call.js";
import { residentsOf, snapshot } from "./operands.js";
import { mostBytes } from "./plan.js";
import { givenOf, planRope } from "./plan-rope.js";
import { RecoveringDevice, type Reopen } from "./recovery.js";
import { isGpuResident, Residency } from "./residency.js";
import { bytesOf } from "./residents.js";
import { RopeAngleCache } from "./rope-angles.js";
import { UNSUPPORTED, unsupported } from "./support.js";

/** The most sentences about calls on wasm that `capabilities` keeps. */
const MOST_REASONS = 20;

export interface GpuBackendOptions {
  readonly wasm: Backend;
  /** Null: every call that the GPU supports runs there, and tensors live there. */
  readonly costs: Costs | null;
  readonly open: OpenDevice;
  readonly reopen: Reopen;
}

export class GpuBackend implements Backend {
  readonly #wasm: Backend;
  readonly #costs: Costs | null;
  readonly #device: RecoveringDevice;
  readonly #residency: Residency;
  readonly #order: CallOrder;
  readonly #fallbacks = new Set<string>();
  readonly #angles = new RopeAngleCache();
  #disposed = false;

  constructor({ wasm, costs, open, reopen }: GpuBackendOptions) {
    this.#wasm = wasm;
    this.#costs = costs;
    this.#residency = new Residency(wasm);
    this.#order = new CallOrder((computed) => this.#residency.freeResults(computed));
    this.#device = new RecoveringDevice(open, reopen);
  }

  get root(): RootBackend {
    return this.#wasm.root;
  }

  report(): BackendReport {
    const report = this.#wasm.report();
    const { open, losses } = this.#device;
    const reasons = [...report.reasons, ...losses, ...this.#fallbacks];
    const isGpu = this.#costs === null && open !== null;
    return { ...report, backend: isGpu ? "webgpu" : "wasm", webgpu: open?.info ?? null, reasons };
  }

  explain(problem: AttentionProblem): Explanation {
    const { backend, reasons, plan } = this.#choose(problem);
    return { backend, reasons: plan === null ? reasons : [...reasons, plan.summary] };
  }

  /** The buffers of its device. For tests. */
  get pool(): OpenDevice["pool"] | null {
    return this.#device.open?.pool ?? null;
  }

  attention(problem: AttentionProblem, signal: AbortSignal | null): Promise<AttentionComputed> {
    this.#assertUsable("attention");
    if (this.#isForWasmAlone(problem)) {
      const computing = this.#wasm.attention(problem, signal);
      this.#order.precede(computing);
      return computing;
    }
    return this.#order.inOrder("attention", this.#compute(problem, signal), signal);
  }

  run<P extends object>(operation: Operation<P>, problem: P, signal: AbortSignal | null): Promise<readonly Computed[]> {
    this.#assertUsable(operation.name);
    const computing = isRope(operation, problem) ? this.#rope(problem, signal) : null;
    if (computing !== null) return computing;
    return this.onRoot(operation.name, problem, (own) => this.#wasm.run(operation, own, signal));
  }

  onRoot<P extends object, C>(operation: string, problem: P, run: (own: P) => Promise<C>): Promise<C> {
    this.#leave(operation);
    return this.#residency.onWasm(problem, run);
  }

  /** Null: wasm computes it. */
  #rope(problem: RopeProblem, signal: AbortSignal | null): Promise<readonly Computed[]> | null {
    const { open } = this.#device;
    const isHere = residentsOf({ input: problem.input }).some(isGpuResident);
    if (open === null || (this.#costs !== null && !isHere)) return null;
    const plan = planRope(problem, this.#angles.of(problem), open.machine);
    if (plan.tooLarge !== null || problem.input.elements === 0) {
      const why = plan.tooLarge === null ? UNSUPPORTED.size.none : `too large for the GPU: ${plan.tooLarge}`;
      this.#noteFallback([`rope runs on wasm: ${why}`]);
      return null;
    }
    const run = (given: RopeProblem): Promise<readonly Computed[]> => {
      const computing = this.#residency.onGpu(open, givenOf(given), (own) => runOnGpu(open, own, plan));
      return this.#order.inOrder("rope", computing, signal).then(({ output }) => [output], asRopeError);
    };
    return this.#again(problem, run, (kept) => this.run(ROPE, kept, signal));
  }

  attentionSync(problem: AttentionProblem): AttentionComputed {
    this.#leave("attentionSync");
    return this.#wasm.attentionSync(this.#residency.mirrored(problem));
  }

  upload(data: Float32Array | Uint16Array): Resident {
    const open = this.#deviceFor(data.byteLength);
    return open === null ? this.#wasm.upload(data) : this.#residency.upload(open, data);
  }

  adopt(buffer: object, elements: number, dtype: DType): Resident {
    this.#assertUsable("tensor");
    const { open } = this.#device;
    if (open === null) throw new HeedError("device-lost", "tensor: the GPU device of the buffer is lost");
    return this.#residency.adopt(open, buffer, elements, dtype);
  }

  zeros(elements: number, dtype: DType): Resident {
    const open = this.#deviceFor(elements * bytesOf(dtype));
    if (open === null) return this.#wasm.zeros(elements, dtype);
    return this.#residency.upload(open, dtype === "f16" ? new Uint16Array(elements) : new Float32Array(elements));
  }

  download(resident: Resident): Promise<Float32Array | Uint16Array> {
    return this.#residency.download(resident);
  }

  free(resident: Resident): void {
    this.#residency.free(resident);
  }

  page(bytes: number): Resident {
    return this.#wasm.page(bytes);
  }

  bytesOf(where: string, resident: Resident): Uint8Array<ArrayBuffer> {
    if (!isGpuResident(resident)) return this.#wasm.bytesOf(where, resident);
    throw new HeedError("unsupported", `${where}: keys and values of a cache cannot be tensors that live on the GPU`);
  }

  changed(resident: Resident, spans: readonly Span[]): void {
    this.#wasm.changed(resident, spans);
  }

  memory(): MemoryReport {
    const report = this.#wasm.memory();
    return {
      ...report,
      gpu: this.pool?.report().bytes ?? 0,
      tensors: report.tensors + this.#residency.count,
      tensorBytes: report.tensorBytes + this.#residency.bytes,
    };
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#order.dispose();
    this.#residency.freeAll();
    this.#device.dispose();
    this.#wasm.dispose();
  }

  #choose(problem: AttentionProblem): Choice {
    const { open, losses } = this.#device;
    if (open !== null) return choose(problem, open.machine, this.#costs);
    const reasons = [losses.at(-1) ?? "the GPU device is lost"];
    return { backend: "wasm", reasons, plan: null, isFallback: true };
  }

  /** Whether wasm computes the call in less time than comparing costs takes: a small call that waits for no other, with tensors in wasm. */
  #isForWasmAlone(problem: AttentionProblem): boolean {
    if (this.#costs === null || this.#device.open === null) return false;
    if (this.#order.isBusy || this.#residency.count > 0) return false;
    return isSoonerThanAnyOnGpu(this.#costs, problem) && unsupported(problem).length === 0;
  }

  /** Reads arrays before it returns. */
  #compute(problem: AttentionProblem, signal: AbortSignal | null): Promise<AttentionComputed> {
    const { open } = this.#device;
    const { plan, isFallback, reasons } = this.#choose(problem);
    if (open === null || plan === null) {
      if (isFallback) this.#noteFallback(reasons);
      return this.#residency.onWasm(problem, (own) => this.#wasm.attention(own, signal));
    }
    const run = (given: AttentionProblem): Promise<AttentionComputed> =>
      this.#residency.onGpu(open, given, (own) => runOnGpu(open, own, plan));
    return this.#again(problem, run, (kept) => this.#compute(kept, signal));
  }

  /** Runs a call on the GPU and, with `retry`, again where its device is lost meanwhile. Arrays are read before this returns. */
  #again<P extends { readonly retry: boolean }, C>(
    problem: P,
    run: (problem: P) => Promise<C>,
    repeat: (problem: P) => Promise<C>,
  ): Promise<C> {
    if (!problem.retry) return run(problem);
    const kept = snapshot(problem);
    return run(kept).catch(async (error: unknown) => {
      if (!isRepeatable(error, kept)) throw error;
      await this.#device.replaced;
      return repeat(kept);
    });
  }

  /** Notes in `capabilities` that wasm computes an operation. */
  #leave(operation: string): void {
    const why = Object.entries(UNSUPPORTED.operation).find(([name]) => name === operation)?.[1];
    if (why !== undefined) this.#noteFallback([`${operation} runs on wasm: ${why}`]);
  }

  /** The device that tensors of so many bytes live on; null if wasm has them, as it has what the GPU could not bind. */
  #deviceFor(bytes: number): OpenDevice | null {
    const open = this.#costs === null ? this.#device.open : null;
    return open !== null && bytes <= mostBytes(open.machine.limits) ? open : null;
  }

  #noteFallback(reasons: readonly string[]): void {
    for (const reason of reasons) if (this.#fallbacks.size < MOST_REASONS) this.#fallbacks.add(reason);
  }

  #assertUsable(where: string): void {
    if (this.#disposed) throw new HeedError("disposed", `${where}: the engine was disposed`);
  }
}

/** A call can be made again after the loss of its device, unless its tensors lived there or were freed since. */
function isRepeatable(error: unknown, problem: object): boolean {
  const isLoss = error instanceof HeedError && error.code === "device-lost";
  return isLoss && residentsOf(problem).every((resident) => !isGpuResident(resident) && resident.live);
}

function isRope(operation: { readonly name: string }, problem: object): problem is RopeProblem {
  return operation.name === ROPE.name && "rotaryDim" in problem;
}

/** Errors of the shared code name attention, which makes most calls. */
function asRopeError(error: unknown): never {
  if (!(error instanceof HeedError)) throw error;
  throw new HeedError(error.code, error.message.replace(/^attention:/, "rope:"), { cause: error.cause });
}
