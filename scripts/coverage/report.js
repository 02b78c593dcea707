// Prints the coverage of files: by room, and of those files that most lines are missing of.

import { tableOf } from "../../bench/table.js";
import { note } from "../lib/steps.js";

/**
 * @typedef {object} Covered
 * @property {string} file from the repository's root
 * @property {number} lines that can run
 * @property {readonly number[]} missing numbers of those that did not
 */

/** How many files are named. */
const NAMED = 20;

/** @param {string} title @param {readonly Covered[]} files @param {number} depth of the folders that are added up */
export function reportCoverage(title, files, depth) {
  /** @type {Map<string, Covered[]>} */
  const rooms = new Map();
  for (const one of files) {
    const folders = one.file.split("/").slice(0, -1);
    const room = folders.slice(0, depth).join("/");
    rooms.set(room, [...(rooms.get(room) ?? []), one]);
  }
  const found = [...rooms].sort(([a], [b]) => a.localeCompare(b)).map(([room, all]) => ({ room, ...added(all) }));
  note(`\n${title}\n`);
  note(
    tableOf(
      [...found, { room: "all", ...added(files) }],
      [
        ["room", ({ room }) => room],
        ["lines", ({ lines }) => `${lines}`],
        ["covered", ({ lines, missing }) => share(lines, missing)],
        ["not", ({ missing }) => `${missing}`],
      ],
    ),
  );
  const worst = files.filter(({ missing }) => missing.length > 0);
  worst.sort((a, b) => b.missing.length - a.missing.length);
  note(`\nLines that no test runs, of the ${NAMED} files that have most of them:\n`);
  for (const { file, missing } of worst.slice(0, NAMED)) note(`  ${file}: ${ranges(missing)}`);
}

/** @param {readonly Covered[]} files */
const added = (files) => ({
  lines: files.reduce((sum, { lines }) => sum + lines, 0),
  missing: files.reduce((sum, { missing }) => sum + missing.length, 0),
});

/** @param {number} lines @param {number} missing */
const share = (lines, missing) => `${(100 * (1 - missing / Math.max(1, lines))).toFixed(1)}%`;

/** 3, 4, 5, 9 as "3-5, 9". @param {readonly number[]} lines */
function ranges(lines) {
  /** @type {[number, number][]} */
  const found = [];
  for (const line of lines) {
    const last = found.at(-1);
    if (last?.[1] === line - 1) last[1] = line;
    else found.push([line, line]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(", ");
}
