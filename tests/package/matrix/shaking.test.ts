// What the import of one name adds to a page, for every name of the package under esbuild and Rollup: the file with the name and those that
// it imports, minified.

import { beforeAll, describe, expect, test } from "vitest";
import { Consumer } from "../support/consumer.js";

/** The most bytes of names that need no engine, by their patterns. */
const BUDGETS: readonly (readonly [entry: RegExp, name: RegExp, bytes: number])[] = [
  [/^heed(\/assets)?$/, /^HeedError$/, 500],
  [/^heed(\/assets)?$/, /^alibiSlopes$/, 3_000],
  [/^heed(\/assets)?$/, /^sinusoidal$/, 5_000],
  [/^heed(\/assets)?$/, /^(learnedPositions|relativeBias)$/, 10_000],
  [/^heed\/expr$/, /^(?!table$)/, 12_000],
  [/^heed\/expr$/, /^table$/, 15_000],
  [/^heed\/layers$/, /^(greedy|sample|stream(Greedy|Sample)|beamSearch)$/, 12_000],
  [/^heed\/layers$/, /^saveSafetensors$/, 8_000],
  // Their matrices may be in any format.
  [/^heed\/layers$/, /^from.*Attention$/, 11_000],
  [/^heed\/layers$/, /^(load|stream|read)Safetensors/, 20_000],
  [/^heed\/layers$/, /^(load|stream|read)Gguf/, 37_000],
  [/^heed\/(layers|text)$/, /Tokenizer$/, 48_000],
  // All families, files and tokenizers: which ones a file needs is known when it is read.
  [/^heed\/models$/, /^loadModel$/, 320_000],
  [/^heed\/models$/, /^(saveModel|LoadedModel)$/, 200_000],
  [/^heed\/train$/, /^constant$/, 2_000],
  [/^heed\/train$/, /^(linear|warmupCosine)$/, 3_000],
  [/^heed\/train$/, /^(crossEntropy|meanSquaredError|binaryCrossEntropy)$/, 10_000],
  [/^heed\/webgpu$/, /^remember$/, 2_000],
  [/^heed\/reference$/, /^(rope|linearAttention)$/, 4_000],
  [/^heed\/viz$/, /^(?!Heed|define$)/, 1_000],
];

type Bundler = "esbuild" | "rollup";
let found: Readonly<Record<string, Readonly<Record<string, Readonly<Record<Bundler, number>>>>>>;
beforeAll(async () => {
  const consumer = await Consumer.make("shaking", "shaking");
  found = JSON.parse((await consumer.run(process.execPath, ["measure.mjs"], 600_000)).stdout);
  const rows = namesOf(() => true).map(({ entry, name, bytes }) => [`${entry} ${name}`, bytes] as const);
  console.table(Object.fromEntries(rows.sort(([, a], [, b]) => a.esbuild - b.esbuild)));
}, 600_000);

const namesOf = (isMeant: (entry: string, name: string) => boolean) =>
  Object.entries(found).flatMap(([entry, names]) =>
    Object.entries(names).flatMap(([name, bytes]) => (isMeant(entry, name) ? [{ entry, name, bytes }] : [])),
  );

describe.each(["esbuild", "rollup"] as const)("%s", (bundler) => {
  test.each(BUDGETS)("of %s takes for %s at most %i bytes", (entry, name, budget) => {
    const names = namesOf((one, other) => entry.test(one) && name.test(other));
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter(({ bytes }) => bytes[bundler] > budget)).toEqual([]);
  });

  test("takes for no name more than a loop of training needs", () => {
    const names = namesOf((entry) => entry !== "heed/models");
    expect(names.filter(({ bytes }) => bytes[bundler] > 180_000)).toEqual([]);
  });
});
