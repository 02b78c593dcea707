// The words that stand for queries and keys.

import { offsetOf } from "./rules.js";
import type { MaskState } from "./state.js";

const STORY = "The animal didn't cross because it was too tired to walk home through the cold rain".split(" ");
/** Texts that have nothing to do with each other. */
const PACKED = "The animal was tired . Whisk two eggs . Profits rose sharply . Rain came late".split(" ");

export function keyWord({ keys, padding, cuts }: MaskState, key: number): string {
  return key >= keys - padding ? "[pad]" : ((cuts.length > 0 ? PACKED : STORY)[key] ?? "");
}

/** A query stands at its place among the keys, which may lie before the first. */
export function queryWord(state: MaskState, row: number): string {
  const place = row + offsetOf(state);
  return place < 0 ? "–" : keyWord(state, place);
}
