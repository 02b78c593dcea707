// The backward pass of each kind of step.

import type { ModTrees } from "../api/operations/remembering.js";
import { Tensor } from "../api/tensor.js";
import type { Operand, OutputView, Resident } from "../backends/backend.js";
import { HeedError } from "../base/errors.js";
import type { CompiledVjp } from "../expr/compile-vjp.js";
import { residentSource } from "../layers/parameters.js";
import { lastOf, type Scope } from "../layers/scope.js";
import type { Step } from "../layers/tape.js";
import { PACK } from "../operations/affine.js";
import { ATTENTION_VJP, SCORE_GRADIENTS, type WantedGradient } from "../operations/attention-vjp.js";
import { POINTWISE } from "../operations/pointwise.js";
import { ROPE } from "../operations/rope.js";
import { COMBINE } from "../operations/training/combine.js";
import { GRU_BACKWARD } from "../operations/training/gru-backward.js";
import { NORM_BACKWARD } from "../operations/training/norm-backward.js";
import { POINTWISE_BACKWARD } from "../operations/training/pointwise-backward.js";
import { PRODUCT } from "../operations/training/product.js";
import { ROW_SUMS } from "../operations/training/row-sums.js";
import { SCATTER_ADD } from "../operations/training/scatter-add.js";
import { vectorOf } from "../operations/training/vectors.js";
import { type BackwardPass, rowsOf } from "./backward-pass.js";
import { BlockTape } from "./recorder.js";

type Of<Kind extends Step["kind"]> = Extract<Step, { readonly kind: Kind }>;

/** Walks the steps of a pass back from its loss, whose own step has its gradient. */
export async function runBackward(scope: Scope, backward: BackwardPass, loss: Tensor, scale: number): Promise<void> {
  const { steps } = backward.recorder;
  for (const step of steps) {
    if (step.kind === "loss" && step.made[0] === loss) await lossBackward(backward, step, scale);
  }
  await runSteps(scope, backward, steps);
}

async function runSteps(scope: Scope, backward: BackwardPass, steps: readonly Step[]): Promise<void> {
  for (const step of [...steps].reverse()) {
    if (step.made.some((made) => backward.of(made) !== null)) await stepBackward(scope, backward, step);
    for (const made of step.made) backward.drop(made);
  }
}

/** Computes a block again, and walks its steps back. */
async function blockBackward(scope: Scope, backward: BackwardPass, { again, made }: Of<"block">): Promise<void> {
  const tape = new BlockTape(backward.recorder);
  await again(tape, async (results) => {
    for (const [at, result] of results.entries()) {
      const gradient = made[at] && backward.of(made[at]);
      if (gradient) await backward.share(result, gradient);
    }
    await runSteps(scope, backward, tape.steps);
  });
}

async function lossBackward(backward: BackwardPass, { x, gradient }: Of<"loss">, scale: number): Promise<void> {
  if (scale === 1) return backward.begin(x, gradient);
  await backward.give(x, await backward.one(COMBINE, { x: vectorOf(gradient), y: null, a: scale, b: 0 }));
}

async function stepBackward(scope: Scope, backward: BackwardPass, step: Step): Promise<void> {
  if (step.kind === "gru") return gruBackward(scope, backward, step);
  if (step.kind === "block") return blockBackward(scope, backward, step);
  const gradient = backward.of(step.made[0]);
  if (gradient === null) return;
  switch (step.kind) {
    case "affine":
      return affineBackward(scope, backward, step, gradient);
    case "pointwise":
      return pointwiseBackward(scope, backward, step, gradient);
    case "norm":
      return normBackward(backward, scope, step, gradient);
    case "gather":
      return gatherBackward(backward, step, gradient);
    case "rope": {
      const { x, problem } = step;
      const input = { ...problem.input, source: residentSource(gradient) };
      return backward.give(x, await backward.one(ROPE, { ...problem, input, inverse: true }));
    }
    case "attention":
      return attentionBackward(backward, step, gradient);
    case "parameter":
      return backward.learn(step.parameter, (sum) => {
        return backward.one(ROW_SUMS, { rows: vectorOf(gradient), addend: sum && vectorOf(sum) });
      });
  }
}

