// What the numbers before attention come from: the words' properties, the projections, and the products of both.

import { isUnknown } from "../../src/model/embed.js";
import { at } from "../../src/model/matrix.js";
import { isNameless, type Role } from "../../src/model/state.js";
import { FEATURE_MEANING, FEATURES } from "../../src/model/vocabulary.js";
import { type Explanation, products } from "../../src/ui/explanation.js";
import type { Scene } from "./spots.js";

const SYMBOL: Readonly<Record<Role, string>> = { q: "Q", k: "K", v: "V" };
const PROJECTION: Readonly<Record<Role, "Wq" | "Wk" | "Wv">> = { q: "Wq", k: "Wk", v: "Wv" };

export function explainGiven({ walk, state }: Scene, row: number, col: number): Explanation | undefined {
  const word = walk.labels[row];
  const result = at(walk.x, row, col);
  if (word === undefined || Number.isNaN(result)) return undefined;
  const feature = FEATURES[col];
  const source =
    state.numbers !== null
      ? "You changed X by hand"
      : isUnknown(word)
        ? "This word is not in our small table: the number is made from its letters"
        : "Set by hand for this word";
  const sentence =
    isNameless(state) || feature === undefined
      ? "An input: no arithmetic yet. Drag or type to change it."
      : `Column “${feature}”: ${FEATURE_MEANING[feature]}. ${source}.`;
  return {
    subject: `X [${word}, ${walk.featureNames[col] ?? ""}]`,
    sentence,
    head: [],
    terms: [],
    last: "",
    result,
    lights: [{ name: "X", row }],
    editable: true,
  };
}

export function explainWeight({ walk, head }: Scene, role: Role, row: number, col: number): Explanation | undefined {
  const column = head.firstColumn + col;
  const result = at(walk.projections[role], row, column);
  if (col >= walk.headWidth || Number.isNaN(result)) return undefined;
  const feature = walk.featureNames[row] ?? "";
  const question = (role === "v" ? walk.featureNames : walk.questionNames)[column] ?? "";
  const sentence =
    role === "v"
      ? `How much of “${feature}” a word hands over in the value’s column “${question}”.`
      : role === "q"
        ? `How strongly a word that has “${feature}” asks the question “${question}”.`
        : `How strongly a word that has “${feature}” answers the question “${question}”.`;
  const name = PROJECTION[role];
  return {
    subject: `W${SYMBOL[role]} [${feature}, ${question}]`,
    sentence,
    head: [],
    terms: [],
    last: "",
    result,
    lights: [
      { name, col },
      { name: "X", col: row },
      { name: SYMBOL[role] === "Q" ? "Q" : role === "k" ? "K" : "V", col },
    ],
    editable: true,
  };
}

export function explainProjection(
  { walk, head }: Scene,
  role: Role,
  row: number,
  col: number,
): Explanation | undefined {
  const word = (role === "q" ? walk.askers : walk.labels)[row];
  const result = at(head[role], row, col);
  if (word === undefined || Number.isNaN(result)) return undefined;
  const column = head.firstColumn + col;
  const inputRow = role === "q" ? row + walk.labels.length - walk.askers.length : row;
  const question = (role === "v" ? walk.featureNames : walk.questionNames)[column] ?? "";
  const does = { q: `asks “${question}”`, k: `answers “${question}”`, v: `hands over “${question}”` }[role];
  const name = role === "q" ? "Q" : role === "k" ? "K" : "V";
  return {
    subject: `${SYMBOL[role]} [${word}, ${question}]`,
    sentence: `How strongly “${word}” ${does}: its row of X times this column of W${SYMBOL[role]}.`,
    ...products(
      walk.featureNames,
      (i) => at(walk.x, inputRow, i),
      (i) => at(walk.projections[role], i, column),
      ["", "X", `W${SYMBOL[role]}`],
    ),
    result,
    lights: [
      { name: "X", row: inputRow },
      { name: PROJECTION[role], col },
      { name, row, col },
      ...(role === "k" ? [{ name: "Kt", row: col, col: row }] : []),
    ],
  };
}
