// One vector for a whole sequence.

import { showShape } from "../api/describe.js";
import { HeedError } from "../api/errors.js";
import type { TensorInput } from "../api/options.js";
import { readChoice } from "../api/read-values.js";
import type { ArrayTensor } from "../api/tensor.js";
import { Tensor } from "../api/tensor.js";
import { type Forwarded, type ForwardOptions, Layer, type LayerOptions, type NoOptions } from "./layer.js";
import { readSizes } from "./read.js";
import { handOut, type Scope } from "./scope.js";
import { readTokenMask } from "./token-mask.js";

export interface PoolingOptions extends LayerOptions {
  /** "mean": of all tokens, or those that a mask has; "cls": the first. */
  readonly kind: "mean" | "cls";
}

export interface PoolingForwardOptions extends ForwardOptions {
  /** [B, L], 1 where a token counts: for "mean". */
  readonly mask?: Uint8Array | readonly boolean[] | undefined;
}

/** No parameters. */
export class Pooling extends Layer {
  readonly kind: "mean" | "cls";

  constructor(options: PoolingOptions) {
    const where = "Pooling";
    const given = readSizes(where, options, ["kind", "engine"]);
    super(where, options.engine);
    this.kind = readChoice(where, "kind", given["kind"], ["mean", "cls"], "mean");
  }

  /** x [B, L, E] to [B, E]; the mean of no token is zero. */
  forward<const O extends PoolingForwardOptions = NoOptions>(x: TensorInput, options?: O): Forwarded<O>;
  forward(x: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.pass(options, ["mask"], async (scope, given, keep) => {
      return handOut(scope, await this.compute(scope, await scope.take(this.where, "x", x), given["mask"]), keep);
    });
  }

  /** @internal */
  compute(scope: Scope, x: Tensor, mask?: unknown): Promise<Tensor> {
    const [batch = 0, length = 0, dim = 0] = x.shape;
    if (x.shape.length !== 3) {
      throw new HeedError("shape", `Pooling: x must be [B, L, E], got ${showShape(x.shape)}`);
    }
    if (this.kind === "cls") return this.#firsts(scope, x, mask);
    const options = mask === undefined ? {} : { mask: readTokenMask(this.where, mask, batch, length) };
    return scope.one((inner) => meanOf(inner, x, batch, dim, options));
  }

  #firsts(scope: Scope, x: Tensor, mask: unknown): Promise<Tensor> {
    if (mask !== undefined) throw new HeedError("option", 'Pooling: mask is for "mean", not for "cls"');
    const [batch = 0, length = 0] = x.shape;
    return scope.gather(
      scope.rows(x),
      Int32Array.from({ length: batch }, (_, entry) => entry * length),
      [batch],
    );
  }
}

/** A query that says nothing attends to all tokens alike. */
async function meanOf(scope: Scope, x: Tensor, batch: number, dim: number, options: object): Promise<Tensor> {
  const query = scope.upload(new Float32Array(batch * dim), [batch, 1, dim]);
  const tensors = { query, key: x, value: x };
  const { output } = await scope.attention("Pooling", tensors, { ...options, layout: "packed", heads: 1, kvHeads: 1 });
  if (!(output instanceof Tensor)) throw new TypeError("attention in a pass makes a tensor");
  return scope.copied(output, [batch, dim]);
}
