// What the numbers before attention come from: the words' properties, the projections, and the products of both.

import { isUnknown } from "../../src/model/embed.js";
import { at } from "../../src/model/matrix.js";
import { isNameless, type Role } from "../../src/model/state.js";
import { FEATURE_MEANING, FEATURES } from "../../src/model/vocabulary.js";
import { type Explanation, products } from "../../src/ui/explanation.js";
import type { Scene } from "./spots.js";

const NAMES = { q: ["Q", "Wq", "query"], k: ["K", "Wk", "key"], v: ["V", "Wv", "value"] } as const;

export function explainGiven({ walk, state }: Scene, row: number, col: number): Explanation {
  const word = walk.labels[row] ?? "";
  const feature = FEATURES[col];
  const unknown = "This word is not in our small table: the number is made from its letters";
  const given = isUnknown(word) ? unknown : "Set by hand for this word";
  const sentence =
    isNameless(state) || feature === undefined
      ? "An input: no arithmetic yet. Drag or type to change it."
      : `Column “${feature}”: ${FEATURE_MEANING[feature]}. ${state.numbers === null ? given : "You changed X by hand"}.`;
  const subject = `X [${word}, ${walk.featureNames[col] ?? ""}]`;
  return { editable: true, subject, sentence, result: at(walk.x, row, col), lights: [{ name: "X", row }] };
}

export function explainWeight({ walk, head }: Scene, role: Role, row: number, col: number): Explanation {
  const column = head.firstColumn + col;
  const [letter, name, what] = NAMES[role];
  const feature = walk.featureNames[row] ?? "";
  const question = (role === "v" ? walk.featureNames : walk.questionNames)[column] ?? "";
  return {
    editable: true,
    subject: `W${letter} [${feature}, ${question}]`,
    sentence: `How much “${feature}” adds to column “${question}” of a word’s ${what}.`,
    result: at(walk.projections[role], row, column),
    lights: [
      { name, col },
      { name: "X", col: row },
      { name: letter, col },
    ],
  };
}

/** W_Q and W_K as one matrix, which stands between two words. */
export function explainBoth({ walk, head }: Scene, row: number, col: number): Explanation {
  const [asking, asked] = [walk.featureNames[row], walk.featureNames[col]];
  const { q, k } = walk.projections;
  const own = (index: number): number => head.firstColumn + index;
  const names = walk.questionNames.slice(head.firstColumn, head.firstColumn + walk.headWidth);
  const [left, right] = [(index: number) => at(q, row, own(index)), (index: number) => at(k, col, own(index))];
  return {
    subject: `WQ WKᵀ [${asking}, ${asked}]`,
    sentence: `How much “${asking}” of one word and “${asked}” of another add to the score of the two.`,
    ...products(names, left, right, ["", "WQ", "WK"]),
    result: names.reduce((sum, _, index) => sum + left(index) * right(index), 0),
    lights: [{ name: "Wqk", row, col }],
  };
}

export function explainProjection({ walk, head }: Scene, role: Role, row: number, col: number): Explanation {
  const word = (role === "q" ? walk.askers : walk.labels)[row];
  const [letter, name, what] = NAMES[role];
  const column = head.firstColumn + col;
  const inputRow = role === "q" ? row + walk.labels.length - walk.askers.length : row;
  const question = (role === "v" ? walk.featureNames : walk.questionNames)[column] ?? "";
  return {
    subject: `${letter} [${word}, ${question}]`,
    sentence: `Column “${question}” of the ${what} of “${word}”: its row of X times this column of W${letter}.`,
    ...products(
      walk.featureNames,
      (i) => at(walk.x, inputRow, i),
      (i) => at(walk.projections[role], i, column),
      ["", "X", `W${letter}`],
    ),
    result: at(head[role], row, col),
    lights: [
      { name: "X", row: inputRow },
      { name, col },
      { name: letter, row, col },
      ...(role === "k" ? [{ name: "Kt", row: col, col: row }] : []),
    ],
  };
}
