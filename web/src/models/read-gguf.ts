// A model in one GGUF file.

import { openGguf } from "../layers/gguf/load.js";
import type { FileSource } from "../layers/io/byte-reader.js";
import { loadTokenizer, type Tokenizer } from "../layers/text/tokenizer.js";
import type { NamedFile } from "./model-files.js";
import type { ModelRecord, ReadingOptions } from "./record.js";
import { NO_RULE, type PoolingKind } from "./sentence-rule.js";
import type { SpecialTokens } from "./special-tokens.js";

type Read = Awaited<ReturnType<typeof openGguf>>;
type Metadata = Read["metadata"];

/** GGML's kinds of pooling. */
const POOLING: ReadonlyMap<unknown, PoolingKind> = new Map([
  [1, "mean"],
  [2, "cls"],
  [3, "last"],
]);

export async function readGguf(
  where: string,
  file: NamedFile,
  { signal, wantsTokenizer, report, weights, check }: ReadingOptions,
): Promise<ModelRecord> {
  const source: FileSource = await file.open();
  const options = { weights, tokenizer: wantsTokenizer, onProgress: report(file.name), signal: signal ?? undefined };
  const read = await openGguf(where, source, options, check);
  const { config, stream, chatTemplate, metadata } = read;
  const architecture = metadata.get("general.architecture");
  const pooling = POOLING.get(metadata.get(`${architecture}.pooling_type`));
  const tokenizer = await tokenizerOf(read);
  return {
    config,
    stream,
    tokenizer,
    chatTemplate,
    special: specialOf(metadata),
    sentence: { ...NO_RULE, pooling },
  };
}

/** Null where the file has none. One that is refused closes the file. */
async function tokenizerOf({ tokenizer, stream }: Read): Promise<Tokenizer | null> {
  try {
    return tokenizer === null ? null : await loadTokenizer(tokenizer);
  } catch (error) {
    stream.close();
    throw error;
  }
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
