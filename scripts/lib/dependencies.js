// Sees to it that node_modules is what package-lock.json says, before anything from it is imported. It uses only Node's
// own modules, as everything does that may run first.

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, hashOf } from "../toolchain/cache.js";
import { withLock } from "../toolchain/lock.js";
import { run } from "./steps.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Runs `npm ci` when node_modules is missing or was installed from another lock file. */
export async function ensureDependencies() {
  if (await isInstalled()) return;
  await withLock(join(cacheFolder(), `install-${hashOf(root)}.lock`), async () => {
    if (await isInstalled()) return;
    const before = await lockHash();
    await run(process.platform === "win32" ? "npm.cmd" : "npm", ["ci", "--no-audit", "--no-fund"], {
      cwd: root,
      title: "install the npm packages",
    });
    // npm ci empties node_modules first, so a run cut short leaves no stamp behind.
    await writeFile(stampFile, before);
  });
}

const stampFile = join(root, "node_modules/.heed-lock");

async function isInstalled() {
  const stamp = await readFile(stampFile, "utf8").catch(() => undefined);
  return stamp !== undefined && stamp === (await lockHash());
}

/** An install holds for one lock file on one kind of machine: some packages bring programs. */
async function lockHash() {
  const lock = await readFile(join(root, "package-lock.json"));
  return createHash("sha256").update(lock).update(`${process.platform}-${process.arch}`).digest("hex");
}
