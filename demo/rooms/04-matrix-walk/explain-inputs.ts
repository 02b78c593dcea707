// What the numbers before attention come from: the words' properties, the projections, and the products of both.

import { isUnknown } from "../../src/model/embed.js";
import { along, at, columns, down, type Matrix, multiply, transpose } from "../../src/model/matrix.js";
import { isNameless, type Role } from "../../src/model/state.js";
import { FEATURE_MEANING, FEATURES } from "../../src/model/vocabulary.js";
import { type Explanation, lit, products } from "../../src/ui/explanation.js";
import { questionsOf, type Scene } from "./spots.js";

const NAMES = { q: ["Q", "Wq", "query"], k: ["K", "Wk", "key"], v: ["V", "Wv", "value"] } as const;

function explainGiven({ walk, state }: Scene, row: number, col: number): Explanation {
  const word = walk.labels[row] ?? "";
  const feature = FEATURES[col];
  const unknown = "This word is not in our small table: the number is made from its letters";
  const given = isUnknown(word) ? unknown : "Set by hand for this word";
  const sentence =
    isNameless(state) || feature === undefined
      ? "An input: no arithmetic yet. Drag or type to change it."
      : `Column “${feature}”: ${FEATURE_MEANING[feature]}. ${state.numbers === null ? given : "You changed X by hand"}.`;
  const subject = `X [${word}, ${walk.featureNames[col] ?? ""}]`;
  return { editable: true, subject, sentence, result: at(walk.x, row, col), lights: [lit("X", row)] };
}

const explainProjector =
  (role: Role) =>
  ({ walk, head }: Scene, row: number, col: number): Explanation => {
    const column = head.firstColumn + col;
    const [letter, name, what] = NAMES[role];
    const feature = walk.featureNames[row] ?? "";
    const question = (role === "v" ? walk.featureNames : walk.questionNames)[column] ?? "";
    return {
      editable: true,
      subject: `W${letter} [${feature}, ${question}]`,
      sentence: `How much “${feature}” adds to column “${question}” of a word’s ${what}.`,
      result: at(walk.projections[role], row, column),
      lights: [lit(name, undefined, col), lit("X", undefined, row), lit(letter, undefined, col)],
    };
  };

/** W_Q and W_K as one matrix, which stands between two words. */
function explainBoth(scene: Scene, row: number, col: number): Explanation {
  const { walk, head } = scene;
  const [asking, asked] = [walk.featureNames[row], walk.featureNames[col]];
  const [left, right] = (["q", "k"] as const).map((role) =>
    columns(walk.projections[role], head.firstColumn, walk.headWidth),
  ) as [Matrix, Matrix];
  return {
    subject: `WQ WKᵀ [${asking}, ${asked}]`,
    sentence: `How much “${asking}” of one word and “${asked}” of another add to the score of the two.`,
    ...products(questionsOf(scene), along(left, row), along(right, col), ["", "WQ", "WK"]),
    result: at(multiply(left, transpose(right)), row, col),
    lights: [lit("Wqk", row, col)],
  };
}

const explainProjection =
  (role: Role) =>
  ({ walk, head }: Scene, row: number, col: number): Explanation => {
    const word = (role === "q" ? walk.askers : walk.labels)[row];
    const [letter, name, what] = NAMES[role];
    const column = head.firstColumn + col;
    const inputRow = role === "q" ? row + walk.labels.length - walk.askers.length : row;
    const question = (role === "v" ? walk.featureNames : walk.questionNames)[column] ?? "";
    return {
      subject: `${letter} [${word}, ${question}]`,
      sentence: `Column “${question}” of the ${what} of “${word}”: its row of X times this column of W${letter}.`,
      ...products(walk.featureNames, along(walk.x, inputRow), down(walk.projections[role], column), [
        "",
        "X",
        `W${letter}`,
      ]),
      result: at(head[role], row, col),
      lights: [
        lit("X", inputRow),
        lit(name, undefined, col),
        lit(letter, row, col),
        ...(role === "k" ? [lit("Kt", col, row)] : []),
      ],
    };
  };

export const INPUTS = {
  X: explainGiven,
  Wq: explainProjector("q"),
  Wk: explainProjector("k"),
  Wv: explainProjector("v"),
  Q: explainProjection("q"),
  K: explainProjection("k"),
  Kt: (scene: Scene, row: number, col: number): Explanation => explainProjection("k")(scene, col, row),
  V: explainProjection("v"),
  Wqk: explainBoth,
};
