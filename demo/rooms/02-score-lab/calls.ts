// Every kind as a call of heed, and the plane as one more; what heed says to them.

import type { Answer, Call } from "../../src/engine/engine.js";
import { at, fill, identity, type Matrix, stack, widestGap } from "../../src/model/matrix.js";
import { KEYS, KINDS, type Kind, WIDTH } from "./kinds.js";
import { optionsOf, parametersOf, type Typed } from "./options.js";
import { PLACES } from "./plane.js";
import type { ScoreScene } from "./scene.js";

export interface ScoreAnswer {
  readonly weights: Matrix;
  /** To the page's own arithmetic; without one's own score where that is strange. */
  readonly apart: number;
  /** What one more key would get at each of PLACES. */
  readonly plane: Float32Array;
}

export function callsOf(scene: ScoreScene): readonly Call[] {
  const { typed, state, own } = scene;
  const parameters = parametersOf(typed, state, own);
  const options = (one: Kind): Call["options"] => ({
    ...optionsOf(one, parameters),
    temperature: state.temperature,
  });
  // The identity as values: the output is the row of weights.
  const [q, k, v] = [stack([typed.q]), stack([typed.K]), stack([identity(KEYS)])];
  return [...KINDS.map((one) => ({ q, k, v, options: options(one) })), onPlane(typed, options(state.kind))];
}

/** Every place is an entry of the batch, with a sixth key there; only the value of that one is 1. */
function onPlane({ q, K }: Typed, options: Call["options"]): Call {
  const batch = (rows: number, cols: number, entry: (place: number) => Iterable<number>): Call["q"] => {
    const data = new Float32Array(PLACES.length * rows * cols);
    for (let place = 0; place < PLACES.length; place++) data.set(Array.from(entry(place)), place * rows * cols);
    return { data, shape: [PLACES.length, 1, rows, cols] };
  };
  return {
    q: batch(1, WIDTH, () => q.data),
    k: batch(KEYS + 1, WIDTH, (place) => [...K.data, ...(PLACES[place] ?? [])]),
    v: batch(KEYS + 1, 1, () => Array.from({ length: KEYS + 1 }, (_, key) => Number(key === KEYS))),
    options,
    lean: true,
  };
}

export function readAnswers(scene: ScoreScene, answers: readonly Answer[]): ScoreAnswer {
  const weights = fill(KINDS.length, KEYS, (row, key) => answers[row]?.weights.data[key] ?? Number.NaN);
  // One's own is the last.
  const rows = KINDS.length - (scene.strange === "" ? 0 : 1);
  const compared = (matrix: Matrix): Matrix => fill(rows, KEYS, (row, key) => at(matrix, row, key));
  const plane = answers[KINDS.length]?.output.data ?? new Float32Array();
  return { weights, apart: widestGap(compared(weights), compared(scene.weights)), plane };
}
