// Reads the tensors of a file whose header says where they lie, each as soon as its bytes have arrived.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guardAsync } from "../../base/guard.js";
import { readRecord, readSignal } from "../../base/read-values.js";
import { listOf, MOST_LISTED } from "../../base/typed-array.js";
import { ByteReader, type FileSource } from "./byte-reader.js";

/** How much of a file has arrived, in bytes. */
export interface LoadProgress {
  /** Bytes that were read or skipped. */
  readonly loaded: number;
  /** Bytes of the file; undefined until its header has arrived. */
  readonly total: number | undefined;
}

/** Which tensors of a file are read, and what is told meanwhile. */
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

/** The bytes of a tensor, which are read in their order, before the next tensor is. */
export class EntryBytes {
  readonly #where: string;
  readonly #name: string;
  readonly #reader: ByteReader;
  readonly size: number;
  #left: number;

  constructor(where: string, reader: ByteReader, { name, start, end }: FileEntry) {
    this.#where = where;
    this.#name = name;
    this.#reader = reader;
    this.size = this.#left = end - start;
  }

  /** All of them, in memory of their own. */
  async all(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#whole(this.size, await this.#reader.read(this.size));
  }

  /** Some more of them, which are valid until the reader is used again. */
  async next(count: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.#whole(count, await this.#reader.view(count));
  }

  /** Passes over those that nobody wanted. */
  async finish(): Promise<void> {
    if (this.#left > 0) this.#assertThere(await this.#reader.skip(this.#left), this.#left);
  }

  #whole(count: number, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    this.#assertThere(bytes.length, count);
    this.#left -= count;
    return bytes;
  }

  #assertThere(got: number, wanted: number): void {
    if (got < wanted) throw endsEarly(this.#where, "within", this.#name, this.size - this.#left + got, this.size);
  }
}

/** An open file whose tensors are read. It must be closed. */
class EntryReader {
  readonly reader: ByteReader;
  readonly #where: string;
  readonly #only: Only;
  #total: number | undefined;

  /** `given` are `EntryOptions`, unchecked. */
  static async open(
    where: string,
    source: FileSource,
    { onProgress, signal, only }: Readonly<Record<string, unknown>>,
  ): Promise<EntryReader> {
    const report = readCallback(where, onProgress);
    const read = readSignal(where, signal);
    const wanted = readOnly(where, only);
    return new EntryReader(where, await ByteReader.open(where, source, read), wanted, report);
  }

  private constructor(where: string, reader: ByteReader, only: Only, report: ReturnType<typeof readCallback>) {
    this.#where = where;
    this.#only = only;
    this.reader = reader;
    reader.onBytes = () => report?.({ loaded: reader.received, total: this.#total });
  }

  /** The wanted tensors. The header was read. */
  async *tensors<Entry extends FileEntry>({
    entries,
    dataStart,
    fileSize,
    endsThere,
  }: FileLayout<Entry>): AsyncGenerator<[Entry, EntryBytes], void, undefined> {
    const [where, reader] = [this.#where, this.reader];
    this.#total = fileSize;
    if (reader.received >= fileSize) reader.onBytes();
    const wanted = choose(where, this.#only, entries);
    reader.readsAll = wanted.size === entries.length;
    for (const entry of entries) {
      // The rest of the file need not be fetched.
      if (wanted.size === 0) return;
      if (!wanted.delete(entry.name)) continue;
      const gap = dataStart + entry.start - reader.position;
      const skipped = await reader.skip(gap);
      if (skipped < gap) throw endsEarly(where, "before", entry.name, skipped, gap);
      const bytes = new EntryBytes(where, reader, entry);
      yield [entry, bytes];
      await bytes.finish();
    }
    if (endsThere && reader.position === fileSize && !(await reader.isAtEnd())) {
      throw new HeedError("load", `${where}: the file must end after its last tensor, at ${fileSize} bytes, got more`);
    }
  }

  close(): void {
    this.reader.close();
  }
}

/** A file of which the header was read. It must be closed. */
export interface OpenFile<Layout extends FileLayout<FileEntry>> {
  readonly layout: Layout;
  /** The wanted tensors, as they arrive. */
  readonly entries: AsyncGenerator<[Layout["entries"][number], EntryBytes], void, undefined>;
  close(): void;
}

export async function openEntries<Layout extends FileLayout<FileEntry>>(
  where: string,
  source: FileSource,
  given: Readonly<Record<string, unknown>>,
  readHeader: HeaderReader<Layout>,
): Promise<OpenFile<Layout>> {
  const file = await EntryReader.open(where, source, given);
  try {
    const layout = await readHeader(where, file.reader);
    return { layout, entries: file.tensors<Layout["entries"][number]>(layout), close: () => file.close() };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** The wanted tensors of a file. */
export async function* streamEntries<Entry extends FileEntry>(
  where: string,
  source: FileSource,
  given: Readonly<Record<string, unknown>>,
  readHeader: HeaderReader<FileLayout<Entry>>,
): AsyncGenerator<[Entry, EntryBytes], void, undefined> {
  const file = await openEntries<FileLayout<Entry>>(where, source, given, readHeader);
  try {
    yield* file.entries;
  } finally {
    file.close();
  }
}

function endsEarly(where: string, place: string, name: string, got: number, size: number): HeedError {
  const rule = `the file ends ${place} tensor ${showValue(name)}`;
  return new HeedError("load", `${where}: ${rule}, after ${got} of ${size} bytes`);
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
