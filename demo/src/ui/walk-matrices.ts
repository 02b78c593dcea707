// The matrices of the walk: which there are, how each is shown, with its title, its labels and its colours; and one cell’s number, taken apart,
// whichever matrix it stands in. Pure.

import type { MatrixView } from "heed/viz";
import type { KernelHead } from "../engine/walk-call.js";
import { along, at, columns, down, largest, type Matrix, multiply, transpose } from "../model/matrix.js";
import { rowSum } from "../model/softmax.js";
import { isNameless, type Role, type State } from "../model/state.js";
import { FEATURE_MEANING, FEATURES, isUnknown } from "../model/vocabulary.js";
import type { HeadWalk, Walk } from "../model/walk.js";
import { type Explanation, lit, products, softened } from "./explanation.js";
import { type NamedSpot, type Telling, type Told, told } from "./named-matrices.js";
import { exact, timesTold } from "./numbers.js";

const GIVEN = ["X", "Wq", "Wk", "Wv"] as const;
export const MATRICES = [...GIVEN, "Q", "K", "V", "Kt", "S", "Wqk", "Z", "M", "A", "lse", "O"] as const;
export type MatrixName = (typeof MATRICES)[number];
export type Spot = NamedSpot<MatrixName>;

export interface Scene {
  readonly walk: Walk;
  readonly state: State;
  readonly head: HeadWalk;
  readonly kernel: KernelHead | undefined;
}

type Labels = readonly string[];

export function viewOf(name: MatrixName, scene: Scene): MatrixView & Telling {
  const { walk, state, head, kernel } = scene;
  const { askers, labels: words, featureNames: features, headWidth } = walk;
  const ofHead = (names: Labels): Labels => names.slice(head.firstColumn, head.firstColumn + headWidth);
  const [questions, values] = [ofHead(walk.questionNames), ofHead(features)];
  const weights = (role: Role) => columns(walk.projections[role], head.firstColumn, headWidth);
  const each = isNameless(state) ? "one element per row" : "one word per row";
  const [isWeights, isScaled] = [name === "A", name === "Z" || name === "M"];
  type Shown = readonly [
    title: string,
    about: string,
    rows: Labels,
    cols: Labels,
    own: () => Matrix,
    kernel?: Matrix | undefined,
  ];
  const shown: Readonly<Record<MatrixName, Shown>> = {
    X: ["X", each, words, features, () => walk.x],
    Wq: ["W_Q", "what makes a word’s query", features, questions, () => weights("q")],
    Wk: ["W_K", "what makes a word’s key", features, questions, () => weights("k")],
    Wv: ["W_V", "what makes a word’s value", features, values, () => weights("v")],
    Q: ["Q", "queries", askers, questions, () => head.q],
    K: ["K", "keys", words, questions, () => head.k],
    V: ["V", "values", words, values, () => head.v],
    Kt: ["Kᵀ", "keys, one per column", questions, words, () => head.keyTransposed],
    S: ["S", "scores: a row per query", askers, words, () => head.scores],
    Wqk: ["W_Q W_Kᵀ", "both as one matrix", features, features, () => multiply(weights("q"), transpose(weights("k")))],
    Z: [`S × ${exact(walk.scale, 3)}`, "scaled scores", askers, words, () => head.scaled],
    M: ["S masked", "−∞ is out of sight", askers, words, () => head.masked],
    A: ["A", "weights: each row sums to 1", askers, words, () => head.weights, kernel?.weights],
    lse: ["lse", "", askers, ["lse"], () => head.lse, kernel?.lse],
    O: ["O", "output: averages of V", askers, values, () => head.output, kernel?.output],
  };
  const [title, about, rowLabels, colLabels, ownOf, found] = shown[name];
  const own = ownOf();
  const matrix = found ?? own;
  // Scores keep their colours when they are scaled.
  const coloured = isScaled ? head.scores : matrix;
  const struck = (row: number, col: number): boolean => walk.hiddenBy(row, col) !== undefined;
  return {
    name,
    title,
    about,
    matrix,
    own,
    rowLabels,
    colLabels,
    tone: isWeights ? "share" : "signed",
    full: isWeights ? 1 : Math.max(name === "lse" ? 8 : 1, largest(coloured)),
    ...(GIVEN.some((one) => one === name) ? { editable: true } : {}),
    ...(name === "X" ? { noted: (label: string) => walk.unknown.includes(label) } : {}),
    ...(name === "M" || isWeights ? { struck } : {}),
    tell: (row, col, result) =>
      TELL[name === "Kt" ? "K" : name](scene, {
        row,
        col,
        names: [rowLabels[row] ?? "", colLabels[col] ?? ""],
        result,
      }),
  };
}

interface Cell extends Pick<Spot, "row" | "col"> {
  /** What stands before its row, and above its column. */
  readonly names: readonly [string, string];
  readonly result: number;
}

/** undefined where the spot lies outside of the present matrices. */
export function explain(scene: Scene, { name, row, col }: Spot): Explanation | undefined {
  // Told as a key: a row of K.
  if (name === "Kt") return explain(scene, { name: "K", row: col, col: row });
  return told(viewOf(name, scene), { name, row, col });
}

const ROLES = { q: ["Q", "Wq", "query"], k: ["K", "Wk", "key"], v: ["V", "Wv", "value"] } as const;

const explainWeight =
  (role: Role) =>
  (_: Scene, { row, col, names: [feature, question] }: Cell): Told => {
    const [letter, name, what] = ROLES[role];
    return {
      sentence: `How much “${feature}” adds to column “${question}” of a word’s ${what}.`,
      lights: [lit(name, undefined, col), lit("X", undefined, row), lit(letter, undefined, col)],
    };
  };

