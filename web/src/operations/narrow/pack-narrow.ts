// Packs stored rows into the panels that the other operations of this folder read.

import type { Operation, Resident } from "../../backends/backend.js";
import {
  PACK_NARROW_CALL as CALL,
  NARROW_PANEL,
  OPERATION,
  WEIGHT_FORMAT,
} from "../../backends/wasm/generated/operation-calls.js";
import { COLUMNS, MEMORY_BOUND, rowsView, wholeOf } from "../rows.js";
import { type NarrowFormat, panelsOf } from "./weights.js";

export interface PackNarrowProblem {
  readonly format: NarrowFormat;
  /** The bytes of `outputs` rows, with what fills the last word; f32 numbers where they are to be rounded to the format. */
  readonly stored: Float32Array;
  readonly areFloats: boolean;
  readonly rowBytes: number;
  /** What is written to. */
  readonly packed: Resident;
  readonly outputs: number;
  readonly inputs: number;
  /** The first of these rows among all that are packed there, a multiple of NARROW_PANEL. */
  readonly firstOutput: number;
}

/** As the conversion of so many multiplications for each number. */
const PACK_COST = 4;

/** It has no results: it writes to the weights. */
export const PACK_NARROW: Operation<PackNarrowProblem> = {
  name: "pack",
  module: "narrow",
  call: CALL,
  pack({ format, stored, areFloats, packed, outputs, inputs, firstOutput }, builder) {
    builder.integer(CALL.operation, OPERATION.packNarrow);
    builder.input(CALL.stored, {
      ...rowsView(1, stored.length),
      source: { kind: "array", array: stored },
      dtype: "f32",
    });
    builder.input(CALL.packed, wholeOf(packed));
    builder.integer(CALL.format, WEIGHT_FORMAT[format]);
    builder.integer(CALL.outputs, outputs);
    builder.integer(CALL.inputs, inputs);
    builder.integer(CALL.firstOutput, firstOutput);
    builder.integer(CALL.areFloats, Number(areFloats));
  },
  work: ({ outputs, inputs }) => PACK_COST * outputs * inputs,
  cut: ({ outputs, rowBytes }) => ({
    axes: [
      {
        count: panelsOf(outputs),
        // Sixteen rows of any format end with a word.
        views: [[CALL.stored, COLUMNS, (NARROW_PANEL * rowBytes) / Float32Array.BYTES_PER_ELEMENT]],
        starts: [[CALL.firstOutput, NARROW_PANEL]],
      },
    ],
    // This also keeps it from workers with memories of their own, where the weights are not.
    memoryBound: MEMORY_BOUND,
    finish(slice, whole) {
      const left = outputs - ((slice[CALL.firstOutput] ?? 0) - (whole[CALL.firstOutput] ?? 0));
      const words = slice[CALL.stored + 1 + COLUMNS] ?? 0;
      const rows = Math.floor((words * Float32Array.BYTES_PER_ELEMENT) / rowBytes);
      slice[CALL.outputs] = Math.min(left, rows);
    },
  }),
};
