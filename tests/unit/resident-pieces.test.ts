import { expect, test } from "vitest";
import type { Kernels } from "../../web/src/backends/wasm/kernels.js";
import { ResidentPieces } from "../../web/src/backends/wasm/portions.js";
import { WasmResident } from "../../web/src/backends/wasm/residents.js";

/** A tensor of 1024 bytes, and a piece of it from byte 256 on. */
function pieceOf(): {
  readonly memory: Uint8Array<ArrayBuffer>;
  readonly change: (from: number, bytes: number) => void;
  readonly told: (since: number) => readonly (readonly [offset: number, bytes: number[]])[];
  readonly version: () => number;
} {
  const memory = new Uint8Array(1024);
  const heap = { bytes: (address: number, length: number) => memory.subarray(address, address + length) };
  const pieces = new ResidentPieces({ heap } as unknown as Kernels);
  const resident = new WasmResident(0, 256, "f32");
  const piece = pieces.of(resident, 256, 512);
  return {
    memory,
    change: (from, bytes) => expect(pieces.change(resident, [{ from, bytes }])).toEqual([]),
    told: (since) => piece.changes(since).map(([offset, bytes]) => [offset, [...new Uint8Array(bytes)]] as const),
    version: () => piece.version,
  };
}

test("what changes again and again is told once, as it is now", () => {
  const { memory, change, told } = pieceOf();
  for (let i = 0; i < 10_000; i++) {
    memory[260] = i;
    change(260, 2);
  }
  memory[261] = 7;
  expect(told(0)).toEqual([[4, [9_999 % 256, 7]]]);
});

test("what is known already is not told, and a longer span is not forgotten for a shorter one", () => {
  const { memory, change, told, version } = pieceOf();
  change(300, 3);
  change(310, 1);
  const known = version();
  memory[300] = 5;
  change(300, 1);
  expect(told(known)).toEqual([[44, [5]]]);
  expect(told(version())).toEqual([]);
  expect(told(0)).toEqual([
    [44, [5, 0, 0]],
    [54, [0]],
    [44, [5]],
  ]);
});

test("changes outside a piece are not its own", () => {
  const { change, told } = pieceOf();
  change(255, 1);
  change(768, 4);
  expect(told(0)).toEqual([]);
});
