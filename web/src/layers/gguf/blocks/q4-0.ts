// Q4_0: 32 numbers d (u - 8) in 18 bytes, an f16 scale d and 32 nibbles u: the low ones of all bytes, then the high ones.

import { blocks, f16At } from "./blocks.js";

export const Q4_0 = blocks(32, 18, (data, at, out, to) => {
  const d = f16At(data, at);
  for (let i = 0; i < 16; i++) {
    const byte = data[at + 2 + i] ?? 0;
    out[to + i] = d * ((byte & 15) - 8);
    out[to + 16 + i] = d * ((byte >>> 4) - 8);
  }
});
