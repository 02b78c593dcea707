// The arena on a checking allocator, views across growth, and finalisers.

import { describe, expect, test } from "vitest";
import { HeedError } from "../../web/src/index.js";
import { type Allocator, Arena, KEPT_BYTES, MAX_BLOCK_BYTES } from "../../web/src/memory/arena.js";
import { DISPOSE, finalise, unfinalise } from "../../web/src/memory/disposable.js";
import { HeapView } from "../../web/src/memory/heap-view.js";
import { Random } from "../support/random.js";

/** An allocator that refuses double frees and knows which blocks are allocated. */
class CheckingAllocator implements Allocator {
  readonly out = new Map<number, number>();
  allocations = 0;
  #next = 64;

  constructor(readonly room = Number.POSITIVE_INFINITY) {}

  allocate(bytes: number): number {
    this.allocations += 1;
    if (bytes > this.room) return 0;
    const address = this.#next;
    this.#next += bytes;
    this.out.set(address, bytes);
    return address;
  }

  release(address: number): void {
    if (!this.out.delete(address)) throw new Error(`${address} is not out`);
  }
}

describe("arena", () => {
  test("gives aligned blocks of at least what was asked, zero included", () => {
    const arena = new Arena(new CheckingAllocator());
    for (const bytes of [0, 1, 63, 64, 65, 1000]) {
      const block = arena.take(bytes);
      expect(block.address % 64).toBe(0);
      expect(block.bytes).toBeGreaterThanOrEqual(Math.max(bytes, 1));
      arena.give(block);
    }
  });

  test("keeps one small block and returns everything else", () => {
    const allocator = new CheckingAllocator();
    const arena = new Arena(allocator);
    const blocks = [100, 200, KEPT_BYTES + 1].map((bytes) => arena.take(bytes));
    expect(allocator.out.size).toBe(3);
    for (const block of blocks) arena.give(block);
    expect(allocator.out.size).toBe(1);
    const { allocations } = allocator;
    arena.give(arena.take(100));
    expect(allocator.allocations).toBe(allocations);
  });

  test("never holds more than one block when idle, whatever the sizes", () => {
    const allocator = new CheckingAllocator();
    const arena = new Arena(allocator);
    const random = new Random(5);
    for (let i = 0; i < 1000; i++) {
      const blocks = Array.from({ length: random.whole(1, 3) }, () => arena.take(random.whole(0, 2 * KEPT_BYTES)));
      for (const block of blocks) arena.give(block);
      expect(allocator.out.size).toBeLessThanOrEqual(1);
    }
  });

  test("says memory when there is no room, and holds none", () => {
    const allocator = new CheckingAllocator(1000);
    const arena = new Arena(allocator);
    expect(() => arena.take(1001)).toThrow(HeedError);
    expect(() => arena.take(MAX_BLOCK_BYTES + 1)).toThrow(/no room/);
    expect(() => arena.take(2 ** 40)).toThrow(/no room/);
    expect(allocator.out.size).toBe(0);
    expect(arena.take(900).bytes).toBeGreaterThanOrEqual(900);
  });

  test("reads addresses beyond 2 GiB as unsigned", () => {
    const arena = new Arena({ allocate: () => -64, release: () => {} });
    expect(arena.take(64).address).toBe(2 ** 32 - 64);
  });
});

test("views asked for after growth see the grown memory", () => {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 4 });
  const heap = new HeapView(memory);
  heap.floats(64, 2).set([1, 2]);
  memory.grow(2);
  expect(heap.byteLength).toBe(3 * 65536);
  expect([...heap.floats(64, 2)]).toEqual([1, 2]);
  expect(heap.bytes(2 * 65536, 8).length).toBe(8);
});

describe("disposable", () => {
  test("is the well-known symbol where there is one", () => {
    expect(DISPOSE).toBe(Symbol.dispose ?? Symbol.for("Symbol.dispose"));
  });

  test("a finaliser runs for an owner that is collected, and not for one that was disposed of", async () => {
    const ran: string[] = [];
    (() => {
      finalise({}, () => ran.push("forgotten"));
      const disposed = {};
      finalise(disposed, () => ran.push("disposed"));
      unfinalise(disposed);
    })();
    for (let i = 0; i < 50 && ran.length === 0; i++) {
      globalThis.gc?.();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(ran).toEqual(["forgotten"]);
  });
});
