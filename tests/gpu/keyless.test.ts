// Scores at the end of single precision: queries whose every one is -Infinity, by every kind of kernel, split and merged; distances.

import { afterAll, beforeAll, expect, test } from "vitest";
import { adapterName, kernelClass, tuningsOf, untuned } from "../../web/src/backends/webgpu/tuning.js";
import type { Heed } from "../../web/src/index.js";
import { distanceErrors } from "../support/distances.js";
import { openTested } from "../support/gpu-engine.js";
import { keylessErrors, keylessProblems } from "../support/keyless.js";

let heed: Heed;
let adapter: string;
let close: () => void;
beforeAll(async () => {
  const opened = await openTested();
  ({ heed, close } = opened);
  adapter = adapterName(opened.tested.device.adapterInfo);
});
afterAll(() => close());

/** Of what the GPU computes itself. */
const problems = keylessProblems().filter(
  ({ options }) => options.topK === undefined && !/sparsemax|hard/.test(options.normalize ?? ""),
);
const against = (...keys: readonly number[]) => problems.filter(({ key }) => keys.includes(key.shape[1] ?? 0));

test.each(against(64, 700, 130))("$name", async (one) => {
  expect(await keylessErrors(heed, one)).toEqual([]);
});

test.each(against(16, 700, 130))("by threads that share what they read: $name", async (one) => {
  const classes = [2, 4, 8, 16, 64].map((rows) => kernelClass(4, 4, rows));
  for (const named of classes) tuningsOf(adapter).set(named, { ...untuned(true), shared: true });
  try {
    expect(await keylessErrors(heed, one)).toEqual([]);
  } finally {
    for (const named of classes) tuningsOf(adapter).delete(named);
  }
});

test("distances keep their range, and are no number of single precision beyond it", async () => {
  expect(await distanceErrors(heed)).toEqual([]);
});
