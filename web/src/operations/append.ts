// Appends keys and values to the pages of a KV cache.

import type { Operand, Operation, Resident } from "../backends/backend.js";
import { APPEND_CALL, OPERATION } from "../backends/wasm/generated/operation-calls.js";
import { MEMORY_BOUND, POINTWISE_COST, wholeOf } from "./rows.js";

/** K, or V, of one head in a page: bytes from the start of the head, numbers of a row, and bytes from there to its scales. */
export interface PagePart {
  readonly offset: number;
  readonly width: number;
  readonly scales: number;
}

/** A page that gets the rows of tokens [token, token + count) of a batch entry, from row `row` of the page on. */
export interface AppendedPage {
  readonly page: Resident;
  /** The page that it begins as a copy of; null: it is as it was. */
  readonly source: Resident | null;
  readonly entry: number;
  readonly row: number;
  readonly token: number;
  readonly count: number;
}

export interface AppendProblem {
  /** [batch, heads, tokens, dim] */
  readonly key: Operand;
  readonly value: Operand;
  /** The type of the rows in pages. */
  readonly dtype: Operand["dtype"];
  readonly headBytes: number;
  readonly keys: PagePart;
  readonly values: PagePart;
  readonly pages: readonly AppendedPage[];
}

/** The call ends with the first page; as many words follow for each further one. */
const PAGE_WORDS = APPEND_CALL.words - APPEND_CALL.page;

/** The operation of so many pages. It has no results: it writes to the pages. */
export function appendTo(pages: number): Operation<AppendProblem> {
  return {
    name: "append",
    call: { words: APPEND_CALL.page + pages * PAGE_WORDS },
    pack(problem, builder) {
      builder.integer(APPEND_CALL.operation, OPERATION.append);
      builder.input(APPEND_CALL.key, problem.key);
      builder.input(APPEND_CALL.value, problem.value);
      builder.dtype(APPEND_CALL.keyType, problem.key);
      builder.dtype(APPEND_CALL.valueType, problem.value);
      builder.dtype(APPEND_CALL.pageType, problem);
      builder.integer(APPEND_CALL.headBytes, problem.headBytes);
      for (const [word, part] of [
        [APPEND_CALL.keys, problem.keys],
        [APPEND_CALL.values, problem.values],
      ] as const) {
        builder.integer(word, part.offset);
        builder.integer(word + 1, part.width);
        builder.integer(word + 2, part.scales);
      }
      builder.integer(APPEND_CALL.pages, pages);
      for (const [at, { page, source, entry, row, token, count }] of problem.pages.entries()) {
        const from = at * PAGE_WORDS;
        builder.input(from + APPEND_CALL.page, wholeOf(page));
        builder.input(from + APPEND_CALL.source, source && wholeOf(source));
        builder.integer(from + APPEND_CALL.entry, entry);
        builder.integer(from + APPEND_CALL.row, row);
        builder.integer(from + APPEND_CALL.token, token);
        builder.integer(from + APPEND_CALL.count, count);
      }
    },
    work: ({ key, value }) => POINTWISE_COST * (key.elements + value.elements),
    cut: ({ key, headBytes, pages }) => ({
      axes: [
        {
          count: key.shape[1],
          views: [APPEND_CALL.key, APPEND_CALL.value].map((word) => [word, 1, 1]),
          starts: pages.flatMap(({ source }, at) => {
            const words = [APPEND_CALL.page, ...(source === null ? [] : [APPEND_CALL.source])];
            return words.map((word) => [at * PAGE_WORDS + word, headBytes] as const);
          }),
        },
      ],
      // This also keeps it from workers with memories of their own, where the pages are not.
      memoryBound: MEMORY_BOUND,
    }),
  };
}
