// One page of everything that README and docs claim, measured in this run: the benches in Chromium and in Node, the errors, the conformance
// cases, the sizes. `--quick` takes fewer shapes and rounds, and `--only web,train` some of the parts.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "../build.js";
import { buildPreset } from "../lib/cmake.js";
import { ensureDependencies } from "../lib/dependencies.js";
import { Failure, note, report, run, step } from "../lib/steps.js";
import { root } from "../make/root.js";
import { sizesFile } from "../make/sizes.js";
import { findToolchain } from "../toolchain/find.js";
import { nodeFlags, runProgram } from "./program.js";

const folder = join(root, "build", "bench", "report");
const web = join(root, "bench", "web");
const PARTS = ["web", "train", "models", "weights", "programs", "numerics", "conformance"];

/** Benches in Node that print lines, by title. */
const PROGRAMS = {
  "One query beside plain reading": ["bench/decode/run.js"],
  "One query, KV caches of f16 and int8": ["bench/caches.js"],
  "Masks and scores as expressions; half of the pairs": ["bench/structure.js"],
};

/** @param {string} path */
const read = (path) => JSON.parse(readFileSync(path, "utf8"));

/** @param {readonly string[]} args */
export async function benchReport(args) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string", default: PARTS.join() },
      out: { type: "string", default: join(folder, "report.html") },
    },
  });
  const unknown = values.only.split(",").find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new Failure(`a report has ${PARTS.join(", ")}, got ${unknown}`);
  mkdirSync(folder, { recursive: true });
  const found = join(folder, "report.json");
  writeFileSync(found, `${JSON.stringify(await measured(values.only.split(","), values.quick))}\n`);
  await run(process.execPath, [join(web, "report.js"), found, resolve(values.out)], { cwd: root });
  note(`\nthe page: ${resolve(values.out)}, and all that was measured: ${found}`);
}

/** @param {readonly string[]} parts @param {boolean} isQuick */
async function measured(parts, isQuick) {
  const toolchain = await step("find the toolchain", () =>
    findToolchain({ need: ["wasm", "native", "tests", "chromium"] }),
  );
  await build({ toolchain });
  await ensureDependencies(web);
  if (parts.includes("web"))
    await step("build the peak loops", async () => {
      for (const preset of ["wasm-simd", "wasm-relaxed"]) await buildPreset(toolchain, preset, ["heed_peaks"]);
    });
  const before = loadavg()[0] ?? 0;
  /**
   * What one part finds; null where it was not asked for, or fails, which keeps nobody from the rest.
   * @template T
   * @param {string} part @param {() => Promise<T>} work @returns {Promise<T | null>}
   */
  const found = async (part, work) => {
    if (!parts.includes(part)) return null;
    try {
      return await step(`measure: ${part}`, work);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      report(error);
      return null;
    }
  };
  const node = (/** @type {readonly string[]} */ ...command) =>
    run(process.execPath, command, { cwd: root, env: toolchain.env });
  /** @param {string} name @param {readonly string[]} more */
  const page = async (name, more = isQuick ? ["--quick"] : []) => {
    const out = join(folder, `${name}.json`);
    await node(join(web, name === "web" ? "run.js" : `${name}.js`), "--out", out, ...more);
    return withoutSamples(read(out));
  };
  const tokens = ["--only", "llama-token,gpt2,tokens", "--page", "isolated", "--rounds", "3", "--threads", "1"];
  const results = {
    web: await found("web", () => page("web")),
    train: await found("train", () => page("train")),
    models: await found("models", () => (isQuick ? page("models", tokens) : page("models", []))),
    weights: await found("weights", () => page("weights")),
    programs: await found("programs", async () => {
      /** @type {Record<string, string>} */ const printed = {
        "The kernels": await runProgram(toolchain, "wasm-relaxed", "cpp", "heed_bench"),
      };
      for (const [title, program] of Object.entries(PROGRAMS))
        printed[title] = (await node(...nodeFlags("wasm-relaxed"), ...program)).stdout;
      return printed;
    }),
    numerics: await found("numerics", async () => {
      const { output } = await node(...nodeFlags("wasm-relaxed"), join(root, "bench/numerics/run.js"));
      return Object.fromEntries(
        Array.from(output.matchAll(/^(\S+)\n\n((?:\|.*\n)+)/gm), ([, name = "", table = ""]) => [name, table.trim()]),
      );
    }),
    conformance: await found("conformance", async () => {
      const out = join(folder, "conformance.json");
      const flags = ["--project", "conformance", "--reporter=json", `--outputFile=${out}`];
      rmSync(out, { force: true });
      try {
        await node(join(root, "node_modules/vitest/vitest.mjs"), "run", ...flags);
      } catch (error) {
        // It fails as well where a case did, which it has written down.
        if (!(error instanceof Failure) || !existsSync(out)) throw error;
      }
      const { numPassedTests, numFailedTests, numPendingTests } = read(out);
      return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests };
    }),
  };
  return { about: about(isQuick, before, results.web?.run.browser ?? "none"), sizes: read(sizesFile), ...results };
}

/** @param {boolean} isQuick @param {number} before @param {string} browser */
const about = (isQuick, before, browser) => ({
  processor: cpus()[0]?.model ?? "unknown",
  cores: availableParallelism(),
  memory: `${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
  system: `${type()} ${release()}`,
  "load, a minute's mean": `${before.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`,
  Chromium: browser,
  Node: process.version,
  heed: read(join(root, "package.json")).version,
  date: new Date().toISOString().slice(0, 16).replace("T", " "),
  run: isQuick ? "quick: few shapes, few rounds" : "whole",
});

/** Medians are enough for a page. @param {any} found */
const withoutSamples = (found) => JSON.parse(JSON.stringify(found, (key, value) => (key === "samples" ? [] : value)));
