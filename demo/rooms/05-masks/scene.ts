// The room's words and numbers: scores, which pairs are seen, and the weights that come out, however the hidden ones are hidden.

import { at, fill, type Matrix, multiply, toSingle, transpose } from "../../src/model/matrix.js";
import { normal, twoDecimals } from "../../src/model/random.js";
import { softmax } from "../../src/model/softmax.js";
import { offsetOf, sees } from "./rules.js";
import { type MaskState, MOST } from "./state.js";

/** Added to hide, by those who hide with a number. */
export const LARGE = -10_000;
const WIDTH = 4;
const [SEED, NOISE] = [5, 0.15];
const [SPEEDS, LENGTH] = [[0.185, 1.15], 2.6] as const;

export type MaskScene = ReturnType<typeof sceneOf>;

export function sceneOf(state: MaskState) {
  const { queries, keys, hiding } = state;
  const [q, k] = vectorsOf(state);
  const scale = 1 / Math.sqrt(WIDTH);
  const products = multiply(q, transpose(k));
  const scores = fill(queries, keys, (row, col) => at(products, row, col) * scale);
  /** 1 where the query sees the key. */
  const seen = fill(queries, keys, (row, col) => (sees(state, row, col) ? 1 : 0));
  const isSeen = (row: number, col: number): boolean => at(seen, row, col) === 1;
  /** What the softmax is given. */
  const given = fill(queries, keys, (row, col) => {
    const score = at(scores, row, col);
    if (hiding === "after" || isSeen(row, col)) return score;
    return hiding === "before" ? Number.NEGATIVE_INFINITY : score + LARGE;
  });
  const softened = softmax(given);
  const weights = fill(queries, keys, (row, col) =>
    hiding === "after" && !isSeen(row, col) ? 0 : at(softened, row, col),
  );
  const sums = fill(queries, 1, (row) => sumOf(weights, row));
  // `plain` has the weights without a mask.
  return { state, q, k, scale, seen, given, plain: softmax(scores), weights, sums };
}

export function sumOf(matrix: Matrix, row: number): number {
  let sum = 0;
  for (let col = 0; col < matrix.cols; col++) sum += at(matrix, row, col);
  return sum;
}

/**
 * Every query looks for the key that comes next: two clock hands show the place, a slow and a fast one, and those of a query are one
 * place ahead. The longer the hands, the surer it is; some noise for the rest.
 */
function vectorsOf(state: MaskState): readonly [Matrix, Matrix] {
  const { queries, keys, scores } = state;
  const next = normal(SEED);
  const noise = fill(2 * MOST, WIDTH, () => NOISE * next());
  const hands = (place: number): readonly number[] =>
    SPEEDS.flatMap((speed) => [Math.cos(speed * place), Math.sin(speed * place)]).map((hand) => LENGTH * hand);
  const rows = (count: number, ahead: number, first: number): Matrix =>
    fill(count, WIDTH, (row, col) => twoDecimals((hands(row + ahead)[col] ?? 0) + at(noise, first + row, col)));
  const q = scores === "equal" ? fill(queries, WIDTH, () => 0) : rows(queries, 1 + offsetOf(state), 0);
  return [toSingle(q), toSingle(rows(keys, 0, MOST))];
}

const STORY = "The animal didn't cross because it was too tired to walk home through the cold rain".split(" ");
/** Texts that have nothing to do with each other. */
const PACKED = "The animal was tired . Whisk two eggs . Profits rose sharply . Rain came late".split(" ");

export function keyWord({ keys, padding, cuts }: MaskState, key: number): string {
  return key >= keys - padding ? "[pad]" : ((cuts.length > 0 ? PACKED : STORY)[key] ?? "");
}

/** A query stands at its place among the keys, which may lie before the first. */
export function queryWord(state: MaskState, row: number): string {
  const place = row + offsetOf(state);
  return place < 0 ? "–" : keyWord(state, place);
}
