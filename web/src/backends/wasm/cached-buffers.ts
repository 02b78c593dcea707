// Byte ranges of inputs that a worker with its own memory is sent once and keeps. A later call that needs the same range names it
// by its number, and sends only what changed since.

import { HeedError } from "../../base/errors.js";
import type { Span } from "../backend.js";
import type { Kernels } from "./kernels.js";
import type { BufferUse, Patch } from "./protocol.js";
import type { WasmResident } from "./resident.js";
import type { CachedBuffer } from "./shard.js";

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
  /** It may get another owner. */
  resident: WasmResident;
  /** One entry a span, with the last version that changed it: decoding writes the same tiles again and again. */
  readonly #changes = new Map<string, readonly [version: number, span: Span]>();
  readonly #kernels: Kernels;
  readonly #span: Span;
  #version = 0;

  constructor(kernels: Kernels, resident: WasmResident, span: Span) {
    this.#kernels = kernels;
    this.resident = resident;
    this.#span = span;
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

  #read({ from, bytes }: Span): ArrayBuffer {
    if (this.resident.away) throw new HeedError("unsupported", "heed: an input is of a pass under way");
    return new Uint8Array(this.#kernels.heap.bytes(this.resident.address + from, bytes)).buffer;
  }
}

/** The cached buffers of all tensors, by byte range, so that later calls find what workers already hold. */
export class ResidentBuffers {
  readonly #kernels: Kernels;
  readonly #known = new Map<WasmResident, Map<string, ResidentBuffer>>();

  constructor(kernels: Kernels) {
    this.#kernels = kernels;
  }

  of(resident: WasmResident, from: number, length: number): CachedBuffer {
    const known = this.#known.get(resident) ?? new Map<string, ResidentBuffer>();
    this.#known.set(resident, known);
    const key = `${from}+${length}`;
    const buffer = known.get(key) ?? new ResidentBuffer(this.#kernels, resident, { from, bytes: length });
    known.set(key, buffer);
    return buffer;
  }

  /** The buffers of a tensor become those of another one, which has its memory. */
  move(from: WasmResident, to: WasmResident): void {
    const known = this.#known.get(from);
    if (known === undefined) return;
    this.#known.delete(from);
    this.#known.set(to, known);
    for (const buffer of known.values()) buffer.resident = to;
  }

  /** Records that bytes of the tensor changed. Returns the numbers of buffers that workers should drop and be sent again. */
  change(resident: WasmResident, spans: readonly Span[]): readonly number[] {
    const known = this.#known.get(resident) ?? new Map<string, ResidentBuffer>();
    const stale = [...known].filter(([, buffer]) => !buffer.change(spans));
    for (const [key] of stale) known.delete(key);
    return stale.map(([, { id }]) => id);
  }

  /** Called when the tensor is freed. Returns the numbers of its buffers, which workers may hold. */
  forget(resident: WasmResident): readonly number[] {
    const known = [...(this.#known.get(resident)?.values() ?? [])];
    this.#known.delete(resident);
    return known.map(({ id }) => id);
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

/** What a worker lacks of buffers. `stored` has the version of each that it holds. */
export function bufferUses(
  buffers: ReadonlySet<CachedBuffer>,
  stored: ReadonlyMap<number, number>,
  isLast: (buffer: CachedBuffer) => boolean,
): readonly BufferUse[] {
  return [...buffers].flatMap((buffer): BufferUse[] => {
    const { id, version } = buffer;
    const known = stored.get(id);
    if (known === version) return [];
    if (known === undefined) return [{ id, data: buffer.bytes(isLast(buffer)), patches: [] }];
    return [{ id, data: null, patches: buffer.changes(known) }];
  });
}
