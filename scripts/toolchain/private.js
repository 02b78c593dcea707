// Makes the private folder of tools: the packages that this machine lacks, unpacked, relocated and prepared. One folder
// serves every script whose needs it covers.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { step } from "../lib/steps.js";
import { finishedEntries, hashOf, makeEntry } from "./cache.js";
import { PrivateApt } from "./debian.js";
import { prepareEmscripten, tryEmscripten } from "./emscripten.js";
import { prepareNative, privateNative } from "./native.js";
import { PROGRAMS, preparePrograms, privateProgram } from "./programs.js";
import { relocate } from "./relocate.js";
import { architecture } from "./system.js";
import { DEBIAN_SUITE, NOT_NEEDED, PIECES, PYTHON_STUB, SCHEME } from "./versions.js";

/** @typedef {import("./versions.js").Piece} Piece */
/** @typedef {{ scheme: number, suite: string, architecture: string, pieces: Piece[], packages: string[] }} Manifest */

/**
 * A private folder with at least the needed pieces.
 * @param {readonly Piece[]} needed by this script
 * @param {() => Promise<readonly Piece[]>} lacking on this machine for any script; one download brings them all
 * @returns {Promise<string>}
 */
export async function privateTools(needed, lacking) {
  const known = await existing(needed);
  if (known !== undefined) return known;
  const pieces = [...new Set([...needed, ...(await lacking())])].sort();
  const packages = ["patchelf", ...pieces.flatMap((piece) => PIECES[piece])];
  const stubs = pieces.includes("python") ? NOT_NEEDED : { ...NOT_NEEDED, python3: PYTHON_STUB };
  return makeEntry({
    name: `tools-${hashOf([SCHEME, DEBIAN_SUITE, process.arch, packages, stubs])}`,
    find: () => existing(needed),
    fill: (folder, final) => fillTools(folder, final, pieces, packages, stubs),
    prove: (final) => step("try each of them", () => tryTools(final, pieces)),
  });
}

/** @param {readonly Piece[]} needed */
async function existing(needed) {
  /** @type {{ folder: string, manifest: Manifest }[]} */
  const entries = await finishedEntries("tools-");
  return entries.find(
    ({ manifest }) =>
      manifest.scheme === SCHEME &&
      manifest.suite === DEBIAN_SUITE &&
      manifest.architecture === process.arch &&
      needed.every((piece) => manifest.pieces.includes(piece)),
  )?.folder;
}

/**
 * @param {string} folder
 * @param {string} final
 * @param {Piece[]} pieces
 * @param {string[]} packages
 * @param {Record<string, string>} stubs
 * @returns {Promise<Manifest>}
 */
async function fillTools(folder, final, pieces, packages, stubs) {
  const machine = architecture();
  if (machine === undefined) throw new Error(`no recipe for ${process.arch}`);
  const aptFolder = join(folder, "apt");
  const apt = await PrivateApt.open(aptFolder, stubs);
  const closure = await apt.closure(packages);
  await apt.unpack(closure, folder);
  await step("make them run from there", async () => {
    await rm(aptFolder, { recursive: true });
    await relocate(folder, final, machine);
    await preparePrograms(folder, pieces);
    if (pieces.includes("emscripten")) await prepareEmscripten(folder, final);
    if (pieces.includes("native")) await prepareNative(folder, final, machine);
  });
  return { scheme: SCHEME, suite: DEBIAN_SUITE, architecture: process.arch, pieces, packages: closure.packages };
}

/**
 * @param {string} root
 * @param {readonly Piece[]} pieces
 */
async function tryTools(root, pieces) {
  for (const [piece, names] of Object.entries(PROGRAMS)) {
    if (!pieces.includes(/** @type {Piece} */ (piece))) continue;
    for (const name of Object.keys(names))
      await privateProgram(root, /** @type {keyof typeof PROGRAMS} */ (piece), name);
  }
  if (pieces.includes("native")) await privateNative(root);
  if (pieces.includes("emscripten"))
    await tryEmscripten(root, pieces.includes("python") ? join(root, "programs/python/python3") : "python3");
}
