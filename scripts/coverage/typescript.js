// Which lines of web/src the tests in Node and those on the software GPU run, by V8's own counters.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { Failure, run, step, report as tell } from "../lib/steps.js";
import { root } from "../make/root.js";
import { reportCoverage } from "./report.js";

const folder = join(root, "coverage", "ts");

const ARGS = [
  join(root, "node_modules/vitest/vitest.mjs"),
  "run",
  "--project=unit",
  "--project=conformance",
  "--project=chromium-webgpu",
  "--coverage.enabled",
  "--coverage.provider=v8",
  "--coverage.reportOnFailure",
  "--coverage.reporter=json",
  `--coverage.reportsDirectory=${folder}`,
  "--coverage.include=web/src/**/*.ts",
  "--coverage.exclude=**/generated/**",
];

/** @typedef {{ statementMap: Record<string, { start: { line: number } }>, s: Record<string, number> }} FileCoverage as Istanbul has it */

/** @param {import("../toolchain/find.js").Common} toolchain */
export async function coverTypeScript({ env }) {
  rmSync(folder, { recursive: true, force: true });
  const found = join(folder, "coverage-final.json");
  try {
    await step("test TypeScript in Node and on a GPU, counting", () => run(process.execPath, ARGS, { cwd: root, env }));
  } catch (error) {
    // Counting slows some tests beyond their time. What they ran has been counted.
    if (!(error instanceof Failure) || !existsSync(found)) throw error;
    tell(error);
  }
  /** @type {Record<string, FileCoverage>} */
  const report = JSON.parse(readFileSync(found, "utf8"));
  const files = Object.entries(report).map(([path, { statementMap, s }]) => {
    /** Lines on which a statement begins, and whether one of them ran. @type {Map<number, boolean>} */
    const lines = new Map();
    for (const [id, { start }] of Object.entries(statementMap)) {
      lines.set(start.line, (lines.get(start.line) ?? false) || (s[id] ?? 0) > 0);
    }
    const missing = [...lines].filter(([, ran]) => !ran).map(([line]) => line);
    return { file: relative(root, path), lines: lines.size, missing: missing.sort((a, b) => a - b) };
  });
  reportCoverage(
    "TypeScript, statements by line, in Node and on a GPU: heed/viz and what workers run are tested in browsers",
    files,
    3,
  );
}
