// The guide's code needs a model and its inputs; its results are compared with the same computation in double precision.

import { attention } from "heed/reference";
import { encodeModel } from "./onnx/encode.js";

const [HEADS, LENGTH, DIM] = [2, 16, 8];
const wave = (count: number, speed: number): Float32Array =>
  Float32Array.from({ length: count }, (_, n) => Math.sin(speed * (n + 1)));

const numbers = wave(HEADS * LENGTH * DIM, 0.7);
const weights = wave(DIM * DIM, 1.3);
const shape = [1, HEADS, LENGTH, DIM];

/** y = x w */
const model = encodeModel(
  {
    nodes: [{ op: "MatMul", domain: "", inputs: ["x", "w"], outputs: ["y"], attributes: {} }],
    inputs: [{ name: "x", data: numbers, shape }],
    constants: [{ name: "w", data: weights, shape: [DIM, DIM] }],
    outputs: [{ name: "y", shape }],
  },
  true,
);

/** The largest difference of each of the three steps, computed from the result of the step before. */
function differences(y: Float32Array, output: Float32Array, again: Float32Array): Readonly<Record<string, number>> {
  const q = { data: y, shape };
  return {
    "onnxruntime-web": largest(y, product(numbers)),
    "heed, of its buffer": largest(output, attention(q, q, q, { causal: true }).output.data),
    "onnxruntime-web, of heed's buffer": largest(again, product(output)),
  };
}

function product(x: Float32Array): Float64Array {
  return Float64Array.from({ length: x.length }, (_, at) => {
    const row = at - (at % DIM);
    let sum = 0;
    for (let d = 0; d < DIM; d++) sum += (x[row + d] ?? 0) * (weights[d * DIM + (at % DIM)] ?? 0);
    return sum;
  });
}

function largest(got: Float32Array, wanted: Float64Array): number {
  if (got.length !== wanted.length) return Number.POSITIVE_INFINITY;
  return wanted.reduce((most, one, at) => Math.max(most, Math.abs(one - (got[at] ?? Number.NaN))), 0);
}

Object.assign(globalThis, { model, numbers, differences });
