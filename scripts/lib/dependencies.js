// Installs a folder's node_modules by its package-lock.json before anything from it is imported. It uses only Node's own
// modules, as does all code that comes before the installation.

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, hashOf } from "../toolchain/cache.js";
import { withLock } from "../toolchain/lock.js";
import { run } from "./steps.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Calls `npm ci` when node_modules is missing or was installed from another lock file. */
export async function ensureDependencies(folder = root) {
  if (await isInstalled(folder)) return;
  await withLock(join(cacheFolder(), `install-${hashOf(folder)}.lock`), async () => {
    if (await isInstalled(folder)) return;
    const before = await lockHash(folder);
    await run(process.platform === "win32" ? "npm.cmd" : "npm", ["ci", "--no-audit", "--no-fund"], {
      cwd: folder,
      title: folder === root ? "install the npm packages" : `install the npm packages of ${relative(root, folder)}`,
    });
    // npm ci empties node_modules first, so an interrupted installation leaves no stamp behind.
    await writeFile(stampFile(folder), before);
  });
}

/** @param {string} folder */
const stampFile = (folder) => join(folder, "node_modules/.heed-lock");

/** @param {string} folder */
async function isInstalled(folder) {
  const stamp = await readFile(stampFile(folder), "utf8").catch(() => undefined);
  return stamp !== undefined && stamp === (await lockHash(folder));
}

/** An installation is valid for one lock file on one platform, because some packages contain programs. @param {string} folder */
async function lockHash(folder) {
  const lock = await readFile(join(folder, "package-lock.json"));
  return createHash("sha256").update(lock).update(`${process.platform}-${process.arch}`).digest("hex");
}
