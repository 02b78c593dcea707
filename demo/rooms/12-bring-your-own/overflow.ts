// Queries and keys can be numbers, and their scores too large to be.

import { magnitude } from "../../src/ui/numbers.js";
import { FileTrouble, type NamedArray, surveyOf } from "./arrays.js";

const LARGEST_SINGLE = (2 - 2 ** -23) * 2 ** 127;

/** Throws FileTrouble where a score, or what it is summed up from, could be beyond single precision. */
export function assertScores(q: NamedArray, k: NamedArray): void {
  const [mostOfQ, mostOfK] = [surveyOf(q).largest, surveyOf(k).largest];
  if ((q.shape.at(-1) ?? 1) * mostOfQ * mostOfK <= LARGEST_SINGLE) return;
  throw new FileTrouble(
    `Scores of “${q.name}” and “${k.name}” would be too large for single precision, which ends at 3.4 × 10³⁸: the largest numbers in them are ${magnitude(mostOfQ)} and ${magnitude(mostOfK)}.`,
  );
}
