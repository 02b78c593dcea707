// The backward pass of each kind of step.

import { HeedError } from "../api/errors.js";
import { Tensor } from "../api/tensor.js";
import type { Operand, OutputView, Resident } from "../backends/backend.js";
import { residentSource } from "../layers/parameters.js";
import { lastOf, type Scope } from "../layers/scope.js";
import type { Step } from "../layers/tape.js";
import { PACK } from "../operations/affine.js";
import { ATTENTION_VJP, SCORE_GRADIENTS, type WantedGradient } from "../operations/attention-vjp.js";
import { ROPE } from "../operations/rope.js";
import { COMBINE } from "../operations/training/combine.js";
import { GRU_BACKWARD } from "../operations/training/gru-backward.js";
import { NORM_BACKWARD } from "../operations/training/norm-backward.js";
import { POINTWISE_BACKWARD } from "../operations/training/pointwise-backward.js";
import { PRODUCT } from "../operations/training/product.js";
import { ROW_SUMS } from "../operations/training/row-sums.js";
import { SCATTER_ADD } from "../operations/training/scatter-add.js";
import { vectorOf } from "../operations/training/vectors.js";
import { rowsOf, type WayBack } from "./way-back.js";

type Of<Kind extends Step["kind"]> = Extract<Step, { readonly kind: Kind }>;

/** Walks the steps back from the loss, whose own step has its gradient. */
export async function walkBack(scope: Scope, way: WayBack, loss: Tensor, scale: number): Promise<void> {
  const { steps } = way.recorder;
  for (const step of [...steps].reverse()) {
    if (step.kind === "loss") {
      if (step.made[0] === loss) await lossBack(way, step, scale);
    } else if (step.made.some((made) => way.of(made) !== null)) {
      await stepBack(scope, way, step);
    }
    for (const made of step.made) way.drop(made);
  }
}

async function lossBack(way: WayBack, { x, gradient }: Of<"loss">, scale: number): Promise<void> {
  if (scale === 1) return way.begin(x, gradient);
  await way.give(x, await way.one(COMBINE, { x: vectorOf(gradient), y: null, a: scale, b: 0 }));
}

async function stepBack(scope: Scope, way: WayBack, step: Exclude<Step, Of<"loss">>): Promise<void> {
  if (step.kind === "gru") return gruBack(scope, way, step);
  const gradient = way.of(step.made[0]);
  if (gradient === null) return;
  switch (step.kind) {
    case "affine":
      return affineBack(scope, way, step, gradient);
    case "pointwise":
      return pointwiseBack(scope, way, step, gradient);
    case "norm":
      return normBack(way, scope, step, gradient);
    case "gather":
      return gatherBack(way, step, gradient);
    case "rope": {
      const { x, problem } = step;
      const input = { ...problem.input, source: residentSource(gradient) };
      return way.give(x, await way.one(ROPE, { ...problem, input, inverse: true }));
    }
    case "attention":
      return attentionBack(way, step, gradient);
    case "parameter":
      return way.learn(step.parameter, (sum) => {
        return way.one(ROW_SUMS, { rows: vectorOf(gradient), addend: sum && vectorOf(sum) });
      });
  }
}

/** dX = dY W, dW = dY^T X, db the sum of rows of dY. */
async function affineBack(
  scope: Scope,
  way: WayBack,
  { x, weight, bias, addend, made }: Of<"affine">,
  gradient: Resident,
): Promise<void> {
  const [outputs = 0, inputs = 0] = weight.shape;
  const left = rowsOf(gradient, lastOf(made[0]));
  await way.share(addend, gradient);
  await way.learn(bias, (sum) => way.one(ROW_SUMS, { rows: left, addend: sum && vectorOf(sum) }));
  await way.learn(weight, (sum) => {
    const right = scope.rows(x);
    return way.one(PRODUCT, { left, isTransposed: true, right, addend: sum && rowsOf(sum, inputs) });
  });
  await way.add(x, (sum) => {
    const right = { resident: way.recorder.plain(weight, "gradients"), count: outputs, length: inputs };
    return way.one(PRODUCT, { left, isTransposed: false, right, addend: sum && rowsOf(sum, inputs) });
  });
}

async function pointwiseBack(
  scope: Scope,
  way: WayBack,
  { x, activation, factor, addend }: Of<"pointwise">,
  gradient: Resident,
): Promise<void> {
  await way.share(addend, gradient);
  if (activation === "none" && factor === null) return way.share(x, gradient);
  const source = scope.rows(x);
  if (factor !== null && factor.shape.join() !== x.shape.join()) {
    throw new HeedError("unsupported", "gradients: a factor must have the shape of what it multiplies");
  }
  const [ofSource, ofFactor] = await way.run(POINTWISE_BACKWARD, {
    gradient: rowsOf(gradient, source.length),
    source,
    factor: factor && scope.rows(factor),
    activation,
  });
  if (ofSource !== undefined) await way.give(x, ofSource);
  if (ofFactor !== undefined) await way.give(factor, ofFactor);
}

