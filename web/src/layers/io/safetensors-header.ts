// Reads the header of a safetensors file, and checks all of its numbers against each other.

import { showShape, showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { isOptions, isRecord } from "../../base/read-values.js";
import { type ByteReader, decodeUtf8 } from "./byte-reader.js";
import { FORMATS, type Format } from "./dtypes.js";
import { whatItIs } from "./other-files.js";
import type { FileEntry, FileLayout } from "./read-entries.js";
import { parseUniqueJson } from "./unique-json.js";

export interface HeaderEntry extends FileEntry {
  readonly format: Format;
  readonly shape: readonly number[];
}

export interface Header extends FileLayout<HeaderEntry> {
  readonly metadata: ReadonlyMap<string, string>;
}

/** The format's own bound. */
const LARGEST_HEADER = 100_000_000;

/** The name of the metadata among the tensors of a header. */
export const METADATA = "__metadata__";

/** Reads up to the first byte of data. Throws HeedError `load`, `shape` or `dtype`. */
export async function readHeader(where: string, reader: ByteReader): Promise<Header> {
  const word = await reader.read(8);
  if (word.length < 8) throw new HeedError("load", `${where}: a file must have at least 8 bytes, got ${word.length}`);
  const length = new DataView(word.buffer).getBigUint64(0, true);
  if (length > BigInt(LARGEST_HEADER)) {
    const what = whatItIs(word);
    throw new HeedError(
      "load",
      `${where}: a header must be at most ${LARGEST_HEADER} bytes long, got ${length}${what}`,
    );
  }
  const size = Number(length);
  if (reader.size !== undefined && 8 + size > reader.size) {
    throw new HeedError("load", `${where}: the header must lie in the file, got ${size} bytes of ${reader.size - 8}`);
  }
  const bytes = await reader.read(size);
  if (bytes.length < size) {
    throw new HeedError("load", `${where}: the file ends within its header, after ${bytes.length} of ${size} bytes`);
  }
  if (bytes[0] !== 0x7b) throw new HeedError("load", `${where}: a header must start with "{"`);
  const header = parseUniqueJson(where, "the header", decodeUtf8(where, "the header", bytes));
  const { metadata, entries } = readEntries(where, header);
  const dataStart = 8 + size;
  const fileSize = dataStart + assertGapless(where, entries);
  if (reader.size !== undefined && reader.size !== fileSize) {
    throw new HeedError("load", `${where}: the file must be ${fileSize} bytes by its header, got ${reader.size}`);
  }
  return { metadata, entries, dataStart, fileSize, endsThere: true };
}

function readEntries(where: string, header: unknown): Pick<Header, "metadata" | "entries"> {
  const entries: HeaderEntry[] = [];
  let metadata: ReadonlyMap<string, string> = new Map();
  for (const [name, value] of Object.entries(isRecord(header) ? header : {})) {
    if (name === METADATA) metadata = readMetadata(where, value);
    else entries.push(readEntry(where, name, value));
  }
  // An empty tensor starts where another does.
  entries.sort((a, b) => a.start - b.start || a.end - b.end);
  return { metadata, entries };
}

/** Strings by name. */
export function readMetadata(where: string, value: unknown): ReadonlyMap<string, string> {
  if (!isOptions(value)) throw new HeedError("load", `${where}: metadata must be an object, got ${showValue(value)}`);
  const metadata = new Map<string, string>();
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== "string") {
      throw new HeedError("load", `${where}: metadata must be strings, got ${showValue(name)}: ${showValue(text)}`);
    }
    metadata.set(name, text);
  }
  return metadata;
}

function readEntry(where: string, name: string, value: unknown): HeaderEntry {
  const what = `${where}: tensor ${showValue(name)}`;
  if (!isOptions(value)) throw new HeedError("load", `${what} must be described by an object, got ${showValue(value)}`);
  const { dtype, shape, data_offsets: offsets, ...others } = value;
  const format = typeof dtype === "string" ? FORMATS.get(dtype) : undefined;
  if (format === undefined) {
    const known = [...FORMATS.keys()].join(", ");
    throw new HeedError("dtype", `${what} must be of ${known}, got ${showValue(dtype)}`);
  }
  const [other] = Object.keys(others);
  if (other !== undefined) {
    throw new HeedError("load", `${what} has dtype, shape and data_offsets alone, got ${showValue(other)}`);
  }
  if (!isCounts(shape)) {
    throw new HeedError("shape", `${what} must have a shape of whole numbers, 0 or more, got ${showValue(shape)}`);
  }
  if (!isCounts(offsets) || offsets.length !== 2) {
    throw new HeedError("load", `${what} must have two data_offsets, whole numbers, got ${showValue(offsets)}`);
  }
  const [start = 0, end = 0] = offsets;
  const size = byteSize(shape, format.bytes);
  if (end < start || size !== end - start) {
    const wanted = size === undefined ? "more bytes than can be counted" : `${size} bytes`;
    throw new HeedError("shape", `${what}: ${format.name} ${showShape(shape)} takes ${wanted}, got ${start} to ${end}`);
  }
  return { name, format, shape: Object.freeze([...shape]), start, end };
}

function isCounts(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0 && !Object.is(size, -0));
}

/** Undefined where the product, or a partial product, is not exact. */
function byteSize(shape: readonly number[], bytes: number): number | undefined {
  let size = bytes;
  for (const count of shape) {
    size *= count;
    if (!Number.isSafeInteger(size)) return undefined;
  }
  return size;
}

/** The bytes of all tensors. Throws unless each starts where the one before it ends. */
function assertGapless(where: string, entries: readonly HeaderEntry[]): number {
  let end = 0;
  for (const entry of entries) {
    if (entry.start !== end) {
      const what = entry.start < end ? "overlap" : "leave a gap";
      throw new HeedError(
        "load",
        `${where}: tensors must lie one after another, but ${what}: ${showValue(entry.name)} starts at ${entry.start}, and the one before ends at ${end}`,
      );
    }
    end = entry.end;
  }
  if (!Number.isSafeInteger(end + LARGEST_HEADER)) {
    throw new HeedError("load", `${where}: a file must have a size that can be counted, got data of ${end} bytes`);
  }
  return end;
}
