// Texts of unequal lengths one behind the other, [1, T, ...]: rows are computed together, and attention of each text by itself.

import type { Tensor } from "../api/tensor.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { numbersOf } from "../base/typed-array.js";
import { GATHER } from "../operations/gather.js";
import type { Scope } from "./scope.js";
import type { TokenMask } from "./token-mask.js";

/**
 * Attention of fewer queries would take the decode kernel, which adds in another order: a text has the same bits beside any others, and
 * alone.
 */
const LEAST = 32;

export class Packing {
  readonly lengths: readonly number[];
  /** The length of each text where they are spread. */
  readonly longest: number;
  /** The first token of each. */
  readonly starts: readonly number[];
  readonly #spread: Int32Array<ArrayBuffer>;
  readonly #joined: Int32Array<ArrayBuffer>;

  constructor(lengths: readonly number[]) {
    this.lengths = lengths;
    const longest = Math.max(LEAST, ...lengths);
    this.longest = longest;
    let end = 0;
    this.starts = lengths.map((length) => {
      end += length;
      return end - length;
    });
    // What is there for no token is that of a text's first, which nothing reads.
    this.#spread = Int32Array.from({ length: lengths.length * longest }, (_, at) => {
      const [text, token] = [Math.floor(at / longest), at % longest];
      return (this.starts[text] ?? 0) + (token < (lengths[text] ?? 0) ? token : 0);
    });
    this.#joined = Int32Array.from(
      lengths.flatMap((length, text) => Array.from({ length }, (_, token) => text * longest + token)),
    );
  }

  /** The texts of [1, T], where each begins and the last ends. */
  static read(where: string, value: unknown, [batch, tokens]: readonly [number, number]): Packing | null {
    if (value === undefined) return null;
    const starts = numbersOf(value);
    const lengths = starts?.slice(1).map((start, at) => start - (starts[at] ?? 0));
    const isRight = starts?.[0] === 0 && starts.at(-1) === tokens && batch === 1;
    if (lengths !== undefined && isRight && lengths.every((length) => Number.isInteger(length) && length > 0)) {
      return new Packing(lengths);
    }
    const rule = `cuSeqlens must be whole numbers that grow from 0 to the ${tokens} tokens of a batch of one`;
    throw new HeedError("option", `${where}: ${rule}, got ${showValue(value)}`);
  }

  get count(): number {
    return this.lengths.length;
  }

  /** Options of attention over spread texts. */
  get options(): { readonly qLengths: readonly number[]; readonly kvLengths: readonly number[] } {
    return { qLengths: this.lengths, kvLengths: this.lengths };
  }

  /** The position of each token in its text. */
  get positions(): Int32Array<ArrayBuffer> {
    return Int32Array.from(this.lengths.flatMap((length) => Array.from({ length }, (_, token) => token)));
  }

  /** Which places of spread texts are tokens. */
  get mask(): TokenMask {
    const { longest, count } = this;
    const data = Uint8Array.from(
      this.lengths.flatMap((length) => Array.from({ length: longest }, (_, at) => Number(at < length))),
    );
    return { data, shape: [count, 1, 1, longest] };
  }

  /** [1, T, width] to [texts, longest, width]. */
  spread(scope: Scope, x: Tensor): Promise<Tensor> {
    const [, , width = 0] = x.shape;
    return scope.make(GATHER, { table: scope.rows(x), indices: this.#spread }, [this.count, this.longest, width]);
  }

  /** The way back. */
  join(scope: Scope, x: Tensor): Promise<Tensor> {
    const [, , width = 0] = x.shape;
    return scope.make(GATHER, { table: scope.rows(x), indices: this.#joined }, [1, this.#joined.length, width]);
  }

  /** The first token of each text, [texts, width]. */
  firsts(scope: Scope, x: Tensor): Promise<Tensor> {
    const [, , width = 0] = x.shape;
    return scope.make(GATHER, { table: scope.rows(x), indices: Int32Array.from(this.starts) }, [this.count, width]);
  }
}
