// One forward pass. It owns the tensors that are made on its way, and frees them at its end, except for the results.

import { attend } from "../api/attention.js";
import { showShape } from "../api/describe.js";
import { HeedError } from "../api/errors.js";
import { fromF16 } from "../api/f16.js";
import type { Heed } from "../api/heed.js";
import { readTensor } from "../api/operands.js";
import type { AnyAttentionResult } from "../api/results.js";
import { type ArrayTensor, Tensor } from "../api/tensor.js";
import type { Resident } from "../backends/backend.js";
import type { Activation, LayerBackend, PointwiseRule, Rows } from "../backends/layer-backend.js";
import type { HeldCaches } from "./cache-locks.js";
import { type AttentionTensors, attendWithCache } from "./cached-attention.js";
import { isReadable, readWhole } from "./readable.js";
import { withTensors } from "./resident-options.js";

/** The epilogue of a product: an activation, then a factor, then an addend. */
export interface Epilogue {
  readonly activation?: Activation;
  readonly factor?: Tensor | null;
  readonly addend?: Tensor | null;
  readonly leading?: readonly number[];
}

/** A parameter in the engine's memory, with its number of elements. */
export interface ResidentParameter {
  readonly resident: Resident;
  readonly length: number;
}

/** What all scopes of a pass share. */
export interface PassContext {
  readonly backend: LayerBackend;
  /** The engine whose `attention` takes caches. */
  readonly heed: Heed;
  readonly signal: AbortSignal | null;
  readonly held: HeldCaches;
}

export class Scope {
  readonly backend: LayerBackend;
  readonly signal: AbortSignal | null;
  readonly #context: PassContext;
  readonly #made = new Set<Tensor>();

  constructor(context: PassContext) {
    this.backend = context.backend;
    this.signal = context.signal;
    this.#context = context;
  }

