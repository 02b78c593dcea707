// One vector for a whole sequence.

import type { TensorInput } from "../api/options.js";
import type { ArrayTensor } from "../api/tensor.js";
import { Tensor } from "../api/tensor.js";
import { showShape } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { readChoice } from "../base/read-values.js";
import { GATHER } from "../operations/gather.js";
import { copied } from "./affine.js";
import { batchAndLength } from "./axes.js";
import { handOut } from "./hand-out.js";
import { type Forwarded, type ForwardOptions, Layer, type LayerOptions, type NoOptions } from "./layer.js";
import { Packing } from "./packing.js";
import { readSizes } from "./read.js";
import { readOptions, ruleOf } from "./read-rule.js";
import type { Scope } from "./scope.js";
import { entriesOf, notedMask, readTokenMask, type TokenMask } from "./token-mask.js";

/** The options of a `Pooling`. */
export interface PoolingOptions extends LayerOptions {
  /** "mean": the mean of all tokens, or of those in the mask; "last": the last of these; "cls": the first token. */
  readonly kind: "mean" | "last" | "cls";
}

/** The options of a call of a `Pooling`. */
export interface PoolingForwardOptions extends ForwardOptions {
  /** [B, L], 1 where a token counts: not for "cls". Default that of the call of BertModel that gave x, or all 1. */
  readonly mask?: Uint8Array | readonly boolean[] | undefined;
  /** Where packed texts begin and the last ends, of x [1, T, E]: each then has a vector, [texts, E]. */
  readonly cuSeqlens?: ArrayLike<number> | undefined;
}

/** No parameters. */
export class Pooling extends Layer {
  readonly kind: "mean" | "last" | "cls";

  constructor(options: PoolingOptions) {
    const where = "Pooling";
    const given = readSizes(where, options, ["kind", "engine"]);
    super(where, given.engine);
    this.kind = readChoice(where, "kind", given["kind"], ["mean", "last", "cls"], "mean");
  }

  /** x [B, L, E] to [B, E]. The mean of no token is zero. */
  forward<const O extends PoolingForwardOptions = NoOptions>(x: TensorInput, options?: O): Forwarded<O>;
  forward(x: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.pass(options, ["mask", "cuSeqlens"], async (scope, given, keep) => {
      const taken = await scope.take(this.where, "x", x);
      if (given["cuSeqlens"] !== undefined) {
        if (given["mask"] !== undefined)
          throw new HeedError("option", `${this.where}: mask and cuSeqlens exclude each other`);
        return handOut(scope, await this.#packed(scope, taken, given["cuSeqlens"]), keep);
      }
      const noted = this.kind === "cls" ? undefined : notedMask(x, taken.shape)?.data;
      const mask = given["mask"] === undefined ? noted : given["mask"];
      return handOut(scope, await this.compute(scope, taken, mask), keep);
    });
  }

  async #packed(scope: Scope, x: Tensor, cuSeqlens: unknown): Promise<Tensor> {
    const packing = Packing.read(this.where, cuSeqlens, batchAndLength(x));
    if (packing === null) throw new TypeError("packed texts were given");
    if (this.kind === "cls") return packing.firsts(scope, x);
    return scope.one(async (inner) => this.compute(inner, await packing.spread(inner, x), packing.mask.data));
  }

  /** @internal */
  compute(scope: Scope, x: Tensor, mask?: unknown): Promise<Tensor> {
    const [batch = 0, length = 0] = x.shape;
    if (x.shape.length !== 3) {
      throw new HeedError("shape", `Pooling: x must be [B, L, E], got ${showShape(x.shape)}`);
    }
    if (this.kind === "cls") return this.#firsts(scope, x, mask);
    const given = mask === undefined ? null : readTokenMask(this.where, mask, batch, length);
    const counted = this.kind === "last" ? lastOnly(given ?? allOf(batch, length)) : given;
    return scope.one((inner) => meanOf(inner, x, counted));
  }

  #firsts(scope: Scope, x: Tensor, mask: unknown): Promise<Tensor> {
    if (mask !== undefined) throw new HeedError("option", 'Pooling: mask is for "mean" and "last", not for "cls"');
    const [batch = 0, length = 0, dim = 0] = x.shape;
    const indices = Int32Array.from({ length: batch }, (_, entry) => entry * length);
    return scope.make(GATHER, { table: scope.rows(x), indices }, [batch, dim]);
  }
}

/** The mean is attention with equal keys: all weights are equal. */
async function meanOf(scope: Scope, x: Tensor, mask: TokenMask | null): Promise<Tensor> {
  const [batch = 0, length = 0, dim = 0] = x.shape;
  const query = scope.upload(new Float32Array(batch), [batch, 1, 1]);
  const key = scope.upload(new Float32Array(batch * length), [batch, length, 1]);
  const tensors = { query, key, value: x };
  const options = mask === null ? {} : { mask };
  const read = await readOptions(scope, "Pooling", options, { layout: "packed", heads: 1 });
  const { output } = await scope.attention("Pooling", tensors, ruleOf(scope, "Pooling", read, tensors, null));
  if (!(output instanceof Tensor)) throw new TypeError("attention in a pass makes a tensor");
  return copied(scope, scope.rows(output), [batch, dim]);
}

function allOf(batch: number, length: number): TokenMask {
  return { data: new Uint8Array(batch * length).fill(1), shape: [batch, 1, 1, length] };
}

/** A mask of the last token of a mask. */
function lastOnly(mask: TokenMask): TokenMask {
  const alone = entriesOf(mask).flatMap((entry) => {
    const last = entry.lastIndexOf(1);
    return Array.from(entry, (_, at) => Number(at === last));
  });
  return { ...mask, data: Uint8Array.from(alone) };
}
