// Layers between a text's pooled state and its vector, as sentence-transformers' module Dense has them.

import type { Heed } from "../api/heed.js";
import type { TensorInput } from "../api/options.js";
import type { ArrayTensor, Tensor } from "../api/tensor.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { loadSafetensors } from "../layers/io/load-safetensors.js";
import { type Forwarded, type ForwardOptions, Layer, type NoOptions } from "../layers/layer.js";
import { Linear } from "../layers/linear.js";
import { ConfigReader } from "../layers/models/config.js";
import type { ParameterMap } from "../layers/read-parameters.js";
import type { Activation } from "../operations/pointwise.js";
import type { ModelFiles } from "./model-files.js";
import { maybeJson } from "./read-json.js";

/** By the names of PyTorch's classes. */
const ACTIVATIONS: Readonly<Record<string, Activation>> = {
  Identity: "none",
  Tanh: "tanh",
  ReLU: "relu",
  GELU: "gelu",
  SiLU: "silu",
  Sigmoid: "sigmoid",
};

/** What a file says of one. */
export interface DenseRule {
  readonly inFeatures: number;
  readonly outFeatures: number;
  readonly bias: boolean;
  readonly activation: Activation;
  readonly parameters: ParameterMap;
}

/** Parameters: those of `linear`. */
export class Dense extends Layer {
  readonly #linear: Linear;
  readonly #activation: Activation;

  constructor({ activation, parameters, ...sizes }: DenseRule, engine: Heed | undefined) {
    super("Dense", engine);
    this.#activation = activation;
    this.#linear = this.part("linear", new Linear({ ...sizes, engine }));
    this.load(parameters);
  }

  /** x [..., inFeatures] to [..., outFeatures]. */
  forward<const O extends ForwardOptions = NoOptions>(x: TensorInput, options?: O): Forwarded<O>;
  forward(x: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    const activation = this.#activation;
    return this.passOne(x, options, (scope, input) => this.#linear.compute(scope, input, { activation }));
  }
}

/** Reads the folder of a module. */
export async function denseRule(
  where: string,
  files: ModelFiles,
  folder: string,
  signal: AbortSignal | null,
): Promise<DenseRule> {
  const name = `${folder}/config.json`;
  const config = await maybeJson(where, files, name, signal);
  if (config === null) throw new HeedError("load", `${where}: ${files.place} must have ${name}, got none`);
  const called = `${where}: ${name}`;
  const read = new ConfigReader(called, config).only({
    module_input_name: ["sentence_embedding"],
    module_output_name: ["sentence_embedding"],
  });
  const activation = read.value("activation_function") ?? "Tanh";
  const kind = ACTIVATIONS[String(activation).split(".").at(-1) ?? ""];
  if (kind === undefined) {
    const known = Object.keys(ACTIVATIONS).join(", ");
    throw new HeedError(
      "unsupported",
      `${called}: activation_function must be one of ${known}, got ${showValue(activation)}`,
    );
  }
  const weights = await files.open(`${folder}/model.safetensors`);
  if (weights === null)
    throw new HeedError("load", `${where}: ${files.place} must have ${folder}/model.safetensors, got none`);
  return {
    inFeatures: read.count("in_features"),
    outFeatures: read.count("out_features"),
    bias: read.flag("bias", true),
    activation: kind,
    parameters: await loadSafetensors(weights, { signal: signal ?? undefined }),
  };
}
