// Writes a GGUF file: metadata, then tensors in the blocks in which they are stored.

export type GgufValue =
  | { readonly u32: number }
  | { readonly f32: number }
  | { readonly text: string }
  | { readonly flag: boolean }
  | { readonly texts: readonly string[] }
  | { readonly f32s: readonly number[] }
  | { readonly i32s: readonly number[] };

export interface GgufTensor {
  readonly name: string;
  /** As in published files: [outputs, inputs]. */
  readonly shape: readonly number[];
  readonly type: keyof typeof TENSOR_TYPES;
  readonly data: Uint8Array<ArrayBuffer>;
}

const VERSION = 3;
const ALIGNMENT = 32;
/** GGML's numbers of them. */
const TENSOR_TYPES = { f32: 0, f16: 1, int4: 2, int8: 8 } as const;
const VALUE_TYPES = { u32: 4, i32: 5, f32: 6, flag: 7, text: 8, list: 9 } as const;

export function encodeGguf(metadata: Readonly<Record<string, GgufValue>>, tensors: readonly GgufTensor[]): Blob {
  const entries = Object.entries(metadata);
  const header = new Writer();
  header.text("GGUF").u32(VERSION).u64(tensors.length).u64(entries.length);
  for (const [name, value] of entries) writeValue(header.string(name), value);
  let offset = 0;
  for (const { name, shape, type, data } of tensors) {
    header.string(name).u32(shape.length);
    for (const size of [...shape].reverse()) header.u64(size);
    header.u32(TENSOR_TYPES[type]).u64(offset);
    offset += data.length + paddingOf(data.length);
  }
  const parts = [header.bytes(), ...tensors.map(({ data }) => data)];
  return new Blob(parts.flatMap((part) => [part, new Uint8Array(paddingOf(part.length))]));
}

const paddingOf = (length: number): number => (ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT;

function writeValue(to: Writer, value: GgufValue): void {
  const list = (type: number, length: number) => to.u32(VALUE_TYPES.list).u32(type).u64(length);
  if ("u32" in value) to.u32(VALUE_TYPES.u32).u32(value.u32);
  else if ("f32" in value) to.u32(VALUE_TYPES.f32).f32(value.f32);
  else if ("text" in value) to.u32(VALUE_TYPES.text).string(value.text);
  else if ("flag" in value) to.u32(VALUE_TYPES.flag).u8(Number(value.flag));
  else if ("texts" in value) {
    list(VALUE_TYPES.text, value.texts.length);
    for (const one of value.texts) to.string(one);
  } else if ("f32s" in value) {
    list(VALUE_TYPES.f32, value.f32s.length);
    for (const one of value.f32s) to.f32(one);
  } else {
    list(VALUE_TYPES.i32, value.i32s.length);
    for (const one of value.i32s) to.u32(one);
  }
}

/** Little-endian numbers and strings, one after the other. */
class Writer {
  #view = new DataView(new ArrayBuffer(2 ** 16));
  #length = 0;

  u8(value: number): this {
    this.#view.setUint8(this.#room(1), value);
    return this;
  }

  u32(value: number): this {
    this.#view.setUint32(this.#room(4), value, true);
    return this;
  }

  u64(value: number): this {
    this.#view.setBigUint64(this.#room(8), BigInt(value), true);
    return this;
  }

  f32(value: number): this {
    this.#view.setFloat32(this.#room(4), value, true);
    return this;
  }

  text(value: string): this {
    return this.#put(new TextEncoder().encode(value));
  }

  string(value: string): this {
    const bytes = new TextEncoder().encode(value);
    return this.u64(bytes.length).#put(bytes);
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#view.buffer, 0, this.#length).slice();
  }

  #put(bytes: Uint8Array): this {
    const at = this.#room(bytes.length);
    new Uint8Array(this.#view.buffer).set(bytes, at);
    return this;
  }

  /** Where so many bytes can be written. */
  #room(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#view.byteLength) {
      const wider = new Uint8Array(2 * this.#length);
      wider.set(new Uint8Array(this.#view.buffer));
      this.#view = new DataView(wider.buffer);
    }
    return at;
  }
}
