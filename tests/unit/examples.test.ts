// What docs/semantics/, docs/models.md, docs/quantization.md and docs/training.md show is what the package gives, in every section.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { examplesOf, isTrue, run } from "../support/examples.js";

const docs = new URL("../../docs/", import.meta.url);
const pages = readdirSync(new URL("semantics/", docs)).map((page) => `semantics/${page}`);

describe.each([...pages, "models.md", "quantization.md", "training.md"])("docs/%s", (name) => {
  const guide = readFileSync(new URL(name, docs), "utf8");

  test.each(examplesOf(guide))("$heading", async (example) => {
    expect((await run(example)).filter((claim) => !isTrue(claim))).toEqual([]);
  });
});

describe("an example", () => {
  const block = (...lines: string[]): string => `\`\`\`js\n${lines.join("\n")}\n\`\`\`\n`;
  const claimsOf = async (...lines: string[]) => {
    const [example] = examplesOf(`# A\n${block("const one = 1;")}## B\n${block(...lines)}`);
    return example === undefined ? [] : run(example);
  };

  test("must be there under every heading, and claim something", () => {
    expect(() => examplesOf(`# A\n## B\n${block("1; // 1")}### C\nProse.\n`)).toThrow("### C: there is no example");
    expect(() => examplesOf(`# A\n## B\n${block("1; // 1")}${block("1;")}`)).toThrow("## B: an example claims nothing");
  });

  test("is held to each of its claims", async () => {
    const claims = await claimsOf(
      'import { alibiSlopes } from "heed";',
      "// Prose.",
      "one; // 1",
      "one; // 2",
      "alibiSlopes(1).data; // [1 / 256]",
      "alibiSlopes(1).data; // [1 / 255]",
      "alibiSlopes(0); // throws option",
      "alibiSlopes(0); // throws shape",
      "alibiSlopes(1); // throws option",
    );
    expect(claims.map(({ got }) => got).slice(4)).toEqual(["option", "option", "nothing"]);
    expect(claims.map(isTrue)).toEqual([true, false, true, false, true, false, false]);
  });

  test("fails where it breaks, or where what it claims of is no expression", async () => {
    await expect(claimsOf("one; // 1", "none();")).rejects.toThrow("none is not defined");
    await expect(claimsOf("const two = 2; // 2")).rejects.toThrow("SyntaxError");
  });
});

test.each<[unknown, unknown, boolean]>([
  [1, 1 + 9e-7, true],
  [1, 1 + 2e-6, false],
  [Number.NaN, Number.NaN, true],
  [Number.NaN, 0, false],
  [1e30, Infinity, false],
  [Float32Array.of(1, -Infinity), [1, -Infinity], true],
  [Float32Array.of(1, 2), [1], false],
  [[1], [1, undefined], false],
  [[["a"]], [["a"]], true],
  ["1", 1, false],
])("%o is what %o claims: %s", (got, claimed, expected) => expect(isTrue({ got, claimed })).toBe(expected));
