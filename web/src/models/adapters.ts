// PEFT's low-rank adapters over a loaded model: several at once, of which each call chooses one.

import { showShape, showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isOptions, readCount, readFinite } from "../base/read-values.js";
import type { ParameterTensor } from "../layers/formats/stored.js";
import { third } from "../layers/import-torch.js";
import { ByteReader } from "../layers/io/byte-reader.js";
import { loadSafetensors } from "../layers/io/load-safetensors.js";
import { Layer } from "../layers/layer.js";
import { Linear } from "../layers/linear.js";
import { type ParameterInput, requireFloats } from "../layers/read-parameters.js";
import { ADAPTERS } from "../layers/watch.js";
import { type ClassifiedModel, ClassifierHead } from "./classifier-head.js";
import { AdapterSwitch, LowRank } from "./low-rank.js";
import type { ModelFiles } from "./model-files.js";
import type { PublishedPaths } from "./published-paths.js";
import { type Json, maybeJson } from "./read-json.js";

const CONFIG = "adapter_config.json";
const WEIGHTS = "adapter_model.safetensors";

/** PEFT puts this before the path of every layer. */
export const PREFIX = "base_model.model.";

const LARGEST = 2 ** 31;

/** An adapter that was loaded, in what `lora` of heed/train takes to learn on: `lora(lm.model, adapter).load(parameters)`. */
export interface LoadedAdapter {
  readonly name: string;
  readonly rank: number;
  readonly alpha: number;
  /** The paths of its layers, in heed's names. */
  readonly targets: readonly string[];
  readonly parameters: ReadonlyMap<string, ParameterTensor>;
}

interface Held {
  readonly identity: symbol;
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  readonly low: readonly { readonly linear: Linear; readonly one: LowRank }[];
  readonly head: ClassifierHead | null;
}

export class Adapters {
  readonly #base: ClassifiedModel;
  readonly #linears: ReadonlyMap<string, Linear>;
  readonly #paths: PublishedPaths;
  readonly #held = new Map<string, Held>();
  readonly #names = new Set<string>();
  readonly #switches = new Map<Linear, AdapterSwitch>();

  constructor(base: ClassifiedModel, paths: PublishedPaths) {
    this.#base = base;
    this.#paths = paths;
    this.#linears = new Map(
      [...Layer.layersOf(base.model)].flatMap(([path, layer]) =>
        layer instanceof Linear ? [[path, layer] as const] : [],
      ),
    );
    ADAPTERS.set(base.model, this.#names);
  }

  /** The files of one, as they were. */
  filesOf(where: string, name: string): ReadonlyMap<string, Uint8Array<ArrayBuffer>> {
    return this.#of(where, name).files;
  }

  /** The head that came with one; null: none. */
  headOf(where: string, name: string | undefined): ClassifierHead | null {
    return name === undefined ? null : this.#of(where, name).head;
  }

  /** What is another one once an adapter of the same name was loaded anew. */
  identityOf(where: string, name: string): symbol {
    return this.#of(where, name).identity;
  }

  #of(where: string, name: string): Held {
    const held = this.#held.get(name);
    if (held !== undefined) return held;
    const known = [...this.#names].map(showValue).join(", ") || "none";
    throw new HeedError(
      "option",
      `${where}: adapter must be one of those that were loaded, ${known}, got ${showValue(name)}`,
    );
  }

