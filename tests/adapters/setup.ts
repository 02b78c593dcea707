// Before the tests of adapters: bundles their program, for runtimes that know no TypeScript, and finds what they run it with.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import type { TestProject } from "vitest/node";
import { findVulkan } from "../../scripts/toolchain/vulkan.js";
import { findTools } from "../package/matrix/tools.js";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "heed-adapters-"));
  const entry = fileURLToPath(new URL("program.ts", import.meta.url));
  await build({
    configFile: false,
    logLevel: "warn",
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: "es2022",
      minify: false,
      lib: { entry, formats: ["es"], fileName: "program" },
      rolldownOptions: { external: [/^node:/] },
    },
  });
  const vulkan = await findVulkan();
  if ("problem" in vulkan) throw new Error(`no software Vulkan: ${vulkan.problem}`);
  project.provide("tools", await findTools());
  project.provide("adapters", { folder, lavapipe: vulkan.lavapipe, launcher: vulkan.launch("").slice(0, -1) });
  return () => rm(folder, { recursive: true, force: true });
}
