// Low-rank adapters (LoRA) of linear layers: y = W x + b + alpha / rank B A x, where A and B learn, and W and b stay.

import type { Tensor } from "../api/tensor.js";
import type { Program, Resident } from "../backends/backend.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guard, guardAsync } from "../base/guard.js";
import { readPositive } from "../base/read-values.js";
import { listOf } from "../base/typed-array.js";
import { boundOf, type Draw, same } from "../layers/draw.js";
import { saveSafetensors } from "../layers/io/index.js";
import { Layer } from "../layers/layer.js";
import { type Adapter, Linear } from "../layers/linear.js";
import { notLoaded, type Parameter } from "../layers/parameters.js";
import { readOnce, readSize } from "../layers/read.js";
import type { Filling, GivenParameters } from "../layers/read-parameters.js";
import type { Scope } from "../layers/scope.js";
import type { Variable } from "../layers/variable.js";
import { COMBINE } from "../operations/training/combine.js";
import { PRODUCT } from "../operations/training/product.js";
import { rowsOf, vectorOf } from "../operations/training/vectors.js";
import { inProgram, inTurn } from "./in-program.js";
import { checkModel, groupsOf, learnt } from "./variables.js";

/** The alphas of adapters by the layers that are their A, for checkpoints: no parameter tells them. */
const ALPHAS = new WeakMap<Layer, number>();

/** The alphas of the adapters of a model, by the paths of their A. */
export function alphasOf(model: Layer): ReadonlyMap<string, number> {
  return new Map(
    [...Layer.layersOf(model)].flatMap(([path, layer]) => {
      const alpha = ALPHAS.get(layer);
      return alpha === undefined ? [] : [[path, alpha] as const];
    }),
  );
}

/** PEFT puts this before the name of every parameter. */
const PREFIX = "base_model.model.";

/** The options of low-rank adapters. */
export interface LoraOptions {
  /** The number of rows of A, and of columns of B. */
  readonly rank: number;
  /** The result of an adapter is scaled by alpha / rank. Default `rank`. */
  readonly alpha?: number | undefined;
  /** Linear layers: names, with which their paths must end, or patterns, which must match somewhere in their paths. */
  readonly targets: readonly (string | RegExp)[];
  /** Of A, a whole number of 32 bits. Default 0. */
  readonly seed?: number | undefined;
}

/** PEFT's adapter_config.json. */
export interface LoraConfig {
  readonly peft_type: "LORA";
  readonly r: number;
  readonly lora_alpha: number;
  /** The paths of the layers that have adapters. */
  readonly target_modules: readonly string[];
  readonly lora_dropout: 0;
  readonly bias: "none";
}

/**
 * Adds adapters to linear layers of a loaded model, and freezes everything else. A is drawn as PEFT draws it, B is zero, so that the model
 * computes what it did.
 */
export function lora(model: Layer, options: LoraOptions): Lora {
  const where = "lora";
  const given = readOnce(where, "options", options, ["rank", "alpha", "targets", "seed"]);
  checkModel(where, model);
  const rank = readSize(where, "rank", given["rank"]);
  const alpha = readPositive(where, "alpha", given["alpha"], rank);
  const matches = guard("option", `${where}: reading targets`, () => readPathPatterns(where, given["targets"]));
  const linears = [...Layer.layersOf(model)].flatMap(([path, layer]) =>
    layer instanceof Linear ? [[path, layer] as const] : [],
  );
  if (linears.some(([path]) => path.endsWith("lora_A"))) {
    throw new HeedError("option", `${where}: the model has adapters, which must be merged first`);
  }
  const targets = new Map(
    matches.flatMap(({ shown, match }) => {
      const found = linears.filter(([path]) => match(path));
      if (found.length > 0) return found;
      const names = [...new Set(linears.map(([path]) => path.split(".").at(-1)))].join(", ");
      throw new HeedError("option", `${where}: no linear layer is named ${shown}, or ends so, among ${names}`);
    }),
  );
  for (const [path, { inFeatures, outFeatures }] of targets) {
    if (rank <= Math.max(inFeatures, outFeatures)) continue;
    const rule = `rank must be at most ${Math.max(inFeatures, outFeatures)} for ${path || "the layer"}`;
    throw new HeedError("option", `${where}: ${rule}, [${outFeatures}, ${inFeatures}], got ${rank}`);
  }
  checkWeights(where, model, targets);
  return new Lora(model, targets, { rank, alpha, seed: given["seed"] as number | undefined });
}

