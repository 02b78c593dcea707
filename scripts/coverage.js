// Prints which lines the tests run: `npm run coverage`, of TypeScript by the tests in Node and on the software GPU, of C++
// by heed_tests, natively. `npm run coverage -- ts` or `-- cpp` is one of the two. Each lists the files with most lines that no test runs.

import { build } from "./build.js";
import { ensureDependencies } from "./lib/dependencies.js";
import { Failure, step } from "./lib/steps.js";
import { findToolchain } from "./toolchain/find.js";

/** @type {Record<string, (tools: import("./toolchain/find.js").Toolchain<"wasm" | "native" | "tests">) => Promise<void>>} */
const PARTS = {
  ts: async (toolchain) => (await import("./coverage/typescript.js")).coverTypeScript(toolchain),
  cpp: async (toolchain) => (await import("./coverage/cpp.js")).coverCpp(toolchain),
};

const wanted = process.argv.slice(2);
for (const name of wanted) {
  if (!(name in PARTS))
    throw new Failure(`npm run coverage takes some of ${Object.keys(PARTS).join(", ")}, got ${name}`);
}
await ensureDependencies();
const toolchain = await step("find the toolchain", () =>
  findToolchain({ need: ["wasm", "native", "tests", "chromium"] }),
);
await build({ toolchain });
for (const [name, cover] of Object.entries(PARTS)) {
  if (wanted.length === 0 || wanted.includes(name)) await cover(toolchain);
}
