// Builds everything and runs every test: C++ natively, under sanitizers and as WebAssembly, then TypeScript in Node and in
// browsers. Goes on after a failing runner, and closes with one line that counts all tests.

import { build } from "./build.js";
import { ensureDependencies } from "./lib/dependencies.js";
import { note, step } from "./lib/steps.js";
import { root } from "./make/root.js";
import { wantedBrowsers } from "./toolchain/browsers.js";
import { findToolchain } from "./toolchain/find.js";

await ensureDependencies();
const toolchain = await step("find the toolchain", () =>
  findToolchain({ need: ["wasm", "native", "tests", ...wantedBrowsers()] }),
);
await build({ toolchain });

const { runCppTests } = await import("./test/cpp.js");
const { runVitest } = await import("./test/vitest.js");
const results = [...(await runCppTests(toolchain)), await runVitest(root, toolchain)];

note("");
for (const { name, passed, failed } of results) note(`  ${name.padEnd(24)} ${passed} passed, ${failed} failed`);
const total = (/** @type {"passed" | "failed"} */ outcome) => results.reduce((sum, result) => sum + result[outcome], 0);
note(`\n${total("passed")} passed, ${total("failed")} failed`);
process.exit(total("failed") === 0 && results.every((result) => result.passed > 0) ? 0 : 1);
