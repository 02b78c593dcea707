// One cell's number, taken apart: the terms it is the sum of, where they stand, and what they add up to. Pure; drawn by readout.ts.

import type { KernelHead } from "../../src/engine/kernel.js";
import { isKnown } from "../../src/model/embed.js";
import { at, type Matrix } from "../../src/model/matrix.js";
import { isNameless, type Role, type State } from "../../src/model/state.js";
import { FEATURE_MEANING, FEATURES } from "../../src/model/vocabulary.js";
import { type HeadWalk, rowSum, type Walk } from "../../src/model/walk.js";
import { exact } from "../../src/ui/numbers.js";

export const MATRICES = ["X", "Wq", "Wk", "Wv", "Q", "K", "V", "Kt", "S", "Z", "M", "A", "lse", "O"] as const;
export type MatrixName = (typeof MATRICES)[number];

export interface Spot {
  readonly name: MatrixName;
  readonly row: number;
  readonly col: number;
}

export interface Term {
  readonly label: string;
  readonly figures: readonly string[];
  /** Contributes nothing. */
  readonly faint?: boolean;
  /** The one that the cell is about. */
  readonly own?: boolean;
}

export interface Explanation {
  readonly subject: string;
  readonly sentence: string;
  readonly head: readonly string[];
  readonly terms: readonly Term[];
  /** The last line of the calculation, ending in the result. */
  readonly last: string;
  readonly result: number;
  /** The kernel's number for the same cell. */
  readonly kernel?: number;
  readonly lights: readonly { readonly name: MatrixName; readonly row?: number; readonly col?: number }[];
  /** For cells that can be changed. */
  readonly editable?: boolean;
}

export interface Scene {
  readonly walk: Walk;
  readonly state: State;
  readonly head: HeadWalk;
  readonly kernel: KernelHead | undefined;
}

/** undefined where the spot lies outside of the present matrices. */
export function explain(scene: Scene, spot: Spot): Explanation | undefined {
  const { row, col } = spot;
  switch (spot.name) {
    case "X":
      return explainGiven(scene, row, col);
    case "Wq":
      return explainWeight(scene, "q", row, col);
    case "Wk":
      return explainWeight(scene, "k", row, col);
    case "Wv":
      return explainWeight(scene, "v", row, col);
    case "Q":
      return explainProjection(scene, "q", row, col);
    case "K":
      return explainProjection(scene, "k", row, col);
    case "Kt":
      return explainProjection(scene, "k", col, row);
    case "V":
      return explainProjection(scene, "v", row, col);
    case "S":
      return explainScore(scene, row, col);
    case "Z":
      return explainScaled(scene, row, col);
    case "M":
      return explainMask(scene, row, col);
    case "A":
      return explainShare(scene, row, col);
    case "lse":
      return explainLse(scene, row);
    case "O":
      return explainOutput(scene, row, col);
  }
}

const SYMBOL: Readonly<Record<Role, string>> = { q: "Q", k: "K", v: "V" };
const PROJECTION: Readonly<Record<Role, "Wq" | "Wk" | "Wv">> = { q: "Wq", k: "Wk", v: "Wv" };

function explainGiven({ walk, state }: Scene, row: number, col: number): Explanation | undefined {
  const word = walk.labels[row];
  const result = at(walk.x, row, col);
  if (word === undefined || Number.isNaN(result)) return undefined;
  const feature = FEATURES[col];
  const source =
    state.numbers !== null
      ? "You changed X by hand"
      : isKnown(word)
        ? "Set by hand for this word"
        : "This word is not in our small table: the number is made from its letters";
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

function explainWeight({ walk, head }: Scene, role: Role, row: number, col: number): Explanation | undefined {
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

function explainProjection({ walk, head }: Scene, role: Role, row: number, col: number): Explanation | undefined {
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
      ...(role === "k" ? [{ name: "Kt" as const, row: col, col: row }] : []),
    ],
  };
}

