// Repeats work only when the content of its inputs or outputs has changed.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./root.js";

/** Every file under the given files and folders, sorted. Missing paths are ignored. @param {readonly string[]} paths */
export function filesUnder(paths) {
  return paths
    .filter((path) => existsSync(path))
    .flatMap((path) =>
      statSync(path).isDirectory()
        ? readdirSync(path, { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
        : [path],
    )
    .sort();
}

/** @param {readonly string[]} paths @param {string} salt */
export function hashOf(paths, salt = "") {
  const hash = createHash("sha256").update(salt);
  for (const file of filesUnder(paths)) hash.update(`\0${relative(root, file)}\0`).update(readFileSync(file));
  return hash.digest("hex");
}

/**
 * Does the work unless inputs, outputs and salt are as they were after its last success.
 * @param {string} name
 * @param {{ inputs: readonly string[], outputs: readonly string[], salt?: string }} watched
 * @param {() => Promise<void>} work
 * @returns {Promise<boolean>} whether the work was done
 */
export async function whenChanged(name, { inputs, outputs, salt = "" }, work) {
  const stamp = join(root, "build", "stamps", name);
  const before = hashOf(inputs, salt);
  const current = () => `${before} ${hashOf(outputs)}`;
  const present = outputs.every((path) => existsSync(path));
  if (present && existsSync(stamp) && readFileSync(stamp, "utf8") === current()) return false;
  await work();
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, current());
  return true;
}