/** dX = dY W, dW = dY^T X, db the sum of rows of dY. */
async function affineBackward(
  scope: Scope,
  backward: BackwardPass,
  { x, weight, bias, addend, made }: Of<"affine">,
  gradient: Resident,
): Promise<void> {
  const [outputs = 0, inputs = 0] = weight.shape;
  const left = rowsOf(gradient, lastOf(made[0]));
  await backward.share(addend, gradient);
  await backward.learn(bias, (sum) => backward.one(ROW_SUMS, { rows: left, addend: sum && vectorOf(sum) }));
  await backward.learn(weight, (sum) => {
    const right = scope.rows(x);
    return backward.one(PRODUCT, { left, isTransposed: true, right, addend: sum && rowsOf(sum, inputs) });
  });
  await backward.add(x, (sum) => {
    const right = { resident: backward.recorder.plain(weight, "gradients"), count: outputs, length: inputs };
    return backward.one(PRODUCT, { left, isTransposed: false, right, addend: sum && rowsOf(sum, inputs) });
  });
}

async function pointwiseBackward(
  scope: Scope,
  backward: BackwardPass,
  { x, activation, factor, addend }: Of<"pointwise">,
  gradient: Resident,
): Promise<void> {
  await backward.share(addend, gradient);
  if (activation === "none" && factor === null) return backward.share(x, gradient);
  const source = scope.rows(x);
  if (factor !== null && factor.shape.join() !== x.shape.join()) {
    if (activation === "none" && !backward.recorder.needs(factor)) {
      const rule = { activation, bias: null, factor: scope.rows(factor), addend: null };
      return backward.give(x, await backward.one(POINTWISE, { input: rowsOf(gradient, source.length), rule }));
    }
    throw new HeedError("unsupported", "gradients: a factor that learns must have the shape of what it multiplies");
  }
  const [ofSource, ofFactor] = await backward.run(POINTWISE_BACKWARD, {
    gradient: rowsOf(gradient, source.length),
    source,
    factor: factor && scope.rows(factor),
    activation,
  });
  if (ofSource !== undefined) await backward.give(x, ofSource);
  if (ofFactor !== undefined) await backward.give(factor, ofFactor);
}

async function normBackward(
  backward: BackwardPass,
  scope: Scope,
  { x, isCentred, epsilon, width, weight, bias }: Of<"norm">,
  gradient: Resident,
): Promise<void> {
  const [ofInput, ofWeight, ofBias] = await backward.run(NORM_BACKWARD, {
    input: rowsOf(scope.rows(x).resident, width),
    weight: weight && rowsOf(backward.recorder.plain(weight, "gradients"), width),
    gradient: rowsOf(gradient, width),
    isCentred,
    epsilon,
  });
  if (ofInput === undefined || ofWeight === undefined || ofBias === undefined) throw new TypeError("three results");
  await backward.give(x, ofInput);
  for (const [parameter, rows] of [
    [weight, vectorOf(ofWeight)],
    [bias, vectorOf(ofBias)],
  ] as const) {
    await backward.learn(parameter, (sum) => backward.one(ROW_SUMS, { rows, addend: sum && vectorOf(sum) }));
    backward.free(rows.resident);
  }
}

async function gatherBackward(
  backward: BackwardPass,
  { table, indices, made }: Of<"gather">,
  gradient: Resident,
): Promise<void> {
  const width = lastOf(made[0]);
  const rows = rowsOf(gradient, width);
  const count = table.shape.reduce((total, size) => total * size, 1) / width;
  const scatter = (sum: Resident | null): Promise<Resident> =>
    backward.one(SCATTER_ADD, { rows, indices, count, addend: sum && rowsOf(sum, width) });
  if (table instanceof Tensor) await backward.add(table, scatter);
  else await backward.learn(table, scatter);
}

