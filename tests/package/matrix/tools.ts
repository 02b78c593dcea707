// The bundlers and runtimes of package.json beside this file, installed once per machine into heed's cache.

import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../../../scripts/lib/steps.js";
import { finishedEntries, hashOf, makeEntry } from "../../../scripts/toolchain/cache.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const DESCRIBED_BY = ["package.json", "package-lock.json", ".npmrc"];

/** A folder whose node_modules has them. */
export async function findTools(): Promise<string> {
  const texts = await Promise.all(DESCRIBED_BY.map((file) => readFile(join(here, file), "utf8")));
  const name = `matrix-${hashOf([texts, process.platform, process.arch])}`;
  const find = async (): Promise<string | undefined> => (await finishedEntries(name))[0]?.folder;
  return (await find()) ?? makeEntry({ name, find, fill: install });
}

async function install(folder: string): Promise<object> {
  for (const file of DESCRIBED_BY) await copyFile(join(here, file), join(folder, file));
  // Not `npm ci`, which wants every platform's programs in the lock file: not every registry has them. Without install scripts,
  // since what is used of these packages works without.
  await run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    title: "install the bundlers and runtimes that the package is tried with",
  });
  return { packages: DESCRIBED_BY };
}
