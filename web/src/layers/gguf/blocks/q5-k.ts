// Q5_K: as Q4_K, with 32 more bytes, of which bit `sub` is the fifth bit of a number of that sub-block; 176 bytes.

import { blocks } from "../../formats/blocks.js";
import { HEAD, minimumOf, scaleOf } from "../../formats/sub-blocks.js";

export const Q5_K = blocks(256, 176, (data, at, out, to) => {
  for (let sub = 0; sub < 8; sub++) {
    const [d, m] = [scaleOf(data, at, sub), minimumOf(data, at, sub)];
    const [from, shift] = [at + HEAD + 32 + 32 * (sub >>> 1), 4 * (sub & 1)];
    for (let i = 0; i < 32; i++) {
      const fifth = ((data[at + HEAD + i] ?? 0) >>> sub) & 1;
      out[to + 32 * sub + i] = d * ((((data[from + i] ?? 0) >>> shift) & 15) | (fifth << 4)) - m;
    }
  }
});
