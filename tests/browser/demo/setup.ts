// Before all tests of the demo: builds it once. Each file of tests serves a copy, which it may change.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import type { TestProject } from "vitest/node";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "heed-demo-built-"));
  const configFile = fileURLToPath(new URL("../../../demo/vite.config.ts", import.meta.url));
  await build({ configFile, logLevel: "error", build: { outDir: folder, emptyOutDir: true } });
  project.provide("demo", folder);
  return () => rm(folder, { recursive: true, force: true });
}