  async load(where: string, files: ModelFiles, name: string, signal: AbortSignal | null): Promise<LoadedAdapter> {
    const config = await maybeJson(where, files, CONFIG, signal);
    const source = await files.open(WEIGHTS);
    if (config === null || source === null) {
      const missing = config === null ? CONFIG : WEIGHTS;
      throw new HeedError("load", `${where}: ${files.place} must have ${CONFIG} and ${WEIGHTS}, got no ${missing}`);
    }
    const rule = readRule(where, config);
    const bytes = await allOf(`${where}: ${WEIGHTS}`, source, signal);
    const tensors = await loadSafetensors(bytes, { signal: signal ?? undefined });
    const { layers, rest } = this.#sorted(where, tensors);
    const head = rest.size === 0 ? null : ClassifierHead.of(where, rest, this.#base);
    const [other] = [...rest.keys()].filter((one) => head === null || !isOfHead(head, one));
    if (other !== undefined) {
      throw new HeedError(
        "unsupported",
        `${where}: an adapter must have parameters of low rank for layers of the model, got ${other}`,
      );
    }
    const low = [...layers].map(([path, { theirs, a, b }]) => {
      const linear = this.#linears.get(path);
      if (linear === undefined)
        throw new HeedError("unsupported", `${where}: ${theirs} must be a linear layer of the model`);
      return { path, linear, one: lowRank(where, theirs, linear, rule, a, b) };
    });
    if (low.length === 0)
      throw new HeedError("load", `${where}: ${WEIGHTS} must have parameters lora_A and lora_B, got none`);
    this.remove(name);
    for (const { linear, one } of low) {
      const chosen = this.#switches.get(linear) ?? new AdapterSwitch();
      linear.adapt(chosen);
      this.#switches.set(linear, chosen);
      chosen.byName.set(name, one);
    }
    const written = new TextEncoder().encode(`${JSON.stringify(config, null, 2)}\n`);
    const own = new Map([
      [CONFIG, written],
      [WEIGHTS, bytes],
    ]);
    this.#held.set(name, { identity: Symbol(name), files: own, low, head });
    this.#names.add(name);
    const parameters = new Map(
      [...layers].flatMap(([path, { a, b }]) => [
        [`${path}.lora_A.weight`, a] as const,
        [`${path}.lora_B.weight`, b] as const,
      ]),
    );
    return { name, rank: rule.rank, alpha: rule.alpha, targets: [...layers.keys()], parameters };
  }

  /** Does nothing where there is none of that name. */
  remove(name: string): void {
    const held = this.#held.get(name);
    if (held === undefined) return;
    for (const { linear, one } of held.low) {
      const chosen = this.#switches.get(linear);
      chosen?.byName.delete(name);
      one.dispose();
    }
    held.head?.dispose();
    this.#held.delete(name);
    this.#names.delete(name);
  }

  dispose(): void {
    for (const name of [...this.#names]) this.remove(name);
  }

  /** A and B by heed's paths of the layers; and what else is in the file. */
  #sorted(where: string, tensors: ReadonlyMap<string, ParameterInput>) {
    const layers = new Map<string, { theirs: string; a: ParameterTensor; b: ParameterTensor }>();
    const rest = new Map<string, ParameterInput>();
    for (const [full, tensor] of tensors) {
      const name = full.startsWith(PREFIX) ? full.slice(PREFIX.length) : full;
      const [, theirs, part] = /^(.*)\.lora_([AB])\.weight$/.exec(name) ?? [];
      if (theirs === undefined) rest.set(name, tensor);
      if (theirs === undefined || part === "B") continue;
      const a = requireFloats(where, tensors, full);
      const b = requireFloats(where, tensors, full.replace(/lora_A\.weight$/, "lora_B.weight"));
      const parted = this.#paths.parted(theirs);
      const ours = this.#paths.ours(theirs);
      if (parted === null && ours === null) {
        throw new HeedError("option", `${where}: the model must have the layer ${theirs} of the adapter, got none`);
      }
      for (const [at, path] of (parted ?? [ours ?? ""]).entries()) {
        layers.set(path, { theirs, a, b: parted === null ? b : third(b, at) });
      }
    }
    return { layers, rest };
  }
}

const isOfHead = (head: ClassifierHead, name: string): boolean =>
  [...head.published.values()].some((path) => name === `${path}.weight` || name === `${path}.bias`);

interface Rule {
  readonly rank: number;
  readonly alpha: number;
  readonly scaleOf: (rank: number, path: string) => number;
}

/** PEFT's adapter_config.json. What heed does not compute is refused by its name. */
function readRule(where: string, config: Json): Rule {
  const fail = (field: string, rule: string): never => {
    throw new HeedError(
      "unsupported",
      `${where}: ${CONFIG}: ${field} must be ${rule}, got ${showValue(config[field])}`,
    );
  };
  if (config["peft_type"] !== "LORA") fail("peft_type", '"LORA"');
  if (config["use_dora"] === true) fail("use_dora", "false");
  if ((config["bias"] ?? "none") !== "none") fail("bias", '"none"');
  const rank = Number(readCount(`${where}: ${CONFIG}`, "r", config["r"], 8));
  const alpha = readFinite(`${where}: ${CONFIG}`, "lora_alpha", config["lora_alpha"], 8);
  const patterns = config["alpha_pattern"] ?? {};
  if (!isOptions(patterns)) fail("alpha_pattern", "an object");
  const alphas = Object.entries(patterns as Json);
  // A pattern of letters alone is a name with which paths end.
  if (alphas.some(([pattern, value]) => !/^[\w.]+$/.test(pattern) || typeof value !== "number")) {
    fail("alpha_pattern", "numbers by names of layers");
  }
  const root = config["use_rslora"] === true;
  const scaleOf = (of: number, path: string): number => {
    const own = alphas.find(([pattern]) => `.${path}`.endsWith(`.${pattern}`))?.[1];
    return Number(own ?? alpha) / (root ? Math.sqrt(of) : of);
  };
  return { rank, alpha, scaleOf };
}

function lowRank(
  where: string,
  theirs: string,
  linear: Linear,
  { scaleOf }: Rule,
  a: ParameterTensor,
  b: ParameterTensor,
): LowRank {
  const [rank = 0] = a.shape;
  const wanted = [
    [rank, linear.inFeatures],
    [linear.outFeatures, rank],
  ];
  if (rank > 0 && [a, b].every(({ shape }, at) => String(shape) === String(wanted[at]))) {
    return new LowRank(linear, rank, scaleOf(rank, theirs), a, b);
  }
  const rule = `${theirs}: lora_A must be [r, ${linear.inFeatures}] and lora_B [${linear.outFeatures}, r]`;
  throw new HeedError("shape", `${where}: ${rule}, got ${showShape(a.shape)} and ${showShape(b.shape)}`);
}

async function allOf(where: string, source: unknown, signal: AbortSignal | null): Promise<Uint8Array<ArrayBuffer>> {
  const reader = await ByteReader.open(where, source, signal);
  try {
    return await reader.read(LARGEST);
  } finally {
    reader.close();
  }
}

/** The adapters of `lora`, of heed/train. */
export interface TrainedAdapter {
  readonly config: { readonly r: number; readonly lora_alpha: number };
  readParameters(): Promise<ReadonlyMap<string, ParameterTensor>>;
}

export const isTrained = (value: unknown): value is TrainedAdapter =>
  Layer.is(value) && isOptions((value as unknown as { readonly config?: unknown }).config);
