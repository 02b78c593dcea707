// Which lines of cpp heed_tests run natively, by GCC's counters.

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { Failure, run, step } from "../lib/steps.js";
import { filesUnder } from "../make/freshness.js";
import { root } from "../make/root.js";
import { runCppTests } from "../test/cpp.js";
import { reportCoverage } from "./report.js";

const PRESET = "native-coverage";
const folder = join(root, "build", PRESET);

/** @typedef {{ files: readonly { file: string, lines: readonly { line_number: number, count: number }[] }[], current_working_directory: string }} Gcov */

/** @param {import("../toolchain/find.js").Toolchain<"wasm" | "native" | "tests">} toolchain */
export async function coverCpp(toolchain) {
  const { kind, cxx } = toolchain.native;
  const gcov = join(dirname(cxx), basename(cxx).replace("g++", "gcov"));
  if (kind !== "gcc" || !existsSync(gcov)) {
    throw new Failure(`coverage of C++ takes GCC with gcov beside it, got ${cxx}: CXX names another compiler`);
  }
  for (const file of counters()) await rm(file);
  const [result] = await runCppTests(toolchain, [PRESET]);
  if (result === undefined || result.failed > 0) throw new Failure("tests fail: what they cover says nothing");
  const { stdout } = await step("read the counters", () =>
    run(gcov, ["--json-format", "--stdout", ...counters()], { cwd: folder, quiet: true }),
  );
  /** Counts by line, of each file: a header's are those of all that include it. @type {Map<string, Map<number, number>>} */
  const files = new Map();
  for (const line of stdout.split("\n").filter((text) => text !== "")) {
    /** @type {Gcov} */
    const unit = JSON.parse(line);
    for (const { file, lines } of unit.files) {
      const path = relative(root, resolve(unit.current_working_directory, file));
      if (!path.startsWith("cpp/") || path.startsWith("cpp/reference/")) continue;
      const counts = files.get(path) ?? new Map();
      files.set(path, counts);
      for (const { line_number: at, count } of lines) counts.set(at, (counts.get(at) ?? 0) + count);
    }
  }
  const covered = [...files].map(([file, counts]) => {
    const missing = [...counts].filter(([, count]) => count === 0).map(([line]) => line);
    return { file, lines: counts.size, missing: missing.sort((a, b) => a - b) };
  });
  reportCoverage("C++, lines, natively: what is compiled for WebAssembly alone is not among them", covered, 3);
}

const counters = () => filesUnder([folder]).filter((file) => file.endsWith(".gcda"));
