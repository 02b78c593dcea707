// Reads bytes in order from memory, a Blob, a stream, a Response or an address.

import { showClass, showValue } from "../../base/describe.js";
import { causeText, HeedError } from "../../base/errors.js";
import { isRecord } from "../../base/read-values.js";
import { isUint8Array, plainBytes } from "../../base/typed-array.js";
import { whyNotFetched } from "./other-files.js";

/** Where a file comes from: its address, a Response, a Blob such as a chosen file, a stream of its bytes, or the bytes. */
export type FileSource = string | URL | Response | Blob | ReadableStream<Uint8Array> | ArrayBuffer | Uint8Array;

/** Gives the bytes of a source in their order. */
interface ByteSource {
  /** The number of all bytes; undefined where it is not known before the end. */
  readonly size: number | undefined;
  /**
   * Writes at least one byte to the start of a view, and returns what was written: nothing at the end. The view's buffer may move to another.
   * `readsAll`: from now on all bytes will be asked for.
   */
  fill(view: Bytes, readsAll: boolean): Promise<Bytes>;
  /** Skips bytes without reading them; absent where they must be read. */
  seek?(count: number): void;
  close(): void;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** The bytes that are read ahead at most: enough to be fast, and few enough to show progress. */
const MOST_AHEAD = 2 ** 22;

/** The first allocation for a stream, which may hold fewer bytes than are asked for. */
const FIRST_ROOM = 2 ** 20;

export class ByteReader {
  readonly #where: string;
  readonly #source: ByteSource;
  readonly #signal: AbortSignal | null;
  readonly #stop = (): void => this.#source.close();
  /** What was read and is still to be taken lies between two places of this memory, which is used again and again. */
  #room: Bytes = new Uint8Array(0);
  #from = 0;
  #to = 0;
  #position = 0;
  /** Whether all that follows will be read: more than is asked for may come at a time. */
  readsAll = false;
  /** Called whenever bytes have come. */
  onBytes: () => void = () => {};

