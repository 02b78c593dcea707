// Attention to the pages of a KV cache.

import type { AttentionProblem, CoreOperation, Pages } from "../backends/backend.js";
import { ATTENTION_CALL as CALL } from "../backends/wasm/generated/attention-call.js";
import { packPages } from "./append.js";
import { ATTENTION } from "./attention.js";

export interface PagedProblem extends AttentionProblem {
  readonly pages: Pages;
}

/** Its results are those of ATTENTION. */
export const PAGED_ATTENTION: CoreOperation<PagedProblem> = {
  ...ATTENTION,
  pack(problem, builder) {
    const { pages } = problem;
    packPages(CALL.pages, pages, builder);
    builder.integer(CALL.keyScales, pages.keyScales);
    builder.integer(CALL.valueScales, pages.valueScales);
    ATTENTION.pack(problem, builder);
  },
  cut(problem, workers, most) {
    const { perBatch, headBytes } = problem.pages;
    const { axes, ...rest } = ATTENTION.cut(problem, workers, most);
    const [byBatch, ...others] = axes;
    if (byBatch === undefined) throw new TypeError("attention is cut by batch entries");
    const starts = [...(byBatch.starts ?? []), [CALL.pages, perBatch * Int32Array.BYTES_PER_ELEMENT] as const];
    // What is left are heads, and queries, which share all that they read of a page.
    const paged = others.map((axis) => (axis.shares ? axis : { ...axis, entryBytes: headBytes }));
    return { ...rest, axes: [{ ...byBatch, starts, entries: perBatch }, ...paged] };
  },
};
