// A lock between processes, held as a file: one process works, the others wait and say so. A lock whose holder died is
// taken over. The lock saves double work; the guarded code must stay correct without it (unique names, atomic renames).

import { randomUUID } from "node:crypto";
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { note } from "../lib/steps.js";

const HEARTBEAT_MS = 2_000;
const STALE_AFTER_MS = 30_000;
const LOOK_EVERY_MS = 200;
const CLAIM_KEPT_MS = 3_600_000;

/** @typedef {{ token: string, pid: number, host: string }} Holder */

/**
 * Does the work while no other process holds the same lock.
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, work) {
  /** @type {Holder} */
  const self = { token: randomUUID(), pid: process.pid, host: hostname() };
  mkdirSync(dirname(file), { recursive: true });
  let waited = false;
  while (!takeIfFree(file, self)) {
    const holder = readHolder(file);
    if (holder === undefined) continue;
    if (isDead(file, holder)) {
      removeDead(file, holder);
      continue;
    }
    if (!waited) note(`another run (process ${holder.pid}) holds ${file}: waiting for it …`);
    waited = true;
    await sleep(LOOK_EVERY_MS);
  }
  forgetOldClaims(file);
  const heartbeat = setInterval(() => touch(file), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if (readHolder(file)?.token === self.token) unlinkSync(file);
  }
}

/**
 * @param {string} file
 * @param {Holder} self
 */
function takeIfFree(file, self) {
  let handle;
  try {
    handle = openSync(file, "wx");
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
  try {
    writeSync(handle, JSON.stringify(self));
    return true;
  } catch (error) {
    // The disk is full: it has room for the file but not for its content.
    unlinkSync(file);
    throw error;
  } finally {
    closeSync(handle);
  }
}

/** @param {string} file @returns {Holder | undefined} */
function readHolder(file) {
  try {
    const text = readFileSync(file, "utf8");
    // The lock was created and not yet written: it has a holder until it is old.
    if (text === "") return { token: `unwritten-${statSync(file).mtimeMs}`, pid: 0, host: "" };
    return JSON.parse(text);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * @param {string} file
 * @param {Holder} holder
 */
function isDead(file, holder) {
  if (holder.host === hostname() && !isAlive(holder.pid)) return true;
  try {
    return Date.now() - statSync(file).mtimeMs > STALE_AFTER_MS;
  } catch {
    return false;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
}

/**
 * Two waiters may judge the same lock dead, and the slower one must not remove the lock that the faster one has just
 * taken: only the process that creates this file, named by the dead holder's token, may remove the lock.
 * @param {string} file
 * @param {Holder} holder
 */
function removeDead(file, holder) {
  const claim = `${file}.dead-${holder.token}`;
  if (takeIfFree(claim, holder)) {
    note(`a run that held ${file} is gone (process ${holder.pid}): taking over`);
    unlinkSync(file);
  }
}

/** A claim must outlive every waiter that saw the dead holder; an hour does. @param {string} file */
function forgetOldClaims(file) {
  for (const name of readdirSync(dirname(file))) {
    const claim = join(dirname(file), name);
    if (!claim.startsWith(`${file}.dead-`)) continue;
    if (Date.now() - statSync(claim).mtimeMs > CLAIM_KEPT_MS) unlinkSync(claim);
  }
}

/** @param {string} file */
function touch(file) {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    // Another process took the lock over, because it believed this one dead: there is nothing to keep alive any more.
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
