// What rope needs beside its tensor, read once for many tensors: the angles by which pairs turn, and positions.

import { showShape, showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { readBoolean, readFinite } from "../../base/read-values.js";
import { numbersOf } from "../../base/typed-array.js";
import { type Frequencies, frequenciesOf, type GivenFrequencies } from "./rope-frequencies.js";

/** A rotation by frequencies. */
export interface Rotation extends Frequencies {
  readonly rotaryDim: number;
  readonly interleaved: boolean;
}

/** The unchecked options. */
export interface GivenRotation extends GivenFrequencies {
  readonly interleaved?: unknown;
  readonly rotaryDim?: unknown;
}

/** `shape` is that of the tensors, which ends with head_dim. */
export function readRotation(where: string, given: GivenRotation, shape: readonly number[]): Rotation {
  const rotaryDim = readRotaryDim(where, given.rotaryDim, shape);
  return {
    rotaryDim,
    ...frequenciesOf(where, given, rotaryDim),
    interleaved: readBoolean(where, "interleaved", given.interleaved, false),
  };
}

export function readRotaryDim(where: string, value: unknown, shape: readonly number[], absent?: number): number {
  const headDim = shape[shape.length - 1] ?? 0;
  const rotaryDim = readFinite(where, "rotaryDim", value, absent ?? headDim);
  if (rotaryDim >= 2 && rotaryDim <= headDim && rotaryDim % 2 === 0) return rotaryDim;
  throw new HeedError(
    "option",
    `${where}: rotaryDim must be an even number from 2 to head_dim, got ${rotaryDim} for ${showShape(shape)}`,
  );
}

/** One for each token, or for each batch entry and token; null: 0, 1, 2 ... */
export function readPositions(
  where: string,
  value: unknown,
  batch: number,
  length: number,
): Float64Array<ArrayBuffer> | null {
  if (value === undefined) return null;
  const numbers =
    typeof value === "number" ? Array.from({ length }, (_, token) => value + token) : numbersOf(value, batch * length);
  const isCount = numbers?.length === length || numbers?.length === batch * length;
  if (numbers === null || !isCount) {
    throw new HeedError(
      "option",
      `${where}: positions must be a finite number, or one for each of ${length} tokens or of the tokens of ${batch} batch entries, got ${showValue(value)}`,
    );
  }
  const at = numbers.findIndex((position) => !Number.isFinite(position));
  if (at === -1) return Float64Array.from(numbers);
  throw new HeedError("option", `${where}: positions must be finite numbers, number ${at} is not`);
}
