// Reads the fields of a GGUF header in order: little-endian numbers, and texts with their lengths.

import { HeedError } from "../../base/errors.js";
import { type ByteReader, decodeUtf8 } from "../io/byte-reader.js";

/** The bytes that are looked at together, at least. */
const WINDOW = 2 ** 16;

/** Published headers have up to 20 MB, most of them tokens and merges. */
const LARGEST_HEADER = 100_000_000;

export class HeaderCursor {
  readonly where: string;
  readonly #reader: ByteReader;
  #window = new DataView(new ArrayBuffer(0));
  #at = 0;

  constructor(where: string, reader: ByteReader) {
    this.where = where;
    this.#reader = reader;
  }

  /** The bytes that were read so far. */
  get position(): number {
    return this.#reader.position + this.#at;
  }

  refusal(rule: string, got: unknown): HeedError {
    return new HeedError("load", `${this.where}: ${rule}, got ${got}`);
  }

  /** The next bytes, without taking them; fewer where the file ends. */
  async beginning(count: number): Promise<Uint8Array> {
    return (await this.#reader.peek(count)).subarray(0, count);
  }

  /** Reads a number by a method of DataView. */
  async number<T extends number | bigint>(
    bytes: number,
    get: (view: DataView, at: number, isLittle: boolean) => T,
  ): Promise<T> {
    await this.#need(bytes);
    const number = get(this.#window, this.#at, true);
    this.#at += bytes;
    return number;
  }

  u32(): Promise<number> {
    return this.number(4, (view, at, isLittle) => view.getUint32(at, isLittle));
  }

  /** A count or a size of 64 bits, from 0 to `most`. */
  async count(what: string, most: number): Promise<number> {
    const count = await this.number(8, (view, at, isLittle) => view.getBigUint64(at, isLittle));
    if (count <= BigInt(most)) return Number(count);
    throw this.refusal(`${what} must be at most ${most}`, count);
  }

  async text(what: string, most = LARGEST_HEADER): Promise<string> {
    const length = await this.count(`the length of ${what}`, most);
    await this.#need(length);
    return this.#text(what, length);
  }

  /** The same at once, for a header has 100,000 texts. Null where it is still to be read. */
  textThere(what: string): string | null {
    if (!this.#has(8)) return null;
    const length = Number(this.#window.getBigUint64(this.#at, true));
    if (!this.#has(8 + length)) return null;
    this.#at += 8;
    return this.#text(what, length);
  }

  #text(what: string, length: number): string {
    const text = decodeUtf8(this.where, what, new Uint8Array(this.#window.buffer, this.#at, length));
    this.#at += length;
    return text;
  }

  /** Ends the reading of the header: the reader goes on behind it. */
  async finish(): Promise<void> {
    await this.#reader.skip(this.#at);
    this.#window = new DataView(new ArrayBuffer(0));
    this.#at = 0;
  }

  /** Whether the window has so many bytes more. */
  #has(bytes: number): boolean {
    return this.#at + bytes <= this.#window.byteLength;
  }

  /** Makes sure of it. */
  async #need(bytes: number): Promise<void> {
    if (this.#has(bytes)) return;
    if (this.position + bytes > LARGEST_HEADER) {
      throw this.refusal(`a header must be at most ${LARGEST_HEADER} bytes long`, `${this.position + bytes} or more`);
    }
    await this.#reader.skip(this.#at);
    const wanted = Math.max(bytes, WINDOW);
    // A copy, because the caller's memory may be shared, and texts are not decoded from that.
    const window = (await this.#reader.peek(wanted)).slice(0, wanted);
    this.#window = new DataView(window.buffer);
    this.#at = 0;
    if (window.byteLength < bytes) {
      const there = this.#reader.position + window.byteLength;
      throw new HeedError("load", `${this.where}: the file ends within its header, after ${there} bytes`);
    }
  }
}
