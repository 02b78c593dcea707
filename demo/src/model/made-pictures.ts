// Pictures that are computed, on a square of 32 by 32, at any point of it.

/** Red, green and blue from 0 to 1. */
type Colour = readonly [number, number, number];

/** A house on a meadow under a sun. */
export function houseAt(x: number, y: number): Colour {
  if (Math.hypot(x - 25, y - 6) < 4) return [1, 0.8, 0.2];
  if (y >= 25) return [0.25, 0.6, 0.25];
  const inHouse = x >= 6 && x < 20;
  if (inHouse && y >= 16) return x >= 11 && x < 15 && y >= 19 ? [0.3, 0.18, 0.1] : [0.85, 0.82, 0.75];
  if (y >= 8 && y < 16 && Math.abs(x - 12.5) <= y - 7) return [0.7, 0.2, 0.15];
  return [0.5, 0.7, 0.9];
}

export function ripplesAt(x: number, y: number): Colour {
  const wave = (from: readonly [number, number], length: number): number =>
    0.5 + 0.5 * Math.cos((2 * Math.PI * Math.hypot(x - from[0], y - from[1])) / length);
  return [wave([5, 6], 9), wave([26, 10], 7), wave([14, 30], 12)];
}
