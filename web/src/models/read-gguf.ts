// A model in one GGUF file.

import { loadGguf } from "../layers/gguf/index.js";
import type { FileSource } from "../layers/io/byte-reader.js";
import { loadTokenizer } from "../layers/text/tokenizer.js";
import type { NamedFile } from "./model-files.js";
import type { ModelRecord, ReadingOptions } from "./record.js";
import { NO_RULE, type PoolingKind } from "./sentence-rule.js";
import type { SpecialTokens } from "./special-tokens.js";

type Metadata = Awaited<ReturnType<typeof loadGguf>>["metadata"];

/** GGML's kinds of pooling. */
const POOLING: ReadonlyMap<unknown, PoolingKind> = new Map([
  [1, "mean"],
  [2, "cls"],
  [3, "last"],
]);

export async function readGguf(
  file: NamedFile,
  { signal, wantsTokenizer, report, weights }: ReadingOptions,
): Promise<ModelRecord> {
  const source: FileSource = await file.open();
  const options = { tokenizer: wantsTokenizer, onProgress: report(file.name), signal: signal ?? undefined };
  const read = await (weights === "f32" ? loadGguf(source, options) : loadGguf(source, { ...options, weights }));
  const { config, tensors, chatTemplate, metadata } = read;
  const architecture = metadata.get("general.architecture");
  const pooling = POOLING.get(metadata.get(`${architecture}.pooling_type`));
  return {
    config,
    tensors,
    tokenizer: read.tokenizer === null ? null : await loadTokenizer(read.tokenizer),
    chatTemplate,
    special: specialOf(metadata),
    sentence: { ...NO_RULE, pooling },
  };
}

/** Models of dialogues end their turns with a token of its own. */
function specialOf(metadata: Metadata): SpecialTokens {
  const idOf = (name: string): number | undefined => {
    const id = metadata.get(`tokenizer.ggml.${name}_token_id`);
    return typeof id === "number" ? id : undefined;
  };
  const tokens = metadata.get("tokenizer.ggml.tokens");
  const textOf = (id: number | undefined): string | undefined => {
    const text = Array.isArray(tokens) && id !== undefined ? tokens[id] : undefined;
    return typeof text === "string" ? text : undefined;
  };
  const ends = ["eos", "eot", "eom"].map(idOf).filter((id) => id !== undefined);
  return { bos: textOf(idOf("bos")), eos: textOf(idOf("eos")), ends: new Set(ends) };
}
