// A learned bias of attention for each head and each range of distances between query and key, as in T5 and MPNet.

import type { HeldCache } from "../api/cache-types.js";
import { relativeBias } from "../api/positions/relative-bias.js";
import type { Tensor } from "../api/tensor.js";
import { readBoolean, readCount } from "../base/read-values.js";
import { GATHER } from "../operations/gather.js";
import type { Draw } from "./draw.js";
import { Layer, type LayerOptions } from "./layer.js";
import { Parameter } from "./parameters.js";
import { readOnce } from "./read.js";
import type { Scope } from "./scope.js";

export interface RelativeBiasRule {
  /** The number of ranges. Default 32. */
  readonly buckets?: number | undefined;
  /** From here on all distances share one range. Default 128. */
  readonly maxDistance?: number | undefined;
  /** false: keys after the query are all at distance 0. Default true. */
  readonly bidirectional?: boolean | undefined;
}

/** Parameter: `weight` [buckets, heads]. */
export class RelativeBias extends Layer {
  readonly #table: readonly [buckets: number, heads: number];
  readonly #rule: { readonly maxDistance: number; readonly bidirectional: boolean };

  constructor(heads: number, options: unknown, engine: LayerOptions["engine"]) {
    const where = "relativeBias";
    const given = readOnce(where, "options", options, ["buckets", "maxDistance", "bidirectional"]);
    super(where, engine);
    this.#table = [readCount(where, "buckets", given["buckets"], 32), heads];
    this.#rule = {
      maxDistance: readCount(where, "maxDistance", given["maxDistance"], 128),
      bidirectional: readBoolean(where, "bidirectional", given["bidirectional"], true),
    };
    this.#places(1, 1, 0);
    this.parameter("weight", new Parameter(this.#table));
  }

  protected override draw(draw: Draw): void {
    this.drawBy((_name, shape) => draw.normal(shape, 1));
  }

  /** The bias of so many queries, [H, L, S], after the tokens in a cache. */
  async compute(scope: Scope, queries: number, cache: HeldCache | null): Promise<Tensor> {
    const weight = await this.resident(scope, "weight");
    const held = cache === null ? 0 : cache.length - cache.start;
    const places = this.#places(queries, held + queries, held);
    const table = { ...weight, count: weight.length, length: 1 };
    return scope.make(GATHER, { table, indices: Int32Array.from(places.data) }, places.shape, [weight]);
  }

  /** For each head, query and key, where the table has their number: the bias of a table that counts its numbers. */
  #places(length: number, keyLength: number, offset: number): ReturnType<typeof relativeBias> {
    const [buckets, heads] = this.#table;
    const data = Float32Array.from({ length: buckets * heads }, (_, at) => at);
    return relativeBias({ data, shape: this.#table }, { length, keyLength, offset, ...this.#rule });
  }
}