interface Target {
  readonly shown: string;
  readonly match: (path: string) => boolean;
}

function readPathPatterns(where: string, targets: unknown): readonly Target[] {
  const all = listOf(targets) ?? [];
  const read = all.flatMap((target): Target[] => {
    const shown = showValue(target);
    if (target instanceof RegExp) {
      // A copy, whose methods are JavaScript's.
      const pattern = new RegExp(target);
      return [{ shown: String(pattern), match: (path) => path.search(pattern) !== -1 }];
    }
    if (typeof target !== "string" || target === "") return [];
    return [{ shown, match: (path) => `.${path}`.endsWith(`.${target}`) }];
  });
  if (read.length > 0 && read.length === all.length) return read;
  throw new HeedError("option", `${where}: targets must be names or patterns in an array, got ${showValue(targets)}`);
}

/** An adapter is for a weight that is there, and that is the weight of one layer alone. */
function checkWeights(where: string, model: Layer, targets: ReadonlyMap<string, Linear>): void {
  const groups = groupsOf(model);
  for (const path of targets.keys()) {
    const name = path === "" ? "weight" : `${path}.weight`;
    const group = groups.find((parameters) => parameters.has(name));
    if (group === undefined)
      throw notLoaded(`${where}: parameter ${name}`, false, `: call ${model["where"]}.load first`);
    const other = [...group.keys()].find((one) => one !== name);
    if (other === undefined) continue;
    throw new HeedError(
      "unsupported",
      `${where}: parameter ${name} must not be tied to others, got one tied to ${other}`,
    );
  }
}

class LowRank implements Adapter {
  readonly a: Linear;
  readonly b: Linear;
  readonly parts: Readonly<Record<string, Layer>>;
  readonly scale: number;

  constructor({ inFeatures, outFeatures }: Linear, rank: number, alpha: number) {
    this.a = new Linear({ inFeatures, outFeatures: rank, bias: false });
    this.b = new Linear({ inFeatures: rank, outFeatures, bias: false });
    this.parts = { lora_A: this.a, lora_B: this.b };
    this.scale = alpha / rank;
    ALPHAS.set(this.a, alpha);
  }

  async compute(scope: Scope, x: Tensor): Promise<Tensor> {
    const { outFeatures: rank } = this.a;
    const factor = scope.upload(new Float32Array(rank).fill(this.scale), [rank]);
    return this.b.compute(scope, await this.a.compute(scope, x, { factor }));
  }
}

/**
 * The adapters of a model. Parameters: `lora_A.weight` [rank, inFeatures] and `lora_B.weight` [outFeatures, rank] below the path of each
 * adapted layer. `load` takes those of a file of PEFT's, which all begin with `base_model.model.`.
 */
export class Lora extends Layer {
  readonly config: LoraConfig;
  readonly #model: Layer;
  readonly #adapted: readonly { readonly linear: Linear; readonly adapter: LowRank }[];
  /** What the adapters froze. */
  readonly #frozen: readonly Parameter[];
  #isMerged = false;

