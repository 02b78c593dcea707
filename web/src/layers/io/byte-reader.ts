// Reads bytes one after another from whatever holds them: memory, a Blob, a stream, an answer of a server, an address.

import { showClass, showValue } from "../../api/describe.js";
import { causeText, HeedError } from "../../api/errors.js";
import { isRecord } from "../../api/read-values.js";
import { isUint8Array, plainBytes } from "../../api/typed-array.js";
import { whyNotFetched } from "./other-files.js";

/** Where a file comes from: its address, a server's answer, a file that somebody chose, a stream of its bytes, or the bytes. */
export type FileSource = string | URL | Response | Blob | ReadableStream<Uint8Array> | ArrayBuffer | Uint8Array;

/** Hands out what comes next, in pieces of any size above 0; null at the end. */
interface Pieces {
  /** Of all that there is; undefined where nobody knows before the end. */
  readonly size: number | undefined;
  next(wanted: number): Promise<Uint8Array | null>;
  /** Leaves out bytes that need not be read; absent where they have to be. */
  seek?(count: number): void;
  close(): void;
}

/** Read at once of a Blob: enough to be fast, and little enough to show progress. */
const BLOB_PIECE = 2 ** 24;

/** What a stream is given memory for before it has sent anything: it may promise more than it has. */
const FIRST_ROOM = 2 ** 20;

export class ByteReader {
  readonly #where: string;
  readonly #pieces: Pieces;
  readonly #signal: AbortSignal | null;
  readonly #stop = (): void => this.#pieces.close();
  #left: Uint8Array = new Uint8Array(0);
  #position = 0;
  /** Told of every piece that arrives. */
  onBytes: () => void = () => {};

  /** `where` is the caller's function, for messages. Close it when done. */
  static async open(where: string, source: unknown, signal: AbortSignal | null): Promise<ByteReader> {
    assertNotAborted(where, signal);
    const reader = new ByteReader(where, await piecesOf(where, source, signal), signal);
    signal?.addEventListener("abort", reader.#stop);
    return reader;
  }

  private constructor(where: string, pieces: Pieces, signal: AbortSignal | null) {
    this.#where = where;
    this.#pieces = pieces;
    this.#signal = signal;
  }

  /** Bytes that were read or left out so far. */
  get position(): number {
    return this.#position;
  }

  get size(): number | undefined {
    return this.#pieces.size;
  }

  /** The next bytes in memory of their own; fewer than `count` where the source ends. */
  async read(count: number): Promise<Uint8Array<ArrayBuffer>> {
    // Only a size that is a fact is worth memory before the bytes are there.
    const known = this.size === undefined ? FIRST_ROOM : this.size - this.#position;
    let bytes = allocate(this.#where, Math.min(count, Math.max(known, 0)));
    let filled = 0;
    while (filled < count) {
      const piece = await this.#next(count - filled);
      if (piece === null) return bytes.subarray(0, filled).slice();
      if (filled + piece.length > bytes.length) {
        const larger = allocate(this.#where, Math.min(count, Math.max(2 * bytes.length, filled + piece.length)));
        larger.set(bytes.subarray(0, filled));
        bytes = larger;
      }
      bytes.set(piece, filled);
      filled += piece.length;
    }
    return bytes;
  }

  /** How many of `count` bytes there were to leave out. */
  async skip(count: number): Promise<number> {
    const from = this.#position;
    while (this.#position < from + count) {
      const rest = from + count - this.#position;
      if (this.#left.length === 0 && this.#pieces.seek !== undefined) {
        const there = Math.min(rest, Math.max((this.size ?? Infinity) - this.#position, 0));
        this.#pieces.seek(there);
        this.#position += there;
        break;
      }
      if ((await this.#next(rest)) === null) break;
    }
    return this.#position - from;
  }

  /** Whether nothing comes after what was read. */
  async isAtEnd(): Promise<boolean> {
    if (this.#left.length > 0) return false;
    const piece = await this.#pull(1);
    this.#left = piece ?? this.#left;
    return piece === null;
  }

  close(): void {
    this.#signal?.removeEventListener("abort", this.#stop);
    this.#pieces.close();
  }

  async #next(wanted: number): Promise<Uint8Array | null> {
    const piece = this.#left.length > 0 ? this.#left : await this.#pull(wanted);
    if (piece === null) return null;
    const taken = piece.subarray(0, wanted);
    this.#left = piece.subarray(taken.length);
    this.#position += taken.length;
    this.onBytes();
    return taken;
  }

  async #pull(wanted: number): Promise<Uint8Array | null> {
    assertNotAborted(this.#where, this.#signal);
    try {
      const piece = await this.#pieces.next(wanted);
      assertNotAborted(this.#where, this.#signal);
      return piece;
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

function allocate(where: string, bytes: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(bytes);
  } catch (cause) {
    throw new HeedError("memory", `${where}: no memory for ${bytes} bytes`, { cause });
  }
}

async function piecesOf(where: string, source: unknown, signal: AbortSignal | null): Promise<Pieces> {
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

// By what they can do: they may be of another realm, or a polyfill's.
const isBuffer = (value: unknown): value is ArrayBuffer =>
  Object.prototype.toString.call(value) === "[object ArrayBuffer]";
const isBlob = (value: unknown): value is Blob =>
  isRecord(value) && typeof value["size"] === "number" && typeof value["arrayBuffer"] === "function";
const isStream = (value: unknown): value is ReadableStream<unknown> =>
  isRecord(value) && typeof value["getReader"] === "function";
const isAnswer = (value: unknown): value is Response =>
  isRecord(value) && typeof value["ok"] === "boolean" && "body" in value && "status" in value;

function ofBytes(bytes: Uint8Array): Pieces {
  let at = 0;
  return {
    size: bytes.length,
    next: async (wanted) => {
      const piece = bytes.subarray(at, at + wanted);
      at += piece.length;
      return piece.length === 0 ? null : piece;
    },
    seek: (count) => {
      at += count;
    },
    close: () => {},
  };
}

function ofBlob(blob: Blob): Pieces {
  let at = 0;
  return {
    size: blob.size,
    next: async (wanted) => {
      const piece = new Uint8Array(await blob.slice(at, at + Math.min(wanted, BLOB_PIECE)).arrayBuffer());
      at += piece.length;
      return piece.length === 0 ? null : piece;
    },
    seek: (count) => {
      at += count;
    },
    close: () => {},
  };
}

function ofAnswer(where: string, answer: Response): Pieces {
  if (!answer.ok) {
    const got = `${answer.status} ${answer.statusText}`.trim();
    throw new HeedError("load", `${where}: the server must answer with the file, got ${got} for ${answer.url}`);
  }
  return answer.body === null ? ofBytes(new Uint8Array(0)) : ofStream(where, answer.body);
}

function ofStream(where: string, stream: ReadableStream<unknown>): Pieces {
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
      // It may have failed already, which whoever reads it hears of by then.
      reader.cancel().catch(() => {});
    },
  };
}
