// Tensors as long vectors.

import type { Resident } from "../../backends/backend.js";
import type { Cut } from "../../backends/cut.js";
import { PANEL } from "../../backends/wasm/generated/operation-calls.js";
import { COLUMNS, MEMORY_BOUND, type Rows } from "../rows.js";

/** All numbers of a resident, as one row. */
export function vectorOf(resident: Resident): Rows {
  return { resident, count: 1, length: resident.elements };
}

/** The same, as rows of a width. */
export function rowsOf(resident: Resident, length: number): Rows {
  return { resident, count: resident.elements / length, length };
}

export function byPart(length: number, words: readonly number[]): Cut {
  return {
    axes: [{ count: Math.ceil(length / PANEL), views: words.map((word) => [word, COLUMNS, PANEL]) }],
    memoryBound: MEMORY_BOUND,
  };
}
