// The option matrix: every operation and option has its cell, every cell that is not the GPU's its reason, and docs/webgpu.md has the
// table that is made of them.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ROPE_OPTIONS } from "../../web/src/api/extra/options.js";
import { ATTENTION_OPTIONS } from "../../web/src/api/options.js";
import { type Cell, SUPPORT } from "../../web/src/backends/webgpu/support.js";
import { createHeed } from "../../web/src/index.js";

/** What a row of the table is about. */
const ABOUT: Readonly<Record<keyof typeof SUPPORT, string>> = {
  operation: "operations",
  option: "options of `attention`",
  score: "`score`",
  normalize: "`normalize`",
  weights: "`return.weights`",
  scores: "`return.scores`",
  rope: "options of `rope`",
  size: "numbers of the inputs",
  dtype: "tensors",
};

function table(): string {
  const rows = Object.entries(SUPPORT).map(([group, cells]) => {
    const all = Object.entries(cells as Readonly<Record<string, Cell>>);
    const there = all.filter(([, cell]) => cell === true).map(([name]) => `\`${name}\``);
    const left = all.filter(([, cell]) => cell !== true).map(([name, why]) => `\`${name}\`: ${why}`);
    return `| ${ABOUT[group as keyof typeof SUPPORT]} | ${there.join(", ")} | ${left.join("; ")} |`;
  });
  return ["| | on the GPU | on WebAssembly, and why |", "| --- | --- | --- |", ...rows].join("\n");
}

test("every option has its cell", () => {
  expect(Object.keys(SUPPORT.option).sort()).toEqual([...ATTENTION_OPTIONS].sort());
  expect(Object.keys(SUPPORT.rope).sort()).toEqual([...ROPE_OPTIONS].sort());
});

test("every operation of an engine has its cell", async () => {
  using heed = await createHeed({ backend: "wasm" });
  const computes = Object.getOwnPropertyNames(Object.getPrototypeOf(heed)).filter((name) => !OTHERS.includes(name));
  expect(Object.keys(SUPPORT.operation).sort()).toEqual([...computes, "heed/layers"].sort());
});

/** What an engine does besides. */
const OTHERS = ["constructor", "capabilities", "explain", "tensor", "zeros", "memory", "dispose"];

test("what runs on wasm has a reason", () => {
  for (const cells of Object.values(SUPPORT)) {
    for (const cell of Object.values(cells) as readonly Cell[]) if (cell !== true) expect(cell).toMatch(/\w+ \w+ \w+/);
  }
});

test("the guide has the table", () => {
  const guide = readFileSync(new URL("../../docs/webgpu.md", import.meta.url), "utf8");
  expect(guide).toContain(`${table()}\n`);
});
