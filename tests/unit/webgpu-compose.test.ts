// Shaders are composed from WGSL files: what a file leaves open is filled in or refused.

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { compose, renamed } from "../../web/src/backends/webgpu/shaders/compose.js";

const lines = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

test("an override becomes a constant, once for all files that declare it", () => {
  const file = "override ROWS: u32;\nconst HALF = ROWS / 2u;\n";
  expect(lines(compose([file, "override ROWS: u32;\n"], { ROWS: 8 }))).toEqual([
    "const ROWS: u32 = 8;",
    "const HALF = ROWS / 2u;",
  ]);
});

test("a branch of a boolean constant stays or goes, and with it what it names", () => {
  const file = `override MASK: bool;
fn is_seen(j: u32) -> bool {
  if (MASK) {
    if (j > 2u) {
      return mask_data[j] != 0u;
    }
  } else {
    return true;
  }
}
`;
  expect(compose([file], { MASK: false })).not.toContain("mask_data");
  expect(lines(compose([file], { MASK: true })).slice(2, -1)).toEqual([
    "{",
    "if (j > 2u) {",
    "return mask_data[j] != 0u;",
    "}",
    "}",
  ]);
});

test("a marked loop is written out, and one inside it too", () => {
  const file = `override OWN: u32;
fn main() {
  for (var r = 0u; r < OWN; r++) { // unroll
    for (var c = 0u; c < 2u; c++) { // unroll
      sums[r][c] += row[r];
    }
  }
}
`;
  expect(lines(compose([file], { OWN: 2 })).filter((line) => line.startsWith("sums"))).toEqual([
    "sums[0u][0u] += row[0u];",
    "sums[0u][1u] += row[0u];",
    "sums[1u][0u] += row[1u];",
    "sums[1u][1u] += row[1u];",
  ]);
});

test.each([
  ["an override without a value", "override ROWS: u32;\n", "a shader's ROWS has no value"],
  ["a constant that no file defines", "const A = ROWS;\n", "a shader uses ROWS, which none of its files defines"],
  ["a function that no file defines", "fn main() { load_q(0u); }\n", "a shader uses load_q, which none"],
  ["a loop of unknown length", "for (var r = 0u; r < n; r++) { // unroll\n}\n", "a shader repeats a loop n times"],
])("%s is refused", (_, file, message) => {
  expect(() => compose([file], {})).toThrow(message);
});

test("an operand's name replaces x in names, and nowhere else", () => {
  expect(renamed("PACKED_X x_data load_x max row.x x", "q")).toBe("PACKED_Q q_data load_q max row.x x");
});

test("files are indented so that compose() finds the ends of blocks, and all marks of loops are understood", () => {
  const folder = new URL("../../web/src/backends/webgpu/shaders/", import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith(".wgsl"));
  expect(files.length).toBeGreaterThan(20);
  for (const name of files) {
    const text = readFileSync(new URL(name, folder), "utf8");
    let depth = 0;
    for (const line of text.split("\n").map((one) => one.replace(/\/\/.*/, ""))) {
      if (line.trim() === "") continue;
      if (line.trim().startsWith("}")) depth -= 1;
      expect(/^ */.exec(line)?.[0].length, `${name}: ${line}`).toBe(2 * depth);
      if (line.trimEnd().endsWith("{")) depth += 1;
    }
    expect(depth, name).toBe(0);
    const marks = text.match(/\/\/ unroll$/gm)?.length ?? 0;
    const loops = text.match(/^ *for \(var (\w+) = 0u; \1 < (?:[A-Z_]+|4u); \1\+\+\) \{ \/\/ unroll$/gm)?.length ?? 0;
    expect(loops, name).toBe(marks);
  }
});
