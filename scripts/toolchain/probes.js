// Remembers the results of probing a program (its version, whether it really compiles), so that the next script need not start
// it. A result holds while the files that it came from are unchanged. A failure is never remembered, since installing another
// package may mend it.

import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, hashOf } from "./cache.js";

const KEPT = 200;

/**
 * @param {string} question
 * @param {readonly string[]} files that the answer depends on
 * @param {() => Promise<string | undefined>} ask
 */
export async function remembered(question, files, ask) {
  const key = hashOf([question, process.arch, files.map(fingerprint)]);
  const known = load()[key];
  if (known !== undefined) return known;
  const answer = await ask();
  if (answer !== undefined) save(key, answer);
  return answer;
}

/** @param {string} file */
function fingerprint(file) {
  const real = realpathSync(file);
  const { size, mtimeMs, ino } = statSync(real);
  return [file, real, size, mtimeMs, ino];
}

const store = () => join(cacheFolder(), "probes.json");

/** @returns {Record<string, string>} */
function load() {
  try {
    return JSON.parse(readFileSync(store(), "utf8"));
  } catch {
    return {};
  }
}

/** @param {string} key @param {string} answer */
function save(key, answer) {
  const entries = Object.entries({ ...load(), [key]: answer }).slice(-KEPT);
  const unfinished = `${store()}.${process.pid}`;
  try {
    mkdirSync(cacheFolder(), { recursive: true });
    writeFileSync(unfinished, JSON.stringify(Object.fromEntries(entries)));
    renameSync(unfinished, store());
  } catch {
    rmSync(unfinished, { force: true });
    // A folder that cannot be written costs a second a script here, and is reported by the code that needs it.
  }
}
