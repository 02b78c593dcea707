// Applies the hooks of a pass: values are read, rewritten by the caller's functions, and go on from there.

import type { AnyAttentionResult } from "../api/results.js";
import { Tensor } from "../api/tensor.js";
import { showShape, showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guardAsync } from "../base/guard.js";
import { isRecord } from "../base/read-values.js";
import { isFloat32Array } from "../base/typed-array.js";
import { pointwise } from "./affine.js";
import type { Scope } from "./scope.js";
import type { ReadHeadHook, Rewrite } from "./watch.js";

/** The result of a block in a pass that has a hook of it, or the same. */
export async function hookedResidual(scope: Scope, block: object, x: Tensor): Promise<Tensor> {
  const rewrite = scope.watch?.residuals.get(block);
  if (rewrite === undefined) return x;
  const data = await rewritten("residual", rewrite, await x.read(), x.shape);
  return scope.upload(data, x.shape);
}

export interface HookedAttention {
  readonly layer: object;
  readonly heads: number;
  readonly kvHeads: number;
  /** The values of this call, [B, S, kvHeads * valueDim]. */
  readonly value: Tensor;
  /** Whether a cache holds others before them. */
  readonly isCached: boolean;
}

/** The results of attention, output [B, L, heads * valueDim] and weights [B, H, L, S], in a pass that has hooks of its heads, or the same. */
export async function hookedHeads(
  scope: Scope,
  result: AnyAttentionResult,
  attention: HookedAttention,
): Promise<AnyAttentionResult> {
  const hooks = scope.watch?.heads.get(attention.layer);
  if (hooks === undefined || !(result.output instanceof Tensor)) return result;
  const { output, weights } = result;
  const isScaled = [...hooks.values()].every(
    (hook) => typeof hook.weights === "number" && typeof hook.output === "number",
  );
  if (isScaled && !(weights instanceof Tensor && [...hooks.values()].some((hook) => hook.weights !== 1))) {
    return { ...result, output: await scaled(scope, output, hooks, attention.heads) };
  }
  const changed = new HeadValues(attention, await output.read(), output.shape);
  if (weights instanceof Tensor) changed.weights = { data: (await weights.read()).slice(), shape: weights.shape };
  for (const [head, hook] of hooks) await changed.apply(head, hook);
  return {
    ...result,
    output: scope.upload(changed.output, output.shape),
    weights: changed.weights === null ? weights : scope.upload(changed.weights.data, changed.weights.shape),
  };
}

/** Each head times a factor. */
function scaled(
  scope: Scope,
  output: Tensor,
  hooks: ReadonlyMap<number, ReadHeadHook>,
  heads: number,
): Promise<Tensor> {
  const width = output.shape.at(-1) ?? 0;
  const factors = new Float32Array(width).fill(1);
  for (const [head, hook] of hooks) {
    const dim = width / heads;
    factors.fill(Number(hook.weights) * Number(hook.output), head * dim, (head + 1) * dim);
  }
  return pointwise(scope, output, { factor: scope.upload(factors, [width]) });
}

/** Values of all heads, of which some are changed. */
class HeadValues {
  readonly output: Float32Array;
  weights: { readonly data: Float32Array; readonly shape: readonly number[] } | null = null;
  readonly #attention: HookedAttention;
  readonly #shape: readonly number[];

  constructor(attention: HookedAttention, output: Float32Array, shape: readonly number[]) {
    this.#attention = attention;
    this.#shape = shape;
    this.output = output.slice();
  }

  async apply(head: number, { weights, output }: ReadHeadHook): Promise<void> {
    const [batch = 0, length = 0, width = 0] = this.#shape;
    const dim = width / this.#attention.heads;
    if (typeof weights === "number") this.#scale(head, weights);
    else await this.#reweigh(head, weights);
    const own = this.#slice(head);
    const shape = [batch, length, dim];
    const made =
      typeof output === "number" ? own.map((x) => x * output) : await rewritten("output", output, own, shape);
    this.#place(head, made);
  }

