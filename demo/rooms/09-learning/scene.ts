// The gradients of one query's row in double precision: a loss that wants the output to be another key’s value, and its backward pass.

import { at, fill, type Matrix, singleRows } from "../../src/model/matrix.js";
import type { LearningState } from "./state.js";

/** What the loss depends on. Biases are added to scores, so that the gradient in a bias is that in its score. */
export interface Inputs {
  readonly q: Matrix;
  readonly k: Matrix;
  readonly v: Matrix;
  readonly bias: Matrix;
}

/** The first key has the largest score, and the second the value that is wanted. */
export const INPUTS: Inputs = {
  q: singleRows([1, 0.5, -0.5]),
  k: singleRows([1.2, 0.4, -0.4], [0.8, 0.6, 0.2], [-0.4, 0.8, 0.6], [0.2, -0.6, -0.8], [-0.8, -0.2, 0.4]),
  v: singleRows([0.2, -0.8], [1, 0.6], [-0.6, 0.8], [0.4, -0.2], [-1, -0.4]),
  bias: singleRows([0, 0, 0, 0, 0]),
};
export const [KEYS, WIDTH, VALUE_WIDTH] = [INPUTS.k.rows, INPUTS.k.cols, INPUTS.v.cols];
export const TARGET: readonly number[] = [at(INPUTS.v, 1, 0), at(INPUTS.v, 1, 1)];

interface Forward {
  readonly scores: readonly number[];
  readonly weights: readonly number[];
  readonly output: readonly number[];
  readonly loss: number;
}

export interface LearningScene extends Forward {
  readonly state: LearningState;
  /** Between q . k and a score. */
  readonly scale: number;
  readonly dOutput: readonly number[];
  readonly dWeights: readonly number[];
  /** Of dWeights, by weight: what the softmax takes off. */
  readonly mean: number;
  readonly dScores: readonly number[];
  readonly dq: Matrix;
  readonly dk: Matrix;
  readonly dv: Matrix;
}

const count = <T>(length: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length }, (_, i) => make(i));
export const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

export const scaleOf = ({ factor }: LearningState): number => Math.fround(factor / Math.sqrt(WIDTH));

export function forward({ q, k, v, bias }: Inputs, scale: number): Forward {
  const scores = count(
    KEYS,
    (key) => scale * total(count(WIDTH, (i) => at(q, 0, i) * at(k, key, i))) + at(bias, 0, key),
  );
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  const weights = powers.map((power) => power / total(powers));
  const output = count(VALUE_WIDTH, (i) => total(weights.map((weight, key) => weight * at(v, key, i))));
  const loss = total(output.map((value, i) => (value - (TARGET[i] ?? 0)) ** 2)) / 2;
  return { scores, weights, output, loss };
}

export function sceneOf(state: LearningState): LearningScene {
  const { q, k, v } = INPUTS;
  const scale = scaleOf(state);
  const made = forward(INPUTS, scale);
  const dOutput = made.output.map((value, i) => value - (TARGET[i] ?? 0));
  const dWeights = count(KEYS, (key) => total(dOutput.map((gradient, i) => gradient * at(v, key, i))));
  const mean = total(made.weights.map((weight, key) => weight * (dWeights[key] ?? 0)));
  const dScores = made.weights.map((weight, key) => weight * ((dWeights[key] ?? 0) - mean));
  return {
    ...made,
    state,
    scale,
    dOutput,
    dWeights,
    mean,
    dScores,
    dq: fill(1, WIDTH, (_, i) => scale * total(dScores.map((gradient, key) => gradient * at(k, key, i)))),
    dk: fill(KEYS, WIDTH, (key, i) => scale * (dScores[key] ?? 0) * at(q, 0, i)),
    dv: fill(KEYS, VALUE_WIDTH, (key, i) => (made.weights[key] ?? 0) * (dOutput[i] ?? 0)),
  };
}

const STEP = 1e-5;

/** The slope of the loss between two points beside an input's number. */
export function finiteDifference(scene: LearningScene, name: keyof Inputs, row: number, col: number): number {
  const beside = (step: number): number => {
    const data = INPUTS[name].data.slice();
    const index = row * INPUTS[name].cols + col;
    data[index] = (data[index] ?? Number.NaN) + step;
    return forward({ ...INPUTS, [name]: { ...INPUTS[name], data } }, scene.scale).loss;
  };
  return (beside(STEP) - beside(-STEP)) / (2 * STEP);
}
