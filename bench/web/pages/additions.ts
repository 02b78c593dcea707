// Additions to a call of heed: attention weights, and the same masks and biases for the engine and for the judge.

import { maskBytes, normalNumbers } from "./inputs.js";
import type { Problem } from "./peer.js";

export const ADDITIONS = ["weights", "mask", "bias", "window"] as const;
export type Addition = (typeof ADDITIONS)[number];

export const isAddition = (name: string | undefined): name is Addition => ADDITIONS.some((one) => one === name);

/** A query sees itself and the 255 keys before it. */
export const WINDOW: readonly [number, number] = [255, 0];

export const maskOf = (problem: Problem): { data: Uint8Array; shape: readonly number[] } => ({
  data: maskBytes(scoresOf(problem), 4),
  shape: shapeOf(problem),
});

export const biasOf = (problem: Problem): { data: Float32Array; shape: readonly number[] } => ({
  data: normalNumbers(scoresOf(problem), 5),
  shape: shapeOf(problem),
});

const scoresOf = ({ heads, queries, keys }: Problem): number => heads * queries * keys;
const shapeOf = ({ heads, queries, keys }: Problem): readonly number[] => [1, heads, queries, keys];