  #scale(head: number, factor: number): void {
    this.#place(
      head,
      this.#slice(head).map((x) => x * factor),
    );
    if (this.weights === null || factor === 1) return;
    for (const range of this.#rangesOf(head))
      for (let at = range[0]; at < range[1]; at++) this.weights.data[at] = (this.weights.data[at] ?? 0) * factor;
  }

  /** New weights, and the head's output by them: their product with the values. */
  async #reweigh(head: number, rewrite: Rewrite): Promise<void> {
    const { value, isCached, heads, kvHeads } = this.#attention;
    if (this.weights === null) throw new TypeError("a hook of weights needs them");
    if (isCached) {
      throw new HeedError(
        "unsupported",
        "hooks: weights are replaced by a function only where there is no cache, got one",
      );
    }
    const { data: all, shape } = this.weights;
    const [batch = 0, , length = 0, keys = 0] = shape;
    const own = new Float32Array(batch * length * keys);
    const ranges = this.#rangesOf(head);
    for (const [entry, [from, to]] of ranges.entries()) own.set(all.subarray(from, to), entry * length * keys);
    const made = await rewritten("weights", rewrite, own, [batch, length, keys]);
    for (const [entry, [from]] of ranges.entries()) {
      all.set(made.subarray(entry * length * keys, (entry + 1) * length * keys), from);
    }
    const values = await value.read();
    const dim = (value.shape.at(-1) ?? 0) / kvHeads;
    const group = Math.floor(head / (heads / kvHeads));
    const product = new Float32Array(batch * length * dim);
    for (let row = 0; row < batch * length; row++) {
      const entry = Math.floor(row / length);
      for (let j = 0; j < dim; j++) {
        let sum = 0;
        for (let key = 0; key < keys; key++) {
          const weight = made[row * keys + key] ?? 0;
          if (weight !== 0) sum += weight * (values[((entry * keys + key) * kvHeads + group) * dim + j] ?? 0);
        }
        product[row * dim + j] = sum;
      }
    }
    this.#place(head, product);
  }

  /** Where the weights of a head lie, for each batch entry. */
  #rangesOf(head: number): readonly (readonly [number, number])[] {
    const [batch = 0, heads = 0, length = 0, keys = 0] = this.weights?.shape ?? [];
    const size = length * keys;
    return Array.from({ length: batch }, (_, entry) => {
      const from = (entry * heads + head) * size;
      return [from, from + size] as const;
    });
  }

  /** The output of a head, [B, L, dim]. */
  #slice(head: number): Float32Array {
    const [batch = 0, length = 0, width = 0] = this.#shape;
    const dim = width / this.#attention.heads;
    const own = new Float32Array(batch * length * dim);
    for (let row = 0; row < batch * length; row++) {
      const from = row * width + head * dim;
      own.set(this.output.subarray(from, from + dim), row * dim);
    }
    return own;
  }

  #place(head: number, own: Float32Array): void {
    const [batch = 0, length = 0, width = 0] = this.#shape;
    const dim = width / this.#attention.heads;
    for (let row = 0; row < batch * length; row++) {
      this.output.set(own.subarray(row * dim, (row + 1) * dim), row * width + head * dim);
    }
  }
}

/** What the caller's function makes of a tensor. */
async function rewritten(
  name: string,
  rewrite: Rewrite,
  data: Float32Array,
  shape: readonly number[],
): Promise<Float32Array> {
  const made: unknown = await guardAsync("option", `hooks: ${name}`, async () =>
    rewrite({ data: data.slice(), shape, dtype: "f32" }),
  );
  const numbers = isRecord(made) ? made["data"] : undefined;
  if (!isFloat32Array(numbers)) {
    throw new HeedError(
      "dtype",
      `hooks: ${name} must return { data, shape } with a Float32Array, got ${showValue(made)}`,
    );
  }
  const got = isRecord(made) && Array.isArray(made["shape"]) ? made["shape"] : [numbers.length];
  if (numbers.length !== data.length || got.join() !== shape.join()) {
    throw new HeedError("shape", `hooks: ${name} must return ${showShape(shape)}, got ${showShape(got)}`);
  }
  return numbers;
}
