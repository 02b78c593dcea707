// Q4_K: 256 numbers in 144 bytes. Pairs of sub-blocks share 32 bytes: the low nibbles are the first one's, the high ones the second one's.

import { blocks } from "./blocks.js";
import type { NarrowFormat } from "./format.js";
import { HEAD, minimumOf, scaleOf } from "./sub-blocks.js";

export const Q4_K: NarrowFormat<"q4-k"> = {
  name: "q4-k",
  ...blocks(256, 144, (data, at, out, to) => {
    for (let sub = 0; sub < 8; sub++) {
      const [d, m] = [scaleOf(data, at, sub), minimumOf(data, at, sub)];
      const [from, shift] = [at + HEAD + 32 * (sub >>> 1), 4 * (sub & 1)];
      for (let i = 0; i < 32; i++) out[to + 32 * sub + i] = d * (((data[from + i] ?? 0) >>> shift) & 15) - m;
    }
  }),
  panelBytes: (256 + 128) / 32,
  array: (bytes) => bytes,
};
