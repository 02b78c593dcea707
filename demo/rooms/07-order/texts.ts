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
  const figures = `largest difference ${apart(own)} by hand${answer === undefined ? "" : `, ${apart(kernel)} in the kernel’s single precision`}`;
  return Math.max(own, kernel) < ROUNDING
    ? `Every word takes in what it took in as written: ${figures}. The set of outputs moved along with the words; nobody noticed.`
    : `Noticed: the words now take in something else, ${figures}.`;
}

export const KIND_TEXTS: Readonly<Record<Kind, string>> = {
  none: "Nothing. A score looks at two words and not at where they are, a softmax and a weighted mean are sums, and sums have no order. So who gave and who was given is lost.",
  causal:
    "Nothing is added, but no word sees a later one. That alone tells the words apart by how many they see, though not by how far away they are.",
  sinusoidal:
    "Waves are added to the vectors, fast ones in the first columns, slow ones in the last. They become part of queries, keys and values, so moving the whole sentence changes everything a little.",
  learned:
    "Each position has a row of a table, added to the vectors. Nothing is trained on this page, so random numbers stand in. What lies beyond the table has no row: such a model ends there.",
  rope: "Queries and keys are turned, pair by pair of columns, by an angle that grows with the position. The product of two turned vectors holds only the difference of their angles, so moving the whole sentence changes nothing. Values are left alone. Here neighbouring columns make a pair; other models pair the two halves.",
  alibi:
    "Vectors are left alone; each score loses a slope times the distance. Near words are louder. Distance says nothing about direction: before and after count alike.",
  relative:
    "Vectors are left alone; each score gains a number that depends on the distance alone, before and after told apart. All distances beyond 4 share one number.",
};

export const TABLE_TEXT =
  "Each kind is put to three trials: the first two words swapped, the sentence reversed, and the whole sentence moved by 7 positions. The figure is the largest difference in what one and the same word takes in. Rounding alone gives about 10⁻⁷. ALiBi counts steps without asking in which direction: it tells a swap from no swap, but not a sentence from its mirror image.";

export function noticed(residual: number): boolean {
  return residual >= ROUNDING;
}