async function attentionBackward(backward: BackwardPass, step: Of<"attention">, gradient: Resident): Promise<void> {
  const { problem, lse, made } = step;
  const { recorder } = backward;
  const functions = await functionsOf(step.trees);
  const options = ["bias", ...SCORE_GRADIENTS] as const;
  const tensors = new Map<WantedGradient, Tensor | null>([
    ["query", step.query],
    ["key", step.key],
    ["value", step.value],
    ...options.map((name) => [name, recorder.tensorOf({ bias: problem.bias, ...problem.score }[name])] as const),
  ]);
  const wanted = [...tensors].filter(([, x]) => recorder.needs(x));
  const place = (resident: Resident, view: OutputView): Operand => {
    return { source: residentSource(resident), dtype: "f32", ...view };
  };
  const results = await backward.run(ATTENTION_VJP, {
    forward: functions === null ? problem : { ...problem, programs: functions },
    output: place(recorder.residentOf(made[0]), problem.output),
    lse: lse && problem.lse && place(lse, problem.lse),
    outputGradient: place(gradient, problem.output),
    weightsGradient: null,
    slopes: functions,
    wanted: wanted.map(([name]) => name),
    keep: true,
  });
  for (const [at, [, x]] of wanted.entries()) {
    const result = results[at];
    if (result !== undefined) await backward.give(x, result);
  }
}

const FUNCTIONS = new WeakMap<ModTrees, CompiledVjp>();

/** The functions of scores and weights with their derivatives, which all blocks of a stack share; null: there are none. Tables are constants. */
async function functionsOf(trees: ModTrees): Promise<(CompiledVjp & { readonly readWords: number }) | null> {
  if (trees.scoreMod === undefined && trees.probMod === undefined) return null;
  const { compileVjp, TABLE_READ_WORDS } = await import("../expr/compile-vjp.js");
  const compiled = FUNCTIONS.get(trees) ?? compileVjp("gradients", trees, { wantsTables: false });
  FUNCTIONS.set(trees, compiled);
  return { ...compiled, readWords: TABLE_READ_WORDS };
}

async function gruBackward(scope: Scope, backward: BackwardPass, step: Of<"gru">): Promise<void> {
  const { gates, weights, bias, state, batch, isReversed, made } = step;
  const [states, last] = made;
  const hidden = lastOf(states);
  const plain = backward.recorder.plain(weights, "gradients");
  const matrix = { elements: plain.elements, shape: [1, 1, hidden, 3 * hidden], strides: [0, 0, 1, hidden] } as const;
  const transposed = await backward.one(PACK, { source: residentSource(plain), dtype: "f32", ...matrix });
  const rowsIf = (gradient: Resident | null) => gradient && rowsOf(gradient, hidden);
  const biasRow = bias && vectorOf(backward.recorder.plain(bias, "gradients"));
  const [ofGates, ofHidden, previous, ofState] = await backward.run(GRU_BACKWARD, {
    forward: {
      gates: scope.rows(gates),
      weights: await backward.recorder.use(weights, "gradients"),
      bias: biasRow,
      state: state && scope.rows(state),
      batch,
      isReversed,
    },
    states: scope.rows(states),
    transposed,
    stateGradients: rowsIf(backward.of(states)),
    lastGradient: rowsIf(backward.of(last)),
  });
  if (ofGates === undefined || ofHidden === undefined || previous === undefined || ofState === undefined) {
    throw new TypeError("four results");
  }
  const left = rowsOf(ofHidden, 3 * hidden);
  await backward.learn(bias, (sum) => backward.one(ROW_SUMS, { rows: left, addend: sum && vectorOf(sum) }));
  await backward.learn(weights, (sum) => {
    return backward.one(PRODUCT, {
      left,
      isTransposed: true,
      right: rowsOf(previous, hidden),
      addend: sum && rowsOf(sum, hidden),
    });
  });
  for (const used of [transposed, ofHidden, previous]) backward.free(used);
  await backward.give(gates, ofGates);
  await backward.give(state, ofState);
}
