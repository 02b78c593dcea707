// Losses whose code is loaded at the first call of one.

import type { TensorInput } from "../api/options.js";
import type { Tensor } from "../api/tensor.js";
import { HeedError } from "../base/errors.js";
import { guardAsync } from "../base/guard.js";
import { isRecord } from "../base/read-values.js";
import type { TokenInput } from "../layers/models/tokens.js";
import { Pass as LayerPass } from "../layers/pass.js";
import { type ClassLossOptions, classLoss, crossEntropy, type LossOptions } from "./losses.js";
import type { Pass } from "./pass/pass.js";
import { bring, copyOf, handle, type PassValue } from "./pass/values.js";

/** The options of the contrastive loss. */
export interface ContrastiveOptions extends LossOptions {
  /** Cosines are divided by it: a number, or what learns. Default 0.07. */
  readonly temperature?: PassValue | undefined;
  /** Keys look for their queries too, and the loss is the mean of both. Default false. */
  readonly symmetric?: boolean | undefined;
}

/** The options of the loss of cosines. */
export interface CosineOptions extends LossOptions {
  /** 1 for pairs that belong together, -1 for others. Default all 1. */
  readonly targets?: ArrayLike<number> | undefined;
  /** Cosines of pairs with -1 cost nothing up to here. Default 0. */
  readonly margin?: number | undefined;
}

/** The options of the Kullback-Leibler divergence. */
export interface KlDivergenceOptions extends LossOptions {
  /** Both logits are divided by it, and the loss is multiplied by its square. Default 1. */
  readonly temperature?: number | undefined;
}

/** The options of the focal loss. */
export interface FocalOptions extends ClassLossOptions {
  /** Default 2. */
  readonly gamma?: number | undefined;
}

/** InfoNCE over a batch: of all keys [N, D], or more, that of its own row should be nearest to a query [N, D], by cosines. */
export function contrastive(
  queries: Tensor | TensorInput | Promise<Tensor>,
  keys: Tensor | TensorInput | Promise<Tensor>,
  options: ContrastiveOptions,
): Promise<Tensor> {
  return run("contrastive", ["queries", "keys"], [queries, keys], options);
}

/** The mean of 1 - cosine, or with target -1 of what the cosine is above the margin, as PyTorch has it. Vectors are the last axis. */
export function cosine(a: PassValue, b: PassValue, options: CosineOptions): Promise<Tensor> {
  return run("cosine", ["a", "b"], [a, b], options);
}

/**
 * Distillation: the mean over rows of KL(softmax(teacher / T) || softmax(logits / T)), times T^2. The teacher must not depend on what learns.
 */
export function klDivergence(logits: PassValue, teacher: PassValue, options: KlDivergenceOptions): Promise<Tensor> {
  return run("klDivergence", ["logits", "teacher"], [logits, teacher], options);
}

/** Cross entropy of which each target counts (1 - p)^gamma, where p is what softmax gives to it. */
export function focal(logits: Tensor, targets: TokenInput, options: FocalOptions): Promise<Tensor> {
  return classLoss("focal", logits, targets, options, ["gamma"]);
}

/** Arrays are copied before this returns. */
function run(
  name: "contrastive" | "cosine" | "klDivergence",
  names: readonly string[],
  values: readonly unknown[],
  all: unknown,
): Promise<Tensor> {
  return guardAsync("option", `${name}: reading its arguments`, async () => {
    handle(values);
    const { pass, ...options } = isRecord(all) ? { ...copyOf(all) } : {};
    const scope = LayerPass.scopeOf(name, pass);
    const [a, b] = (await bring(scope, name, names, values)) as readonly [Tensor, Tensor];
    if (name === "klDivergence" && scope.needs(b)) {
      throw new HeedError(
        "unsupported",
        `${name}: the teacher must not depend on what learns, or on an input of the pass`,
      );
    }
    const losses = await import("./later/losses.js");
    return losses[name]({ pass: pass as Pass, crossEntropy }, a, b, options);
  });
}
