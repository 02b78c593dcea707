// docs/conformance.md is what the lists of the tests say: `npm run conformance` writes it.

import { existsSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { conformanceDocument } from "./document.js";
import { FIXTURES } from "./fixtures.js";
import { OPERATORS } from "./operators.js";

test("docs/conformance.md is up to date", async () => {
  await expect(conformanceDocument()).toMatchFileSnapshot("../../docs/conformance.md");
});

test("every fixture is listed, and the tests that are named are there", () => {
  const kept = readdirSync(new URL("../fixtures", import.meta.url)).filter((name) => !name.endsWith(".py"));
  expect(FIXTURES.map(({ name }) => name).sort()).toEqual(kept.sort());
  for (const { test: file } of FIXTURES) expect(existsSync(new URL(`../${file}`, import.meta.url)), file).toBe(true);
  for (const { native } of Object.values(OPERATORS)) {
    if (native !== null) expect(existsSync(new URL(`../cpp/${native}`, import.meta.url)), native).toBe(true);
  }
});
