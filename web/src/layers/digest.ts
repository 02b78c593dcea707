// Tells arrays of numbers apart without keeping them. It does not withstand somebody who looks for two with one digest.

import { bytesIn } from "../memory/heap-view.js";

/** Of the type, the length and the bytes. */
export function digestOf(data: Float32Array | Uint16Array | Uint8Array): string {
  const bytes = bytesIn(data);
  // Two of FNV-1a, of which one begins elsewhere and turns its state.
  let [first, second] = [0x811c9dc5, 0x9e3779b9];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    first = Math.imul(first ^ byte, 0x01000193);
    second = Math.imul(((second << 5) | (second >>> 27)) ^ byte, 0x85ebca6b);
  }
  return [data.constructor.name, bytes.length, first >>> 0, second >>> 0].join();
}
