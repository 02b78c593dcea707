// A model in the files of its folder, as they are published: config.json, safetensors in one file or several, a tokenizer and what else there is.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isRecord } from "../base/read-values.js";
import type { FileSource } from "../layers/io/byte-reader.js";
import { openSafetensors } from "../layers/io/load-safetensors.js";
import { openShards } from "../layers/io/load-shards.js";
import type { TensorStream } from "../layers/io/tensor-stream.js";
import type { ParameterInput } from "../layers/read-parameters.js";
import { loadTokenizer } from "../layers/text/tokenizer.js";
import type { ModelFiles } from "./model-files.js";
import { type Json, maybeJson, maybeText } from "./read-json.js";
import type { ModelRecord, ReadingOptions } from "./record.js";
import { sentenceRule } from "./sentence-rule.js";
import { specialTokens } from "./special-tokens.js";

const WEIGHTS = "model.safetensors";

export async function readFolder(where: string, files: ModelFiles, options: ReadingOptions): Promise<ModelRecord> {
  const { signal, wantsTokenizer } = options;
  const json = (name: string): Promise<Json | null> => maybeJson(where, files, name, signal);
  const config = await json("config.json");
  if (config === null) {
    throw new HeedError("load", `${where}: ${files.place} must have a config.json, or be a GGUF file, got none`);
  }
  // What cannot be computed is refused before the weights are read.
  options.check(config);
  const tokenizerConfig = await json("tokenizer_config.json");
  const source = wantsTokenizer ? await files.open("tokenizer.json") : null;
  const tokenizer = source === null ? null : await loadTokenizer(source, { signal: signal ?? undefined });
  const generation = await json("generation_config.json");
  const template = await maybeText(where, files, "chat_template.jinja", signal);
  const sentence = await sentenceRule(where, files, signal);
  return {
    config,
    tokenizer,
    chatTemplate: template ?? templateOf(tokenizerConfig),
    special: specialTokens([generation, config], tokenizerConfig, (token) => tokenizer?.idOf(token)),
    sentence,
    stream: await openWeights(where, files, options),
  };
}

/** One template, or several with names. */
function templateOf(tokenizerConfig: Json | null): string | null {
  const template = tokenizerConfig?.["chat_template"];
  if (!Array.isArray(template)) return typeof template === "string" ? template : null;
  const byName = template.filter(isRecord);
  const found = byName.find(({ name }) => name === "default") ?? byName[0];
  const text = found?.["template"];
  return typeof text === "string" ? text : null;
}

async function openWeights(
  where: string,
  files: ModelFiles,
  { signal: given, report, weights }: ReadingOptions,
): Promise<TensorStream<ParameterInput>> {
  const signal = given ?? undefined;
  const one = await files.open(WEIGHTS);
  if (one !== null) return openSafetensors(where, one, { weights, onProgress: report(WEIGHTS), signal });
  const index = await files.open(`${WEIGHTS}.index.json`);
  if (index === null) {
    throw new HeedError(
      "load",
      `${where}: ${files.place} must have ${WEIGHTS}, or ${WEIGHTS}.index.json and its files, got neither`,
    );
  }
  let current = "";
  const resolve = async (name: string): Promise<FileSource> => {
    current = name;
    const file = await files.open(name);
    if (file !== null) return file;
    throw new HeedError(
      "load",
      `${where}: ${files.place} must have ${showValue(name)}, which its index names, got none`,
    );
  };
  return openShards(index, {
    resolve,
    weights,
    onProgress: (progress) => report(current)(progress),
    signal,
  });
}
