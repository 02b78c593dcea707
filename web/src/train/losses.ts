// Losses within a pass.

import type { TensorInput } from "../api/options.js";
import { Tensor } from "../api/tensor.js";
import type { Operation } from "../backends/backend.js";
import { showShape, showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guardAsync } from "../base/guard.js";
import { readCount, readFinite } from "../base/read-values.js";
import { numbersOf } from "../base/typed-array.js";
import type { TokenInput } from "../layers/models/tokens.js";
import { Pass } from "../layers/pass.js";
import { readCopy } from "../layers/read.js";
import type { Scope } from "../layers/scope.js";
import { CROSS_ENTROPY, ELEMENT_LOSSES } from "../operations/training/losses.js";
import { vectorOf } from "../operations/training/vectors.js";
import { noteLoss } from "./loss.js";
import type { Pass as FullPass } from "./pass/pass.js";
import { classesOf, readTargets } from "./targets.js";

/** The options that any loss takes. */
export interface LossOptions {
  readonly pass: Pass;
}

/** The options of losses over classes. */
export interface ClassLossOptions extends LossOptions {
  /** Rows with this target count for nothing. A whole number of 32 bits. Default -100. */
  readonly ignoreIndex?: number | undefined;
  /** How much a target counts, a number for each class. The mean is divided by the sum of those of all targets. Default all 1. */
  readonly weights?: ArrayLike<number> | undefined;
}

/** The options of `crossEntropy`. */
export interface CrossEntropyOptions extends ClassLossOptions {
  /** The share of a target that goes to all classes alike, from 0 to below 1. Default 0. */
  readonly labelSmoothing?: number | undefined;
}

/** Runs an operation whose results are a loss of x and its gradient in x. */
async function run<P extends object>(scope: Scope, x: Tensor, operation: Operation<P>, problem: P): Promise<Tensor> {
  const [loss, gradient] = await scope.run(operation, problem, [[], x.shape]);
  if (loss === undefined || gradient === undefined) throw new TypeError("a loss has a gradient");
  noteLoss(loss, { tape: scope.tape, x: scope.rows(x).resident, gradient: scope.rows(gradient).resident });
  return loss;
}

/**
 * The mean of -log softmax(logits)[target] over all targets that count, as PyTorch has it. Logits [..., classes]. Targets may be lists as tokens
 * are: what pads the shorter ones is ignored.
 */
export function crossEntropy(logits: Tensor, targets: TokenInput, options: CrossEntropyOptions): Promise<Tensor> {
  return classLoss("crossEntropy", logits, targets, options, ["labelSmoothing"]);
}

/** @internal `names`: options that only this one has. */
export function classLoss(
  where: string,
  logits: Tensor,
  targets: TokenInput,
  options: ClassLossOptions,
  names: readonly string[],
): Promise<Tensor> {
  return guardAsync("option", `${where}: reading its arguments`, async () => {
    const given = readCopy(where, "options", options, ["pass", "ignoreIndex", "weights", ...names]);
    const { pass, weights, gamma = names.includes("gamma") ? 2 : 0 } = given;
    const scope = Pass.scopeOf(where, pass);
    const ignored = readCount(where, "ignoreIndex", given["ignoreIndex"], -100, 2 ** 31 - 1, -(2 ** 31));
    const smoothing = readFinite(where, "labelSmoothing", given["labelSmoothing"], 0);
    if (!(smoothing >= 0 && smoothing < 1)) {
      throw new HeedError("option", `${where}: labelSmoothing must be at least 0 and below 1, got ${smoothing}`);
    }
    const numbers = readTargets(where, targets, ignored);
    const shares = weights === undefined ? undefined : (numbersOf(weights) ?? weights);
    const rows = scope.rows(await taken(scope, where, "logits", logits));
    const read = classesOf(where, numbers, { count: rows.count, classes: rows.length, ignored });
    if (weights === undefined && gamma === 0) {
      return run(scope, logits, CROSS_ENTROPY, { logits: rows, targets: read, ignored, smoothing });
    }
    return (pass as FullPass).ofClasses(logits, { where, targets: read, ignored, smoothing, gamma, weights: shares });
  });
}

/** The mean of (prediction - target)^2. */
export function meanSquaredError(predictions: Tensor, targets: TensorInput, options: LossOptions): Promise<Tensor> {
  return elementLoss("meanSquaredError", "squared-error", predictions, targets, options);
}

/** The mean of -target log(p) - (1 - target) log(1 - p) with p = sigmoid(logit). */
export function binaryCrossEntropy(logits: Tensor, targets: TensorInput, options: LossOptions): Promise<Tensor> {
  return elementLoss("binaryCrossEntropy", "binary-cross-entropy", logits, targets, options);
}

function elementLoss(
  where: string,
  kind: "squared-error" | "binary-cross-entropy",
  predictions: Tensor,
  targets: unknown,
  options: LossOptions,
): Promise<Tensor> {
  return guardAsync("option", `${where}: reading its arguments`, async () => {
    const given = readCopy(where, "options", options, ["pass"]);
    const scope = Pass.scopeOf(where, given["pass"]);
    // The caller may change the array of the targets as soon as the call has returned, so it is read first.
    const target = await scope.take(where, "targets", targets);
    const x = scope.rows(await taken(scope, where, "predictions", predictions)).resident;
    if (scope.needs(target)) {
      throw new HeedError(
        "unsupported",
        `${where}: targets must not depend on what learns, or on an input of the pass`,
      );
    }
    if (target.shape.join() !== predictions.shape.join()) {
      const got = `got ${showShape(target.shape)} for ${showShape(predictions.shape)}`;
      throw new HeedError("shape", `${where}: targets must have the shape of the predictions, ${got}`);
    }
    const problem = { predictions: vectorOf(x), targets: vectorOf(scope.rows(target).resident), kind };
    return run(scope, predictions, ELEMENT_LOSSES, problem);
  });
}

/** A tensor of the pass, or one of the engine. */
async function taken(scope: Scope, where: string, name: string, x: unknown): Promise<Tensor> {
  if (Tensor.is(x)) return scope.take(where, name, x);
  throw new HeedError("dtype", `${where}: ${name} must be a tensor of the pass, got ${showValue(x)}`);
}
