// The numbers of the room for one state: the row that is shown, and the curves over width or temperature.

import { fill, type Matrix, toSingle } from "../../src/model/matrix.js";
import { atOnce } from "../../src/ui/pieces.js";
import { type Draw, draws as drawing } from "./draws.js";
import { type Softened, soften } from "./softmax.js";
import { type ScaleState, type Scaling, TEMPERATURES, WIDTHS } from "./state.js";

const DRAWS_IN_A_PIECE = 8;

export interface Point {
  /** Standard deviation of the scores, over all draws and keys. */
  readonly spread: number;
  readonly entropy: number;
  readonly slope: number;
}

export interface ScaleScene {
  readonly state: ScaleState;
  readonly draws: readonly Draw[];
  readonly q: Matrix;
  readonly k: Matrix;
  /** The factor between q . k and what the softmax is given. */
  readonly factor: number;
  readonly raw: readonly number[];
  readonly scaled: readonly number[];
  readonly soft: Softened;
  /** At each of WIDTHS or TEMPERATURES. */
  readonly curves: Readonly<Record<Scaling, readonly Point[]>>;
  readonly xs: readonly number[];
  /** Where the present state stands among them. */
  readonly cursor: number;
  readonly here: Point;
}

export function sceneOf(state: ScaleState): ScaleScene {
  const draws = drawsOf(state);
  const at = WIDTHS.indexOf(state.width);
  const factor = factorOf(state.scaling, state.width, state.temperature);
  const first = draws[0];
  const raw = first?.scores.map((scores) => scores[at] ?? 0) ?? [];
  const scaled = raw.map((score) => score * factor);
  const xs = state.axis === "d" ? WIDTHS : TEMPERATURES;
  const curve = (scaling: Scaling): readonly Point[] =>
    xs.map((x) => {
      const [width, temperature] = state.axis === "d" ? [x, state.temperature] : [state.width, x];
      return pointOf(draws, WIDTHS.indexOf(width), factorOf(scaling, width, temperature), state.likeness > 0);
    });
  const curves = { root: curve("root"), none: curve("none") };
  const cursor = xs.indexOf(state.axis === "d" ? state.width : state.temperature);
  return {
    state,
    draws,
    q: vectors(first === undefined ? [] : [first.q], state.width),
    k: vectors(first?.keys ?? [], state.width),
    factor,
    raw,
    scaled,
    soft: soften(scaled),
    curves,
    xs,
    cursor,
    here: curves[state.scaling][cursor] ?? { spread: 0, entropy: 0, slope: 0 },
  };
}

function factorOf(scaling: Scaling, width: number, temperature: number): number {
  return (scaling === "root" ? 1 / Math.sqrt(width) : 1) / temperature;
}

/** In single precision, as the kernel gets them. */
export function vectors(rows: readonly Float64Array[], width: number): Matrix {
  return toSingle(fill(rows.length, width, (row, col) => rows[row]?.[col] ?? 0));
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

function drawnOf({ seed, keys, likeness }: ScaleState): string {
  return `${seed} ${keys} ${likeness}`;
}

/** The key that resembles the query is no part of the spread: it is the signal. */
function pointOf(draws: readonly Draw[], width: number, factor: number, skipFirst: boolean): Point {
  let [sum, squares, count, entropy, slope] = [0, 0, 0, 0, 0];
  for (const { scores } of draws) {
    const row = scores.map((score) => (score[width] ?? 0) * factor);
    for (const score of skipFirst ? row.slice(1) : row) {
      sum += score;
      squares += score * score;
      count += 1;
    }
    const soft = soften(row);
    entropy += soft.entropy / draws.length;
    slope += soft.slope / draws.length;
  }
  const mean = sum / count;
  return { spread: Math.sqrt(Math.max(0, squares / count - mean * mean)), entropy, slope };
}
