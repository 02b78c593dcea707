// Before each file of tests in Node: how `toEqual` compares arrays of f32. By its own way a million numbers take seconds.

import { expect } from "vitest";

expect.addEqualityTesters([
  (got: unknown, wanted: unknown): boolean | undefined =>
    got instanceof Float32Array && wanted instanceof Float32Array
      ? got.length === wanted.length && got.every((value, index) => Object.is(value, wanted[index]))
      : undefined,
]);
