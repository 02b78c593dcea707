// Q6_K: 256 numbers d s (u - 32) in 210 bytes: 128 with the low 4 bits of each u, 64 with the high 2, 16 signed scales s, an f16 d.

import { blocks, f16At } from "../../formats/blocks.js";

export const Q6_K = blocks(256, 210, (data, at, out, to) => {
  const d = f16At(data, at + 208);
  // Groups of 32 numbers: four of them, in each half, share 32 bytes of high bits, and two and two of them 32 bytes of nibbles.
  for (let group = 0; group < 8; group++) {
    const [half, quarter] = [group >>> 2, group & 3];
    const [low, shift] = [at + 64 * half + 32 * (quarter & 1), 4 * (quarter >>> 1)];
    const high = at + 128 + 32 * half;
    for (let i = 0; i < 32; i++) {
      const nibble = ((data[low + i] ?? 0) >>> shift) & 15;
      const upper = ((data[high + i] ?? 0) >>> (2 * quarter)) & 3;
      const scale = ((data[at + 192 + 2 * group + (i >>> 4)] ?? 0) << 24) >> 24;
      out[to + 32 * group + i] = d * scale * ((nibble | (upper << 4)) - 32);
    }
  }
});
