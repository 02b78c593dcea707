// Loads a model with everything that belongs to it, in one call.

import type { Heed } from "../api/heed.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guardAsync } from "../base/guard.js";
import { readBoolean, readRecord, readSignal, throwIfAborted } from "../base/read-values.js";
import { unlessAborted } from "../base/unless-aborted.js";
import type { ModelConfig } from "../layers/models/config.js";
import type { ParameterInput } from "../layers/read-parameters.js";
import { readWeights, type Weights } from "../layers/taking.js";
import type { JinjaSource } from "../layers/text/jinja.js";
import { Adapters } from "./adapters.js";
import { ClassifierHead } from "./classifier-head.js";
import { Dense } from "./dense.js";
import { type Family, familyOf, ownLabels } from "./families.js";
import { filesOf, type ModelSource } from "./files.js";
import { hiddenSizeOf } from "./hidden-size.js";
import { LoadedModel } from "./loaded-model.js";
import type { Model } from "./model.js";
import type { FileProgress } from "./model-files.js";
import { PublishedPaths } from "./published-paths.js";
import { readFolder } from "./read-folder.js";
import { readGguf } from "./read-gguf.js";
import type { ModelRecord } from "./record.js";
import { assertChain } from "./sentence-rule.js";
import { assertModelFits, fillModel, readingOf } from "./weights.js";

/** The options of `loadModel`. */
export interface LoadModelOptions {
  /** The format in which weights stay in memory. Default "f32". */
  readonly weights?: Weights | undefined;
  /** Keeps fetched files in the browser's storage, `caches` under the name "heed-models". Default false. */
  readonly cache?: boolean | undefined;
  /** Whether to read the tokenizer; false loads a model whose tokenizer heed does not know. Default true. */
  readonly tokenizer?: boolean | undefined;
  /** The module @huggingface/jinja, for chat templates, or its address. Default: it is imported when a template is first used. */
  readonly jinja?: JinjaSource | undefined;
  /** Default the engine that the function `attention` uses. */
  readonly engine?: Heed | undefined;
  readonly onProgress?: ((progress: FileProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const NAMES = ["weights", "cache", "tokenizer", "jinja", "engine", "onProgress", "signal"];

/** Rejects with a HeedError, and then leaves nothing behind. */
export function loadModel(source: ModelSource, options?: LoadModelOptions): Promise<LoadedModel> {
  const where = "loadModel";
  return guardAsync("load", where, async () => {
    const given = readRecord(where, "options", options, NAMES);
    const signal = readSignal(where, given["signal"]);
    throwIfAborted(where, signal);
    return unlessAborted(where, signal, () => load(where, source, given, signal));
  });
}

async function load(
  where: string,
  source: ModelSource,
  given: Readonly<Record<string, unknown>>,
  signal: AbortSignal | null,
): Promise<LoadedModel> {
  const weights = readWeights(where, given["weights"]);
  const isKept = readBoolean(where, "cache", given["cache"], false);
  const wantsTokenizer = readBoolean(where, "tokenizer", given["tokenizer"], true);
  const report = readReport(where, given["onProgress"]);
  // Constructors of models check it.
  const engine = given["engine"] as Heed | undefined;
  const files = await filesOf(where, source, { signal, isKept, report });
  const reading = {
    signal,
    wantsTokenizer,
    weights: readingOf(weights),
    report:
      (file: string) =>
      ({ loaded, total }: { readonly loaded: number; readonly total: number | undefined }) =>
        report({ loaded, total, file }),
    check: (config: ModelConfig) => assertModelFits(where, familyOf(where, config).make(config, { engine }), weights),
  };
  const record =
    files.gguf === null ? await readFolder(where, files, reading) : await readGguf(where, files.gguf, reading);
  const { config, stream } = record;
  let model: Model | null = null;
  try {
    const family = familyOf(where, config);
    model = family.make(config, { engine });
    const rest = await fillModel(where, model, stream, { weights, signal });
    return loadedFrom(record, { where, engine, family, model, rest, jinja: given["jinja"] as JinjaSource | undefined });
  } catch (error) {
    model?.dispose();
    throw error;
  } finally {
    stream.close();
  }
}

interface Filled {
  readonly where: string;
  readonly engine: Heed | undefined;
  readonly family: Family;
  readonly model: Model;
  /** Tensors that are no part of the model. */
  readonly rest: ReadonlyMap<string, ParameterInput>;
  readonly jinja: JinjaSource | undefined;
}

function loadedFrom(record: ModelRecord, { where, engine, family, model, rest, jinja }: Filled): LoadedModel {
  const { config, stream } = record;
  const { tokenizer, chatTemplate, special, sentence } = record;
  const { starts, parts } = family.names;
  const start = starts.find((one) => stream.names.includes(`${one}${parts.words}.weight`)) ?? starts[0] ?? "";
  const paths = new PublishedPaths(family, start);
  const base = { model, config, engine };
  assertChain(where, sentence.dense, hiddenSizeOf(model));
  return new LoadedModel({
    model,
    config,
    family,
    engine,
    head: ownLabels(config) === null ? ClassifierHead.of(where, rest, base) : null,
    tokenizer,
    chatTemplate,
    special,
    sentence,
    dense: sentence.dense.map((rule) => new Dense(rule, engine)),
    jinja,
    positions: positionsOf(record),
    start,
    paths,
    adapters: new Adapters(base, paths),
  });
}

function readReport(where: string, value: unknown): (progress: FileProgress) => void {
  if (value === undefined) return () => {};
  if (typeof value === "function") return (progress) => Reflect.apply(value, undefined, [progress]);
  throw new HeedError("option", `${where}: onProgress must be a function, got ${showValue(value)}`);
}

/** Their positions are counted from the one after that of padding. */
const COUNTED_FROM_PADDING: readonly unknown[] = ["roberta", "xlm-roberta", "camembert", "mpnet"];

function positionsOf({ config }: ModelRecord): number | undefined {
  const count = config.n_positions ?? config.max_position_embeddings;
  if (typeof count !== "number" || count <= 0) return undefined;
  const { pad_token_id: padding, model_type: type } = config;
  const first = COUNTED_FROM_PADDING.includes(type) ? (typeof padding === "number" ? padding : 1) + 1 : 0;
  return count - first;
}
