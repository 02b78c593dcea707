// Allocates blocks of a WebAssembly heap for the length of a call. One small block is kept for the next call; others are freed at
// once.

import { HeedError } from "../base/errors.js";

/** The allocator that a WebAssembly module exports. `allocate` returns 0 when there is no room. */
export interface Allocator {
  allocate(bytes: number): number;
  release(address: number): void;
}

export interface Block {
  readonly address: number;
  readonly bytes: number;
}

/** The largest block that is kept for the next call: it fits 8 heads x 128 x 64, and an idle engine holds no more than 1 MiB. */
export const KEPT_BYTES = 2 ** 20;

/** Addresses have 32 bits. A block ends before the last page, so that address + bytes never wraps. */
export const MAX_BLOCK_BYTES = 2 ** 31 - 65536;

/** Throws HeedError `memory` where there is no room. */
export function allocate(allocator: Allocator, bytes: number): number {
  const address = bytes <= MAX_BLOCK_BYTES ? allocator.allocate(bytes) >>> 0 : 0;
  if (address !== 0) return address;
  throw new HeedError("memory", `heed: the engine's memory has no room for ${bytes} more bytes`);
}

export class Arena {
  readonly #allocator: Allocator;
  #kept: Block | null = null;

  constructor(allocator: Allocator) {
    this.#allocator = allocator;
  }

  /** At least `bytes` bytes, 64-byte aligned. Throws HeedError `memory`. */
  take(bytes: number): Block {
    return this.#takeKept(bytes) ?? this.#allocate(bytes);
  }

  give(block: Block): void {
    if (this.#kept === null && block.bytes <= KEPT_BYTES) this.#kept = block;
    else this.#allocator.release(block.address);
  }

  #takeKept(bytes: number): Block | null {
    const kept = this.#kept;
    if (kept === null || kept.bytes < bytes) return null;
    this.#kept = null;
    return kept;
  }

  #allocate(bytes: number): Block {
    // A kept block that is too small is freed first. It would fragment the heap, which calls of slowly rising sizes would grow forever.
    if (this.#kept !== null) {
      this.#allocator.release(this.#kept.address);
      this.#kept = null;
    }
    const size = Math.max(64, Math.ceil(bytes / 64) * 64);
    return { address: allocate(this.#allocator, size), bytes: size };
  }
}
