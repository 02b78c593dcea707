import { expect, test } from "vitest";
import { ResidentBuffers } from "../../web/src/backends/wasm/cached-buffers.js";
import type { Kernels } from "../../web/src/backends/wasm/kernels.js";
import { WasmResident } from "../../web/src/backends/wasm/resident.js";

/** A tensor of 1024 bytes, and a cached buffer of its 512 bytes from byte 256 on. */
function bufferOf(): {
  readonly memory: Uint8Array<ArrayBuffer>;
  readonly change: (from: number, bytes: number) => void;
  readonly patches: (since: number) => readonly (readonly [offset: number, bytes: number[]])[];
  readonly version: () => number;
} {
  const memory = new Uint8Array(1024);
  const heap = { bytes: (address: number, length: number) => memory.subarray(address, address + length) };
  const buffers = new ResidentBuffers({ heap } as unknown as Kernels);
  const resident = new WasmResident(0, 256, "f32");
  const buffer = buffers.of(resident, 256, 512);
  return {
    memory,
    change: (from, bytes) => expect(buffers.change(resident, [{ from, bytes }])).toEqual([]),
    patches: (since) => buffer.changes(since).map(([offset, bytes]) => [offset, [...new Uint8Array(bytes)]] as const),
    version: () => buffer.version,
  };
}

test("bytes that change again and again make one patch, with their current values", () => {
  const { memory, change, patches } = bufferOf();
  for (let i = 0; i < 10_000; i++) {
    memory[260] = i;
    change(260, 2);
  }
  memory[261] = 7;
  expect(patches(0)).toEqual([[4, [9_999 % 256, 7]]]);
});

test("a change that is known makes no patch, and a shorter span does not replace a longer one", () => {
  const { memory, change, patches, version } = bufferOf();
  change(300, 3);
  change(310, 1);
  const known = version();
  memory[300] = 5;
  change(300, 1);
  expect(patches(known)).toEqual([[44, [5]]]);
  expect(patches(version())).toEqual([]);
  expect(patches(0)).toEqual([
    [44, [5, 0, 0]],
    [54, [0]],
    [44, [5]],
  ]);
});

test("changes outside a cached buffer make no patch", () => {
  const { change, patches } = bufferOf();
  change(255, 1);
  change(768, 4);
  expect(patches(0)).toEqual([]);
});
