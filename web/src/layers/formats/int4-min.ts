// Q4_1: 32 numbers d u + m in 20 bytes, f16 d and m, and nibbles u as in Q4_0.

import { blocks, f16At } from "./blocks.js";
import type { NarrowFormat } from "./format.js";

const NUMBERS = 32;

export const INT4_MIN: NarrowFormat<"int4-min"> = {
  name: "int4-min",
  ...blocks(NUMBERS, 20, (data, at, out, to) => {
    const [d, m] = [f16At(data, at), f16At(data, at + 2)];
    for (let i = 0; i < 16; i++) {
      const byte = data[at + 4 + i] ?? 0;
      out[to + i] = d * (byte & 15) + m;
      out[to + 16 + i] = d * (byte >>> 4) + m;
    }
  }),
  panelBytes: (256 + 128) / NUMBERS,
  array: (bytes) => bytes,
};
