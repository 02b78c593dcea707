// Loads tensors of a safetensors file, each as soon as its bytes have arrived.

import { guardAsync } from "../../base/guard.js";
import { guardStream } from "../../base/guard-stream.js";
import { readBoolean, readChoice, readRecord } from "../../base/read-values.js";
import type { FileSource } from "./byte-reader.js";
import type { FileArray, FileDType } from "./dtypes.js";
import { type EntryOptions, LOAD_OPTIONS, readHeaderOnly, streamEntries } from "./read-entries.js";
import { type HeaderEntry, readHeader } from "./safetensors-header.js";

/** A tensor of a file, in its own memory. */
export interface FileTensor {
  readonly data: FileArray;
  readonly shape: readonly number[];
  /** The type of `data`: "f32" is a Float32Array, "f16" and "bf16" are a Uint16Array of the bits, "bool" a Uint8Array. */
  readonly dtype: FileDType;
}

export interface LoadOptions extends EntryOptions {
  /** Leaves F16 as it is, with `dtype: "f16"`, which takes half the memory. Default false: f32. */
  readonly keepHalves?: boolean | undefined;
  /** "f32" (default) widens F16 and BF16; "as stored" leaves both as they are, for layers whose `load` is to keep them. */
  readonly weights?: "f32" | "as stored" | undefined;
}

/** Their names, for those who pass them on. */
export const SAFETENSORS_OPTIONS = [...LOAD_OPTIONS, "keepHalves", "weights"];

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
  return guardAsync("load", where, async () => {
    const tensors = new Map<string, FileTensor>();
    for await (const [name, tensor] of read(where, source, options)) tensors.set(name, tensor);
    return tensors;
  });
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
  const given = readRecord(where, "options", options, SAFETENSORS_OPTIONS);
  const keepsF16 = readBoolean(where, "keepHalves", given["keepHalves"], false);
  const isStored = readChoice(where, "weights", given["weights"], ["f32", "as stored"], "f32") === "as stored";
  const kept: readonly FileDType[] = isStored ? ["f16", "bf16"] : keepsF16 ? ["f16"] : [];
  for await (const [entry, { buffer }] of streamEntries(where, source, given, readHeader)) {
    yield [entry.name, tensorOf(entry, buffer, kept)];
  }
}

function tensorOf({ format, shape }: HeaderEntry, buffer: ArrayBuffer, kept: readonly FileDType[]): FileTensor {
  const { floats, dtype } = format;
  if (floats === undefined || kept.includes(dtype)) return { data: format.view(buffer), shape, dtype };
  return { data: floats(buffer), shape, dtype: "f32" };
}
