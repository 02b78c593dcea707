// Heads that turn hidden states into scores of labels, as published models have them.

import type { Heed } from "../api/heed.js";
import type { TensorInput } from "../api/options.js";
import type { ArrayTensor, Tensor } from "../api/tensor.js";
import { HeedError } from "../base/errors.js";
import { isRecord } from "../base/read-values.js";
import { type Forwarded, type ForwardOptions, Layer, type NoOptions } from "../layers/layer.js";
import { Linear } from "../layers/linear.js";
import type { ModelConfig } from "../layers/models/config.js";
import type { ParameterInput } from "../layers/read-parameters.js";
import type { Activation } from "../operations/pointwise.js";

/** Which state of a text the head reads: all, what the pooler made of the first, the first or the last. */
export type HeadInput = "tokens" | "pooled" | "cls" | "last";

interface HeadNames {
  readonly out: string;
  /** A layer before it. */
  readonly dense?: string;
  readonly activation?: Activation;
  readonly input: HeadInput;
}

/** In the order in which they are looked for. */
const KINDS: readonly HeadNames[] = [
  { out: "classifier.out_proj", dense: "classifier.dense", activation: "tanh", input: "cls" },
  { out: "classifier", dense: "pre_classifier", activation: "relu", input: "cls" },
  { out: "classifier", input: "pooled" },
  { out: "score", input: "last" },
];

type Tensors = ReadonlyMap<string, ParameterInput>;

/** Parameters: those of `out`, and of `dense` where there is one. */
export class ClassifierHead extends Layer {
  readonly input: HeadInput;
  readonly labels: readonly string[];
  /** The published names of its layers, by heed's. */
  readonly published: Readonly<Record<string, string>>;
  readonly #dense: Linear | null;
  readonly #out: Linear;
  readonly #activation: Activation;

  /** Null where a file has none. */
  static of(where: string, tensors: Tensors, config: ModelConfig, engine: Heed | undefined): ClassifierHead | null {
    const names = KINDS.find(({ out, dense }) => [out, dense ?? out].every((name) => tensors.has(`${name}.weight`)));
    if (names === undefined) return null;
    if (config.model_type === "modernbert") {
      throw new HeedError("unsupported", `${where}: a classifier of ModernBERT must be that of its configuration`);
    }
    const head = new ClassifierHead(where, names, tensors, config, engine);
    const own = Object.entries(head.published).flatMap(([ours, theirs]) =>
      ["weight", "bias"].flatMap((part): [string, ParameterInput][] => {
        const tensor = tensors.get(`${theirs}.${part}`);
        return tensor === undefined ? [] : [[`${ours}.${part}`, tensor]];
      }),
    );
    return head.load(new Map(own));
  }

  private constructor(
    where: string,
    { out, dense, activation = "none", input }: HeadNames,
    tensors: Tensors,
    config: ModelConfig,
    engine: Heed | undefined,
  ) {
    super("ClassifierHead", engine);
    const linear = (name: string): Linear => {
      const [outFeatures, inFeatures] = tensors.get(`${name}.weight`)?.shape ?? [];
      if (outFeatures === undefined || inFeatures === undefined) {
        throw new HeedError("shape", `${where}: parameter ${name}.weight must be a matrix`);
      }
      return new Linear({ inFeatures, outFeatures, bias: tensors.has(`${name}.bias`), engine });
    };
    this.#out = this.part("out", linear(out));
    this.#dense = dense === undefined ? null : this.part("dense", linear(dense));
    this.#activation = activation;
    this.published = { out, ...(dense === undefined ? {} : { dense }) };
    this.input = isOfTokens(config) ? "tokens" : input;
    this.labels = labelsOf(config, this.#out.outFeatures);
  }

  /** x [..., dim] to the logits of labels. */
  forward<const O extends ForwardOptions = NoOptions>(x: TensorInput, options?: O): Forwarded<O>;
  forward(x: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.passOne(x, options, (scope, input) =>
      scope.one(async (inner) => {
        const read = await this.#dense?.compute(inner, input, { activation: this.#activation });
        return this.#out.compute(inner, read ?? input);
      }),
    );
  }
}

const isOfTokens = (config: ModelConfig): boolean => ownLabels(config) === "tokens";

/** What a model's own head has labels of, by its configuration; null: of nothing. */
export function ownLabels({ architectures }: ModelConfig): "texts" | "tokens" | null {
  const [name] = Array.isArray(architectures) ? architectures : [];
  const [, kind] = /For(Sequence|Token)Classification$/.exec(String(name)) ?? [];
  return kind === undefined ? null : kind === "Token" ? "tokens" : "texts";
}

export function labelsOf({ id2label: names }: ModelConfig, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => {
    const name = isRecord(names) ? names[String(at)] : undefined;
    return typeof name === "string" ? name : `LABEL_${at}`;
  });
}
