// Loads tensors of a safetensors file, each as soon as its bytes have arrived.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guardAsync } from "../../base/guard.js";
import { guardStream } from "../../base/guard-stream.js";
import { readBoolean, readRecord, readSignal } from "../../base/read-values.js";
import { listOf, MOST_LISTED } from "../../base/typed-array.js";
import { ByteReader, type FileSource } from "./byte-reader.js";
import type { FileArray, FileDType } from "./dtypes.js";
import { type HeaderEntry, readHeader } from "./safetensors-header.js";

/** A tensor of a file, in its own memory. */
export interface FileTensor {
  readonly data: FileArray;
  readonly shape: readonly number[];
  /** The type of `data`: "f32" is a Float32Array, "f16" a Uint16Array of the bits, "bool" a Uint8Array. */
  readonly dtype: FileDType;
}

export interface LoadProgress {
  /** Bytes that were read or skipped. */
  readonly loaded: number;
  /** Bytes of the file; undefined until its header has arrived. */
  readonly total: number | undefined;
}

export interface LoadOptions {
  /** The tensors to load, by name or by a test of names. The others take no memory. Default all. */
  readonly only?: readonly string[] | ((name: string) => boolean) | undefined;
  /** Leaves F16 as it is, with `dtype: "f16"`, which takes half the memory. Default false: f32. */
  readonly keepHalves?: boolean | undefined;
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface FileHeader {
  readonly metadata: ReadonlyMap<string, string>;
  /** By name: the type as in the file ("F32"), the shape, the size. */
  readonly tensors: ReadonlyMap<
    string,
    { readonly dtype: string; readonly shape: readonly number[]; readonly bytes: number }
  >;
}

const NAMES = ["only", "keepHalves", "onProgress", "signal"];

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
  const where = "readSafetensorsHeader";
  return guardAsync("load", where, async () => {
    const signal = readSignal(where, readRecord(where, "options", options, ["signal"])["signal"]);
    const reader = await ByteReader.open(where, source, signal);
    try {
      const { metadata, entries } = await readHeader(where, reader);
      const described = entries.map(
        ({ name, format, shape, start, end }) => [name, { dtype: format.name, shape, bytes: end - start }] as const,
      );
      return { metadata, tensors: new Map(described) };
    } finally {
      reader.close();
    }
  });
}

async function* read(
  where: string,
  source: FileSource,
  options: LoadOptions | undefined,
): AsyncGenerator<[string, FileTensor], void, undefined> {
  const given = readRecord(where, "options", options, NAMES);
  const keepHalves = readBoolean(where, "keepHalves", given["keepHalves"], false);
  const onProgress = readCallback(where, given["onProgress"]);
  const signal = readSignal(where, given["signal"]);
  const only = readOnly(where, given["only"]);
  const reader = await ByteReader.open(where, source, signal);
  let total: number | undefined;
  reader.onBytes = () => onProgress?.({ loaded: reader.position, total });
  try {
    const { entries, fileSize } = await readHeader(where, reader);
    total = fileSize;
    const wanted = choose(where, only, entries);
    for (const entry of entries) {
      // The rest of the file need not be fetched.
      if (wanted.size === 0) return;
      if (wanted.delete(entry.name)) yield [entry.name, await readTensor(where, reader, entry, keepHalves)];
      else assertWhole(where, entry, await reader.skip(entry.end - entry.start));
    }
    if (!(await reader.isAtEnd())) {
      throw new HeedError("load", `${where}: the file must end after its last tensor, at ${fileSize} bytes, got more`);
    }
  } finally {
    reader.close();
  }
}

async function readTensor(
  where: string,
  reader: ByteReader,
  entry: HeaderEntry,
  keepHalves: boolean,
): Promise<FileTensor> {
  const { buffer, length } = await reader.read(entry.end - entry.start);
  assertWhole(where, entry, length);
  const { format, shape } = entry;
  const { floats, dtype } = format;
  if (floats === undefined || (dtype === "f16" && keepHalves)) return { data: format.view(buffer), shape, dtype };
  return { data: floats(buffer), shape, dtype: "f32" };
}

function assertWhole(where: string, { name, start, end }: HeaderEntry, got: number): void {
  if (got === end - start) return;
  throw new HeedError(
    "load",
    `${where}: the file ends within tensor ${showValue(name)}, after ${got} of ${end - start} bytes`,
  );
}

type Only = ReadonlySet<string> | ((name: string) => unknown) | null;

function readOnly(where: string, value: unknown): Only {
  if (value === undefined) return null;
  if (typeof value === "function") return (name) => Reflect.apply(value, undefined, [name]);
  const names = listOf<string>(value, MOST_LISTED, (name) => typeof name === "string");
  if (names !== null) return new Set(names);
  throw new HeedError("option", `${where}: only must be names or a function of one, got ${showValue(value)}`);
}

/** The names of tensors to read. Throws where one that was asked for is missing. */
function choose(where: string, only: Only, entries: readonly HeaderEntry[]): Set<string> {
  const names = entries.map(({ name }) => name);
  if (only === null) return new Set(names);
  if (typeof only === "function") return new Set(names.filter((name) => Boolean(only(name))));
  const there = new Set(names);
  for (const name of only) {
    if (!there.has(name)) {
      throw new HeedError("load", `${where}: the file must have what only names, got none named ${showValue(name)}`);
    }
  }
  return new Set(only);
}

function readCallback(where: string, value: unknown): ((progress: LoadProgress) => void) | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "function") return (progress) => Reflect.apply(value, undefined, [progress]);
  throw new HeedError("option", `${where}: onProgress must be a function, got ${showValue(value)}`);
}
