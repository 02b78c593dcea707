// Reads bytes in order from memory, a Blob, a stream, a Response or an address.

import { showClass, showValue } from "../../base/describe.js";
import { causeText, HeedError } from "../../base/errors.js";
import { isRecord } from "../../base/read-values.js";
import { isUint8Array, plainBytes } from "../../base/typed-array.js";
import { whyNotFetched } from "./other-files.js";

/** Where a file comes from: its address, a Response, a Blob such as a chosen file, a stream of its bytes, or the bytes. */
export type FileSource = string | URL | Response | Blob | ReadableStream<Uint8Array> | ArrayBuffer | Uint8Array;

/** Gives the bytes of a source in chunks of at least one byte, then null. */
interface ChunkSource {
  /** The number of all bytes; undefined where it is not known before the end. */
  readonly size: number | undefined;
  next(wanted: number): Promise<Uint8Array | null>;
  /** Skips bytes without reading them; absent where they must be read. */
  seek?(count: number): void;
  close(): void;
}

/** The bytes of a Blob that are read at once: enough to be fast, and few enough to show progress and to leave little behind. */
const BLOB_CHUNK = 2 ** 22;

/** The first allocation for a stream, which may hold fewer bytes than are asked for. */
const FIRST_ROOM = 2 ** 20;

export class ByteReader {
  readonly #where: string;
  readonly #source: ChunkSource;
  readonly #signal: AbortSignal | null;
  readonly #stop = (): void => this.#source.close();
  #left: Uint8Array = new Uint8Array(0);
  #position = 0;
  /** Whether all that follows will be read: more than is asked for may come at a time. */
  readsAll = false;
  /** Called for every chunk. */
  onBytes: () => void = () => {};

