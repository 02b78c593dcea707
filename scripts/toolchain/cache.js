// The per-user folder that all checkouts share: it holds finished entries under their final names, and nothing half-made.
// The caller decides the content of an entry.

import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, statfs, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { Failure, note } from "../lib/steps.js";
import { withLock } from "./lock.js";

const MANIFEST = "heed-manifest.json";
const UNFINISHED = "unfinished-";

/** The folder of all entries: HEED_CACHE, or heed's folder among the user's caches. */
export function cacheFolder() {
  const { HEED_CACHE, XDG_CACHE_HOME } = process.env;
  return resolve(HEED_CACHE || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "heed"));
}

/** @param {unknown} content anything that JSON can hold */
export function hashOf(content) {
  return createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 16);
}

/**
 * Finds the finished entries whose names begin with a prefix, with their manifests.
 * @template Manifest
 * @param {string} prefix
 * @returns {Promise<{ folder: string, manifest: Manifest }[]>}
 */
export async function finishedEntries(prefix) {
  const names = (await readdir(cacheFolder()).catch(() => [])).filter((name) => name.startsWith(prefix)).sort();
  const entries = await Promise.all(
    names.map(async (name) => {
      const folder = join(cacheFolder(), name);
      const text = await readFile(join(folder, MANIFEST), "utf8").catch(() => undefined);
      return text === undefined ? [] : [{ folder, manifest: JSON.parse(text) }];
    }),
  );
  return entries.flat();
}

/**
 * Makes an entry, unless another script makes it first; `find` says whether one is there.
 * `fill` works in a folder of a temporary name, which gets its final one when all is done.
 * @template Found
 * @param {{
 *   name: string,
 *   find: () => Promise<Found | undefined>,
 *   fill: (unfinished: string, final: string) => Promise<unknown>,
 *   prove?: (final: string) => Promise<unknown>,
 * }} recipe fill resolves to the manifest; prove rejects when the entry does not work in its final folder
 * @returns {Promise<Found>}
 */
export async function makeEntry({ name, find, fill, prove }) {
  const cache = cacheFolder();
  const final = join(cache, name);
  try {
    await mkdir(cache, { recursive: true });
    return await withLock(join(cache, "lock"), async () => {
      const theirs = await find();
      if (theirs !== undefined) return theirs;
      await sweep(cache);
      const unfinished = join(cache, `${UNFINISHED}${name}-${randomBytes(4).toString("hex")}`);
      try {
        await mkdir(unfinished);
        const manifest = await fill(unfinished, final);
        await writeFile(join(unfinished, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
        await rename(unfinished, final);
        await prove?.(final);
      } catch (error) {
        await remove(unfinished);
        await remove(final);
        throw error;
      }
      const mine = await find();
      if (mine === undefined) throw new Failure(`${final} was made but does not hold what it should`);
      return mine;
    });
  } catch (error) {
    throw await explain(error, cache);
  }
}

/**
 * Fails before anything is downloaded when the disk cannot hold it.
 * @param {string} folder
 * @param {number} bytes
 */
export async function requireSpace(folder, bytes) {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= bytes) return;
  throw new Failure(
    `not enough space in ${cacheFolder()}: ${megabytes(bytes)} are needed, ${megabytes(bavail * bsize)} are free. ` +
      "Make room there, or set HEED_CACHE to a folder on another disk.",
  );
}

/** @param {number} bytes */
export function megabytes(bytes) {
  return `${Math.ceil(bytes / 1e6)} MB`;
}

/** Removes what killed scripts left behind. It holds the lock, so every unfinished entry belongs to a dead script. @param {string} cache */
async function sweep(cache) {
  const leftovers = (await readdir(cache)).filter((name) => name.startsWith(UNFINISHED));
  for (const name of leftovers) {
    note(`removing ${name}, left by a script that did not finish`);
    await remove(join(cache, name));
  }
}

/** The children of a killed script may still write for a moment, so that a removal fails: the next script tries again. @param {string} folder */
async function remove(folder) {
  await rm(folder, { recursive: true, force: true, maxRetries: 3, retryDelay: 200 }).catch(() => {});
}

/**
 * Explains a full disk, which shows as Node's error, in a child's output or in apt's, by one plain message.
 * @param {unknown} error
 * @param {string} cache
 */
async function explain(error, cache) {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const output = error instanceof Failure ? error.output : "";
  if (
    code === "ENOSPC" ||
    code === "EDQUOT" ||
    /No space left on device|Disk quota exceeded|don't have enough free space/.test(output)
  ) {
    const free = await statfs(cache).then(
      ({ bavail, bsize }) => `${megabytes(bavail * bsize)} are free now`,
      () => "",
    );
    return new Failure(
      `the disk of ${cache} is full (${free}). Nothing half-made was kept. ` +
        "Make room there (about 3.5 GB for the whole toolchain), or set HEED_CACHE to a folder on another disk.",
      { cause: error },
    );
  }
  if (code === "EACCES" || code === "EROFS" || code === "EPERM") {
    return new Failure(`cannot write in ${cache}: ${String(error)}. Set HEED_CACHE to a folder that can be written.`, {
      cause: error,
    });
  }
  return error;
}
