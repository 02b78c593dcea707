// One forward pass. It owns the tensors that are made on its way, and frees them at its end, except for the results.

import { denseView } from "../api/layout.js";
import { product } from "../api/operands.js";
import { type AnyAttentionResult, resultOf } from "../api/results.js";
import { Tensor } from "../api/tensor.js";
import type {
  AttentionProblem,
  Backend,
  ModuleName,
  Operand,
  Operation,
  OutputView,
  Program,
  Resident,
} from "../backends/backend.js";
import { HeedError } from "../base/errors.js";
import { ATTENTION, attentionResults } from "../operations/attention.js";
import { placed, type Rows } from "../operations/rows.js";
import type { AttentionRule, RecordedAttention } from "./attention-rule.js";
import { lastOf } from "./axes.js";
import type { HeldCaches } from "./cache-locks.js";
import type { WeightFormat } from "./formats/format.js";
import type { Kept, Parameter, ResidentParameter } from "./parameters.js";
import { take } from "./take.js";
import { type Recorded, readsOf, type Tape } from "./tape.js";
import type { Watch } from "./watch.js";

export interface AttentionTensors {
  readonly query: Tensor;
  readonly key: Tensor;
  readonly value: Tensor;
}

/** What all scopes of a pass share. */
export interface PassContext {
  readonly backend: Backend;
  readonly program: Program;
  readonly signal: AbortSignal | null;
  readonly held: HeldCaches;
  /** Tensors that were given up. The pass frees them should it fail after all. */
  readonly released: Tensor[];
  /** What computes it. */
  readonly module: ModuleName;
  /** Absent where the pass is not to be differentiated. */
  readonly tape?: Tape;
  /** Absent where nothing is looked at or changed on the way. */
  readonly watch?: Watch;
  /** Absent where nothing is dropped. */
  readonly drops?: Drops;
  /** Is told of every tensor of the pass. */
  readonly onMade?: (tensor: Tensor) => void;
}

/** What drops numbers in a pass that learns, by seeds in the order in which they are asked for. */
export interface Drops {
  /** Another one of 32 bits each time. */
  seed(): number;
  /** Makes what begins anew with the same seeds, as often as it is called. */
  fork(): () => Drops;
  drop(scope: Scope, x: Tensor, p: number): Promise<Tensor>;
}

export class Scope {
  /** The engine's, to which kept results belong. */
  readonly backend: Backend;
  readonly signal: AbortSignal | null;
  /** The caches of which the pass has the lock. */
  readonly held: HeldCaches;
  /** Where the pass is to be differentiated. Its tensors then stay until it ends. */
  readonly tape: Tape | null;
  /** What the pass looks at and changes on its way. */
  readonly watch: Watch | null;
  /** Where the pass learns. */
  readonly drops: Drops | null;
  readonly #program: Program;
  readonly #context: PassContext;
  readonly #made = new Set<Tensor>();

  constructor(context: PassContext) {
    this.backend = context.backend;
    this.#program = context.program;
    this.signal = context.signal;
    this.held = context.held;
    this.tape = context.tape ?? null;
    this.watch = context.watch ?? null;
    this.drops = context.drops ?? null;
    this.#context = context;
  }