const explainProjection =
  (role: Role) =>
  (scene: Scene, { row, col, names: [word, question] }: Cell): Told => {
    const { x, featureNames, labels, askers } = scene.walk;
    const [letter, name, what] = ROLES[role];
    const from = role === "q" ? row + labels.length - askers.length : row;
    const weights = down(viewOf(name, scene).matrix, col);
    const turned = role === "k" ? [lit("Kt", col, row)] : [];
    return {
      sentence: `Column “${question}” of the ${what} of “${word}”: its row of X times this column of W${letter}.`,
      ...products(featureNames, along(x, from), weights, ["", "X", `W${letter}`]),
      lights: [lit("X", from), lit(name, undefined, col), ...turned],
    };
  };

const TELL: Readonly<Record<Exclude<MatrixName, "Kt">, (scene: Scene, cell: Cell) => Told>> = {
  X: ({ state }, { row, col, names: [word] }) => {
    const feature = FEATURES[col];
    const unknown = "This word is not in our small table: the number is made from its letters";
    const given = isUnknown(word) ? unknown : "Set by hand for this word";
    const sentence =
      isNameless(state) || feature === undefined
        ? "An input: no arithmetic yet. Drag or type to change it."
        : `Column “${feature}”: ${FEATURE_MEANING[feature]}. ${state.numbers === null ? given : "You changed X by hand"}.`;
    return { sentence, lights: [lit("X", row)] };
  },
  Wq: explainWeight("q"),
  Wk: explainWeight("k"),
  Wv: explainWeight("v"),
  Q: explainProjection("q"),
  K: explainProjection("k"),
  V: explainProjection("v"),
  Wqk: (scene, { row, col, names: [asking, asked] }) => {
    const [left, right] = [viewOf("Wq", scene), viewOf("Wk", scene)];
    return {
      sentence: `How much “${asking}” of one word and “${asked}” of another add to the score of the two.`,
      ...products(left.colLabels, along(left.matrix, row), along(right.matrix, col), ["", "WQ", "WK"]),
    };
  },
  S: (scene, { row, col, names: [asker, word] }) => {
    const { q, k } = scene.head;
    const { x, labels, askers } = scene.walk;
    // The same without a query or a key: two words, and one matrix between them.
    const bilinear = multiply(multiply(x, viewOf("Wqk", scene).matrix), transpose(x));
    const again = exact(at(bilinear, row + labels.length - askers.length, col));
    return {
      sentence: `The query of “${asker}” times the key of “${word}”. As x W_Q W_Kᵀ xᵀ it is ${again} as well.`,
      ...products(viewOf("Q", scene).colLabels, along(q, row), along(k, col), ["", "q", "k"]),
      lights: [lit("Q", row), lit("Kt", undefined, col), lit("K", col)],
    };
  },
  Z: ({ walk: { scale, headWidth }, head, state }, { row, col, result }) => {
    const multiplier = exact(scale, 6);
    const why = state.scale === "root" ? `1/√${headWidth}, which is ${multiplier}` : `the scale ${multiplier}`;
    return {
      sentence: `The score times ${why}.`,
      last: timesTold([at(head.scores, row, col), scale], result),
      lights: [lit("S", row, col)],
    };
  },
  M: ({ walk, head, state }, { row, col, names: [asker, word], result }) => {
    const offset = state.causal === "upper-left" ? 0 : walk.labels.length - walk.askers.length;
    const sentences = {
      padding: `“${word}” is hidden from everybody (padding), so “${asker}” does not see it.`,
      later: `Causal: query ${row + 1} sees keys up to ${Math.max(0, row + 1 + offset)}, and “${word}” is key ${col + 1}.`,
      seen: `“${asker}” may see “${word}”: the scaled score passes unchanged.`,
    };
    return {
      sentence: sentences[walk.hiddenBy(row, col) ?? "seen"],
      last: `${exact(at(head.scaled, row, col))} → ${exact(result)}`,
      lights: [lit("Z", row, col)],
    };
  },
  A: ({ walk, head: { masked } }, { row, col, names: [asker, word] }) => {
    const lights = [lit("M", row)];
    const reason = walk.hiddenBy(row, col);
    const scores = walk.labels.map((_, key) => at(masked, row, key));
    const most = Math.max(...scores);
    if (most === Number.NEGATIVE_INFINITY) {
      const sentence = `“${asker}” sees no word at all: by rule every weight is 0.`;
      return { sentence, last: "no visible key → 0", lights };
    }
    return {
      ...softened(scores, walk.labels, { at: col }),
      sentence:
        reason === undefined
          ? `The attention weight of “${word}” for “${asker}”: e to the power of each score less the largest, ${exact(most)}; then this one over the sum of all.`
          : `“${word}” is out of sight (${reason === "padding" ? "padding" : "causal"}): e^−∞ is 0, exactly.`,
      lights,
    };
  },
  lse: ({ head: { masked } }, { row, names: [asker], result }) => {
    const { most, sum } = rowSum(masked, row);
    return {
      subject: `lse [${asker}]`,
      sentence:
        "The logarithm of the row’s sum of exponentials: with it, any weight can be computed again without its row.",
      last: sum === 0 ? "ln 0 = −∞" : `${exact(most)} + ln ${exact(sum)} = ${exact(result)}`,
      lights: [lit("M", row)],
    };
  },
  O: ({ walk, head }, { row, col, names: [asker, feature] }) => ({
    sentence: `The output of “${asker}” in “${feature}”: every value times its attention weight.`,
    ...products(walk.labels, along(head.weights, row), down(head.v, col), ["", "weight", "v"]),
    lights: [lit("A", row), lit("V", undefined, col)],
  }),
};