  /** A scope within the pass, which frees its tensors at its own end, except for the results. */
  async inner<R>(
    act: (scope: Scope) => Promise<R>,
    resultsOf: (result: R) => readonly (Tensor | undefined)[],
  ): Promise<R> {
    const scope = new Scope(this.#context);
    try {
      const result = await act(scope);
      for (const tensor of resultsOf(result))
        if (tensor !== undefined && scope.#made.delete(tensor)) this.#made.add(tensor);
      return result;
    } finally {
      scope.close();
    }
  }

  /** The same for one result. */
  one(act: (scope: Scope) => Promise<Tensor>): Promise<Tensor> {
    return this.inner(act, (tensor) => [tensor]);
  }

  /** Gives up a tensor, which then outlives the pass. */
  release(tensor: Tensor): Tensor {
    this.#made.delete(tensor);
    return tensor;
  }

  close(): void {
    for (const tensor of this.#made) tensor.dispose();
    this.#made.clear();
  }

  /** Brings an argument of the caller into this engine's memory. Arrays are read before this returns. */
  take(where: string, name: string, value: unknown): Tensor | Promise<Tensor> {
    if (value instanceof Tensor && Tensor.isOf(value, this.backend.core)) return value;
    if (isReadable(value)) {
      return readWhole(value).then((whole) => this.#upload(readTensor(where, name, whole, null)));
    }
    return this.#upload(readTensor(where, name, value, null));
  }

  /** A tensor of this pass. */
  upload(data: Float32Array, shape: readonly number[]): Tensor {
    return this.#own(this.backend.core.upload(data), shape);
  }

  /** `rule.leading`: the axes of the result before its last, where they differ from those of x. */
  async affine(
    x: Tensor,
    weights: Resident,
    outputs: number,
    bias: ResidentParameter | null,
    rule: Epilogue = {},
  ): Promise<Tensor> {
    const resident = await this.backend.affine(
      { input: this.rows(x), weights, outputs, rule: this.#rule(rule, bias) },
      this.signal,
    );
    return this.#own(resident, [...(rule.leading ?? x.shape.slice(0, -1)), outputs]);
  }

  async pointwise(x: Tensor, rule: Epilogue): Promise<Tensor> {
    return this.#own(await this.backend.pointwise(this.rows(x), this.#rule(rule, null), this.signal), x.shape);
  }

  /** A copy in another shape. */
  async copied(x: Tensor, shape: readonly number[]): Promise<Tensor> {
    return this.#own(await this.backend.pointwise(this.rows(x), this.#rule({}, null), this.signal), shape);
  }

  /** Frees a tensor of this pass before its end. */
  drop(tensor: Tensor): void {
    if (this.#made.delete(tensor)) tensor.dispose();
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
    return this.#own(await this.backend.norm(problem, this.signal), x.shape);
  }

  async gather(table: Rows, indices: Int32Array<ArrayBuffer>, shape: readonly number[]): Promise<Tensor> {
    return this.#own(await this.backend.gather(table, indices, this.signal), [...shape, table.length]);
  }

  async gru(
    gates: Tensor,
    weights: Resident,
    bias: ResidentParameter | null,
    state: Tensor | null,
    isReversed: boolean,
  ): Promise<{ readonly states: Tensor; readonly last: Tensor }> {
    const [batch = 0, steps = 0, width = 0] = gates.shape;
    const [states, last] = await this.backend.gru(
      { gates: this.rows(gates), weights, bias: asRow(bias), state: state && this.rows(state), batch, isReversed },
      this.signal,
    );
    return { states: this.#own(states, [batch, steps, width / 3]), last: this.#own(last, [batch, width / 3]) };
  }

  /** Attention, with a KV cache where the options have one. Its results are in the engine's memory. */
  async attention(
    where: string,
    tensors: AttentionTensors,
    options: Readonly<Record<string, unknown>>,
  ): Promise<AnyAttentionResult> {
    const signal = this.signal ?? undefined;
    if (options["cache"] !== undefined) {
      const cache = this.#context.held.get(options["cache"]) ?? options["cache"];
      return this.#uploaded(await attendWithCache(this.#context.heed, tensors, { ...options, cache, signal }));
    }
    const passed = await withTensors(options, (name, tensor) => this.take(where, name, tensor));
    const result = await attend(this.backend.core, tensors, { ...passed, keep: true, signal });
    for (const part of Object.values(result)) if (part instanceof Tensor) this.#made.add(part);
    return result;
  }

  async rope(x: Tensor, options: Readonly<Record<string, unknown>>): Promise<Tensor> {
    const { extra, core } = this.backend;
    const { rope } = await import("../extra.js");
    const rotated = await rope(extra, core, [x], { ...options, keep: true, signal: this.signal ?? undefined });
    if (!(rotated instanceof Tensor)) throw new TypeError("a tensor was asked for");
    this.#made.add(rotated);
    return rotated;
  }

  /** A tensor as rows, which are its last axis. */
  rows(x: Tensor): Rows {
    const resident = Tensor.residentOf(x, this.backend.core, "heed/layers: a tensor");
    const length = lastOf(x);
    return { resident, count: length === 0 ? 0 : resident.elements / length, length };
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

  /** The arrays among results as tensors of this pass. */
  #uploaded(result: AnyAttentionResult): AnyAttentionResult {
    const uploaded = (name: keyof AnyAttentionResult): AnyAttentionResult[typeof name] => {
      const part = result[name];
      return part !== undefined && "data" in part ? this.upload(part.data, part.shape) : part;
    };
    return {
      output: uploaded("output"),
      weights: uploaded("weights"),
      lse: uploaded("lse"),
      scores: uploaded("scores"),
      entropy: uploaded("entropy"),
    };
  }

  #own(resident: Resident, shape: readonly number[]): Tensor {
    const tensor = new Tensor(this.backend.core, resident, shape);
    this.#made.add(tensor);
    return tensor;
  }
}

/** Returns a result to the caller: an array or, with `keep`, the tensor. */
export async function handOut(scope: Scope, tensor: Tensor, keep: boolean): Promise<Tensor | ArrayTensor> {
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

function asRow(parameter: ResidentParameter | null): Rows | null {
  return parameter && { ...parameter, count: 1 };
}