async function normBack(
  way: WayBack,
  scope: Scope,
  { x, isCentred, epsilon, width, weight, bias }: Of<"norm">,
  gradient: Resident,
): Promise<void> {
  const [ofInput, ofWeight, ofBias] = await way.run(NORM_BACKWARD, {
    input: rowsOf(scope.rows(x).resident, width),
    weight: weight && rowsOf(way.recorder.plain(weight, "gradients"), width),
    gradient: rowsOf(gradient, width),
    isCentred,
    epsilon,
  });
  if (ofInput === undefined || ofWeight === undefined || ofBias === undefined) throw new TypeError("three results");
  await way.give(x, ofInput);
  for (const [parameter, rows] of [
    [weight, vectorOf(ofWeight)],
    [bias, vectorOf(ofBias)],
  ] as const) {
    await way.learn(parameter, (sum) => way.one(ROW_SUMS, { rows, addend: sum && vectorOf(sum) }));
    way.free(rows.resident);
  }
}

async function gatherBack(way: WayBack, { table, indices, made }: Of<"gather">, gradient: Resident): Promise<void> {
  const width = lastOf(made[0]);
  const rows = rowsOf(gradient, width);
  const count = table.shape.reduce((total, size) => total * size, 1) / width;
  const scatter = (sum: Resident | null): Promise<Resident> =>
    way.one(SCATTER_ADD, { rows, indices, count, addend: sum && rowsOf(sum, width) });
  if (table instanceof Tensor) await way.add(table, scatter);
  else await way.learn(table, scatter);
}

async function attentionBack(way: WayBack, step: Of<"attention">, gradient: Resident): Promise<void> {
  const { problem, lse, made } = step;
  const { recorder } = way;
  const [ofScore = 0, , ofWeight = 0] = problem.programs?.words ?? [];
  if (ofScore !== 0 || ofWeight !== 0) {
    throw new HeedError(
      "unsupported",
      "gradients: scoreMod and probMod have no way back in a pass, only in attentionVjp",
    );
  }
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
  const results = await way.run(ATTENTION_VJP, {
    forward: problem,
    output: place(recorder.residentOf(made[0]), problem.output),
    lse: lse && problem.lse && place(lse, problem.lse),
    outputGradient: place(gradient, problem.output),
    slopes: null,
    wanted: wanted.map(([name]) => name),
    keep: true,
  });
  for (const [at, [, x]] of wanted.entries()) {
    const result = results[at];
    if (result !== undefined) await way.give(x, result);
  }
}

async function gruBack(scope: Scope, way: WayBack, step: Of<"gru">): Promise<void> {
  const { gates, weights, bias, state, batch, isReversed, made } = step;
  const [states, last] = made;
  const hidden = lastOf(states);
  const plain = way.recorder.plain(weights, "gradients");
  const matrix = { elements: plain.elements, shape: [1, 1, hidden, 3 * hidden], strides: [0, 0, 1, hidden] } as const;
  const transposed = await way.one(PACK, { source: residentSource(plain), dtype: "f32", ...matrix });
  const rowsIf = (gradient: Resident | null) => gradient && rowsOf(gradient, hidden);
  const biasRow = bias && vectorOf(way.recorder.plain(bias, "gradients"));
  const [ofGates, ofHidden, previous, ofState] = await way.run(GRU_BACKWARD, {
    forward: {
      gates: scope.rows(gates),
      weights: await way.recorder.use(weights, "gradients"),
      bias: biasRow,
      state: state && scope.rows(state),
      batch,
      isReversed,
    },
    states: scope.rows(states),
    transposed,
    stateGradients: rowsIf(way.of(states)),
    lastGradient: rowsIf(way.of(last)),
  });
  if (ofGates === undefined || ofHidden === undefined || previous === undefined || ofState === undefined) {
    throw new TypeError("four results");
  }
  const left = rowsOf(ofHidden, 3 * hidden);
  await way.learn(bias, (sum) => way.one(ROW_SUMS, { rows: left, addend: sum && vectorOf(sum) }));
  await way.learn(weights, (sum) => {
    return way.one(PRODUCT, {
      left,
      isTransposed: true,
      right: rowsOf(previous, hidden),
      addend: sum && rowsOf(sum, hidden),
    });
  });
  for (const used of [transposed, ofHidden, previous]) way.free(used);
  await way.give(gates, ofGates);
  await way.give(state, ofState);
}
