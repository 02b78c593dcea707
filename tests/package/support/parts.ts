// What consumer/page/parts.js found, and whether it is right: against results that are known by hand.

import { expect } from "vitest";

export interface Parts {
  readonly linear: readonly number[];
  readonly narrow: readonly number[];
  readonly masked: readonly number[];
  readonly loss: number;
  readonly inputGradient: readonly number[];
  readonly gradient: readonly number[];
  readonly learnt: readonly number[];
  readonly saved: readonly number[];
  readonly loaded: readonly number[];
  readonly worker: string | null;
}

export function expectParts(found: Parts): void {
  expect(found.linear).toEqual([5]);
  // An int8 weight is off by at most a 254th of the largest, and so is an activation.
  expect(Math.abs((found.narrow[0] ?? Number.NaN) - 32)).toBeLessThan(0.25);
  // The first query sees the first key alone.
  expect(found.masked.slice(0, 2)).toEqual([1, 2]);
  // (3 * 1 + 1 * 2 - 4) ** 2, by the input, by the weight, and the weight after a step of a half.
  expect(found.loss).toBe(1);
  expect(found.inputGradient).toEqual([2, 4]);
  expect(found.gradient).toEqual([6, 2]);
  expect(found.learnt).toEqual([1 - 3, 2 - 1]);
  // A model computes the same bits when it was saved and loaded.
  expect(found.saved.length).toBe(8);
  expect(found.saved.every(Number.isFinite)).toBe(true);
  expect(found.loaded).toEqual(found.saved);
}
