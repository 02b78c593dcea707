// Appends keys and values to the pages of a KV cache.

import type { CallBuilder, CoreOperation, Operand, Pages } from "../backends/backend.js";
import { APPEND_CALL as CALL, OPERATION } from "../backends/wasm/generated/operation-calls.js";
import { MEMORY_BOUND, POINTWISE_COST } from "./rows.js";

export interface AppendProblem {
  /** [batch, heads, tokens, dim] */
  readonly key: Operand;
  readonly value: Operand;
  /** The same rows in the pages, of which they are the first. */
  readonly cachedKey: Operand;
  readonly cachedValue: Operand;
  readonly pages: Pages;
  /** By batch entry, in place of `pages.first`; null: they are alike. */
  readonly firstRows: Int32Array | null;
}

/** It has no results: it writes to the pages. */
export const APPEND: CoreOperation<AppendProblem> = {
  name: "append",
  module: "core",
  call: CALL,
  pack({ key, value, cachedKey, cachedValue, pages, firstRows }, builder) {
    packPages(CALL.pages, pages, builder);
    builder.integer(CALL.operation, OPERATION.append);
    builder.input(CALL.keyRows, key);
    builder.input(CALL.keyCached, cachedKey);
    builder.integer(CALL.keyScales, pages.keyScales);
    builder.dtype(CALL.keyType, key);
    builder.input(CALL.valueRows, value);
    builder.input(CALL.valueCached, cachedValue);
    builder.integer(CALL.valueScales, pages.valueScales);
    builder.dtype(CALL.valueType, value);
    builder.dtype(CALL.pageType, cachedKey);
    builder.numbers(CALL.firstRows, firstRows);
  },
  work: ({ key, value }) => POINTWISE_COST * (key.elements + value.elements),
  cut: ({ key, pages: { headBytes } }) => ({
    axes: [
      {
        count: key.shape[1],
        views: [CALL.keyRows, CALL.valueRows].map((word) => [word, 1, 1]),
        starts: [CALL.keyCached, CALL.valueCached].map((word) => [word, headBytes]),
      },
    ],
    // This also keeps it from workers with memories of their own, where the pages are not.
    memoryBound: MEMORY_BOUND,
  }),
};

/** Packs a page table, from its first word on. It comes before all else. */
export function packPages(word: number, { pages, perBatch, rows, first }: Pages, builder: CallBuilder): void {
  builder.table(word, pages);
  builder.integer(word + 1, perBatch);
  builder.integer(word + 2, rows);
  builder.integer(word + 3, first);
}
