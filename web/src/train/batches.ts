// Batches of examples, by code that is loaded at the first batch.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guard, guardAsync } from "../base/guard.js";
import { readCount } from "../base/read-values.js";
import { listOf, MOST_LISTED } from "../base/typed-array.js";
import { readCopy, readSize } from "../layers/read.js";

/** Token ids in one array, and 1 for those that are no padding. */
export interface PaddedBatch {
  readonly tokens: { readonly data: Int32Array; readonly shape: readonly [texts: number, length: number] };
  readonly mask: Uint8Array;
}

/** Texts one behind the other, and where they begin and the last ends. */
export interface PackedBatch {
  readonly tokens: { readonly data: Int32Array; readonly shape: readonly [1, number] };
  readonly cuSeqlens: Int32Array;
}

/** The options of `batches`. */
export interface BatchesOptions {
  /** The examples of a batch. The last one of an epoch may have fewer. */
  readonly size: number;
  /** Another order in each epoch. Default true. */
  readonly shuffle?: boolean | undefined;
  /** Of the orders, a whole number of 32 bits. Default 0. */
  readonly seed?: number | undefined;
  /** What fills a padded batch. Default 0. */
  readonly pad?: number | undefined;
}

/** Batches of examples, in another order in each epoch. */
export interface Batches<B> extends AsyncIterable<B> {
  /** The batches of an epoch. */
  readonly length: number;
  /** The batch of a step from 0 on, through as many epochs as there are steps. */
  at(step: number): Promise<B>;
}

const where = "batches";

/**
 * Cuts examples into batches. Each `for await` over the result is an epoch; the next one has another order. `collate` makes a batch of its examples.
 * "padded" and "packed" take lists of tokens; where they are shuffled, those of a batch are of like length.
 */
export function batches<E>(
  examples: ArrayLike<E>,
  options: BatchesOptions & { readonly collate?: undefined },
): Batches<readonly E[]>;
export function batches(
  examples: ArrayLike<ArrayLike<number>>,
  options: BatchesOptions & { readonly collate: "padded" },
): Batches<PaddedBatch>;
export function batches(
  examples: ArrayLike<ArrayLike<number>>,
  options: BatchesOptions & { readonly collate: "packed" },
): Batches<PackedBatch>;
export function batches<E, B>(
  examples: ArrayLike<E>,
  options: BatchesOptions & { readonly collate: (examples: readonly E[]) => B | Promise<B> },
): Batches<B>;
export function batches(examples: unknown, options: unknown): Batches<unknown> {
  const given = readCopy(where, "options", options, ["size", "shuffle", "seed", "collate", "pad"]);
  const size = readSize(where, "size", given["size"]);
  const all = guard("option", `${where}: reading examples`, () => listOf(examples, MOST_LISTED));
  if (all === null || all.length === 0) {
    throw new HeedError("option", `${where}: examples must be an array, not empty, got ${showValue(examples)}`);
  }
  const length = Math.ceil(all.length / size);
  let making: Promise<(step: number) => unknown> | undefined;
  let epochs = 0;
  const at = (step: number): Promise<unknown> =>
    guardAsync("option", where, async () => {
      readCount(`${where}.at`, "step", step ?? null, 0, Number.MAX_SAFE_INTEGER, 0);
      making ??= import("./later/batches.js").then(({ batchesOf }) => batchesOf(all, size, given));
      return (await making)(step);
    });
  return {
    length,
    at,
    async *[Symbol.asyncIterator]() {
      const from = length * epochs++;
      for (let step = from; step < from + length; step++) yield await at(step);
    },
  };
}
