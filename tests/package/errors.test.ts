// What a stranger sees of the built files: the names of an entry, and an error that nobody catches.

import { writeFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { Consumer } from "./support/consumer.js";

const consumer = await Consumer.make("errors", "scripts");

async function run(name: string, code: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  await writeFile(consumer.path(`${name}.mjs`), code);
  return consumer
    .run(process.execPath, [`${name}.mjs`], 20_000)
    .catch((failed: { stdout: string; stderr: string }) => failed);
}

test.each([
  "heed",
  "heed/assets",
  "heed/layers",
  "heed/models",
  "heed/text",
  "heed/train",
  "heed/webgpu",
  "heed/reference",
  "heed/viz",
  "heed/expr",
])("%s shows no names that a bundler made up", async (entry) => {
  const { stdout } = await run("names", `console.log(Object.keys(await import("${entry}")).join(" "));`);
  expect(stdout.trim().split(" ")).not.toContainEqual(expect.stringMatching(/^(?!(or|f1)$).{0,2}$/));
});

describe.each([
  ["attention", 'import { attention } from "heed";\nawait attention(1, 2, 3);'],
  ["sinusoidal", 'import { sinusoidal } from "heed";\nsinusoidal(-1, 4);'],
  ["Linear", 'import { Linear } from "heed/layers";\nnew Linear({ inFeatures: 0, outFeatures: 4 });'],
  ["createCache", 'import { createHeed } from "heed";\nawait (await createHeed()).createCache({});'],
  ["loadSafetensors", 'import { loadSafetensors } from "heed/layers";\nawait loadSafetensors(1);'],
])("an error of %s that nobody catches", (name, code) => {
  let printed: readonly string[];
  beforeAll(async () => {
    printed = (await run(`uncaught-${name}`, code)).stderr.split("\n");
  });

  test("is printed with its own name", () => {
    expect(printed).toContainEqual(expect.stringMatching(new RegExp(`^HeedError: ${name}: `)));
  });

  test("comes with a line of code that can be read", () => {
    expect(Math.max(...printed.map((line) => line.length))).toBeLessThan(1_000);
  });
});

test("the class of errors has its name in every file, and is one", async () => {
  const code = `
    import { HeedError } from "heed";
    import { add } from "heed/expr";
    import { Linear } from "heed/layers";
    for (const act of [() => add({}), () => new Linear(1)]) {
      try { act(); } catch (error) { console.log(error.constructor.name, error.name, error.constructor === HeedError); }
    }`;
  const { stdout } = await run("names", code);
  expect(stdout).toBe("HeedError HeedError true\nHeedError HeedError true\n");
});