function explainScore({ walk, head }: Scene, row: number, col: number): Explanation | undefined {
  const [asker, word] = [walk.askers[row], walk.labels[col]];
  const result = at(head.scores, row, col);
  if (asker === undefined || word === undefined) return undefined;
  const names = walk.questionNames.slice(head.firstColumn, head.firstColumn + walk.headWidth);
  return {
    subject: `S [${asker}, ${word}]`,
    sentence: `The query of “${asker}” times the key of “${word}”, question by question.`,
    ...products(
      names,
      (i) => at(head.q, row, i),
      (i) => at(head.k, col, i),
      ["", "q", "k"],
    ),
    result,
    lights: [
      { name: "Q", row },
      { name: "Kt", col },
      { name: "K", row: col },
      { name: "S", row, col },
    ],
  };
}

function explainScaled({ walk, head, state }: Scene, row: number, col: number): Explanation | undefined {
  const [asker, word] = [walk.askers[row], walk.labels[col]];
  if (asker === undefined || word === undefined) return undefined;
  const [score, result] = [at(head.scores, row, col), at(head.scaled, row, col)];
  const why = state.scale === "root" ? `1/√${walk.headWidth} = ${exact(walk.scale)}` : `the scale ${exact(walk.scale)}`;
  return {
    subject: `scaled S [${asker}, ${word}]`,
    sentence: `The score times ${why}.`,
    head: [],
    terms: [],
    last: `${exact(score)} × ${exact(walk.scale)} = ${exact(result)}`,
    result,
    lights: [
      { name: "S", row, col },
      { name: "Z", row, col },
    ],
  };
}

function explainMask({ walk, head, state }: Scene, row: number, col: number): Explanation | undefined {
  const [asker, word] = [walk.askers[row], walk.labels[col]];
  if (asker === undefined || word === undefined) return undefined;
  const reason = walk.hiddenBy(row, col);
  const result = at(head.masked, row, col);
  const offset = state.causal === "upper-left" ? 0 : walk.labels.length - walk.askers.length;
  const sentences = {
    padding: `“${word}” is hidden from everybody (padding), so “${asker}” does not see it.`,
    later: `Causal: query ${row + 1} sees keys up to ${Math.max(0, row + 1 + offset)}, and “${word}” is key ${col + 1}.`,
    seen: `“${asker}” may see “${word}”: the scaled score passes unchanged.`,
  };
  return {
    subject: `masked S [${asker}, ${word}]`,
    sentence: sentences[reason ?? "seen"],
    head: [],
    terms: [],
    last: `${exact(at(head.scaled, row, col))} → ${exact(result)}`,
    result,
    lights: [
      { name: "Z", row, col },
      { name: "M", row, col },
    ],
  };
}

function explainShare(scene: Scene, row: number, col: number): Explanation | undefined {
  const { walk, head, kernel } = scene;
  const [asker, word] = [walk.askers[row], walk.labels[col]];
  if (asker === undefined || word === undefined) return undefined;
  const { most, sum } = rowSum(head.masked, row);
  const result = at(head.weights, row, col);
  const subject = `A [${asker}, ${word}]`;
  const lights = [
    { name: "M" as const, row },
    { name: "A" as const, row, col },
  ];
  const own = kernel === undefined ? {} : { kernel: at(kernel.weights, row, col) };
  if (most === Number.NEGATIVE_INFINITY) {
    const sentence = `“${asker}” sees no word at all: there is nothing to share out, and by rule every share is 0.`;
    return { subject, sentence, head: [], terms: [], last: "no visible key → 0", result, ...own, lights };
  }
  const reason = walk.hiddenBy(row, col);
  return {
    subject,
    sentence:
      reason === undefined
        ? `How much of the attention of “${asker}” goes to “${word}”. The largest score in this row is ${exact(most)}.`
        : `“${word}” is out of sight (${reason === "padding" ? "padding" : "causal"}): e^−∞ is 0, exactly.`,
    head: ["", "score", "− max", "e^"],
    terms: walk.labels.map((label, key) => {
      const score = at(head.masked, row, key);
      const power = Math.exp(score - most);
      return {
        label,
        figures: [exact(score, 3), exact(score - most, 3), exact(power)],
        own: key === col,
        faint: power < 5e-5,
      };
    }),
    last: `${exact(Math.exp(at(head.masked, row, col) - most))} / ${exact(sum)} = ${exact(result)}`,
    result,
    ...own,
    lights,
  };
}

