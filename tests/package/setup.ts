// Before all tests of the package: packs it, installs it into an empty folder as a stranger would, beside the tools to try it with.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { findTools } from "./matrix/tools.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** Folders of earlier runs that were killed; none takes as long as this. */
const STALE_MS = 60 * 60 * 1000;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!existsSync(join(root, "dist/index.js"))) throw new Error("dist is missing: npm run build makes it");
  const tools = await findTools();
  await sweep(tools);
  const workshop = await mkdtemp(join(tools, "run-"));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", workshop], { cwd: root });
  const tarball = (await readdir(workshop)).find((name) => name.endsWith(".tgz")) ?? "";
  await writeFile(join(workshop, "package.json"), JSON.stringify({ name: "workshop", private: true, type: "module" }));
  await run("npm", ["install", "--no-audit", "--no-fund", "--offline", `./${tarball}`], { cwd: workshop });
  project.provide("tools", tools);
  project.provide("workshop", workshop);
  return () => rm(workshop, { recursive: true, force: true });
}

async function sweep(tools: string): Promise<void> {
  for (const name of await readdir(tools)) {
    if (!name.startsWith("run-")) continue;
    const { mtimeMs } = await stat(join(tools, name));
    if (Date.now() - mtimeMs > STALE_MS) await rm(join(tools, name), { recursive: true, force: true });
  }
}
