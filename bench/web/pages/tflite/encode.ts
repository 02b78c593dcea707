// Writes a FlatBuffer from tables as plain arrays of their fields, in the order of the schema. A parent is written before what it
// refers to, because offsets point forwards; every field takes four bytes.

/** `null` is left out: it has its default. */
export type Field =
  | null
  | { readonly byte: number }
  | { readonly int: number }
  | { readonly float: number }
  | { readonly text: string }
  | { readonly ints: readonly number[] }
  | { readonly data: Uint8Array }
  | { readonly table: Table }
  | { readonly tables: readonly Table[] };
export type Table = readonly Field[];

/** Buffers of tensors start at multiples of 16 bytes. */
const DATA_ALIGNMENT = 16;

/** @param identifier four characters that say which schema it is */
export function encodeFlatBuffer(root: Table, identifier: string): Uint8Array {
  const writer = new Writer();
  writer.int(0);
  writer.bytes(new TextEncoder().encode(identifier));
  writer.link(0, writer.table(root));
  return writer.written();
}

class Writer {
  readonly #bytes: number[] = [];

  written(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }

  int(value: number, at = this.#bytes.length): void {
    for (let i = 0; i < 4; i++) this.#bytes[at + i] = (value >>> (8 * i)) & 255;
  }

  bytes(given: Iterable<number>): void {
    for (const byte of given) this.#bytes.push(byte);
  }

  /** Makes the offset at one place lead to another. */
  link(from: number, to: number): void {
    this.int(to - from, from);
  }

  /** The field table, the fields, then what these refer to. */
  table(fields: Table): number {
    const size = 4 + 2 * fields.length;
    this.#align(4);
    const places = this.#bytes.length;
    const start = places + size + (size % 4);
    const at = (field: number) => start + 4 * (1 + fields.slice(0, field).filter((one) => one !== null).length);
    const offsets = fields.map((field, index) => (field === null ? 0 : at(index) - start));
    for (const short of [size, at(fields.length) - start, ...offsets]) this.bytes([short & 255, short >> 8]);
    this.#align(4);
    this.int(start - places);
    for (const field of fields) if (field !== null) this.int(scalar(field));
    for (const [index, field] of fields.entries()) {
      const target = field === null ? null : this.#target(field);
      if (target !== null) this.link(at(index), target);
    }
    return start;
  }

  /** Writes what a field refers to. */
  #target(field: NonNullable<Field>): number | null {
    if ("table" in field) return this.table(field.table);
    if ("text" in field) return this.#vector([...new TextEncoder().encode(`${field.text}\0`)], field.text.length);
    if ("data" in field) {
      while ((this.#bytes.length + 4) % DATA_ALIGNMENT !== 0) this.bytes([0]);
      return this.#vector(field.data, field.data.length);
    }
    if (!("ints" in field || "tables" in field)) return null;
    const count = "ints" in field ? field.ints.length : field.tables.length;
    const start = this.#vector([], count);
    if ("ints" in field) for (const value of field.ints) this.int(value);
    else {
      for (const _ of field.tables) this.int(0);
      for (const [index, one] of field.tables.entries()) this.link(start + 4 + 4 * index, this.table(one));
    }
    return start;
  }

  #vector(content: Iterable<number>, length: number): number {
    this.#align(4);
    const start = this.#bytes.length;
    this.int(length);
    this.bytes(content);
    return start;
  }

  #align(size: number): void {
    while (this.#bytes.length % size !== 0) this.bytes([0]);
  }
}

function scalar(field: NonNullable<Field>): number {
  if ("byte" in field) return field.byte;
  if ("int" in field) return field.int;
  if ("float" in field) return new Int32Array(Float32Array.of(field.float).buffer)[0] ?? 0;
  return 0;
}
