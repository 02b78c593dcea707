// What is known of both networks that are trained here, while they learn and after that.

import type { Moment as AnyMoment } from "../../src/ui/training.js";

/** With attention, by dot products, and without. */
export const KINDS = ["dot", "none"] as const;
export type Kind = (typeof KINDS)[number];
export const KIND_NAMES: Readonly<Record<Kind, string>> = { dot: "with attention", none: "without" };

/** Steps between two moments, and how many are trained before the last of them. */
export const [EVERY, STEPS] = [15, 300];
/** Dates alone first; then some of them stand between two words. */
const ALONE = 180;
/** The same for both, with the same seed. */
export const LESSONS = {
  seed: 1,
  steps: STEPS + 1,
  peak: 1e-2,
  wordsAround: (step: number): number => (step < ALONE ? 0 : 1),
};
/** Words before the date, and as many after it, of the texts that both are examined on. */
export const LENGTHS = [0, 1, 2, 4, 8, 12];

/** Its loss is that of the network with attention. */
export interface Moment extends AnyMoment {
  readonly text: string;
  readonly date: string;
  readonly alignment: readonly (readonly number[])[];
  readonly scores: readonly (readonly number[])[];
  readonly other: { readonly date: string; readonly loss: number };
}

/** The share of dates that are right, for each length. */
export type Learnt = Readonly<Record<Kind, readonly number[]>>;
