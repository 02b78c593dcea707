// One forward pass. It owns the tensors that are made on its way, and frees them at its end, except for the results.

import type { HeldCache } from "../api/cache-types.js";
import { denseView } from "../api/layout.js";
import { product, readTensor } from "../api/operands.js";
import type { Rotation } from "../api/operations/rotation.js";
import { type AnyAttentionResult, resultOf } from "../api/results.js";
import { type ArrayTensor, Tensor } from "../api/tensor.js";
import type {
  AttentionProblem,
  Backend,
  Operand,
  Operation,
  OutputView,
  Program,
  Resident,
} from "../backends/backend.js";
import { showShape, showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { fromF16 } from "../base/f16.js";
import { AFFINE } from "../operations/affine.js";
import { ATTENTION, attentionResults } from "../operations/attention.js";
import { GATHER } from "../operations/gather.js";
import { GRU } from "../operations/gru.js";
import { NORM } from "../operations/norm.js";
import { type Activation, POINTWISE, type PointwiseRule } from "../operations/pointwise.js";
import { ROPE } from "../operations/rope.js";
import type { Rows } from "../operations/rows.js";
import { type AttentionRule, placed } from "./attention-rule.js";
import type { HeldCaches } from "./cache-locks.js";
import type { Parameter } from "./parameters.js";
import { isReadable, readWhole } from "./readable.js";
import type { Tape } from "./tape.js";

/** The epilogue of a product: an activation, then a factor, then an addend. */
export interface Epilogue {
  readonly activation?: Activation;
  readonly factor?: Tensor | null;
  readonly addend?: Tensor | null;
  readonly leading?: readonly number[];
}

/** A parameter in the engine's memory, with its number of elements. */
export interface ResidentParameter {
  readonly parameter: Parameter;
  readonly resident: Resident;
  readonly length: number;
}

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
  /** Absent where the pass is not to be differentiated. */
  readonly tape?: Tape;
}

export class Scope {
  /** The engine's, to which kept results belong. */
  readonly backend: Backend;
  readonly signal: AbortSignal | null;
  /** Where the pass is to be differentiated. Its tensors then stay until it ends. */
  readonly tape: Tape | null;
  readonly #program: Program;
  readonly #context: PassContext;
  readonly #made = new Set<Tensor>();

  constructor(context: PassContext) {
    this.backend = context.backend;
    this.#program = context.program;
    this.signal = context.signal;
    this.tape = context.tape ?? null;
    this.#context = context;
  }

