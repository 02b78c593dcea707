// heed/train: gradients of layers and models, losses, optimizers, schedules, the training loop. A page that does not train loads none of it.

export { Sequential, type Step } from "../layers/sequential.js";
export {
  type Batches,
  type BatchesOptions,
  batches,
  type PackedBatch,
  type PaddedBatch,
} from "./batches.js";
export { loadCheckpoint, saveCheckpoint } from "./checkpoint.js";
export { clipNorm } from "./clip-norm.js";
export { evaluate, gradients, type InputGradients, type PassOptions, type PassResult, type Read } from "./gradients.js";
export type { ParameterGroup } from "./groups.js";
export type { Best } from "./later/evaluation.js";
export { type Lora, type LoraConfig, type LoraOptions, lora } from "./lora.js";
export {
  binaryCrossEntropy,
  type ClassLossOptions,
  type CrossEntropyOptions,
  crossEntropy,
  type LossOptions,
  meanSquaredError,
} from "./losses.js";
export { accuracy, type F1Options, f1, type MetricOptions, perplexity } from "./metrics.js";
export {
  type ContrastiveOptions,
  type CosineOptions,
  contrastive,
  cosine,
  type FocalOptions,
  focal,
  type KlDivergenceOptions,
  klDivergence,
} from "./more-losses.js";
export { Adam, type AdamOptions, AdamW, Optimizer, Sgd, type SgdOptions, type StepOptions } from "./optimizers.js";
export type { ApplyFunctions, ApplyGradients } from "./pass/apply.js";
export type { PassAttentionOptions, PassAttentionResult, PassScore } from "./pass/attention.js";
export type { Indices } from "./pass/gather.js";
export type { MatmulOptions } from "./pass/matmul.js";
export { type ApplyOptions, type Condition, type DropoutOptions, Pass, type PassLinearOptions } from "./pass/pass.js";
export type { ReduceOptions } from "./pass/reduce.js";
export type { SliceOptions } from "./pass/shapes.js";
export type { PassValue } from "./pass/values.js";
export type { RelativeBiasVjpOptions, RelativeKeysVjpOptions, RelativeValuesVjpOptions } from "./relative-options.js";
export { relativeBiasVjp, relativeKeysVjp, relativeValuesVjp } from "./relative-vjp.js";
export { constant, linear, type Schedule, warmupCosine } from "./schedules.js";
export { type EvaluationOptions, type StepReport, type TrainOptions, type TrainResult, train } from "./train.js";
