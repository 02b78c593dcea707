// The numbers of the room for one state: the row that is shown, and the scores of 64 queries; and what heed says to them.

import type { Answer, Call, Tensor } from "../../src/engine/engine.js";
import { fill, identity, type Matrix, stack, toSingle, widest } from "../../src/model/matrix.js";
import { normal, twoDecimals } from "../../src/model/random.js";
import { softmax } from "../../src/model/softmax.js";
import { atOnce } from "../../src/ui/pieces.js";
import { type ScaleState, WIDTHS } from "./state.js";

/** Queries, each with keys of its own; the page shows the first one's row, and the scores of all. */
const DRAWS = 64;
const DRAWS_IN_A_PIECE = 8;
const WIDEST = WIDTHS.at(-1) ?? 1;

/** Vectors of WIDEST numbers: a narrower one is the beginning of them. */
interface Draw {
  readonly q: Float64Array;
  readonly keys: readonly Float64Array[];
}

export type ScaleScene = ReturnType<typeof sceneOf>;

export function sceneOf(state: ScaleState) {
  const { width, temperature, scaling } = state;
  const draws = drawsOf(state);
  /** Between q . k and what the softmax is given. */
  const factor = (scaling === "root" ? 1 / Math.sqrt(width) : 1) / temperature;
  const products = draws.map(({ q, keys }) => keys.map((key) => dot(q, key, width)));
  /** What the softmax is given, by draw and key. */
  const given = products.map((row) => row.map((product) => product * factor));
  const [[raw = []], [scaled = []], [first]] = [products, given, draws];
  const shown = (rows: readonly Float64Array[]): Matrix =>
    toSingle(fill(rows.length, width, (row, col) => rows[row]?.[col] ?? Number.NaN));
  const [q, k] = [shown(first === undefined ? [] : [first.q]), shown(first?.keys ?? [])];
  return { state, draws, q, k, factor, given, raw, scaled, soft: soften(scaled) };
}

function dot(a: Float64Array, b: Float64Array, width: number): number {
  let sum = 0;
  for (let i = 0; i < width; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** One after the other; together they are some milliseconds. */
function* drawing({ seed, keys, likeness }: ScaleState): Generator<Draw> {
  const next = normal(seed);
  for (let draw = 0; draw < DRAWS; draw++) {
    const q = Float64Array.from({ length: WIDEST }, () => twoDecimals(next()));
    const vectors = Array.from({ length: keys }, (_, key) => {
      const part = key === 0 ? likeness : 0;
      const rest = Math.sqrt(1 - part * part);
      return q.map((component) => twoDecimals(part * component + rest * next()));
    });
    yield { q, keys: vectors };
  }
}

let drawn: { readonly of: string; readonly draws: readonly Draw[] } = { of: "", draws: [] };

/** Drawing takes longer than everything else, and most changes do not need it. */
function drawsOf(state: ScaleState): readonly Draw[] {
  if (drawn.of !== drawnOf(state)) atOnce(prepare(state));
  return drawn.draws;
}

/** In pieces of some draws. */
export function* prepare(state: ScaleState): Generator<undefined> {
  const draws: Draw[] = [];
  for (const draw of drawing(state)) {
    draws.push(draw);
    if (draws.length % DRAWS_IN_A_PIECE === 0) yield;
  }
  drawn = { of: drawnOf(state), draws };
}

const drawnOf = ({ seed, keys, likeness }: ScaleState): string => `${seed} ${keys} ${likeness}`;

/**
 * What a softmax does to one row of scores: weights, their entropy in nats, and how far they can still be moved, the Frobenius norm of the
 * Jacobian, whose entries are a (1 - a) on the diagonal and -a b beside it.
 */
export function soften(scores: readonly number[]) {
  const weights = Array.from(softmax(fill(1, scores.length, (_, col) => scores[col] ?? 0)).data);
  const total = (of: (weight: number) => number): number => weights.reduce((sum, weight) => sum + of(weight), 0);
  const entropy = -total((weight) => (weight > 0 ? weight * Math.log(weight) : 0));
  const squares = total((weight) => weight ** 2);
  const slope = Math.sqrt(Math.max(0, squares - 2 * total((weight) => weight ** 3) + squares ** 2));
  return { weights, entropy, slope };
}

/** Every draw is a head of its own. The identity as values: the output is the weights. */
export function callOf({ state, draws }: ScaleScene, shown = draws): Call {
  const { width, temperature, scaling, keys } = state;
  const heads = (rows: number, all: readonly Float64Array[]): Tensor => {
    const data = new Float32Array(all.length * width);
    for (const [index, row] of all.entries()) data.set(row.subarray(0, width), index * width);
    return { data, shape: [1, shown.length, rows, width] };
  };
  return {
    q: heads(
      1,
      shown.map(({ q }) => q),
    ),
    k: heads(
      keys,
      shown.flatMap((draw) => draw.keys),
    ),
    v: stack(shown.map(() => identity(keys))),
    options: { ...(scaling === "none" ? { scale: 1 } : {}), temperature },
  };
}

export type ScaleAnswer = ReturnType<typeof readAnswers>;

/** What the kernel gave for the row that is shown, and how far it is from the page's arithmetic over all draws. */
export function readAnswers({ given, state }: ScaleScene, [found]: readonly Answer[]) {
  const all = found?.weights.data ?? new Float32Array(0);
  const own = given.flatMap((scores) => soften(scores).weights);
  return { weights: all.slice(0, state.keys), difference: widest(own, all) };
}
