// Places along many tokens, a few of them together in each.

import { whole } from "../../src/ui/numbers.js";

const MOST = 128;

export function binsOf(count: number): number {
  return Math.min(MOST, count);
}

/** From the first of a bin to the one after its last. */
export function binAt(bin: number, count: number): readonly [number, number] {
  const bins = binsOf(count);
  return [Math.floor((bin * count) / bins), Math.floor(((bin + 1) * count) / bins)];
}

/** An axis over the bins, counted from one. `together`: what is told of a bin of several. */
export function axisOf(name: string, several: string, count: number, together: string) {
  const values = Array.from({ length: binsOf(count) }, (_, bin) => binAt(bin, count)[0] + 1);
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => Math.max(1, Math.round(part * count)));
  const nameOf = (bin: number): string => {
    const [from, to] = binAt(bin, count);
    return to - from === 1 ? `${name} ${to}` : `${several} ${whole(from + 1)} to ${whole(to)}, ${together}`;
  };
  return { name, values, log: false, ticks, nameOf };
}

export function binOf(place: number, count: number): number {
  return Math.min(binsOf(count) - 1, Math.floor((place * binsOf(count)) / count));
}
