// Reads the tensors of a file whose header says where they lie, each as soon as its bytes have arrived.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guardAsync } from "../../base/guard.js";
import { readRecord, readSignal } from "../../base/read-values.js";
import { listOf, MOST_LISTED } from "../../base/typed-array.js";
import { ByteReader, type FileSource } from "./byte-reader.js";

export interface LoadProgress {
  /** Bytes that were read or skipped. */
  readonly loaded: number;
  /** Bytes of the file; undefined until its header has arrived. */
  readonly total: number | undefined;
}

export interface EntryOptions {
  /** The tensors to load, by name or by a test of names. The others take no memory. Default all. */
  readonly only?: readonly string[] | ((name: string) => boolean) | undefined;
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const LOAD_OPTIONS = ["only", "onProgress", "signal"];

/** A tensor in a file. */
export interface FileEntry {
  readonly name: string;
  /** The first byte, and the byte after the last, counted from the first byte of data. */
  readonly start: number;
  readonly end: number;
}

export interface FileLayout<Entry extends FileEntry> {
  /** In the order of the file, without overlaps. */
  readonly entries: readonly Entry[];
  /** The first byte of data. */
  readonly dataStart: number;
  /** The byte after the last tensor. */
  readonly fileSize: number;
  /** Whether the file must end there. */
  readonly endsThere: boolean;
}

export type HeaderReader<Layout> = (where: string, reader: ByteReader) => Promise<Layout>;

/** Reads the header of a file, and nothing after it. */
export function readHeaderOnly<Layout>(
  where: string,
  source: FileSource,
  options: Pick<EntryOptions, "signal"> | undefined,
  readHeader: HeaderReader<Layout>,
): Promise<Layout> {
  return guardAsync("load", where, async () => {
    const signal = readSignal(where, readRecord(where, "options", options, ["signal"])["signal"]);
    const reader = await ByteReader.open(where, source, signal);
    try {
      return await readHeader(where, reader);
    } finally {
      reader.close();
    }
  });
}

/** The wanted tensors with their bytes, in memory of their own. `given` are `EntryOptions`, unchecked. */
export async function* streamEntries<Entry extends FileEntry>(
  where: string,
  source: FileSource,
  given: Readonly<Record<string, unknown>>,
  readHeader: HeaderReader<FileLayout<Entry>>,
): AsyncGenerator<[Entry, ArrayBuffer], void, undefined> {
  const onProgress = readCallback(where, given["onProgress"]);
  const signal = readSignal(where, given["signal"]);
  const only = readOnly(where, given["only"]);
  const reader = await ByteReader.open(where, source, signal);
  let total: number | undefined;
  reader.onBytes = () => onProgress?.({ loaded: reader.position, total });
  try {
    const { entries, dataStart, fileSize, endsThere } = await readHeader(where, reader);
    total = fileSize;
    const wanted = choose(where, only, entries);
    for (const entry of entries) {
      // The rest of the file need not be fetched.
      if (wanted.size === 0) return;
      if (!wanted.delete(entry.name)) continue;
      const gap = dataStart + entry.start - reader.position;
      assertThere(where, "before", entry.name, await reader.skip(gap), gap);
      const size = entry.end - entry.start;
      const { buffer, length } = await reader.read(size);
      assertThere(where, "within", entry.name, length, size);
      yield [entry, buffer];
    }
    if (endsThere && reader.position === fileSize && !(await reader.isAtEnd())) {
      throw new HeedError("load", `${where}: the file must end after its last tensor, at ${fileSize} bytes, got more`);
    }
  } finally {
    reader.close();
  }
}

function assertThere(where: string, place: string, name: string, got: number, size: number): void {
  if (got === size) return;
  throw new HeedError(
    "load",
    `${where}: the file ends ${place} tensor ${showValue(name)}, after ${got} of ${size} bytes`,
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
function choose(where: string, only: Only, entries: readonly FileEntry[]): Set<string> {
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
