// Heads beside a model, of files whose configuration does not name theirs, or of an adapter: hidden states to scores of labels.

import type { Heed } from "../api/heed.js";
import type { TensorInput } from "../api/options.js";
import type { ArrayTensor, Tensor } from "../api/tensor.js";
import { showShape } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isRecord } from "../base/read-values.js";
import type { Forwarded, ForwardOptions, Layer, NoOptions } from "../layers/layer.js";
import type { ModelConfig } from "../layers/models/config.js";
import { Head } from "../layers/models/head.js";
import { CLASSIFIER, type HeadNames, PRE_CLASSIFIER, PROJECTED, SCORE } from "../layers/models/names.js";
import type { ParameterInput } from "../layers/read-parameters.js";
import type { Activation } from "../operations/pointwise.js";
import { ownLabels } from "./families.js";
import { hiddenSizeOf } from "./hidden-size.js";

/** Which state of a text the head reads: all, what the pooler made of the first, the first or the last. */
export type HeadInput = "tokens" | "pooled" | "cls" | "last";

interface HeadKind {
  readonly names: HeadNames;
  /** What follows its first layer, where it has two. */
  readonly activation: Activation;
  readonly input: HeadInput;
}

/** In the order in which they are looked for. */
const KINDS: readonly HeadKind[] = [
  { names: PROJECTED, activation: "tanh", input: "cls" },
  { names: PRE_CLASSIFIER, activation: "relu", input: "cls" },
  { names: CLASSIFIER, activation: "none", input: "pooled" },
  { names: SCORE, activation: "none", input: "last" },
];

const partsOf = ({ decoder, dense }: HeadNames): readonly (readonly [ours: "decoder" | "dense", theirs: string])[] => [
  ["decoder", decoder],
  ...(dense === undefined ? [] : [["dense", dense] as const]),
];

type Tensors = ReadonlyMap<string, ParameterInput>;

/** The model whose hidden states it reads. */
export interface ClassifiedModel {
  readonly model: Layer;
  readonly config: ModelConfig;
  readonly engine: Heed | undefined;
}

/** Parameters: those of `decoder`, and of `dense` where there are two layers. */
export class ClassifierHead extends Head {
  readonly input: HeadInput;
  readonly labels: readonly string[];
  /** The published names of its layers, by heed's. */
  readonly published: ReadonlyMap<string, string>;

  /** Whether a tensor may be a part of one, by its name. */
  static hasPart(name: string): boolean {
    const layer = name.replace(/\.(?:weight|bias)$/, "");
    return KINDS.some(({ names }) => partsOf(names).some(([, theirs]) => theirs === layer));
  }

  /** Null where a file has none. */
  static of(where: string, tensors: Tensors, base: ClassifiedModel): ClassifierHead | null {
    const kind = KINDS.find(({ names }) => partsOf(names).every(([, theirs]) => tensors.has(`${theirs}.weight`)));
    if (kind === undefined) return null;
    if (base.config.model_type === "modernbert") {
      throw new HeedError("unsupported", `${where}: a classifier of ModernBERT must be that of its configuration`);
    }
    const head = new ClassifierHead(where, kind, tensors, base);
    const own = [...head.published].flatMap(([ours, theirs]) =>
      ["weight", "bias"].flatMap((part): [string, ParameterInput][] => {
        const tensor = tensors.get(`${theirs}.${part}`);
        return tensor === undefined ? [] : [[`${ours}.${part}`, tensor]];
      }),
    );
    return head.load(new Map(own));
  }

  private constructor(
    where: string,
    { names, activation, input }: HeadKind,
    tensors: Tensors,
    { model, config, engine }: ClassifiedModel,
  ) {
    const { decoder, dense } = names;
    const [count, dim] = tensors.get(`${decoder}.weight`)?.shape ?? [];
    if (count === undefined || dim === undefined) {
      throw new HeedError("shape", `${where}: parameter ${decoder}.weight must be a matrix`);
    }
    const width = hiddenSizeOf(model);
    if (dim !== width) {
      const rule = `parameter ${decoder}.weight must be [${count}, ${width}], as hidden states are`;
      throw new HeedError("shape", `${where}: ${rule}, got ${showShape([count, dim])}`);
    }
    const hasBias = (layer: string): boolean => tensors.has(`${layer}.bias`);
    const transform = dense === undefined ? null : { activation, bias: hasBias(dense) };
    super("ClassifierHead", { dim, count, bias: hasBias(decoder), transform, engine });
    this.published = new Map(partsOf(names));
    this.input = ownLabels(config) === "tokens" ? "tokens" : input;
    this.labels = labelsOf(config, count);
  }

  /** x [..., dim] to the logits of labels. */
  forward<const O extends ForwardOptions = NoOptions>(x: TensorInput, options?: O): Forwarded<O>;
  forward(x: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.passOne(x, options, (scope, input) => this.compute(scope, input));
  }
}

export function labelsOf({ id2label: names }: ModelConfig, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => {
    const name = isRecord(names) ? names[String(at)] : undefined;
    return typeof name === "string" ? name : `LABEL_${at}`;
  });
}
