// Runs Vitest projects and counts their tests.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Failure, note, run, step } from "../lib/steps.js";

/** Vitest prints each file that is done, of which the longest takes some minutes. A page that never answers would keep it for ever. */
const SILENCE = 900;

/**
 * @param {string} root
 * @param {import("../toolchain/find.js").Common} toolchain
 * @param {readonly string[]} projects by their names, * for any letters
 * @returns {Promise<import("./cpp.js").Result[]>}
 */
export async function runVitest(root, toolchain, projects) {
  if (projects.length === 0) return [];
  const report = join(root, "build", "vitest.json");
  rmSync(report, { force: true });
  const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  args.push(...projects.map((name) => `--project=${name}`));
  // The day's: tests/support/drawn.ts has the same.
  const seed = process.env["HEED_FUZZ_SEED"] ?? new Date().toISOString().slice(0, 10).replaceAll("-", "");
  await step(`test TypeScript, random problems of seed ${seed}`, async () => {
    try {
      await run(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), ...args], {
        cwd: root,
        env: { ...toolchain.env, HEED_FUZZ_SEED: seed },
        silence: SILENCE,
      });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      note(error.output.trimEnd());
    }
  });
  // Without a report Vitest failed before its first test, and has printed why.
  return [existsSync(report) ? readReport(report) : { name: "vitest", passed: 0, failed: 1 }];
}

/** @param {string} report */
function readReport(report) {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, success } = JSON.parse(
    readFileSync(report, "utf8"),
  );
  // A skipped test counts as failed: code that was not tested must not look green. A file that does not load fails no test, so `success` counts.
  const failed = numFailedTests + numPendingTests + numTodoTests;
  return { name: "vitest", passed: numPassedTests, failed: success ? failed : Math.max(failed, 1) };
}
