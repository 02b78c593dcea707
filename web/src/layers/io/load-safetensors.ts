// Loads tensors of a safetensors file, each as soon as its bytes have arrived.

import { guardAsync } from "../../base/guard.js";
import { guardStream } from "../../base/guard-stream.js";
import { readBoolean, readChoice, readRecord } from "../../base/read-values.js";
import { whole } from "./arriving-tensor.js";
import type { FileSource } from "./byte-reader.js";
import type { FileArray, FileDType, Format } from "./dtypes.js";
import { type EntryOptions, LOAD_OPTIONS, openEntries, readHeaderOnly } from "./read-entries.js";
import { readHeader } from "./safetensors-header.js";
import { collected, type TensorStream } from "./tensor-stream.js";

/** A tensor of a file, in its own memory. */
export interface FileTensor {
  readonly data: FileArray;
  readonly shape: readonly number[];
  /** The type of `data`: "f32" is a Float32Array, "f16" and "bf16" are a Uint16Array of the bits, "bool" a Uint8Array. */
  readonly dtype: FileDType;
}

/** The options of `loadSafetensors`. */
export interface LoadOptions extends EntryOptions {
  /** Leaves F16 as it is, with `dtype: "f16"`, which takes half the memory. Default false: f32. */
  readonly keepHalves?: boolean | undefined;
  /** "f32" (default) widens F16 and BF16; "as stored" leaves both as they are, for layers whose `load` is to keep them. */
  readonly weights?: "f32" | "as stored" | undefined;
}

/** Their names, for those who pass them on. */
export const SAFETENSORS_OPTIONS = [...LOAD_OPTIONS, "keepHalves", "weights"];

/** What a safetensors file says before its tensors: metadata, and where each tensor is. */
export interface FileHeader {
  readonly metadata: ReadonlyMap<string, string>;
  /** By name: the type as in the file ("F32"), the shape, the size. */
  readonly tensors: ReadonlyMap<
    string,
    { readonly dtype: string; readonly shape: readonly number[]; readonly bytes: number }
  >;
}

/** Loads all tensors of a file, or those that `only` names, in the order of the file. */
export async function loadSafetensors(source: FileSource, options?: LoadOptions): Promise<Map<string, FileTensor>> {
  return loadFor("loadSafetensors", source, options);
}

/** `where` names the caller's function in messages. */
export function loadFor(where: string, source: FileSource, options?: LoadOptions): Promise<Map<string, FileTensor>> {
  return guardAsync("load", where, async () => collected(await openSafetensors(where, source, options)));
}

/** Loads tensors one by one, so that no more than one need be in memory. */
export async function* streamSafetensors(
  source: FileSource,
  options?: LoadOptions,
): AsyncGenerator<[string, FileTensor], void, undefined> {
  yield* guardStream("load", "streamSafetensors", read("streamSafetensors", source, options));
}

/** Reads the header of a file, and nothing after it. */
export async function readSafetensorsHeader(
  source: FileSource,
  options?: Pick<LoadOptions, "signal">,
): Promise<FileHeader> {
  const { metadata, entries } = await readHeaderOnly("readSafetensorsHeader", source, options, readHeader);
  const described = entries.map(
    ({ name, format, shape, start, end }) => [name, { dtype: format.name, shape, bytes: end - start }] as const,
  );
  return { metadata, tensors: new Map(described) };
}

async function* read(
  where: string,
  source: FileSource,
  options: LoadOptions | undefined,
): AsyncGenerator<[string, FileTensor], void, undefined> {
  const stream = await openSafetensors(where, source, options);
  try {
    for await (const [name, tensor] of stream.tensors) yield [name, await whole(tensor)];
  } finally {
    stream.close();
  }
}

/** Reads the header of a file, and then its tensors as they are asked for. */
export async function openSafetensors(
  where: string,
  source: FileSource,
  options: LoadOptions | undefined,
): Promise<TensorStream<FileTensor>> {
  const given = readRecord(where, "options", options, SAFETENSORS_OPTIONS);
  const keepsF16 = readBoolean(where, "keepHalves", given["keepHalves"], false);
  const isStored = readChoice(where, "weights", given["weights"], ["f32", "as stored"], "f32") === "as stored";
  const kept: readonly FileDType[] = isStored ? ["f16", "bf16"] : keepsF16 ? ["f16"] : [];
  const file = await openEntries(where, source, given, readHeader);
  async function* tensors(): TensorStream<FileTensor>["tensors"] {
    for await (const [{ name, format, shape }, bytes] of file.entries)
      yield [name, { shape, bytes, make: tensorOf(format, kept) }];
  }
  const { entries, dataStart, fileSize } = file.layout;
  const names = entries.map(({ name }) => name);
  return { names, bytes: fileSize - dataStart, tensors: tensors(), close: file.close };
}

/** What makes tensors of bytes in a format. */
function tensorOf(
  { floats, view, dtype }: Format,
  kept: readonly FileDType[],
): (bytes: Uint8Array<ArrayBuffer>, shape: readonly number[]) => FileTensor {
  if (floats === undefined || kept.includes(dtype)) return (bytes, shape) => ({ data: view(bytes), shape, dtype });
  return (bytes, shape) => ({ data: floats(bytes), shape, dtype: "f32" });
}
