// Reads the header of a GGUF file, of version 2 or 3, and checks all of its numbers against each other.

import { showShape, showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import type { ByteReader } from "../io/byte-reader.js";
import { whatItIs } from "../io/other-files.js";
import type { FileEntry, FileLayout } from "../io/read-entries.js";
import { HeaderCursor } from "./header-cursor.js";
import { TENSOR_TYPES, type TensorType, typeName } from "./tensor-types.js";
import { fieldCount, type GgufValue, LONGEST_NAME, readValues } from "./values.js";

export interface GgufEntry extends FileEntry {
  readonly type: TensorType;
  /** The last axis is the one that lies together. */
  readonly shape: readonly number[];
}

export interface GgufLayout extends FileLayout<GgufEntry> {
  readonly version: number;
  readonly metadata: ReadonlyMap<string, GgufValue>;
}

const MOST_TENSORS = 2 ** 16;
/** GGML's own bound. */
const MOST_AXES = 4;
const ALIGNMENT = 32;
const LARGEST_FILE = 2 ** 50;

/** Reads up to the first byte of data. Throws HeedError `load`, `shape` or `dtype`. */
export async function readGgufLayout(where: string, reader: ByteReader): Promise<GgufLayout> {
  const cursor = new HeaderCursor(where, reader);
  const version = await readVersion(cursor);
  const tensorCount = await cursor.count("the number of tensors", MOST_TENSORS);
  const metadata = await readValues(cursor, await fieldCount(cursor));
  const alignment = alignmentOf(cursor, metadata.get("general.alignment"));
  const entries: GgufEntry[] = [];
  for (let i = 0; i < tensorCount; i++) entries.push(await readEntry(cursor));
  entries.sort((a, b) => a.start - b.start);
  assertInOrder(cursor, entries, alignment);
  const dataStart = aligned(cursor.position, alignment);
  const fileSize = dataStart + (entries.at(-1)?.end ?? 0);
  if (entries.length > 0 && reader.size !== undefined && reader.size < fileSize) {
    throw cursor.refusal(`the file must be at least ${fileSize} bytes by its header`, reader.size);
  }
  await cursor.finish();
  // Files are padded behind their last tensor, and what follows is not looked at.
  return { version, metadata, entries, dataStart, fileSize, endsThere: false };
}

const aligned = (bytes: number, alignment: number): number => Math.ceil(bytes / alignment) * alignment;

const MAGIC = 0x46554747;

async function readVersion(cursor: HeaderCursor): Promise<number> {
  const beginning = await cursor.beginning(16);
  if (beginning.length < 4 || (await cursor.u32()) !== MAGIC) {
    throw new HeedError(
      "load",
      `${cursor.where}: a file must start with "GGUF", got another one${whatItIs(beginning)}`,
    );
  }
  const version = await cursor.u32();
  if (version === 2 || version === 3) return version;
  const isBig = version !== 0 && version % 2 ** 16 === 0;
  throw cursor.refusal("a file must be of version 2 or 3, little-endian", isBig ? "a big-endian one" : version);
}

function alignmentOf(cursor: HeaderCursor, value: GgufValue | undefined): number {
  if (value === undefined) return ALIGNMENT;
  if (typeof value === "number" && value > 0 && value < 2 ** 32 && Number.isInteger(Math.log2(value))) return value;
  throw cursor.refusal("general.alignment must be a power of two", showValue(value));
}

async function readEntry(cursor: HeaderCursor): Promise<GgufEntry> {
  const name = await cursor.text("the name of a tensor", LONGEST_NAME);
  const what = `tensor ${showValue(name)}`;
  const axes = await cursor.u32();
  if (axes > MOST_AXES) throw cursor.refusal(`${what} must have at most ${MOST_AXES} axes`, axes);
  const shape: number[] = [];
  for (let axis = 0; axis < axes; axis++) {
    shape.unshift(await cursor.count(`a size of ${what}`, Number.MAX_SAFE_INTEGER));
  }
  const number = await cursor.u32();
  const start = await cursor.count(`the offset of ${what}`, LARGEST_FILE);
  const type = TENSOR_TYPES.get(number);
  if (type === undefined) {
    const known = Array.from(TENSOR_TYPES.values(), (one) => one.name).join(", ");
    throw new HeedError("dtype", `${cursor.where}: ${what} must be of ${known}, got ${typeName(number)}`);
  }
  return {
    name,
    type,
    shape: Object.freeze(shape),
    start,
    end: start + sizeOf(`${cursor.where}: ${what}`, type, shape),
  };
}

function sizeOf(what: string, { name, numbers, bytes }: TensorType, shape: readonly number[]): number {
  const row = shape.at(-1) ?? 1;
  const size = shape.slice(0, -1).reduce((total, count) => total * count, (row / numbers) * bytes);
  if (size > 0 && size <= LARGEST_FILE && row % numbers === 0) return size;
  const rule = numbers === 1 ? "" : `, rows of ${name} with a multiple of ${numbers}`;
  throw new HeedError("shape", `${what} must have sizes of 1 or more${rule}, got ${showShape(shape)}`);
}

/** Throws unless each tensor starts where the one before it ends, at the next multiple of the alignment, and has a name of its own. */
function assertInOrder(cursor: HeaderCursor, entries: readonly GgufEntry[], alignment: number): void {
  const names = new Set<string>();
  let end = 0;
  for (const { name, start, end: next } of entries) {
    if (names.has(name)) throw cursor.refusal("tensors must have a name each", `${showValue(name)} twice`);
    names.add(name);
    if (start !== aligned(end, alignment)) {
      const what = start < end ? "overlap" : "do not";
      const rule = `tensors must lie one after another at multiples of ${alignment}`;
      throw cursor.refusal(`${rule}, but ${what}: the one before ends at ${end}`, `${showValue(name)} at ${start}`);
    }
    end = next;
  }
  if (end > LARGEST_FILE) throw cursor.refusal("a file must have a size that can be counted", end);
}
