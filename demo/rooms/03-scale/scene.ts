// The numbers of the room for one state: the row that is shown, and the curves over width or temperature; and what heed says to them.

import type { Answer, Call } from "../../src/engine/engine.js";
import { fill, identity, type Matrix, stack, toSingle } from "../../src/model/matrix.js";
import { normal, twoDecimals } from "../../src/model/random.js";
import { softmax } from "../../src/model/softmax.js";
import { atOnce } from "../../src/ui/pieces.js";
import { type ScaleState, type Scaling, TEMPERATURES, WIDTHS } from "./state.js";

const DRAWS_IN_A_PIECE = 8;

/** `spread`: the standard deviation of the scores, over all draws and keys. */
export type Point = Readonly<Record<"spread" | "entropy" | "slope", number>>;

export type ScaleScene = ReturnType<typeof sceneOf>;

export function sceneOf(state: ScaleState) {
  const draws = drawsOf(state);
  /** Between q . k and what the softmax is given. */
  const factor = factorOf(state.scaling, state.width, state.temperature);
  const [first] = draws;
  const [raw = []] = givenOf(draws, state.width, 1);
  /** What the softmax is given, by draw and key; the first draw is the row that is shown. */
  const given = givenOf(draws, state.width, factor);
  const [scaled = []] = given;
  const xs = state.axis === "d" ? WIDTHS : TEMPERATURES;
  /** Where the present state stands among them, and so do points on the curves. */
  const cursor = xs.indexOf(state.axis === "d" ? state.width : state.temperature);
  const [q, k] = [vectors(first === undefined ? [] : [first.q], state.width), vectors(first?.keys ?? [], state.width)];
  const [soft, curves] = [soften(scaled), curvesOf(draws, xs, state)];
  return { state, draws, q, k, factor, given, raw, scaled, soft, curves, xs, cursor };
}

type Curves = Readonly<Record<Scaling, readonly Point[]>>;

let curved: { readonly of: string; readonly curves: Curves } | null = null;

/** Curves are the same along the whole axis, so a slider's steps reuse the last ones. */
function curvesOf(draws: readonly Draw[], xs: readonly number[], state: ScaleState): Curves {
  const isOverWidths = state.axis === "d";
  const of = `${drawnOf(state)} ${state.axis} ${isOverWidths ? state.temperature : state.width}`;
  if (curved?.of === of) return curved.curves;
  const curve = (scaling: Scaling): readonly Point[] =>
    xs.map((x) => {
      const [width, temperature] = isOverWidths ? [x, state.temperature] : [state.width, x];
      return pointOf(givenOf(draws, width, factorOf(scaling, width, temperature)), state.likeness > 0);
    });
  curved = { of, curves: { root: curve("root"), none: curve("none") } };
  return curved.curves;
}

function factorOf(scaling: Scaling, width: number, temperature: number): number {
  return (scaling === "root" ? 1 / Math.sqrt(width) : 1) / temperature;
}

type Scores = readonly (readonly number[])[];

function givenOf(draws: readonly Draw[], width: number, factor: number): Scores {
  const at = WIDTHS.indexOf(width);
  return draws.map(({ scores }) => scores.map((score) => (score[at] ?? 0) * factor));
}

/** In single precision, as the kernel gets them. */
function vectors(rows: readonly Float64Array[], width: number): Matrix {
  return toSingle(fill(rows.length, width, (row, col) => rows[row]?.[col] ?? 0));
}

/** Queries, each with keys of its own; the page shows the first and averages over all. */
const DRAWS = 64;
const WIDEST = WIDTHS.at(-1) ?? 1;

interface Draw {
  /** WIDEST numbers: a narrower vector is the beginning of them. */
  readonly q: Float64Array;
  readonly keys: readonly Float64Array[];
  /** q . k at each of WIDTHS, by key. */
  readonly scores: readonly (readonly number[])[];
}

