// Scores at the end of f32: queries whose every score is -Infinity, by each kernel that computes outputs and with split keys; distances.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kernelClass } from "../../web/src/backends/webgpu/tuning.js";
import { distanceErrors } from "../support/distances.js";
import { openTested, shareKernels } from "../support/gpu-engine.js";
import { keylessErrors, keylessProblems } from "../support/keyless.js";

const { heed, tested, close } = await openTested();
afterAll(close);

/** The problems that the GPU computes itself. Softmax is the default of the others, and so stands in no option. */
const problems = keylessProblems().filter(
  ({ options: { topK, normalize } }) => topK === undefined && !/softmax|sparsemax|hard/.test(normalize ?? ""),
);
const against = (...keys: readonly number[]) => problems.filter(({ key }) => keys.includes(key.shape[1] ?? 0));

test.each(against(700, 130))("$name", async (one) => {
  expect(await keylessErrors(heed, one)).toEqual([]);
});

// Decode with split keys for products, several threads a row for others; tiles. Weights and scores come from the same kernel as above.
describe("by threads that share what they read", () => {
  let end: () => void;
  beforeAll(() => {
    end = shareKernels(
      tested,
      [8, 16].map((rows) => kernelClass(4, 4, rows)),
    );
  });
  afterAll(() => end());

  test.each(against(16, 700))("$name", async (one) => {
    expect(await keylessErrors(heed, one, { lean: true })).toEqual([]);
  });
});

test("distances keep their range, and beyond it are no number of f32", async () => {
  expect(await distanceErrors(heed)).toEqual([]);
});