  /** `where` names the caller's function in messages. The reader must be closed. */
  static async open(where: string, source: unknown, signal: AbortSignal | null): Promise<ByteReader> {
    assertNotAborted(where, signal);
    const reader = new ByteReader(where, await byteSourceOf(where, source, signal), signal);
    signal?.addEventListener("abort", reader.#stop);
    return reader;
  }

  private constructor(where: string, source: ByteSource, signal: AbortSignal | null) {
    this.#where = where;
    this.#source = source;
    this.#signal = signal;
  }

  /** The number of bytes that were taken or skipped so far. */
  get position(): number {
    return this.#position;
  }

  /** The number of those and of what is still to be taken. */
  get received(): number {
    return this.#position + this.#to - this.#from;
  }

  get size(): number | undefined {
    return this.#source.size;
  }

  /** The next bytes, in memory of their own; fewer than `count` where the source ends. */
  async read(count: number): Promise<Bytes> {
    // Memory for all bytes is allocated only where their number is known.
    let bytes = allocate(this.#where, Math.min(count, this.#rest));
    let filled = 0;
    while (filled < count) {
      const some = await this.#some(count - filled);
      if (some.length === 0) return bytes.slice(0, filled);
      if (filled + some.length > bytes.length) {
        const larger = allocate(this.#where, Math.min(count, Math.max(2 * bytes.length, filled + some.length)));
        larger.set(bytes.subarray(0, filled));
        bytes = larger;
      }
      bytes.set(some, filled);
      filled += some.length;
    }
    return bytes;
  }

  /** The next bytes; fewer than `count` where the source ends. They are valid until the reader is used again. */
  async view(count: number): Promise<Bytes> {
    await this.peek(count);
    return this.#take(count);
  }

  /** The same, which are still to be taken; more than `count` if they are there. */
  async peek(count: number): Promise<Bytes> {
    let there = this.#to - this.#from;
    while (there < count && (await this.#pull(count - there))) there = this.#to - this.#from;
    return this.#room.subarray(this.#from, this.#to);
  }

  /** Skips up to `count` bytes and returns how many there were. */
  async skip(count: number): Promise<number> {
    const from = this.#position;
    while (this.#position < from + count) {
      const rest = from + count - this.#position;
      if (this.#from === this.#to && !this.readsAll && this.#source.seek !== undefined) {
        const there = Math.min(rest, this.#rest);
        this.#source.seek(there);
        this.#position += there;
        break;
      }
      if ((await this.#some(rest)).length === 0) break;
    }
    return this.#position - from;
  }

  /** Whether all bytes were taken. */
  async isAtEnd(): Promise<boolean> {
    return this.#from === this.#to && !(await this.#pull(1));
  }

  close(): void {
    this.#signal?.removeEventListener("abort", this.#stop);
    this.#source.close();
  }

  /** The bytes that are still to be taken, as far as is known. */
  get #rest(): number {
    return this.size === undefined ? FIRST_ROOM : Math.max(this.size - this.#position, 0);
  }

  /** At least one of the next bytes, and at most `most`; none at the end. */
  async #some(most: number): Promise<Bytes> {
    if (this.#from === this.#to && most > 0) await this.#pull(most);
    return this.#take(most);
  }

  #take(most: number): Bytes {
    assertNotAborted(this.#where, this.#signal);
    const taken = this.#room.subarray(this.#from, Math.min(this.#from + most, this.#to));
    this.#from += taken.length;
    this.#position += taken.length;
    return taken;
  }

  /** Reads on. Returns whether something came. */
  async #pull(wanted: number): Promise<boolean> {
    const most = Math.min(wanted, MOST_AHEAD);
    this.#makeRoom(most);
    try {
      const end = this.readsAll ? this.#room.length : Math.min(this.#to + most, this.#room.length);
      const filled = await this.#source.fill(this.#room.subarray(this.#to, end), this.readsAll);
      assertNotAborted(this.#where, this.#signal);
      this.#room = new Uint8Array(filled.buffer);
      this.#to += filled.length;
      if (filled.length > 0) this.onBytes();
      return filled.length > 0;
    } catch (error) {
      assertNotAborted(this.#where, this.#signal);
      if (error instanceof HeedError) throw error;
      throw new HeedError("load", `${this.#where}: the source could not be read: ${causeText(error)}`, {
        cause: error,
      });
    }
  }

  /** Makes sure that something can be written behind what is there: moves it to the start, to larger memory where that is needed. */
  #makeRoom(wanted: number): void {
    if (this.#to < this.#room.length && this.#from < this.#to) return;
    const left = this.#room.subarray(this.#from, this.#to);
    const least = Math.max(left.length + wanted, this.readsAll ? Math.min(this.#rest, MOST_AHEAD) : 0);
    if (least > this.#room.length) this.#room = allocate(this.#where, Math.max(least, 2 * left.length));
    this.#room.set(left);
    [this.#from, this.#to] = [0, left.length];
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

let decoder: TextDecoder | null = null;

export function decodeUtf8(where: string, what: string, bytes: Uint8Array): string {
  decoder ??= new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new HeedError("load", `${where}: ${what} must be UTF-8, got bytes that are not`, { cause });
  }
}

function allocate(where: string, bytes: number): Bytes {
  try {
    return new Uint8Array(bytes);
  } catch (cause) {
    throw new HeedError("memory", `${where}: no memory for ${bytes} bytes`, { cause });
  }
}

async function byteSourceOf(where: string, source: unknown, signal: AbortSignal | null): Promise<ByteSource> {
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

function ofBytes(bytes: Uint8Array): ByteSource {
  let at = 0;
  return {
    size: bytes.length,
    fill: async (view) => {
      const filled = put(bytes.subarray(at), view);
      at += filled.length;
      return filled;
    },
    seek: (count) => {
      at += count;
    },
    close: () => {},
  };
}

/** Writes as many bytes as fit. */
function put(bytes: Uint8Array, view: Bytes): Bytes {
  const some = bytes.subarray(0, view.length);
  view.set(some);
  return view.subarray(0, some.length);
}

/** Its stream writes to the reader's own memory, which takes a third of the time of an array for each piece. */
function ofBlob(blob: Blob): ByteSource {
  let at = 0;
  let stream: ReadableStreamBYOBReader | null | undefined;
  return {
    size: blob.size,
    fill: async (view, readsAll) => {
      if (readsAll && stream === undefined) stream = byteStreamOf(blob, at);
      const filled = !stream
        ? put(new Uint8Array(await blob.slice(at, at + view.length).arrayBuffer()), view)
        : await readInto(stream, view);
      at += filled.length;
      return filled;
    },
    seek: (count) => {
      at += count;
    },
    close: () => {
      if (stream) cancel(stream);
    },
  };
}

/** Readers that wait. Chromium collects one that nothing else refers to, and its answer never comes. */
const WAITING = new Set<ReadableStreamBYOBReader>();

async function readInto(stream: ReadableStreamBYOBReader, view: Bytes): Promise<Bytes> {
  WAITING.add(stream);
  try {
    return (await stream.read(view)).value ?? view.subarray(0, 0);
  } finally {
    WAITING.delete(stream);
  }
}

/** Null where streams of a Blob have buffers of their own. A stream of a large Blob is not begun to find that out: some engines read all of it. */
function byteStreamOf(blob: Blob, start: number): ReadableStreamBYOBReader | null {
  const from = (at: number): ReadableStreamBYOBReader => blob.slice(at).stream().getReader({ mode: "byob" });
  try {
    from(blob.size);
    return from(start);
  } catch {
    return null;
  }
}

function ofAnswer(where: string, answer: Response): ByteSource {
  if (!answer.ok) {
    const got = `${answer.status} ${answer.statusText}`.trim();
    throw new HeedError("load", `${where}: the server must answer with the file, got ${got} for ${answer.url}`);
  }
  return answer.body === null ? ofBytes(new Uint8Array(0)) : ofStream(where, answer.body);
}

function ofStream(where: string, stream: ReadableStream<unknown>): ByteSource {
  if (stream.locked) {
    throw new HeedError("option", `${where}: the stream must not be in use, got one that is being read elsewhere`);
  }
  const reader = stream.getReader();
  let chunk: Uint8Array = new Uint8Array(0);
  return {
    size: undefined,
    fill: async (view) => {
      while (chunk.length === 0) {
        const { done, value } = await reader.read();
        if (done) break;
        if (!isUint8Array(value)) {
          throw new HeedError("load", `${where}: the stream must be of Uint8Arrays, got ${showValue(value)}`);
        }
        chunk = plainBytes(value);
      }
      const filled = put(chunk, view);
      chunk = chunk.subarray(filled.length);
      return filled;
    },
    close: () => cancel(reader),
  };
}

/** The stream may have failed already, and then its reader has rejected. */
function cancel(reader: ReadableStreamGenericReader): void {
  reader.cancel().catch(() => {});
}
