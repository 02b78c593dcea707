// The arrays of results, whose pages are touched while workers compute: results stay intact whenever they arrive.

import { expect, test } from "vitest";
import { JobBuilder } from "../../web/src/backends/wasm/job.js";
import { ResultArrays } from "../../web/src/backends/wasm/result-arrays.js";

/** More pages than are touched in one task. */
const ELEMENTS = 2 ** 20;

function jobOf(leaves: readonly boolean[]) {
  const builder = new JobBuilder("test", new Int32Array(64));
  const view = { shape: [1, 1, 1, ELEMENTS], strides: [ELEMENTS, ELEMENTS, ELEMENTS, 1], elements: ELEMENTS } as const;
  const parts = leaves.map((one, index) => builder.output(16 * index, view, one));
  return { job: builder.build(), parts };
}

const results = new Float32Array(ELEMENTS).fill(7);
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

test("results that arrive before all pages are touched stay intact", async () => {
  const { job, parts } = jobOf([true, true]);
  const arrays = new ResultArrays(job);
  arrays.end();
  const filled = parts.map((part) => arrays.fill(part, results));
  await soon();
  for (const array of filled) expect(array.every((number) => number === 7)).toBe(true);
  expect(filled[0]).not.toBe(filled[1]);
});

test("all pages are touched in time, and a result that stays in the heap gets an array only when asked for", async () => {
  const { job, parts } = jobOf([false, true]);
  const arrays = new ResultArrays(job);
  await soon();
  arrays.end();
  for (const part of parts) expect(arrays.fill(part, results)).toEqual(results);
});
