// What the room says about the mask that is there.

import { offsetOf } from "./rules.js";
import { type MaskScene, sumOf } from "./scene.js";

export function gridText({ state, seen }: MaskScene): string {
  const pairs = state.queries * state.keys;
  const count = Array.from({ length: state.queries }, (_, row) => sumOf(seen, row)).reduce((sum, row) => sum + row, 0);
  return `${count} of ${pairs} pairs are seen. ${alignment(state)}Click or drag to paint; with the keyboard, arrows and the space bar. Lines are the tiles below.`;
}

function alignment(state: MaskScene["state"]): string {
  const { causal, queries, keys } = state;
  if (causal === "none" || queries === keys) return "";
  if (causal === "upper-left")
    return "Upper left: the first query meets the first key, as if the queries stood at the beginning. ";
  const offset = offsetOf(state);
  return offset > 0
    ? `Lower right: the last query meets the last key, so the ${queries} queries are the newest of ${keys} tokens. That is generation with a cache. `
    : `Lower right: the last query meets the last key, and the first ${-offset} queries see nothing. `;
}

export function sharesText({ state, seen, sums }: MaskScene): string {
  const blind = sums.data.findIndex((_, row) => sumOf(seen, row) === 0);
  if (state.hiding === "after") {
    const lost = 1 - Math.min(...sums.data);
    return `Struck out after the softmax, the shares no longer add up to one: up to ${(lost * 100).toFixed(0)} % of a row is lost. And the hidden scores still decide how small the others are, so nothing was really hidden.`;
  }
  if (state.hiding === "minus" && blind >= 0) {
    return `q${blind + 1} sees nothing, and yet has shares: all its scores lost the same number, which a softmax does not notice. A large negative number is no mask.`;
  }
  if (state.hiding === "minus")
    return "As long as a row sees one key, a large negative number hides the others well enough. Paint a whole row to see it fail.";
  if (blind >= 0) {
    return `q${blind + 1} sees nothing. A softmax of nothing but −∞ is 0/0; heed’s rule is that such a row gives zeros, so that nothing becomes NaN.`;
  }
  return "A hidden score is −∞ before the softmax, its share exactly 0, and the rest adds up to one. What a hidden key holds, NaN even, cannot reach the output.";
}
