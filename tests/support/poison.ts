// Before each file of tests in Node: the memory that engines hand out holds NaN, so that a result nobody wrote shows.

import { Kernels } from "../../web/src/backends/wasm/kernels.js";
import type { Block } from "../../web/src/memory/arena.js";

const { allocate, write } = Kernels.prototype;

function poison({ heap }: Kernels, { address, bytes }: Block): void {
  heap.bytes(address, bytes).fill(0xff);
}

Kernels.prototype.allocate = function (bytes) {
  const address = allocate.call(this, bytes);
  poison(this, { address, bytes });
  return address;
};

// A block that the arena kept from an earlier call.
Kernels.prototype.write = function (this: Kernels, job, block = this.arena.take(job.bytes)) {
  poison(this, block);
  return write.call(this, job, block);
};
