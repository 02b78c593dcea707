// The gradients of one query's row in double precision: a loss that wants the output to be another key’s value, and its backward pass.

import { at, fill, type Matrix, multiply, rowsOf, singleRows, transpose, unstack } from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import type { LearningState } from "./state.js";

/** What the loss depends on. Biases are added to scores, so that the gradient in a bias is that in its score. */
type Inputs = Readonly<Record<"q" | "k" | "v" | "bias", Matrix>>;

/** The first key has the largest score, and the second the value that is wanted. */
export const INPUTS: Inputs = {
  q: singleRows([1, 0.5, -0.5]),
  k: singleRows([1.2, 0.4, -0.4], [0.8, 0.6, 0.2], [-0.4, 0.8, 0.6], [0.2, -0.6, -0.8], [-0.8, -0.2, 0.4]),
  v: singleRows([0.2, -0.8], [1, 0.6], [-0.6, 0.8], [0.4, -0.2], [-1, -0.4]),
  bias: singleRows([0, 0, 0, 0, 0]),
};
export const [KEYS, WIDTH, VALUE_WIDTH] = [INPUTS.k.rows, INPUTS.k.cols, INPUTS.v.cols];
export const TARGET: readonly number[] = [at(INPUTS.v, 1, 0), at(INPUTS.v, 1, 1)];

export const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

const rowOf = (numbers: readonly number[]): Matrix => unstack(1, numbers.length, numbers);

function forward({ q, k, v, bias }: Inputs, scale: number) {
  const products = multiply(q, transpose(k)).data;
  const scores = Array.from(products, (product, key) => scale * product + at(bias, 0, key));
  const weights = softmax(rowOf(scores));
  const output = Array.from(multiply(weights, v).data);
  const loss = total(output.map((value, i) => (value - (TARGET[i] ?? 0)) ** 2)) / 2;
  return { scores, weights: Array.from(weights.data), output, loss };
}

export type LearningScene = ReturnType<typeof sceneOf>;
export type Part = keyof LearningScene["matrices"];

export function sceneOf(state: LearningState) {
  const { q, k, v } = INPUTS;
  /** Between q . k and a score. */
  const scale = Math.fround(state.factor / Math.sqrt(WIDTH));
  const made = forward(INPUTS, scale);
  const dOutput = made.output.map((value, i) => value - (TARGET[i] ?? 0));
  const dWeights = rowsOf(v).map((value) => total(value.map((entry, i) => entry * (dOutput[i] ?? 0))));
  /** Of dWeights, by weight: what the softmax takes off. */
  const mean = total(made.weights.map((weight, key) => weight * (dWeights[key] ?? 0)));
  const dScores = made.weights.map((weight, key) => weight * ((dWeights[key] ?? 0) - mean));
  /** Weights, and gradients in weights, scores, values, keys and the query. */
  const matrices = {
    A: rowOf(made.weights),
    dA: rowOf(dWeights),
    dS: rowOf(dScores),
    dV: fill(KEYS, VALUE_WIDTH, (key, i) => (made.weights[key] ?? 0) * (dOutput[i] ?? 0)),
    dK: fill(KEYS, WIDTH, (key, i) => scale * (dScores[key] ?? 0) * at(q, 0, i)),
    dQ: fill(1, WIDTH, (_, i) => scale * total(dScores.map((gradient, key) => gradient * at(k, key, i)))),
  };
  return { ...made, state, scale, dOutput, dWeights, mean, dScores, matrices };
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