/** One after the other; together they are some milliseconds. */
function* drawing(seed: number, keys: number, likeness: number): Generator<Draw> {
  const next = normal(seed);
  for (let draw = 0; draw < DRAWS; draw++) {
    const q = Float64Array.from({ length: WIDEST }, () => twoDecimals(next()));
    const vectors = Array.from({ length: keys }, (_, key) => {
      const part = key === 0 ? likeness : 0;
      const rest = Math.sqrt(1 - part * part);
      return q.map((component) => twoDecimals(part * component + rest * next()));
    });
    yield { q, keys: vectors, scores: vectors.map((vector) => scoresAt(q, vector)) };
  }
}

/** The sum of products so far, wherever a width of the list is reached. */
function scoresAt(q: Float64Array, k: Float64Array): readonly number[] {
  let sum = 0;
  let done = 0;
  return WIDTHS.map((width) => {
    for (; done < width; done++) sum += (q[done] ?? 0) * (k[done] ?? 0);
    return sum;
  });
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
  for (const draw of drawing(state.seed, state.keys, state.likeness)) {
    draws.push(draw);
    if (draws.length % DRAWS_IN_A_PIECE === 0) yield;
  }
  drawn = { of: drawnOf(state), draws };
}

const drawnOf = ({ seed, keys, likeness }: ScaleState): string => `${seed} ${keys} ${likeness}`;

/** The key that resembles the query is no part of the spread: it is the signal. */
function pointOf(given: Scores, skipFirst: boolean): Point {
  let [sum, squares, count, entropy, slope] = [0, 0, 0, 0, 0];
  for (const row of given) {
    for (const score of skipFirst ? row.slice(1) : row) {
      sum += score;
      squares += score * score;
      count += 1;
    }
    const soft = soften(row);
    entropy += soft.entropy / given.length;
    slope += soft.slope / given.length;
  }
  const mean = sum / count;
  return { spread: Math.sqrt(Math.max(0, squares / count - mean * mean)), entropy, slope };
}

/**
 * What a softmax does to one row of scores: weights, their entropy in nats, and how far they can still be moved, the Frobenius norm of the
 * Jacobian, d weight / d score.
 */
export function soften(scores: readonly number[]) {
  const weights = Array.from(softmax(fill(1, scores.length, (_, col) => scores[col] ?? 0)).data);
  const entropy = -weights.reduce((total, weight) => total + (weight > 0 ? weight * Math.log(weight) : 0), 0);
  let squares = 0;
  for (let i = 0; i < weights.length; i++) {
    for (let j = 0; j < weights.length; j++) squares += jacobian(weights, i, j) ** 2;
  }
  return { weights, entropy, slope: Math.sqrt(squares) };
}

/** How weight i moves when score j does. */
export function jacobian(weights: readonly number[], i: number, j: number): number {
  const [a, b] = [weights[i] ?? 0, weights[j] ?? 0];
  return i === j ? a * (1 - a) : -a * b;
}

/** Every draw is a head of its own. The identity as values: the output is the weights. */
export function callOf({ state, draws }: ScaleScene, shown = draws): Call {
  const { width, temperature, scaling, keys } = state;
  return {
    q: stack(shown.map((draw) => vectors([draw.q], width))),
    k: stack(shown.map((draw) => vectors(draw.keys, width))),
    v: stack(shown.map(() => identity(keys))),
    options: { ...(scaling === "none" ? { scale: 1 } : {}), temperature },
  };
}

export type ScaleAnswer = ReturnType<typeof readAnswers>;

/** What the kernel gave for the row that is shown, and how far it is from the page's arithmetic over all draws. */
export function readAnswers({ given, state }: ScaleScene, [found]: readonly Answer[]) {
  const all = found?.weights.data ?? new Float32Array(0);
  const own = given.flatMap((scores) => soften(scores).weights);
  const gaps = own.map((weight, index) => Math.abs(weight - (all[index] ?? Number.NaN)));
  return { weights: all.slice(0, state.keys), difference: Math.max(...gaps) };
}