  /** @internal */
  constructor(
    model: Layer,
    targets: ReadonlyMap<string, Linear>,
    { rank, alpha, seed }: { readonly rank: number; readonly alpha: number; readonly seed: number | undefined },
  ) {
    super("Lora", undefined);
    const paths = [...targets.keys()];
    this.config = {
      peft_type: "LORA",
      r: rank,
      lora_alpha: alpha,
      target_modules: paths,
      lora_dropout: 0,
      bias: "none",
    };
    this.#model = model;
    this.#adapted = [...targets].map(([path, linear]) => {
      const adapter = new LowRank(linear, rank, alpha);
      for (const [name, part] of Object.entries(adapter.parts)) this.part(path === "" ? name : `${path}.${name}`, part);
      return { linear, adapter };
    });
    this.init({ seed });
    this.#frozen = [...Layer.allOf(model)].map(([, parameter]) => parameter).filter(({ isFrozen }) => !isFrozen);
    for (const parameter of this.#frozen) parameter.isFrozen = true;
    for (const { linear, adapter } of this.#adapted) linear.adapt(adapter);
  }

  protected override draw(draw: Draw): void {
    this.drawBy((name, shape) => {
      // PEFT's kaiming_uniform with a = sqrt(5).
      return name.endsWith("lora_A.weight") ? draw.uniform(shape, boundOf(shape[1] ?? 1)) : same(shape, 0);
    });
  }

  protected override fill(parameters: GivenParameters, prefix: string): Filling {
    this.#checkPresent("load");
    const all = [...parameters.keys()].filter((name) => name.startsWith(prefix));
    const start = all.some((name) => name.startsWith(prefix + PREFIX)) ? prefix + PREFIX : prefix;
    const own = this.names();
    const other = all.find((name) => !own.has(name.slice(start.length)));
    if (other === undefined) return super.fill(parameters, start);
    throw new HeedError("option", `${this.where}: the model has no adapter for parameter ${other}`);
  }

  /** The adapters as they are now: PEFT's adapter_model.safetensors. `config` belongs beside it, as adapter_config.json. */
  async save(): Promise<Uint8Array<ArrayBuffer>> {
    this.#checkPresent("save");
    const tensors = await this.readParameters();
    return saveSafetensors(new Map([...tensors].map(([name, tensor]) => [PREFIX + name, tensor])), { format: "pt" });
  }

  /** Adds alpha / rank B A to each weight, takes the adapters away, and lets learn again what they froze. */
  merge(): Promise<void> {
    const [model, where] = [this.#model, "Lora.merge"];
    return guardAsync("option", `${where}: reading its arguments`, () =>
      inTurn(model, () => inProgram(model, where, (program) => this.#merge(program))),
    );
  }

  async #merge(program: Program): Promise<void> {
    this.#checkPresent("merge");
    for (const { linear } of this.#adapted) {
      const format = new Map(Layer.allOf(linear)).get("weight")?.format ?? "f32";
      if (format === "f32") continue;
      const rule = `a weight must be f32 to be merged, because a sum would be rounded to its format again, got ${format}`;
      throw new HeedError("unsupported", `Lora.merge: ${rule}`);
    }
    learnt(this.#model, program.root);
    const merged: (readonly [Variable, Resident])[] = [];
    for (const { linear, adapter } of this.#adapted) {
      const { a, b, scale } = adapter;
      const [weight, down, up] = [linear, a, b].map(weightOf) as [Variable, Variable, Variable];
      const [left, right] = [rowsOf(up.value, a.outFeatures), rowsOf(down.value, a.inFeatures)];
      const [product] = await program.run(PRODUCT, { left, isTransposed: false, right, addend: null });
      if (product === undefined) throw new TypeError("a product has one result");
      const sum = { x: vectorOf(weight.value), y: vectorOf(product.resident), a: 1, b: scale };
      for (const { resident } of await program.run(COMBINE, sum)) merged.push([weight, resident]);
      program.free(product.resident);
    }
    await program.bring(merged.map(([, value]) => value));
    for (const [weight, value] of merged) weight.set(program.keep(value));
    for (const { linear } of this.#adapted) linear.adapt(null);
    for (const parameter of this.#frozen) parameter.isFrozen = false;
    this.#isMerged = true;
    this.dispose();
  }

  #checkPresent(method: string): void {
    if (this.#isMerged) throw new HeedError("option", `Lora.${method}: the adapters have been merged`);
  }
}

/** The values of a linear layer's weight, which learns. */
function weightOf(layer: Linear): Variable {
  const variable = new Map(Layer.allOf(layer)).get("weight")?.variable ?? null;
  if (variable === null) throw new TypeError("the weights of a model are variables");
  return variable;
}
