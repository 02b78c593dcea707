// The small operations of a pass have PyTorch's values and gradients.

import { afterAll, expect, test } from "vitest";
import { createHeed, type Tensor } from "../../../web/src/index.js";
import { Linear } from "../../../web/src/layers/index.js";
import { gradients, type Pass } from "../../../web/src/train/index.js";
import { type PackedTensor, readFixture, unpack, worstDifference } from "../../support/fixtures.js";

/** tests/fixtures/operations.py. */
const torch = readFixture("operations.json") as Readonly<
  Record<
    string,
    Readonly<Record<"inputs" | "gradients", readonly PackedTensor[]> & Record<"output" | "ofOutput", PackedTensor>>
  >
>;

type Act = (pass: Pass, a: Tensor, b: Tensor) => Promise<Tensor>;

const binary = (name: "add" | "sub" | "mul" | "div" | "matmul"): Act => {
  return (pass, a, b) => pass[name](a, b);
};
const unary = (name: "exp" | "log" | "sqrt" | "tanh" | "sigmoid" | "relu"): Act => {
  return (pass, x) => pass[name](x);
};

const OPERATIONS: Readonly<Record<string, Act>> = {
  add: binary("add"),
  sub: binary("sub"),
  mul: binary("mul"),
  div: binary("div"),
  exp: unary("exp"),
  log: unary("log"),
  sqrt: unary("sqrt"),
  tanh: unary("tanh"),
  sigmoid: unary("sigmoid"),
  relu: unary("relu"),
  where: (pass, a, b) => pass.where({ data: [true, false, true], shape: [3] }, a, b),
  matmul: binary("matmul"),
  "matmul of one matrix for all": binary("matmul"),
  "matmul transposed": (pass, a, b) => pass.matmul(a, b, { transposeA: true, transposeB: true }),
  reshape: (pass, x) => pass.reshape(x, [4, -1]),
  transpose: (pass, x) => pass.transpose(x, [2, 0, 1]),
  concat: (pass, a, b) => pass.concat([a, b], { axis: 1 }),
  slice: (pass, x) => pass.slice(x, { axis: 1, from: 1, to: 3 }),
  gather: (pass, x) => pass.gather(x, { data: [2, 0, 2, 2], shape: [2, 2] }, { axis: 1 }),
  sum: (pass, x) => pass.sum(x, { axis: [0, 2] }),
  mean: (pass, x) => pass.mean(x, { axis: 1, keepDims: true }),
  max: (pass, x) => pass.max(x, { axis: -1 }),
  softmax: (pass, x) => pass.softmax(x, { axis: 1 }),
  normalize: (pass, x) => pass.normalize(x, { axis: 0 }),
};

const engine = await createHeed({ backend: "wasm" });
afterAll(() => engine.dispose());

test("every case of the fixture is computed", () => {
  expect(Object.keys(OPERATIONS)).toEqual(Object.keys(torch));
});

test.each(Object.entries(torch))("%s", async (name, { inputs, ...wanted }) => {
  const model = new Linear({ inFeatures: 1, outFeatures: 1, engine }).init();
  const { inputGradients, output } = await gradients(model, async (pass) => {
    const [a, b = a] = await Promise.all(inputs.map((one) => pass.input(unpack(one))));
    const act = OPERATIONS[name];
    if (a === undefined || b === undefined || act === undefined) throw new Error(`${name} takes a tensor or two`);
    const output = await act(pass, a, b);
    return { loss: await pass.sum(pass.mul(output, unpack(wanted.ofOutput))), output };
  });
  // One operation, and its gradient.
  expect(worstDifference(output, unpack(wanted.output), 1)).toBeLessThan(1);
  for (const [at, gradient] of wanted.gradients.entries()) {
    expect(worstDifference(inputGradients[at], unpack(gradient), 2), `input ${at}`).toBeLessThan(1);
  }
});