  /** A scope within the pass, which frees its tensors at its own end, except for the results. */
  async inner<R>(
    act: (scope: Scope) => Promise<R>,
    resultsOf: (result: R) => readonly (Tensor | undefined)[],
    tape = this.tape,
  ): Promise<R> {
    const scope = new Scope({ ...this.#context, ...(tape && { tape }) });
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
    if (fork === null) return this.inner(act, resultsOf);
    const result = await this.inner(act, resultsOf, fork);
    const tensorsOf = (made: R): readonly Tensor[] => resultsOf(made).filter((one) => one !== undefined);
    this.tape?.record({
      kind: "block",
      again: (tape, use) =>
        this.inner(
          async (scope) => use(tensorsOf(await act(scope))),
          () => [],
          tape,
        ),
      made: tensorsOf(result),
    });
    return result;
  }

  /** A scope with one result. */
  one(act: (scope: Scope) => Promise<Tensor>): Promise<Tensor> {
    return this.inner(act, (tensor) => [tensor]);
  }

  /** Gives up a tensor when it is computed. It then outlives the pass. */
  async release(tensor: Tensor): Promise<Tensor> {
    await this.#program.flush();
    if (!this.#made.delete(tensor)) return tensor;
    const released = new Tensor(this.backend, this.#program.keep(this.#residentOf(tensor)), tensor.shape);
    this.#context.released.push(released);
    return released;
  }

  close(): void {
    for (const tensor of this.#made) tensor.dispose();
    this.#made.clear();
  }

  /** A loss of x with its gradient, which are the results of the operation. */
  async loss<P extends object>(x: Tensor, operation: Operation<P>, problem: P): Promise<Tensor> {
    const [loss, gradient] = await this.#run(operation, problem, [[], x.shape]);
    if (loss === undefined || gradient === undefined) throw new TypeError("a loss has a gradient");
    this.tape?.record({ kind: "loss", x, gradient: this.#residentOf(gradient), made: [loss] });
    return loss;
  }

  /** Brings an argument of the caller into this engine's memory, as f32. Arrays are read before this returns. */
  take(where: string, name: string, value: unknown): Tensor | Promise<Tensor> {
    const isHere = Tensor.is(value) && value.location === "wasm" && Tensor.isOf(value, this.backend);
    if (isHere && value.dtype === "f32") return value;
    if (isReadable(value)) {
      return readWhole(value).then((whole) => this.#upload(readTensor(where, name, whole, null)));
    }
    return this.#upload(readTensor(where, name, value, null));
  }

  /** A tensor of this pass. */
  upload(data: Float32Array, shape: readonly number[]): Tensor {
    return this.#own(this.#program.upload(data), shape);
  }

  /** `rule.leading`: the axes of the result before its last, where they differ from those of x. */
  async affine(
    x: Tensor,
    weights: ResidentParameter,
    outputs: number,
    bias: ResidentParameter | null,
    rule: Epilogue = {},
  ): Promise<Tensor> {
    const { leading = x.shape.slice(0, -1), addend = null } = rule;
    if (this.tape !== null && (rule.activation !== undefined || rule.factor !== undefined)) {
      // The backward pass needs what comes before the activation.
      return this.pointwise(await this.affine(x, weights, outputs, bias, { leading }), rule);
    }
    const problem = { input: this.rows(x), weights: weights.resident, outputs, rule: this.#rule(rule, bias) };
    const made = await this.#one(AFFINE, problem, [...leading, outputs]);
    const parameters = { weight: weights.parameter, bias: bias?.parameter ?? null };
    this.tape?.record({ kind: "affine", x, ...parameters, addend, made: [made] });
    return made;
  }

  async pointwise(x: Tensor, rule: Epilogue, shape = x.shape): Promise<Tensor> {
    const made = await this.#one(POINTWISE, { input: this.rows(x), rule: this.#rule(rule, null) }, shape);
    const { activation = "none", factor = null, addend = null } = rule;
    this.tape?.record({ kind: "pointwise", x, activation, factor, addend, made: [made] });
    return made;
  }

  /** A copy in another shape. */
  copied(x: Tensor, shape: readonly number[]): Promise<Tensor> {
    return this.pointwise(x, {}, shape);
  }

  /** A parameter's resident, which nobody frees before the pass ends. */
  async parameter(parameter: Parameter, where: string): Promise<ResidentParameter> {
    const { tape } = this;
    const find = (): Promise<Resident> => tape?.use(parameter, where) ?? parameter.residentIn(this.backend, where);
    let resident = await find();
    // Where it learns meanwhile, there may be a newer one. A pass that is differentiated holds those that it began with.
    while (tape === null && !resident.live && parameter.variable !== null) resident = await find();
    if (resident.live) this.#program.hold(resident);
    return { parameter, resident, length: product(parameter.shape) };
  }

  /** A parameter as a tensor of this pass, which may be an option of attention. */
  async parameterTensor(
    { parameter, resident, length }: ResidentParameter,
    shape: readonly number[] = parameter.shape,
  ): Promise<Tensor> {
    const input = { resident, count: 1, length };
    const made = await this.#one(POINTWISE, { input, rule: this.#rule({}, null) }, shape);
    this.tape?.record({ kind: "parameter", parameter, made: [made] });
    return made;
  }

  /** Frees a tensor of this pass before its end. */
  drop(tensor: Tensor): void {
    if (this.tape === null && this.#made.delete(tensor)) tensor.dispose();
  }

  async norm(
    x: Tensor,
    rule: {
      readonly isCentred: boolean;
      readonly epsilon: number;
      /** The number of elements that are normalized together. */
      readonly width: number;
      readonly weight: ResidentParameter | null;
      readonly bias: ResidentParameter | null;
    },
  ): Promise<Tensor> {
    const { isCentred, epsilon, width, weight, bias } = rule;
    const { resident } = this.rows(x);
    const input = { resident, count: resident.elements / width, length: width };
    const problem = { input, isCentred, epsilon, weight: asRow(weight), bias: asRow(bias) };
    const made = await this.#one(NORM, problem, x.shape);
    const parameters = { weight: weight?.parameter ?? null, bias: bias?.parameter ?? null };
    this.tape?.record({ kind: "norm", x, isCentred, epsilon, width, ...parameters, made: [made] });
    return made;
  }

  /** Rows of a table, which is a tensor or a parameter, by their indices. */
  async gather(
    table: Tensor | (Rows & { readonly parameter: Parameter }),
    indices: Int32Array<ArrayBuffer>,
    shape: readonly number[],
  ): Promise<Tensor> {
    const isTensor = table instanceof Tensor;
    const rows = isTensor ? this.rows(table) : table;
    const made = await this.#one(GATHER, { table: rows, indices }, [...shape, rows.length]);
    this.tape?.record({ kind: "gather", table: isTensor ? table : table.parameter, indices, made: [made] });
    return made;
  }

  async gru(
    gates: Tensor,
    weights: ResidentParameter,
    bias: ResidentParameter | null,
    state: Tensor | null,
    isReversed: boolean,
  ): Promise<{ readonly states: Tensor; readonly last: Tensor }> {
    const [batch = 0, steps = 0, width = 0] = gates.shape;
    const inputs = { gates: this.rows(gates), state: state && this.rows(state), bias: asRow(bias) };
    const problem = { ...inputs, weights: weights.resident, batch, isReversed };
    const [states, last] = await this.#run(GRU, problem, [
      [batch, steps, width / 3],
      [batch, width / 3],
    ]);
    if (states === undefined || last === undefined) throw new TypeError("a call of two results had fewer");
    const parameters = { weights: weights.parameter, bias: bias?.parameter ?? null };
    this.tape?.record({ kind: "gru", gates, ...parameters, state, batch, isReversed, made: [states, last] });
    return { states, last };
  }

  /** A cache among the options of the pass, which has its lock; null where there is none. */
  heldCache(where: string, cache: unknown): HeldCache | null {
    if (cache === undefined) return null;
    const held = this.#context.held.get(cache);
    if (held !== undefined) return held;
    throw new HeedError("option", `${where}: cache must be made by createCache, got ${showValue(cache)}`);
  }

  /** Attention, with a KV cache where the rule has one. Its results are in the engine's memory. */
  async attention(where: string, tensors: AttentionTensors, rule: AttentionRule): Promise<AnyAttentionResult> {
    const { problem, shapes, output, trees, cache } = rule;
    const at = (name: keyof AttentionTensors): Operand => placed(problem[name], this.#residentOf(tensors[name]));
    const isKept = this.tape !== null && problem.normalizer === "softmax";
    const lse = problem.lse ?? (isKept ? lseOf(problem) : null);
    const placedProblem = { ...problem, query: at("query"), key: at("key"), value: at("value"), lse };
    const program = this.#program;
    const computed =
      cache === null
        ? attentionResults(placedProblem, await program.run(ATTENTION, placedProblem))
        : await cache.attend(where, program, placedProblem);
    const result = resultOf(program, problem.lse === null ? { ...computed, lse: null } : computed, shapes, output);
    for (const part of Object.values(result)) if (part instanceof Tensor) this.#made.add(part);
    if (this.tape !== null && result.output instanceof Tensor) {
      const kept = computed.lse?.kind === "resident" ? computed.lse.resident : null;
      if (kept !== null && problem.lse === null) this.#own(kept, [kept.elements]);
      const given = { ...tensors, problem: placedProblem, trees };
      this.tape.record({ kind: "attention", ...given, lse: kept, made: [result.output] });
      for (const part of Object.values(result)) {
        if (part instanceof Tensor && part !== result.output && this.tape.needs(result.output)) this.tape.cut(part);
      }
    }
    return result;
  }

  /** Rotary embedding of x, [B, L, heads * head_dim]. */
  async rope(
    x: Tensor,
    heads: number,
    rotation: Rotation,
    positions: Float64Array<ArrayBuffer> | null,
  ): Promise<Tensor> {
    const [batch = 0, length = 0, width = 0] = x.shape;
    const resident = this.#residentOf(x);
    const { elements, dtype } = resident;
    const view = { elements, ...denseView("bnhd", [batch, heads, length, width / heads]) };
    const problem = {
      input: { source: { kind: "resident", resident }, dtype, ...view } as const,
      output: view,
      tables: null,
      ...rotation,
      positions,
      positionsByBatch: positions !== null && positions.length !== length,
      inverse: false,
      keep: true,
      retry: false,
    };
    const made = await this.#one(ROPE, problem, x.shape);
    this.tape?.record({ kind: "rope", x, problem, made: [made] });
    return made;
  }

  /** A tensor as rows, which are its last axis. */
  rows(x: Tensor): Rows {
    const resident = this.#residentOf(x);
    const length = lastOf(x);
    return { resident, count: length === 0 ? 0 : resident.elements / length, length };
  }

  #residentOf(x: Tensor): Resident {
    return Tensor.residentOf(x, this.#program, "heed/layers: a tensor");
  }

  async #run<P extends object>(
    operation: Operation<P>,
    problem: P,
    shapes: readonly (readonly number[])[],
  ): Promise<readonly Tensor[]> {
    const made = await this.#program.run(operation, problem);
    return made.map(({ resident }, at) => this.#own(resident, shapes[at] ?? []));
  }

  async #one<P extends object>(operation: Operation<P>, problem: P, shape: readonly number[]): Promise<Tensor> {
    const [tensor] = await this.#run(operation, problem, [shape]);
    if (tensor === undefined) throw new TypeError("a call of one result had none");
    return tensor;
  }

  #rule(
    { activation = "none", factor = null, addend = null }: Epilogue,
    bias: ResidentParameter | null,
  ): PointwiseRule {
    return {
      activation,
      bias: asRow(bias),
      factor: factor && this.rows(factor),
      addend: addend && this.rows(addend),
    };
  }

  #upload({ source, shape }: ReturnType<typeof readTensor>): Tensor {
    if (source.kind !== "array" || source.array instanceof Uint8Array) throw new TypeError("numbers were read");
    const { array } = source;
    return this.upload(array instanceof Uint16Array ? fromF16(array) : array, shape);
  }

  #own(resident: Resident, shape: readonly number[]): Tensor {
    const tensor = new Tensor(this.#program, resident, shape);
    this.#made.add(tensor);
    return tensor;
  }
}

/** Returns a result to the caller: an array or, with `keep`, the tensor. In a pass that is differentiated it is the pass's. */
export async function handOut(scope: Scope, tensor: Tensor, keep: boolean): Promise<Tensor | ArrayTensor> {
  if (scope.tape !== null) return tensor;
  if (keep) return scope.release(tensor);
  return { data: await tensor.read(), shape: tensor.shape, dtype: "f32" };
}

/** Throws unless the last axis of x is `width` long. */
export function checkWidth(where: string, name: string, x: Tensor, width: number): void {
  if (x.shape.length >= 1 && lastOf(x) === width) return;
  throw new HeedError("shape", `${where}: the last axis of ${name} must be ${width}, got ${showShape(x.shape)}`);
}

export function lastOf({ shape }: Tensor): number {
  return shape[shape.length - 1] ?? 0;
}

/** Room for the lse, which the backward pass needs. */
function lseOf({ query: { shape } }: AttentionProblem): OutputView {
  const [batch, heads, length] = shape;
  return { elements: batch * heads * length, ...denseView("bhnd", [batch, heads, length, 1]) };
}

function asRow(parameter: ResidentParameter | null): Rows | null {
  return parameter && { ...parameter, count: 1 };
}
