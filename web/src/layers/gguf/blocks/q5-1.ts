// Q5_1: 32 numbers d u + m in 24 bytes, f16 d and m, and 5 bits for each u.

import { blocks, f16At } from "../../formats/blocks.js";
import { fiveBits } from "./five-bits.js";

export const Q5_1 = blocks(32, 24, (data, at, out, to) => {
  const [d, m] = [f16At(data, at), f16At(data, at + 2)];
  fiveBits(data, at + 4, (i, u) => {
    out[to + i] = d * u + m;
  });
});