function explainLse({ walk, head, kernel }: Scene, row: number): Explanation | undefined {
  const asker = walk.askers[row];
  if (asker === undefined) return undefined;
  const { most, sum } = rowSum(head.masked, row);
  const result = at(head.lse, row, 0);
  return {
    subject: `lse [${asker}]`,
    sentence:
      "The logarithm of the row’s sum of exponentials: with it, any share can be computed again without its row.",
    head: [],
    terms: [],
    last: sum === 0 ? "ln 0 = −∞" : `${exact(most)} + ln ${exact(sum)} = ${exact(result)}`,
    result,
    ...(kernel === undefined ? {} : { kernel: at(kernel.lse, row, 0) }),
    lights: [
      { name: "M", row },
      { name: "lse", row, col: 0 },
    ],
  };
}

function explainOutput({ walk, head, kernel }: Scene, row: number, col: number): Explanation | undefined {
  const asker = walk.askers[row];
  const result = at(head.output, row, col);
  if (asker === undefined || Number.isNaN(result)) return undefined;
  const feature = walk.featureNames[head.firstColumn + col] ?? "";
  return {
    subject: `O [${asker}, ${feature}]`,
    sentence: `What “${asker}” took in of “${feature}”: everybody’s value, times the share it got.`,
    ...products(
      walk.labels,
      (key) => at(head.weights, row, key),
      (key) => at(head.v, key, col),
      ["", "share", "v"],
    ),
    result,
    ...(kernel === undefined ? {} : { kernel: at(kernel.output, row, col) }),
    lights: [
      { name: "A", row },
      { name: "V", col },
      { name: "O", row, col },
    ],
  };
}

/** A dot product written out. */
function products(
  names: readonly string[],
  left: (index: number) => number,
  right: (index: number) => number,
  head: readonly string[],
): Pick<Explanation, "head" | "terms" | "last"> {
  let sum = 0;
  const terms = names.map((label, index) => {
    const [a, b] = [left(index), right(index)];
    sum += a * b;
    return { label, figures: [exact(a), exact(b), exact(a * b)], faint: a * b === 0 };
  });
  return { head: [...head, "product"], terms, last: `sum = ${exact(sum)}` };
}

/** The cell that a step shows as long as nobody points at one. */
export function tellingSpot(scene: Scene, asker: number): Spot {
  const { walk, head, state } = scene;
  const first = walk.labels.length - walk.askers.length;
  const row = Math.max(0, asker - first);
  const best = (matrix: Matrix, of: number): number => {
    let found = 0;
    for (let col = 1; col < matrix.cols; col++) {
      if (Math.abs(at(matrix, of, col)) > Math.abs(at(matrix, of, found))) found = col;
    }
    return found;
  };
  const key = best(head.weights, row);
  switch (state.step) {
    case "words":
      return { name: "X", row: row + first, col: best(walk.x, row + first) };
    case "project": {
      const name = state.role === "q" ? "Q" : state.role === "k" ? "K" : "V";
      const own = state.role === "q" ? row : state.role === "k" ? key : row + first;
      return { name, row: own, col: best(head[state.role], own) };
    }
    case "scores":
      return { name: "S", row, col: key };
    case "scale":
      return { name: "Z", row, col: key };
    case "mask": {
      const hidden = walk.labels.findIndex((_, col) => walk.hiddenBy(row, col) !== undefined);
      return { name: "M", row, col: hidden < 0 ? key : hidden };
    }
    case "softmax":
      return { name: "A", row, col: key };
    case "output":
      return { name: "O", row, col: best(head.output, row) };
  }
}
