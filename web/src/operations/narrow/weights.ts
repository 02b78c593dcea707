// Stored weights in the engine's memory: matrices in panels of 16 outputs, which kernels read as they are. Nobody but C++ looks inside.

import type { CallBuilder, Resident } from "../../backends/backend.js";
import { NARROW_PANEL, WEIGHT_FORMAT } from "../../backends/wasm/generated/operation-calls.js";
import { wholeOf } from "../rows.js";

export type NarrowFormat = keyof typeof WEIGHT_FORMAT;

/** What PACK_NARROW has written. */
export interface NarrowWeights {
  readonly resident: Resident;
  readonly format: NarrowFormat;
}

/** The panels of a matrix, of which the last may be there in part. */
export const panelsOf = (outputs: number): number => Math.ceil(outputs / NARROW_PANEL);

/** Packs the format and the weights, all of them as one row. */
export function packWeights(
  builder: CallBuilder,
  words: { readonly format: number; readonly weights: number },
  { resident, format }: NarrowWeights,
): void {
  builder.integer(words.format, WEIGHT_FORMAT[format]);
  builder.input(words.weights, wholeOf(resident));
}
