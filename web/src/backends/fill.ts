// Results that go into an array of the caller's.

import { HeedError } from "../base/errors.js";

/** Copies a result, and returns the part of the array that holds it. The caller may have detached the array meanwhile. */
export function fill(operation: string, into: Float32Array, result: Float32Array): Float32Array {
  if (into.length < result.length) {
    throw new HeedError("shape", `${operation}: out lost its buffer or shrank while the call ran`);
  }
  into.set(result);
  return into.length === result.length ? into : into.subarray(0, result.length);
}
