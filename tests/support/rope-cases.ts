// Calls of rope that every backend computes, how near to the reference they have to come, and those that every backend refuses.

import type { RopeOptions, TensorLike } from "../../web/src/index.js";
import list from "../cases/rope-rejects.json";
import { Random } from "./random.js";
import { drawnBy, zeros } from "./tensors.js";

const random = new Random(400);
const tensor = drawnBy(random);

export const ROPE_CALLS: readonly (readonly [string, TensorLike, RopeOptions])[] = [
  ["f16", tensor(2, 3, 70, 16), {}],
  ["neighbours", tensor(2, 3, 70, 16), { interleaved: true }],
  ["some of the numbers", tensor(1, 2, 5, 20), { rotaryDim: 6 }],
  ["another base, turned back", tensor(3, 8), { base: 500, inverse: true }],
  ["positions from one on", tensor(2, 4, 8), { positions: 1000 }],
  ["a position for every token", tensor(2, 1, 3, 8), { positions: [5, 0, 2.5] }],
  ["positions of every batch entry", tensor(2, 1, 3, 8), { positions: Int32Array.of(5, 0, 2, 9, 9, 1) }],
  ["length before heads", tensor(2, 5, 3, 8), { layout: "bnhd" }],
  ["packed heads", tensor(2, 5, 24), { layout: "packed", heads: 3, interleaved: true }],
];

/** The first number further from the reference's than its arithmetic allows: four roundings of numbers up to 8, for tables up to 32. */
export function firstWrongTurn(
  got: TensorLike,
  wanted: { readonly data: Float64Array; readonly shape: readonly number[] },
  largest = 8,
): number {
  if (String(got.shape) !== String(wanted.shape)) return -2;
  return got.data.findIndex(
    (number, at) => !(Math.abs(number - (wanted.data[at] ?? Number.NaN)) <= 4 * largest * 2 ** -24),
  );
}

/** The cases of tests/cases/rope-rejects.json, with the arguments of each. */
export const REFUSED_ROPES = list.cases.map(({ name, input, code, message, ...rest }) => {
  const given: Record<string, unknown> = "options" in rest ? { ...rest.options } : {};
  if (Array.isArray(given["positions"])) {
    given["positions"] = given["positions"].map((one: unknown) => (one === "NaN" ? Number.NaN : one));
  }
  if (rest.cos !== undefined) given["cos"] = zeros(...rest.cos);
  if (rest.sin !== undefined) given["sin"] = zeros(...rest.sin);
  return { name, code, message, refused: [zeros(...input), given] as const };
});
