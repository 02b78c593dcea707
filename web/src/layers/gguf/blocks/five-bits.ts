// The 32 numbers from 0 to 31 of Q5_0 and Q5_1: 4 bytes with a fifth bit for each, then nibbles as in Q4_0.

export function fiveBits(data: Uint8Array, at: number, each: (index: number, number: number) => void): void {
  for (let i = 0; i < 16; i++) {
    const byte = data[at + 4 + i] ?? 0;
    each(i, (byte & 15) | (bitAt(data, at, i) << 4));
    each(16 + i, (byte >>> 4) | (bitAt(data, at, 16 + i) << 4));
  }
}

const bitAt = (data: Uint8Array, at: number, bit: number): number => ((data[at + (bit >>> 3)] ?? 0) >>> (bit & 7)) & 1;
