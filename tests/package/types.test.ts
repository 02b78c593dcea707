// The declarations of the packed package, as compilers read them: with no names of a platform, and in programs of a stranger's.

import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { Consumer } from "./support/consumer.js";

const compiler = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

/** With every check that could find something. */
const STRICT = {
  target: "ES2022",
  module: "NodeNext",
  jsx: "preserve",
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
};

const consumer = await Consumer.make("types", "types");

/** What the compiler says of a file. */
async function complaintsOf(file: string, lib: readonly string[]): Promise<string> {
  const config = `tsconfig.${file}.json`;
  await writeFile(consumer.path(config), JSON.stringify({ compilerOptions: { ...STRICT, lib }, files: [file] }));
  const said = consumer.run(process.execPath, [compiler, "-p", config]);
  return (await said.catch((error: { readonly stdout: string }) => error)).stdout;
}

test.each([
  ["every entry, without a platform's names", "every-entry.ts", ["ES2022"]],
  ["every entry, with those of browsers", "every-entry.ts", ["ES2022", "DOM"]],
  ["the views, without a platform's names", "views.ts", ["ES2022"]],
  ["a layer and a training loop", "learn.ts", ["ES2022", "DOM"]],
  ["the elements, their events and JSX", "elements.tsx", ["ES2022", "DOM", "DOM.Iterable"]],
])("compile: %s", async (_, file, lib) => {
  expect(await complaintsOf(file, lib)).toBe("");
});

describe("the layer and its training loop", () => {
  test("have no cast", () => {
    expect(readFileSync(consumer.path("learn.ts"), "utf8")).not.toMatch(
      /\bas (?!const\b|strict\b|there\b)|\bany\b|!\./,
    );
  });

  test("learn", async () => {
    await consumer.tool("esbuild/bin/esbuild", "learn.ts", "--outfile=learn.mjs");
    const { losses, names, sizes } = JSON.parse((await consumer.run(process.execPath, ["learn.mjs"])).stdout);
    expect(losses).toHaveLength(30);
    expect(losses.at(-1)).toBeLessThan(losses[0] / 2);
    expect(names).toContain("head.weight");
    expect(sizes).toEqual([8, 32]);
  });
});

test("nothing that is heed's own shows", () => {
  const dist = consumer.path("node_modules/heed/dist");
  const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".d.ts"));
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    const text = readFileSync(join(dist, file), "utf8").replaceAll(/\/\*.*?\*\//gs, "");
    expect(text, file).not.toMatch(
      /\b(?:\w*Scope|[tT]ape\w*|Backend|LayerEngine|Resident\w*|Program|Parameter|ConfigReader)\b/,
    );
    expect(text, file).not.toMatch(/@internal/);
  }
});
