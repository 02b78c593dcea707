// The backend that wraps the wasm backend: it sends each call to the GPU, or to wasm if wasm is faster or the GPU does not support the call.

import { HeedError } from "../../base/errors.js";
import type {
  Backend,
  BackendReport,
  Computed,
  CoreOperation,
  DType,
  Explanation,
  MemoryReport,
  Operation,
  Resident,
  RootBackend,
} from "../backend.js";
import { CallOrder } from "./call-order.js";
import type { Choice } from "./choose.js";
import type { Costs } from "./costs.js";
import type { OpenDevice } from "./device.js";
import { runOnGpu } from "./gpu-call.js";
import { residentsOf, snapshot } from "./operands.js";
import { mostBytes } from "./plan.js";
import { type Planner, Planners } from "./planners.js";
import { RecoveringDevice, type Reopen } from "./recovery.js";
import { isGpuResident, Residency } from "./residency.js";
import { bytesOf } from "./residents.js";
import { UNSUPPORTED } from "./support.js";

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
  readonly #planners = new Planners();
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

  explain<P extends object>(operation: Operation<P>, problem: P): Explanation {
    const planner = this.#planners.of(operation);
    if (planner === undefined) return { backend: "wasm", reasons: reasonsOf(operation.name) };
    const { backend, reasons, plan } = this.#choose(planner, problem);
    return { backend, reasons: plan === null ? reasons : [...reasons, plan.summary] };
  }

  /** The buffers of its device. For tests. */
  get pool(): OpenDevice["pool"] | null {
    return this.#device.open?.pool ?? null;
  }

  run<P extends object>(operation: Operation<P>, problem: P, signal: AbortSignal | null): Promise<readonly Computed[]> {
    const { name } = operation;
    this.#assertUsable(name);
    const planner = this.#planners.of(operation);
    if (planner === undefined) return this.onRoot(name, problem, (own) => this.#wasm.run(operation, own, signal));
    if (this.#isForWasmAlone(planner, problem)) {
      const computing = this.#wasm.run(operation, problem, signal);
      this.#order.precede(computing);
      return computing;
    }
    return this.#order.inOrder(name, this.#compute(operation, planner, problem, signal), signal);
  }

  onRoot<P extends object, C>(operation: string, problem: P, run: (own: P) => Promise<C>): Promise<C> {
    this.#noteFallback(reasonsOf(operation));
    return this.#residency.onWasm(operation, problem, run);
  }

  runSync<P extends object>(operation: CoreOperation<P>, problem: P): readonly Computed[] {
    this.#noteFallback(reasonsOf(`${operation.name}Sync`));
    return this.#wasm.runSync(operation, this.#residency.mirrored(operation.name, problem));
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

  #choose<P extends object>(planner: Planner<P>, problem: P): Choice {
    const { open, losses } = this.#device;
    if (open !== null) return planner.choose(problem, open.machine, this.#costs);
    const reasons = [losses.at(-1) ?? "the GPU device is lost"];
    return { backend: "wasm", reasons, plan: null, isFallback: true };
  }

  /** Whether a call that waits for no other, with tensors in wasm, runs there without another look. */
  #isForWasmAlone<P extends object>(planner: Planner<P>, problem: P): boolean {
    if (this.#costs === null || this.#device.open === null) return false;
    return !this.#order.isBusy && this.#residency.count === 0 && planner.isForWasm(problem, this.#costs);
  }

  /** Reads arrays before it returns. */
  #compute<P extends object>(
    operation: Operation<P>,
    planner: Planner<P>,
    problem: P,
    signal: AbortSignal | null,
  ): Promise<readonly Computed[]> {
    const { name } = operation;
    const { open } = this.#device;
    const { plan, isFallback, reasons } = this.#choose(planner, problem);
    if (open === null || plan === null) {
      if (isFallback) this.#noteFallback(reasons);
      return this.#residency.onWasm(name, problem, (own) => this.#wasm.run(operation, own, signal));
    }
    const run = (given: P): Promise<readonly Computed[]> =>
      this.#residency.onGpu(open, name, planner.givenOf(given), (own) => runOnGpu(open, name, own, plan));
    return this.#again(name, problem, run, (kept) => this.#compute(operation, planner, kept, signal));
  }

  /** Runs a call on the GPU and, with `retry`, again where its device is lost meanwhile. Arrays are read before this returns. */
  #again<P extends object, C>(
    where: string,
    problem: P,
    run: (problem: P) => Promise<C>,
    repeat: (problem: P) => Promise<C>,
  ): Promise<C> {
    if (!("retry" in problem && problem.retry)) return run(problem);
    const kept = snapshot(where, problem);
    return run(kept).catch(async (error: unknown) => {
      if (!isRepeatable(error, kept)) throw error;
      await this.#device.replaced;
      return repeat(kept);
    });
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

/** Why wasm computes a function of the engine. */
function reasonsOf(name: string): readonly string[] {
  const why = Object.entries(UNSUPPORTED.operation).find(([operation]) => operation === name)?.[1];
  return why === undefined ? [] : [`${name} runs on wasm: ${why}`];
}
