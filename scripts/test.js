// Builds and runs the tests: `npm test` is the short run, `npm test -- full` has everything, `npm test -- rest` what the short run
// leaves out; `npm test -- cpp` and the like run one part. It goes on after a failing runner, and ends with one line that counts all tests.

import { build } from "./build.js";
import { ensureDependencies } from "./lib/dependencies.js";
import { Failure, note, step } from "./lib/steps.js";
import { root } from "./make/root.js";
import { ARGUMENTS, runsOf } from "./test/parts.js";
import { wantedBrowsers } from "./toolchain/browsers.js";
import { findToolchain } from "./toolchain/find.js";

const { presets, benches, projects, unknown } = runsOf(process.argv.slice(2));
if (unknown.length > 0) throw new Failure(`npm test takes some of ${ARGUMENTS.join(", ")}, got ${unknown.join(" ")}`);

await ensureDependencies();
const toolchain = await step("find the toolchain", () =>
  findToolchain({ need: ["wasm", "native", "tests", ...wantedBrowsers()] }),
);
await build({ toolchain });

const { runCppTests } = await import("./test/cpp.js");
const { runBenches } = await import("./test/benches.js");
const { runVitest } = await import("./test/vitest.js");
const results = [
  ...(await runCppTests(toolchain, presets)),
  ...(await runBenches(toolchain, benches)),
  ...(await runVitest(root, toolchain, projects)),
];

note("");
for (const { name, passed, failed } of results) note(`  ${name.padEnd(24)} ${passed} passed, ${failed} failed`);
const total = (/** @type {"passed" | "failed"} */ outcome) => results.reduce((sum, result) => sum + result[outcome], 0);
note(`\n${total("passed")} passed, ${total("failed")} failed`);
const isTested = results.length > 0 && results.every(({ passed }) => passed > 0);
process.exit(isTested && total("failed") === 0 ? 0 : 1);
