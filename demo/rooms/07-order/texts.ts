// What the room says about the sentence as it stands, and about each kind of position.

import { largest } from "../../src/model/matrix.js";
import { apart } from "../../src/ui/numbers.js";
import type { OrderAnswer } from "./calls.js";
import type { OrderScene } from "./scene.js";
import type { Kind } from "./state.js";

/** Single precision may add up in another order. */
export const ROUNDING = 2e-6;

export function orderText(scene: OrderScene, answer: OrderAnswer | undefined): string {
  const { state, words, difference } = scene;
  if (words.length === 0) return "Type a sentence above.";
  if (state.order.length === 0 && state.shift === 0) return "";
  const own = largest(difference);
  const kernel = answer === undefined ? own : largest(answer.difference);
  const single = answer === undefined ? "" : `, ${apart(kernel)} in heed’s single precision`;
  return Math.max(own, kernel) < ROUNDING
    ? `Nobody noticed: every word’s output moved along with it. The largest difference is rounding, ${apart(own)} on this page${single}.`
    : `Noticed: the outputs changed, by up to ${apart(own)} on this page${single}.`;
}

export const KIND_TEXTS: Readonly<Record<Kind, string>> = {
  none: "No positions: scores compare words, not places. Who gave, and who received, is lost.",
  causal:
    "Nothing is added, but no word sees a later one. That tells words apart by how many they see, though not by how far away those are.",
  sinusoidal:
    "Waves are added to the vectors, a pair of them in each lane below: fast ones first, slow ones last; a word gets the dots. They become part of queries, keys and values, so sliding the sentence changes everything a little.",
  learned:
    "Each position has a row of a table, which is added to the vectors. Nothing is trained here, so random numbers stand in. A position beyond the table has no row.",
  rope: "Queries and keys turn, pair by pair of columns, by an angle that grows with the position. When both slide, the angle between them stays, so their product does too. Here neighbouring columns are a pair; other models pair the two halves.",
  alibi:
    "Each score loses a slope times the distance, so near words count more. Before and after count alike, and sliding the sentence changes nothing.",
  relative:
    "Each score gains a number for its distance, with before and after told apart. All distances beyond 4 share one number.",
};

export const TABLE_TEXT =
  "Three trials: the first two words swapped, the sentence reversed, all of it moved by 7. The figure is the largest change of any word’s output; rounding gives about 10⁻¹⁶. ALiBi ignores direction, so a mirror image escapes it.";

export const VECTORS_TEXT =
  "Outputs have one row for each word, where it stands now. D is the change against the order as written, rounding left out. X has six properties set by hand (“glue”: small words that join others) and two hashes of the letters; V is X.";
