// What the room says about the mask that is there.

import { at, bestOf } from "../../src/model/matrix.js";
import { percent } from "../../src/ui/numbers.js";
import { offsetOf, type RuleName, verdictsOn } from "./rules.js";
import { keyWord, type MaskScene, queryWord, sumOf } from "./scene.js";
import type { MaskState } from "./state.js";

const WHY: Readonly<Record<RuleName, string>> = {
  causal: "A model that learns to predict the next word must not see it, or it would copy it.",
  window: "A window keeps the words nearby, so that cost grows with the length and not with its square.",
  documents: "Texts are packed into one sequence, and none may read another.",
  padding: "Texts in a batch are filled up to one length. [pad] is not a word, so nobody may look at it.",
  blocks: "Each block sees itself, the one before and the first: few pairs, even in a long text.",
  paint: "Some pairs are hidden by hand.",
};

export function maskText(scene: MaskScene, row: number): string {
  const { state } = scene;
  const odd = oddText(scene);
  if (odd !== "") return odd;
  const why = verdictsOn(state, row, 0).map(({ rule }) => WHY[rule]);
  const word = queryWord(state, row);
  if (why.length === 0) {
    const best = bestOf(scene.plain, row);
    return `No mask. Here every word looks for the next one: “${word}” gives ${percent(at(scene.plain, row, best))} of its weight to “${keyWord(state, best)}”. A model that should predict that word would copy it.`;
  }
  return `${alignment(state) || why.slice(0, 2).join(" ")} Without a mask, “${word}” would give ${percent(lostBy(scene, row))} of its weight to what is hidden here.`;
}

/** The weight that a query would give to what the mask hides. */
export function lostBy({ plain, seen, state }: MaskScene, row: number): number {
  let lost = 0;
  for (let key = 0; key < state.keys; key++) if (at(seen, row, key) === 0) lost += at(plain, row, key);
  return lost;
}

function alignment(state: MaskState): string {
  const { causal, queries, keys } = state;
  if (causal === "none" || queries === keys) return "";
  if (causal === "upper-left") return "Upper left: the first query meets the first key.";
  const offset = offsetOf(state);
  return offset > 0
    ? `Lower right: the last query meets the last key. The ${queries} queries are the newest of ${keys} tokens, as in generation with a KV cache.`
    : `Lower right: the last query meets the last key, and the first ${-offset} queries see nothing.`;
}

/** Where the weights are not what one expects of a mask; else empty. */
function oddText({ state, seen, sums }: MaskScene): string {
  const blind = sums.data.findIndex((_, row) => sumOf(seen, row) === 0);
  if (state.hiding === "after") {
    const lost = 1 - Math.min(...sums.data);
    return `Set to 0 after the softmax, weights no longer add up to 1: a row loses up to ${percent(lost)}. Hidden scores still decide how small the others are, so nothing was really hidden.`;
  }
  if (state.hiding === "minus")
    return blind >= 0
      ? `q${blind + 1} sees nothing and still has weights: all its scores lost the same number, which a softmax does not notice. A large negative number is no mask.`
      : "As long as a row sees one key, a large negative number hides the others well enough. Paint a whole row to see it fail.";
  if (blind < 0 || state.padding > 0) return "";
  return `q${blind + 1} sees nothing. A softmax of nothing but −∞ is 0/0; in heed such a row has weights and output of 0, so nothing becomes NaN. Whatever a hidden key holds, even NaN, never reaches the output.`;
}
