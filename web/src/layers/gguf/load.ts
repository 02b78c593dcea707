// Loads tensors of a GGUF file, each as soon as its bytes have arrived, and what its metadata say of the model.

import { guardAsync } from "../../base/guard.js";
import { guardStream } from "../../base/guard-stream.js";
import { readBoolean, readChoice, readRecord } from "../../base/read-values.js";
import { bytesOf, type ParameterTensor } from "../formats/stored.js";
import { type ArrivingTensor, held } from "../io/arriving-tensor.js";
import type { FileSource } from "../io/byte-reader.js";
import { type EntryOptions, LOAD_OPTIONS, openEntries, readHeaderOnly, streamEntries } from "../io/read-entries.js";
import { collected, type TensorStream } from "../io/tensor-stream.js";
import type { ModelConfig } from "../models/config.js";
import { assertBytes, remedyOf } from "../room.js";
import type { Weights } from "../taking.js";
import { type GgufEntry, readGgufLayout } from "./header.js";
import { ModelReader } from "./model-reader.js";
import { dequantized, type GgufTensor, stored, type TensorReading } from "./tensor.js";
import type { GgufValue } from "./values.js";

/** What a GGUF file says before its tensors: metadata, and where each tensor is. */
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

/** The options of `loadGguf`. */
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

type Tensor = GgufTensor | ParameterTensor;

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
    yield [entry.name, stored(where, entry, await bytes.all())];
  }
}

function bytesAs(weights: Weights, entries: readonly GgufEntry[]): number {
  return entries.reduce((sum, { type, start, end }) => {
    const numbers = ((end - start) / type.bytes) * type.numbers;
    return sum + bytesOf(weights === "f32" ? weights : (type.format ?? "int8"), numbers);
  }, 0);
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
export function loadGguf(source: FileSource, options?: GgufOptions): Promise<GgufModel<Tensor>> {
  return guardAsync("load", "loadGguf", async () => {
    const { stream, ...model } = await openGguf("loadGguf", source, options);
    return { ...model, tensors: await collected(stream) };
  });
}

/**
 * Reads what a file says of its model, and then its tensors as they are asked for. `check` refuses a configuration before they are read;
 * without it, tensors that no engine can hold are refused.
 */
export async function openGguf(
  where: string,
  source: FileSource,
  options: GgufOptions | undefined,
  check?: (config: ModelConfig) => void,
): Promise<Omit<GgufModel, "tensors"> & { readonly stream: TensorStream<Tensor> }> {
  const given = readRecord(where, "options", options, ["weights", "tokenizer", "onProgress", "signal"]);
  const weights = readChoice(where, "weights", given["weights"], ["f32", "as stored"], "f32");
  const wantsTokenizer = readBoolean(where, "tokenizer", given["tokenizer"], true);
  const read: TensorReading<Tensor> = weights === "f32" ? dequantized : stored;
  const file = await openEntries(where, source, given, readGgufLayout);
  try {
    // What is not supported, or does not fit, is refused before the weights are read.
    const bytesIn = (as: Weights): number => bytesAs(as, file.layout.entries);
    if (check === undefined) assertBytes(where, bytesIn(weights), () => remedyOf(bytesIn, ["as stored"]));
    const model = new ModelReader(where, file.layout, wantsTokenizer);
    check?.(model.config);
    const taken = async (): Promise<[string, ArrivingTensor<Tensor>] | null> => {
      for (;;) {
        const { done, value } = await file.entries.next();
        if (done === true) return null;
        const own = await model.take(...value, read);
        if (own !== null) return own;
      }
    };
    // Files have what is a part of the configuration before all others. Where one has not, these wait in memory.
    const early: [string, ArrivingTensor<Tensor>][] = [];
    while (!model.isComplete) {
      const one = await taken();
      if (one === null) break;
      early.push([one[0], await held(one[1])]);
    }
    async function* tensors(): TensorStream<Tensor>["tensors"] {
      while (early.length > 0) yield* early.splice(0, 1);
      for (let one = await taken(); one !== null; one = await taken()) yield one;
    }
    const { config, tokenizer, chatTemplate, names } = model;
    const { metadata } = file.layout;
    const stream = { names, bytes: bytesIn("as stored"), tensors: tensors(), close: file.close };
    return { config, tokenizer, chatTemplate, metadata, stream };
  } catch (error) {
    file.close();
    throw error;
  }
}
