// Q5_0: 32 numbers d (u - 16) in 22 bytes, an f16 scale d and 5 bits for each u.

import { blocks, f16At } from "../../formats/blocks.js";
import { fiveBits } from "./five-bits.js";

export const Q5_0 = blocks(32, 22, (data, at, out, to) => {
  const d = f16At(data, at);
  fiveBits(data, at + 2, (i, u) => {
    out[to + i] = d * (u - 16);
  });
});
