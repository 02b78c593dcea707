// Metrics of classes, by code that is loaded at the first call of one.

import type { TensorInput } from "../api/options.js";
import type { Tensor } from "../api/tensor.js";
import { guardAsync } from "../base/guard.js";
import type { TokenInput } from "../layers/models/tokens.js";
import { copyOf } from "./pass/values.js";

/** The options that metrics of classes take. */
export interface MetricOptions {
  /** Rows with this target count for nothing. Default -100. */
  readonly ignoreIndex?: number | undefined;
}

/** The options of `f1`. */
export interface F1Options extends MetricOptions {
  /**
   * "macro": the mean over classes that are a target or predicted; "weighted": by how often they are targets; "micro": of all together; "binary": of
   * class 1 of two. Default "macro".
   */
  readonly average?: "macro" | "weighted" | "micro" | "binary" | undefined;
}

type Logits = TensorInput | Promise<Tensor>;

/** The share of rows of logits [..., classes] that are largest at their target. */
export function accuracy(logits: Logits, targets: TokenInput, options?: MetricOptions): Promise<number> {
  return run("accuracy", { logits, targets, options });
}

/** The harmonic mean of precision and recall, as scikit-learn has it. */
export function f1(logits: Logits, targets: TokenInput, options?: F1Options): Promise<number> {
  return run("f1", { logits, targets, options });
}

/** exp of the mean cross entropy. */
export function perplexity(logits: Logits, targets: TokenInput, options?: MetricOptions): Promise<number> {
  return run("perplexity", { logits, targets, options });
}

/** Arrays are copied before this returns. */
function run(name: "accuracy" | "f1" | "perplexity", all: object): Promise<number> {
  return guardAsync("option", `${name}: reading its arguments`, async () => {
    const { logits, targets, options } = copyOf<Readonly<Record<string, unknown>>>({ ...all });
    const metrics = await import("./later/metrics.js");
    return metrics[name](logits, targets, options);
  });
}
