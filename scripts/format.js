// Formats every file: C++ by clang-format, the rest by Biome.

import { join } from "node:path";
import { cppSources } from "./check/cpp.js";
import { ensureDependencies } from "./lib/dependencies.js";
import { run, step } from "./lib/steps.js";
import { root } from "./make/root.js";
import { findToolchain } from "./toolchain/find.js";

await ensureDependencies();
const toolchain = await step("find the toolchain", () => findToolchain({ need: ["format"] }));
await step("format", async () => {
  await run(toolchain.clangFormat.path, ["-i", ...cppSources()], { cwd: root });
  await run(process.execPath, [join(root, "node_modules/@biomejs/biome/bin/biome"), "check", "--write"], { cwd: root });
});