  /** `where` names the caller's function in messages. The reader must be closed. */
  static async open(where: string, source: unknown, signal: AbortSignal | null): Promise<ByteReader> {
    assertNotAborted(where, signal);
    const reader = new ByteReader(where, await chunksOf(where, source, signal), signal);
    signal?.addEventListener("abort", reader.#stop);
    return reader;
  }

  private constructor(where: string, source: ChunkSource, signal: AbortSignal | null) {
    this.#where = where;
    this.#source = source;
    this.#signal = signal;
  }

  /** The number of bytes that were read or skipped so far. */
  get position(): number {
    return this.#position;
  }

  get size(): number | undefined {
    return this.#source.size;
  }

  /** The next bytes, copied; fewer than `count` where the source ends. */
  async read(count: number): Promise<Uint8Array<ArrayBuffer>> {
    // Memory for all bytes is allocated only where their number is known.
    const known = this.size === undefined ? FIRST_ROOM : this.size - this.#position;
    let bytes = allocate(this.#where, Math.min(count, Math.max(known, 0)));
    let filled = 0;
    while (filled < count) {
      const chunk = await this.#next(count - filled);
      if (chunk === null) return bytes.subarray(0, filled).slice();
      if (filled + chunk.length > bytes.length) {
        const larger = allocate(this.#where, Math.min(count, Math.max(2 * bytes.length, filled + chunk.length)));
        larger.set(bytes.subarray(0, filled));
        bytes = larger;
      }
      bytes.set(chunk, filled);
      filled += chunk.length;
    }
    return bytes;
  }

  /** The next bytes, which are still to be read; at least `count`, fewer where the source ends. */
  async peek(count: number): Promise<Uint8Array> {
    const chunks = [this.#left];
    let length = this.#left.length;
    while (length < count) {
      const chunk = await this.#pull(count - length);
      if (chunk === null) break;
      chunks.push(chunk);
      length += chunk.length;
    }
    this.#left = joined(this.#where, chunks, length);
    return this.#left;
  }

  /** Skips up to `count` bytes and returns how many there were. */
  async skip(count: number): Promise<number> {
    const from = this.#position;
    while (this.#position < from + count) {
      const rest = from + count - this.#position;
      if (this.#left.length === 0 && this.#source.seek !== undefined) {
        const there = Math.min(rest, Math.max((this.size ?? Infinity) - this.#position, 0));
        this.#source.seek(there);
        this.#position += there;
        break;
      }
      if ((await this.#next(rest)) === null) break;
    }
    return this.#position - from;
  }

  /** Whether all bytes were read. */
  async isAtEnd(): Promise<boolean> {
    if (this.#left.length > 0) return false;
    const chunk = await this.#pull(1);
    this.#left = chunk ?? this.#left;
    return chunk === null;
  }

  close(): void {
    this.#signal?.removeEventListener("abort", this.#stop);
    this.#source.close();
  }

  async #next(wanted: number): Promise<Uint8Array | null> {
    assertNotAborted(this.#where, this.#signal);
    const chunk = this.#left.length > 0 ? this.#left : await this.#pull(wanted);
    if (chunk === null) return null;
    const taken = chunk.subarray(0, wanted);
    this.#left = chunk.subarray(taken.length);
    this.#position += taken.length;
    this.onBytes();
    return taken;
  }

  async #pull(wanted: number): Promise<Uint8Array | null> {
    assertNotAborted(this.#where, this.#signal);
    try {
      const chunk = await this.#source.next(this.readsAll ? Infinity : wanted);
      assertNotAborted(this.#where, this.#signal);
      return chunk;
    } catch (error) {
      assertNotAborted(this.#where, this.#signal);
      if (error instanceof HeedError) throw error;
      throw new HeedError("load", `${this.#where}: the source could not be read: ${causeText(error)}`, {
        cause: error,
      });
    }
  }
}

export function assertNotAborted(where: string, signal: AbortSignal | null): void {
  if (signal?.aborted) throw new HeedError("aborted", `${where} was aborted`, { cause: signal.reason });
}

/** The text of a small file, in UTF-8. */
export async function readText(
  where: string,
  source: unknown,
  limit: number,
  signal: AbortSignal | null,
): Promise<string> {
  const reader = await ByteReader.open(where, source, signal);
  try {
    const bytes = await reader.read(limit);
    if (!(await reader.isAtEnd())) throw new HeedError("load", `${where}: the file must be at most ${limit} bytes`);
    return decodeUtf8(where, "the file", bytes);
  } finally {
    reader.close();
  }
}

export function decodeUtf8(where: string, what: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new HeedError("load", `${where}: ${what} must be UTF-8, got bytes that are not`, { cause });
  }
}

/** Without a copy where one of them has all bytes. */
function joined(where: string, chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = chunks.find((chunk) => chunk.length === length);
  if (whole !== undefined) return whole;
  const all = allocate(where, length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

function allocate(where: string, bytes: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(bytes);
  } catch (cause) {
    throw new HeedError("memory", `${where}: no memory for ${bytes} bytes`, { cause });
  }
}

async function chunksOf(where: string, source: unknown, signal: AbortSignal | null): Promise<ChunkSource> {
  if (typeof source === "string" || source instanceof URL) return ofAnswer(where, await request(where, source, signal));
  if (isUint8Array(source)) return ofBytes(plainBytes(source));
  if (isBuffer(source)) return ofBytes(new Uint8Array(source));
  if (isBlob(source)) return ofBlob(source);
  if (isStream(source)) return ofStream(where, source);
  if (isAnswer(source)) return ofAnswer(where, source);
  const got = isRecord(source) ? showClass(source) : showValue(source);
  throw new HeedError(
    "option",
    `${where}: a file must be an address, a Response, a Blob, a ReadableStream, an ArrayBuffer or a Uint8Array, got ${got}`,
  );
}

async function request(where: string, address: string | URL, signal: AbortSignal | null): Promise<Response> {
  try {
    return await fetch(address, { signal });
  } catch (cause) {
    assertNotAborted(where, signal);
    throw new HeedError(
      "load",
      `${where}: ${showValue(String(address))} could not be fetched: ${whyNotFetched(address, cause)}`,
      {
        cause,
      },
    );
  }
}

// These tests look at members, because objects may come from another realm or a polyfill.
const isBuffer = (value: unknown): value is ArrayBuffer =>
  Object.prototype.toString.call(value) === "[object ArrayBuffer]";
const isBlob = (value: unknown): value is Blob =>
  isRecord(value) && typeof value["size"] === "number" && typeof value["arrayBuffer"] === "function";
const isStream = (value: unknown): value is ReadableStream<unknown> =>
  isRecord(value) && typeof value["getReader"] === "function";
const isAnswer = (value: unknown): value is Response =>
  isRecord(value) && typeof value["ok"] === "boolean" && "body" in value && "status" in value;

function ofBytes(bytes: Uint8Array): ChunkSource {
  let at = 0;
  return {
    size: bytes.length,
    next: async (wanted) => {
      const chunk = bytes.subarray(at, at + wanted);
      at += chunk.length;
      return chunk.length === 0 ? null : chunk;
    },
    seek: (count) => {
      at += count;
    },
    close: () => {},
  };
}

/** Where all is wanted the next chunk is read while one is used. */
function ofBlob(blob: Blob): ChunkSource {
  let at = 0;
  let ahead: { readonly at: number; readonly bytes: Promise<ArrayBuffer> } | null = null;
  const ask = (count: number): Promise<ArrayBuffer> => blob.slice(at, at + Math.min(count, BLOB_CHUNK)).arrayBuffer();
  return {
    size: blob.size,
    next: async (wanted) => {
      const chunk = new Uint8Array(await (ahead?.at === at ? ahead.bytes : ask(wanted)));
      at += chunk.length;
      ahead = wanted < Infinity ? null : { at, bytes: ask(wanted) };
      // Whoever takes it is told of its error.
      ahead?.bytes.catch(() => {});
      return chunk.length === 0 ? null : chunk;
    },
    seek: (count) => {
      at += count;
    },
    close: () => {},
  };
}

function ofAnswer(where: string, answer: Response): ChunkSource {
  if (!answer.ok) {
    const got = `${answer.status} ${answer.statusText}`.trim();
    throw new HeedError("load", `${where}: the server must answer with the file, got ${got} for ${answer.url}`);
  }
  return answer.body === null ? ofBytes(new Uint8Array(0)) : ofStream(where, answer.body);
}

function ofStream(where: string, stream: ReadableStream<unknown>): ChunkSource {
  if (stream.locked) {
    throw new HeedError("option", `${where}: the stream must not be in use, got one that is being read elsewhere`);
  }
  const reader = stream.getReader();
  return {
    size: undefined,
    next: async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return null;
        if (!isUint8Array(value)) {
          throw new HeedError("load", `${where}: the stream must be of Uint8Arrays, got ${showValue(value)}`);
        }
        const bytes = plainBytes(value);
        if (bytes.length > 0) return bytes;
      }
    },
    close: () => {
      // The stream may have failed already, and then its reader has rejected.
      reader.cancel().catch(() => {});
    },
  };
}