  /** A scope within the pass, which frees its tensors at its own end, except for the results. */
  async inner<R>(
    act: (scope: Scope) => Promise<R>,
    resultsOf: (result: R) => readonly (Tensor | undefined)[],
    tape = this.tape,
    drops = this.drops,
  ): Promise<R> {
    const scope = new Scope({ ...this.#context, ...(tape && { tape }), ...(drops && { drops }) });
    try {
      const result = await act(scope);
      for (const tensor of resultsOf(result))
        if (tensor !== undefined && scope.#made.delete(tensor)) this.#made.add(tensor);
      return result;
    } finally {
      if (tape === null || tape !== this.tape) scope.close();
      else for (const tensor of scope.#made) this.#made.add(tensor);
    }
  }

  /** The same for a block of layers, which the backward pass may compute again: `act` must give the same results each time. */
  async block<R>(
    act: (scope: Scope) => Promise<R>,
    resultsOf: (result: R) => readonly (Tensor | undefined)[],
  ): Promise<R> {
    const fork = this.tape?.fork() ?? null;
    const drops = this.drops?.fork();
    if (fork === null) return this.inner(act, resultsOf, this.tape, drops?.());
    const result = await this.inner(act, resultsOf, fork.tape, drops?.());
    const madeOf = (made: R): readonly Resident[] =>
      resultsOf(made).flatMap((tensor) => (tensor === undefined ? [] : [this.#residentOf(tensor)]));
    fork.record({
      again: (tape, use) =>
        this.inner(
          async (scope) => use(madeOf(await act(scope))),
          () => [],
          tape,
          drops?.(),
        ),
      made: madeOf(result),
    });
    return result;
  }

  /** The same pass, which looks at something on its way. */
  watching<R>(watch: Watch, act: (scope: Scope) => Promise<R>): Promise<R> {
    return this.#within({ watch }, act);
  }

  /** A call within the pass. What it drops depends on the calls that began before, and not on those under way. */
  called<R>(act: (scope: Scope) => Promise<R>): Promise<R> {
    return this.drops === null ? act(this) : this.#within({ drops: this.drops.fork()() }, act);
  }

  #within<R>(change: Partial<PassContext>, act: (scope: Scope) => Promise<R>): Promise<R> {
    const scope = new Scope({ ...this.#context, ...change });
    return act(scope).finally(() => {
      for (const tensor of scope.#made) this.#made.add(tensor);
    });
  }

  /** A scope with one result. */
  one(act: (scope: Scope) => Promise<Tensor>): Promise<Tensor> {
    return this.inner(act, (tensor) => [tensor]);
  }

  /** Where the pass learns, a share p of the numbers becomes 0, and the others grow; elsewhere they stay as they are. */
  async dropout(x: Tensor, p: number): Promise<Tensor> {
    return this.drops === null || !dropsAny(p) ? x : this.drops.drop(this, x, p);
  }

  /** Gives up a tensor when it is computed. It then outlives the pass. */
  async release(tensor: Tensor): Promise<Tensor> {
    await this.#program.flush();
    if (!this.#made.has(tensor)) return tensor;
    const resident = this.#residentOf(tensor);
    await this.#program.bring([resident]);
    if (!this.#made.delete(tensor)) return tensor;
    const released = new Tensor(this.backend, this.#program.keep(resident), tensor.shape);
    this.#context.released.push(released);
    return released;
  }

  /** Frees a tensor of this pass before its end. */
  drop(tensor: Tensor): void {
    if (this.tape === null && this.#made.delete(tensor)) tensor.dispose();
  }

  close(): void {
    for (const tensor of this.#made) tensor.dispose();
    this.#made.clear();
  }

  /** A tensor of this pass. */
  upload(data: Float32Array, shape: readonly number[]): Tensor {
    return this.#own(this.#program.upload(data), shape);
  }

  /** A tensor of the caller's in the engine of the pass, as f32. Arrays are read before this returns. */
  take(where: string, name: string, value: unknown): Tensor | Promise<Tensor> {
    return take(this, where, name, value);
  }

  /** A parameter's resident, which nobody frees before the pass ends. */
  async parameter(parameter: Parameter, where: string): Promise<ResidentParameter> {
    const { tape } = this;
    if (parameter.format !== "f32" && this.#context.module !== "narrow") throw unforeseen(where, parameter.format);
    const find = (): Promise<Kept> => tape?.use(parameter, where) ?? parameter.residentIn(this.backend, where);
    let kept = await find();
    // Where it learns meanwhile, there may be a newer one. A pass that is differentiated holds those that it began with.
    while (tape === null && !kept.resident.live && parameter.variable !== null) kept = await find();
    if (kept.resident.live) this.#program.hold(kept.resident);
    return { parameter, ...kept, count: 1, length: product(parameter.shape) };
  }

  /** Runs an operation, whose results have these shapes. `parameters` are those among its operands. */
  async run<P extends object>(
    operation: Operation<P>,
    problem: P,
    shapes: readonly (readonly number[])[],
    parameters: readonly (ResidentParameter | null)[] = [],
  ): Promise<readonly Tensor[]> {
    const record = this.#recording(operation, problem, parameters);
    const made = (await this.#program.run(operation, problem)).map(({ resident }) => resident);
    const tensors = made.map((resident, at) => this.#own(resident, shapes[at] ?? []));
    record?.(made);
    return tensors;
  }

  /** Runs an operation of one result. */
  async make<P extends object>(
    operation: Operation<P>,
    problem: P,
    shape: readonly number[],
    parameters?: readonly (ResidentParameter | null)[],
  ): Promise<Tensor> {
    const [tensor] = await this.run(operation, problem, [shape], parameters);
    if (tensor === undefined) throw new TypeError("a call of one result had none");
    return tensor;
  }

  /** Attention, with a KV cache where the rule has one. Its results are in the engine's memory. */
  async attention(where: string, tensors: AttentionTensors, rule: AttentionRule): Promise<AnyAttentionResult> {
    const { problem, shapes, output, trees, cache } = rule;
    const at = (name: keyof AttentionTensors): Operand => placed(problem[name], this.#residentOf(tensors[name]));
    const isKept = this.tape !== null && problem.normalizer === "softmax";
    const lse = problem.lse ?? (isKept ? lseOf(problem) : null);
    const placedProblem = { ...problem, query: at("query"), key: at("key"), value: at("value"), lse };
    const recorded: RecordedAttention = { ...placedProblem, trees };
    const record = this.#recording(ATTENTION, recorded);
    const program = this.#program;
    const computed =
      cache === null
        ? attentionResults(placedProblem, await program.run(ATTENTION, placedProblem))
        : await cache.attend(where, program, placedProblem);
    const result = resultOf(program, problem.lse === null ? { ...computed, lse: null } : computed, shapes, output);
    const parts = Object.values(result).filter((part) => part instanceof Tensor);
    for (const part of parts) this.#take(part);
    const { output: made } = result;
    if (!(made instanceof Tensor)) return result;
    const kept = computed.lse?.kind === "resident" ? [computed.lse.resident] : [];
    if (problem.lse === null) for (const resident of kept) this.#own(resident, [resident.elements]);
    record?.([this.#residentOf(made), ...kept]);
    const others = this.needs(made) ? parts.filter((part) => part !== made) : [];
    for (const part of others) this.tape?.cut(this.#residentOf(part));
    return result;
  }

  /** A tensor as rows, which are its last axis. */
  rows(x: Tensor): Rows {
    const resident = this.#residentOf(x);
    const length = lastOf(x);
    return { resident, count: length === 0 ? 0 : resident.elements / length, length };
  }

  /** Whether a gradient goes through a tensor. */
  needs(x: Tensor): boolean {
    return this.tape?.needs(this.#residentOf(x)) ?? false;
  }

  /** What records a call, given its results. Operands are read before it, because the caller may dispose of a tensor meanwhile. */
  #recording<P extends object>(
    operation: Recorded<P>,
    problem: P,
    parameters: readonly (ResidentParameter | null)[] = [],
  ): ((made: readonly Resident[]) => void) | null {
    const { tape } = this;
    if (tape === null) return null;
    const reads = readsOf(operation, problem);
    return (made) => tape.record({ operation, problem, reads, made, parameters });
  }

  #residentOf(x: Tensor): Resident {
    return Tensor.residentOf(x, this.#program, "heed/layers: a tensor");
  }

  #own(resident: Resident, shape: readonly number[]): Tensor {
    return this.#take(new Tensor(this.#program, resident, shape));
  }

  #take(tensor: Tensor): Tensor {
    this.#made.add(tensor);
    this.#context.onMade?.(tensor);
    return tensor;
  }
}

/** Whether a share is large enough to be one of 2^32 places. */
export const dropsAny = (p: number): boolean => p * 2 ** 32 >= 1;

/** A pass stays in the module in which it began. */
function unforeseen(where: string, format: WeightFormat): HeedError {
  const rule = `${where} must be f32 in a pass that began with f32 alone`;
  return new HeedError("option", `${rule}, got ${format}: load it before, and make its layer a part of the model`);
}

/** Room for the lse, which the backward pass needs. */
function lseOf({ query: { shape } }: AttentionProblem): OutputView {
  const [batch, heads, length] = shape;
  return { elements: batch * heads * length, ...denseView("bhnd", [batch, heads, length, 1]) };
}
