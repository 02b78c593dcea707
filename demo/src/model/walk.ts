// Attention step by step in double precision, every intermediate kept. This is the page's own arithmetic, not the kernel's.

import { embed, isUnknown } from "./embed.js";
import { at, columns, fill, type Matrix, multiply, rowsFrom, toSingle, transpose } from "./matrix.js";
import { givenProjections, type Projections, QUESTIONS } from "./projections.js";
import { rowSum, softmax } from "./softmax.js";
import { isNameless, labelsOf, type State } from "./state.js";
import { FEATURES } from "./vocabulary.js";

/** Why a key is out of a query's sight. */
type Hidden = "later" | "padding";

export interface HeadWalk {
  readonly q: Matrix;
  readonly k: Matrix;
  readonly v: Matrix;
  readonly keyTransposed: Matrix;
  readonly scores: Matrix;
  readonly scaled: Matrix;
  /** As scaled, -Infinity where hidden. */
  readonly masked: Matrix;
  readonly weights: Matrix;
  /** ln of each row's sum of exponentials; -Infinity for a row that sees nothing. */
  readonly lse: Matrix;
  readonly output: Matrix;
  /** This head's first column in the full width. */
  readonly firstColumn: number;
}

export interface Walk {
  readonly labels: readonly string[];
  /** The words that ask: the last ones. */
  readonly askers: readonly string[];
  /** Words that the table lacks: their rows of X are made from their letters. */
  readonly unknown: readonly string[];
  readonly featureNames: readonly string[];
  readonly questionNames: readonly string[];
  readonly x: Matrix;
  readonly projections: Projections;
  readonly scale: number;
  readonly headWidth: number;
  readonly heads: readonly HeadWalk[];
  /** For query row and key column: undefined where the key is seen. */
  readonly hiddenBy: (row: number, col: number) => Hidden | undefined;
}

export function walk(state: State): Walk {
  const labels = labelsOf(state);
  const x = state.numbers ?? embed(labels, state.width);
  const given = givenProjections(x.cols);
  const projections = { q: state.edited.q ?? given.q, k: state.edited.k ?? given.k, v: state.edited.v ?? given.v };
  const headWidth = x.cols / state.heads;
  const scale = state.scale === "root" ? 1 / Math.sqrt(headWidth) : state.scale;
  const first = state.asking === 0 ? 0 : labels.length - state.asking;
  const hiddenBy = sightOf(state, labels.length, labels.length - first);
  const named = (names: readonly string[], letter: string): readonly string[] =>
    Array.from({ length: x.cols }, (_, index) => (isNameless(state) ? `${letter}${index + 1}` : (names[index] ?? "")));
  return {
    labels,
    askers: labels.slice(first),
    unknown: isNameless(state) ? [] : labels.filter(isUnknown),
    featureNames: named(FEATURES, "f"),
    questionNames: named(
      QUESTIONS.map((question) => question.name),
      "c",
    ),
    x,
    projections,
    scale,
    headWidth,
    heads: Array.from({ length: state.heads }, (_, head) =>
      walkHead(x, projections, { head, headWidth, first, scale, hiddenBy }),
    ),
    hiddenBy,
  };
}

/** The rule that says which key is out of sight; causal counts from the corner that the alignment names. */
function sightOf(state: State, keys: number, queries: number): Walk["hiddenBy"] {
  const hidden = new Set(state.hidden);
  const offset = state.causal === "upper-left" ? 0 : keys - queries;
  return (row, col) => {
    if (hidden.has(col)) return "padding";
    return state.causal !== "none" && col > row + offset ? "later" : undefined;
  };
}

interface HeadPlan {
  readonly head: number;
  readonly headWidth: number;
  readonly first: number;
  readonly scale: number;
  readonly hiddenBy: Walk["hiddenBy"];
}

function walkHead(x: Matrix, w: Projections, plan: HeadPlan): HeadWalk {
  const firstColumn = plan.head * plan.headWidth;
  // Rounded to f32 here, so that page and kernel start from the same numbers.
  const project = (weights: Matrix): Matrix => toSingle(multiply(x, columns(weights, firstColumn, plan.headWidth)));
  const q = rowsFrom(project(w.q), plan.first);
  const k = project(w.k);
  const v = project(w.v);
  const keyTransposed = transpose(k);
  const scores = multiply(q, keyTransposed);
  const scaled = fill(scores.rows, scores.cols, (row, col) => at(scores, row, col) * plan.scale);
  const masked = fill(scaled.rows, scaled.cols, (row, col) =>
    plan.hiddenBy(row, col) === undefined ? at(scaled, row, col) : Number.NEGATIVE_INFINITY,
  );
  const weights = softmax(masked);
  const output = multiply(weights, v);
  return { q, k, v, keyTransposed, scores, scaled, masked, weights, lse: lseOf(masked), output, firstColumn };
}

function lseOf(masked: Matrix): Matrix {
  return fill(masked.rows, 1, (row) => {
    const { most, sum } = rowSum(masked, row);
    return sum === 0 ? most : most + Math.log(sum);
  });
}
