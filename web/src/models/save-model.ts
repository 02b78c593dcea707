// Saves a model as it is published: config.json and model.safetensors, which transformers loads.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guardAsync } from "../base/guard.js";
import { isRecord, readChoice, readRecord } from "../base/read-values.js";
import type { ParameterTensor } from "../layers/formats/stored.js";
import { saveSafetensors } from "../layers/io/save-safetensors.js";
import { Layer } from "../layers/layer.js";
import type { ModelConfig } from "../layers/models/config.js";
import type { ClassifierHead } from "./classifier-head.js";
import { type Family, familyOf } from "./families.js";
import { published } from "./publish.js";
import { PublishedPaths } from "./published-paths.js";

/** How a model is written to files. */
export interface SaveModelOptions {
  /** "huggingface": the names under which the model is published. Default. "heed": those of `readParameters`. */
  readonly names?: "huggingface" | "heed" | undefined;
  /** Rounds weights. Default "f32". */
  readonly dtype?: "f32" | "f16" | "bf16" | undefined;
}

/** File names with their bytes. */
export type SavedFiles = Map<string, Uint8Array<ArrayBuffer>>;

const DTYPES = { f32: "float32", f16: "float16", bf16: "bfloat16" } as const;

interface Saved {
  readonly model: Layer;
  readonly config: ModelConfig;
  readonly family: Family;
  readonly start: string;
  readonly head: ClassifierHead | null;
}

/** A model of heed/layers with its configuration, loaded or learnt: `config.json` and `model.safetensors`. */
export function saveModel(model: Layer, config: ModelConfig, options?: SaveModelOptions): Promise<SavedFiles> {
  const where = "saveModel";
  return guardAsync("option", where, async () => {
    if (!Layer.is(model)) throw new HeedError("option", `${where}: model must be a model, got ${showValue(model)}`);
    if (!isRecord(config))
      throw new HeedError("option", `${where}: config must be that of the model, got ${showValue(config)}`);
    const family = familyOf(where, config);
    const start = family.names.starts[0] ?? "";
    return savedFiles(where, { model, config, family, start, head: null }, options);
  });
}

export async function savedFiles(where: string, saved: Saved, options: unknown): Promise<SavedFiles> {
  const given = readRecord(where, "options", options, ["names", "dtype"]);
  const names = readChoice(where, "names", given["names"], ["huggingface", "heed"], "huggingface");
  const dtype = readChoice(where, "dtype", given["dtype"], ["f32", "f16", "bf16"], "f32");
  const tensors = names === "heed" ? await saved.model.readParameters() : await publishedTensors(where, saved);
  const written = [...tensors].map(([name, tensor]) => [name, { ...tensor, dtype }] as const);
  const { torch_dtype: old, dtype: recent, ...config } = saved.config;
  const types = old === undefined && recent === undefined ? {} : { torch_dtype: DTYPES[dtype], dtype: DTYPES[dtype] };
  return new Map([
    ["config.json", new TextEncoder().encode(`${JSON.stringify({ ...config, ...types }, null, 2)}\n`)],
    ["model.safetensors", saveSafetensors(new Map(written), { format: "pt" })],
  ]);
}

/** With those of its head. */
async function publishedTensors(where: string, saved: Saved): Promise<Map<string, ParameterTensor>> {
  const { model, family, start, head } = saved;
  const made = published(where, await model.readParameters(), new PublishedPaths(family, start));
  for (const [name, tensor] of (await head?.readParameters()) ?? []) {
    const [, ours = "", part] = /^(.*)\.([^.]+)$/.exec(name) ?? [];
    const theirs = `${head?.published.get(ours) ?? ours}.${part}`;
    if (!made.has(theirs)) made.set(theirs, tensor);
  }
  return made;
}
