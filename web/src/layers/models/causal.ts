// What models that continue text have in common: a decoder, logits of the next token, a cache for each layer.

import type { KVCache } from "../../api/cache/kv-cache.js";
import { showShape, showValue } from "../../api/describe.js";
import { HeedError } from "../../api/errors.js";
import { readBoolean } from "../../api/read-values.js";
import type { NoOptions, Returned } from "../../api/results.js";
import type { Tensor } from "../../api/tensor.js";
import { lengthOf } from "../cached-attention.js";
import { type IndexInput, type Indices, readIndices } from "../embedding.js";
import { type ForwardOptions, Layer } from "../layer.js";
import type { Scope } from "../scope.js";
import { handOutStack, type StackMade } from "../stacks.js";
import { asBatch } from "./tokens.js";

export interface CausalForwardOptions extends ForwardOptions {
  /** Return the attention weights of every layer. Default false. */
  readonly attentions?: boolean | undefined;
  /** Logits after the last token alone, [B, 1, vocab_size]. Default false. */
  readonly last?: boolean | undefined;
  /** One for each layer, of the engine's: tokens come after those that it holds. */
  readonly caches?: readonly KVCache[] | undefined;
}

export interface CausalResult<O> {
  /** [B, L, vocab_size] */
  readonly logits: Returned<O>;
  /** [B, H, L, S] of every layer. */
  readonly attentions: readonly Returned<O>[] | undefined;
}

export abstract class CausalModel extends Layer {
  protected abstract readonly layers: number;

  /** Token numbers [B, L] or [L], which is a batch of one. */
  forward<const O extends CausalForwardOptions = NoOptions>(tokens: IndexInput, options?: O): Promise<CausalResult<O>>;
  forward(tokens: unknown, options?: unknown): Promise<CausalResult<{ readonly keep: boolean }>> {
    return this.pass(options, ["attentions", "last", "caches"], async (scope, given, keep) => {
      const wanted = readBoolean(this.where, "attentions", given["attentions"], false);
      const isLast = readBoolean(this.where, "last", given["last"], false);
      const caches = this.#readCaches(given["caches"]);
      const indices = asBatch(this.where, readIndices(this.where, "tokens", tokens));
      const { output, attentions } = await this.decode(scope, indices, caches, wanted);
      const hidden = isLast ? await lastOf(scope, output) : output;
      const logits = await this.logitsOf(scope, hidden);
      const handed = await handOutStack(scope, { output: logits, attentions }, wanted, keep);
      return { logits: handed.output, attentions: handed.attentions?.map(({ self }) => self) };
    });
  }

  protected abstract decode(
    scope: Scope,
    tokens: Indices,
    caches: readonly unknown[] | null,
    attentions: boolean,
  ): Promise<StackMade>;

  protected abstract logitsOf(scope: Scope, hidden: Tensor): Promise<Tensor>;

  #readCaches(value: unknown): readonly unknown[] | null {
    if (value === undefined) return null;
    const fail = (rule: string, got: string): never => {
      throw new HeedError("option", `${this.where}: caches must ${rule}, got ${got}`);
    };
    const each = `be one for each of ${this.layers} layers`;
    if (!Array.isArray(value) || value.length !== this.layers) {
      return fail(each, Array.isArray(value) ? showShape([value.length]) : showValue(value));
    }
    if (new Set(value).size < value.length) fail(each, "one of them twice");
    const lengths = value.map(lengthOf);
    if (new Set(lengths).size > 1) fail("hold equally many tokens", `lengths ${showShape(lengths)}`);
    return value;
  }
}

/** Options of one layer's attention, given the caches of all. */
export const cacheOf =
  (caches: readonly unknown[] | null) =>
  (layer: number): Readonly<Record<string, unknown>> =>
    caches === null ? {} : { cache: caches[layer] };

/** Tokens that came before. */
export function pastLength(caches: readonly unknown[] | null): number {
  return lengthOf(caches?.[0]) ?? 0;
}

/** The last token of each batch entry, [B, 1, E]. */
async function lastOf(scope: Scope, x: Tensor): Promise<Tensor> {
  const [batch = 0, length = 0] = x.shape;
  const rows = Int32Array.from({ length: batch }, (_, entry) => (entry + 1) * length - 1);
  return scope.gather(scope.rows(x), rows, [batch, 1]);
}
