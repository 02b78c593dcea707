// Static checks: format, lint, types, layers, the package's shape. All findings are reported before it fails.

import { join } from "node:path";
import { buildDist, buildGenerated } from "./build.js";
import { ensureDependencies } from "./lib/dependencies.js";
import { note, run, sideBySide, step } from "./lib/steps.js";
import { root } from "./make/root.js";
import { findToolchain } from "./toolchain/find.js";

await ensureDependencies();
const toolchain = await step("find the toolchain", () =>
  findToolchain({ need: ["wasm", "native", "tests", "format"] }),
);
await buildGenerated({ toolchain });
await buildDist();

const { checkCppFormat, checkCppLint } = await import("./check/cpp.js");
const { checkLayers } = await import("./check/layers.js");

/** @param {string} path @param {readonly string[]} args */
const node = (path, args) => run(process.execPath, [join(root, "node_modules", path), ...args], { cwd: root });

/** @type {Record<string, () => unknown>} */
const CHECKS = {
  "lint C++": () => checkCppLint(toolchain),
  "format and lint TypeScript": () => node("@biomejs/biome/bin/biome", ["check", "--error-on-warnings"]),
  "types of the package": () => node("typescript/bin/tsc", ["-p", "tsconfig.json"]),
  "types of the tests": () => node("typescript/bin/tsc", ["-p", "tests/tsconfig.json"]),
  "types of the demo": () => node("typescript/bin/tsc", ["-p", "demo/tsconfig.json"]),
  "types of the demo's service worker": () => node("typescript/bin/tsc", ["-p", "demo/offline/tsconfig.json"]),
  "types of the benches": () => node("typescript/bin/tsc", ["-p", "bench/tsconfig.json"]),
  "types of the bench in the browser": () => node("typescript/bin/tsc", ["-p", "bench/web/tsconfig.json"]),
  "types of the scripts": () => node("typescript/bin/tsc", ["-p", "scripts/tsconfig.json"]),
  layers: () => checkLayers(),
  "package manifest": () => node("publint/src/cli.js", ["--strict"]),
  "package types": () => node("@arethetypeswrong/cli/dist/index.js", ["--pack", ".", "--profile", "esm-only"]),
  "format C++": () => checkCppFormat(toolchain),
};

const failures = await sideBySide(
  Object.entries(CHECKS).map(
    ([title, check]) =>
      () =>
        step(title, check),
  ),
);
note(
  failures === 0
    ? "\nnothing to complain about"
    : `\n${failures} of ${Object.keys(CHECKS).length} checks found something`,
);
process.exit(failures === 0 ? 0 : 1);
