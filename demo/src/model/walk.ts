// Attention step by step in double precision, every intermediate kept. This is the page's own arithmetic, not the kernel's.

import { at, columns, fill, type Matrix, multiply, rowsFrom, toSingle, transpose } from "./matrix.js";
import { rowSum, softmax } from "./softmax.js";
import { isNameless, labelsOf, type State } from "./state.js";
import { embed, FEATURES, givenProjections, isUnknown, QUESTION_NAMES } from "./vocabulary.js";

export type Walk = ReturnType<typeof walk>;
export type HeadWalk = Walk["heads"][number];

export function walk(state: State) {
  const labels = labelsOf(state);
  const x = state.numbers ?? embed(labels, state.width);
  const given = givenProjections(x.cols);
  const projections = { q: state.wq ?? given.q, k: state.wk ?? given.k, v: state.wv ?? given.v };
  const headWidth = x.cols / state.heads;
  const scale = state.scale === "root" ? 1 / Math.sqrt(headWidth) : state.scale;
  const first = state.asking === 0 ? 0 : labels.length - state.asking;
  const hiddenBy = sightOf(state, labels.length, labels.length - first);
  const named = (names: readonly string[], letter: string): readonly string[] =>
    Array.from({ length: x.cols }, (_, index) => (isNameless(state) ? `${letter}${index + 1}` : (names[index] ?? "")));
  const headAt = (head: number) => {
    /** In the full width. */
    const firstColumn = head * headWidth;
    // Rounded to f32 here, so that page and kernel start from the same numbers.
    const project = (weights: Matrix): Matrix => toSingle(multiply(x, columns(weights, firstColumn, headWidth)));
    const q = rowsFrom(project(projections.q), first);
    const [k, v] = [project(projections.k), project(projections.v)];
    const keyTransposed = transpose(k);
    const scores = multiply(q, keyTransposed);
    const scaled = fill(scores.rows, scores.cols, (row, col) => at(scores, row, col) * scale);
    const masked = fill(scaled.rows, scaled.cols, (row, col) =>
      hiddenBy(row, col) === undefined ? at(scaled, row, col) : Number.NEGATIVE_INFINITY,
    );
    const weights = softmax(masked);
    const output = multiply(weights, v);
    return { q, k, v, keyTransposed, scores, scaled, masked, weights, lse: lseOf(masked), output, firstColumn };
  };
  return {
    labels,
    /** The words that ask: the last ones. */
    askers: labels.slice(first),
    /** Words that the table lacks: their rows of X are made from their letters. */
    unknown: isNameless(state) ? [] : labels.filter(isUnknown),
    featureNames: named(FEATURES, "f"),
    questionNames: named(QUESTION_NAMES, "c"),
    x,
    projections,
    scale,
    headWidth,
    hiddenBy,
    heads: Array.from({ length: state.heads }, (_, head) => headAt(head)),
  };
}

/**
 * The rule that says why a key is out of a query's sight, by row and column; undefined where it is seen. Causal counts from the corner that
 * the alignment names.
 */
function sightOf(state: State, keys: number, queries: number) {
  const hidden = new Set(state.hidden);
  const offset = state.causal === "upper-left" ? 0 : keys - queries;
  return (row: number, col: number): "later" | "padding" | undefined => {
    if (hidden.has(col)) return "padding";
    return state.causal !== "none" && col > row + offset ? "later" : undefined;
  };
}

/** ln of each row's sum of exponentials; -Infinity for a row that sees nothing. */
function lseOf(masked: Matrix): Matrix {
  return fill(masked.rows, 1, (row) => {
    const { most, sum } = rowSum(masked, row);
    return sum === 0 ? most : most + Math.log(sum);
  });
}
