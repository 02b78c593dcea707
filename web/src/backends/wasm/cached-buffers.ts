// Byte ranges of inputs that a worker with its own memory is sent once and keeps. A later call that needs the same range names it
// by its number, and sends only what changed since.

import type { Span } from "../backend.js";
import type { Kernels } from "./kernels.js";
import type { BufferUse, Patch } from "./protocol.js";
import type { WasmResident } from "./resident.js";

/** A worker keeps the buffers of a tensor until that is freed, and those of a call until the call is over. */
export interface CachedBuffer {
  readonly id: number;
  /** Counts the changes of its bytes. */
  readonly version: number;
  /** What changed after a version, with the bytes as they are now. */
  changes(since: number): readonly Patch[];
  /** A copy to send; `isLast` when nobody will ask again. */
  bytes(isLast: boolean): ArrayBuffer;
}

/** A word of the call that takes an address: `offset` bytes into a cached buffer. */
export interface BufferPart {
  readonly word: number;
  readonly buffer: CachedBuffer;
  readonly offset: number;
}

/** After so many changes patches cost more than they save, and the whole buffer is sent again. */
const MAX_CHANGES = 4096;

let lastId = 0;

/** A byte range of a tensor. */
class ResidentBuffer implements CachedBuffer {
  readonly id = ++lastId;
  /** One entry a span, with the last version that changed it: decoding writes the same tiles again and again. */
  readonly #changes = new Map<string, readonly [version: number, span: Span]>();
  readonly #read: (span: Span) => ArrayBuffer;
  readonly #span: Span;
  #version = 0;

  constructor(span: Span, read: (span: Span) => ArrayBuffer) {
    this.#span = span;
    this.#read = read;
  }

  get version(): number {
    return this.#version;
  }

  bytes(): ArrayBuffer {
    return this.#read(this.#span);
  }

  /** False when there are too many changes to send as patches. */
  change(spans: readonly Span[]): boolean {
    const { from, bytes } = this.#span;
    this.#version += 1;
    const own = spans.filter((span) => span.from >= from && span.from < from + bytes);
    for (const span of own) this.#changes.set(`${span.from}+${span.bytes}`, [this.#version, span]);
    return this.#changes.size <= MAX_CHANGES;
  }

  changes(since: number): readonly Patch[] {
    return [...this.#changes.values()]
      .filter(([version]) => version > since)
      .map(([, span]): Patch => [span.from - this.#span.from, this.#read(span)]);
  }
}

/** The cached buffers of all tensors, by byte range, so that later calls find what workers already hold. */
export class ResidentBuffers {
  readonly #kernels: Kernels;
  readonly #known = new Map<number, Map<string, ResidentBuffer>>();

  constructor(kernels: Kernels) {
    this.#kernels = kernels;
  }

  of(resident: WasmResident, from: number, length: number): CachedBuffer {
    const known = this.#known.get(resident.id) ?? new Map<string, ResidentBuffer>();
    this.#known.set(resident.id, known);
    const key = `${from}+${length}`;
    const read = (span: Span): ArrayBuffer =>
      new Uint8Array(this.#kernels.heap.bytes(resident.address + span.from, span.bytes)).buffer;
    const buffer = known.get(key) ?? new ResidentBuffer({ from, bytes: length }, read);
    known.set(key, buffer);
    return buffer;
  }

  /** Records that bytes of the tensor changed. Returns the buffers that workers should drop and be sent again. */
  change(resident: WasmResident, spans: readonly Span[]): readonly CachedBuffer[] {
    const known = [...(this.#known.get(resident.id) ?? [])];
    const stale = known.filter(([, buffer]) => !buffer.change(spans));
    for (const [key] of stale) this.#known.get(resident.id)?.delete(key);
    return stale.map(([, buffer]) => buffer);
  }

  /** Called when the tensor is freed. Returns its buffers, which workers may hold. */
  forget(resident: WasmResident): readonly CachedBuffer[] {
    const known = this.#known.get(resident.id);
    this.#known.delete(resident.id);
    return known === undefined ? [] : [...known.values()];
  }
}

/** A byte range of an array of the caller's, copied. */
export function arrayBufferOf(copy: ArrayBuffer): CachedBuffer {
  return {
    id: ++lastId,
    version: 0,
    changes: () => [],
    bytes: (isLast) => (isLast ? copy : copy.slice(0)),
  };
}

/** The buffers that a shard uses, with the bytes that a worker lacks. `stored` has the version of each buffer that it holds. */
export function bufferUses(
  parts: readonly BufferPart[],
  stored: ReadonlyMap<number, number>,
  isLast: (buffer: CachedBuffer) => boolean,
): readonly BufferUse[] {
  const sent = new Map(stored);
  return parts.map(({ word, buffer, offset }) => {
    const version = sent.get(buffer.id);
    sent.set(buffer.id, buffer.version);
    const isNew = version === undefined;
    const data = isNew ? buffer.bytes(isLast(buffer)) : null;
    return { word, id: buffer.id, offset, data, patches: isNew ? [] : buffer.changes(version) };
  });
}
