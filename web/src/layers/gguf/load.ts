// Loads tensors of a GGUF file, each as soon as its bytes have arrived, and what its metadata say of the model.

import { guardAsync } from "../../base/guard.js";
import { guardStream } from "../../base/guard-stream.js";
import { readBoolean, readChoice, readRecord } from "../../base/read-values.js";
import { bytesOf, type ParameterTensor } from "../formats/stored.js";
import type { FileSource } from "../io/byte-reader.js";
import { type EntryOptions, EntryReader, LOAD_OPTIONS, readHeaderOnly, streamEntries } from "../io/read-entries.js";
import type { ModelConfig } from "../models/config.js";
import { assertBytes, gigabytes } from "../room.js";
import { type GgufEntry, readGgufLayout } from "./header.js";
import { ModelReader } from "./model-reader.js";
import { dequantized, type GgufTensor, stored } from "./tensor.js";
import type { GgufValue } from "./values.js";

export interface GgufHeader {
  readonly version: number;
  /** By name. 64-bit integers are numbers where these are exact. */
  readonly metadata: ReadonlyMap<string, GgufValue>;
  /** By name: the type as in the file ("Q4_K"), the shape, the size. */
  readonly tensors: ReadonlyMap<
    string,
    { readonly type: string; readonly shape: readonly number[]; readonly bytes: number }
  >;
}

export interface GgufOptions extends Pick<EntryOptions, "onProgress" | "signal"> {
  /** "f32" (default) dequantizes; "as stored" leaves weights in the file's formats. */
  readonly weights?: "f32" | "as stored" | undefined;
  /** Whether to read the tokenizer. false loads a file whose tokenizer heed does not know. Default true. */
  readonly tokenizer?: boolean | undefined;
}

/** What a GGUF file says of a model, as models take it. */
export interface GgufModel<Tensor = ParameterTensor> {
  /** As in config.json. */
  readonly config: ModelConfig;
  /** By the published names, in the order of the file. */
  readonly tensors: Map<string, Tensor>;
  /** As in tokenizer.json, for loadTokenizer; null where the file has none. */
  readonly tokenizer: Readonly<Record<string, unknown>> | null;
  /** The Jinja template of messages; null where the file has none. */
  readonly chatTemplate: string | null;
  readonly metadata: ReadonlyMap<string, GgufValue>;
}

/** Reads the header of a file, and nothing after it. */
export async function readGgufHeader(source: FileSource, options?: Pick<EntryOptions, "signal">): Promise<GgufHeader> {
  const { version, metadata, entries } = await readHeaderOnly("readGgufHeader", source, options, readGgufLayout);
  const described = entries.map(
    ({ name, type, shape, start, end }) => [name, { type: type.name, shape, bytes: end - start }] as const,
  );
  return { version, metadata, tensors: new Map(described) };
}

/** Loads tensors one by one under the file's own names, in its order. */
export async function* streamGguf(
  source: FileSource,
  options?: EntryOptions,
): AsyncGenerator<[string, GgufTensor], void, undefined> {
  yield* guardStream("load", "streamGguf", stream("streamGguf", source, options));
}

async function* stream(
  where: string,
  source: FileSource,
  options: EntryOptions | undefined,
): AsyncGenerator<[string, GgufTensor], void, undefined> {
  const given = readRecord(where, "options", options, LOAD_OPTIONS);
  for await (const [entry, bytes] of streamEntries(where, source, given, readGgufLayout)) {
    yield [entry.name, stored(where, entry, bytes)];
  }
}

/** Throws where an engine cannot hold the tensors. */
function assertRoomFor(where: string, entries: readonly GgufEntry[], weights: "f32" | "as stored"): void {
  const bytesIn = (as: typeof weights): number =>
    entries.reduce((sum, { type, start, end }) => {
      const numbers = ((end - start) / type.bytes) * type.numbers;
      return sum + bytesOf(as === "f32" ? as : (type.format ?? "int8"), numbers);
    }, 0);
  assertBytes(where, bytesIn(weights), () => `as option weights, "as stored" takes ${gigabytes(bytesIn("as stored"))}`);
}

/** Loads a model's tensors under their published names, with its configuration, its tokenizer and its chat template. */
export function loadGguf(
  source: FileSource,
  options: GgufOptions & { readonly weights: "as stored" },
): Promise<GgufModel<GgufTensor>>;
export function loadGguf(
  source: FileSource,
  options?: GgufOptions & { readonly weights?: "f32" | undefined },
): Promise<GgufModel>;
export function loadGguf(source: FileSource, options?: GgufOptions): Promise<GgufModel<GgufTensor | ParameterTensor>> {
  const where = "loadGguf";
  return guardAsync("load", where, async () => {
    const given = readRecord(where, "options", options, ["weights", "tokenizer", "onProgress", "signal"]);
    const weights = readChoice(where, "weights", given["weights"], ["f32", "as stored"], "f32");
    const wantsTokenizer = readBoolean(where, "tokenizer", given["tokenizer"], true);
    const take = weights === "f32" ? dequantized : stored;
    const file = await EntryReader.open(where, source, given);
    try {
      const layout = await readGgufLayout(where, file.reader);
      // What is not supported, or does not fit, is refused before the weights are read.
      assertRoomFor(where, layout.entries, weights);
      const model = new ModelReader(where, layout, wantsTokenizer);
      const tensors = new Map<string, GgufTensor | ParameterTensor>();
      for await (const [entry, bytes] of file.tensors(layout)) {
        const taken = model.take(entry, bytes);
        if (taken !== null) tensors.set(taken[0], take(where, entry, taken[1]));
      }
      const { config, tokenizer, chatTemplate } = model;
      return { config, tensors, tokenizer, chatTemplate, metadata: layout.metadata };
    } finally {
      file.close();
    }
  });
}
