// Describes this machine: its system, its processor, the programs on PATH. Other files judge whether they suffice.

import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { ARCHITECTURES } from "./versions.js";

/** @typedef {{ id: string, codename: string, name: string, isDebianLike: boolean }} System */

/** @returns {System} */
export function system() {
  const release = osRelease();
  const id = release.ID ?? process.platform;
  const family = [id, ...(release.ID_LIKE ?? "").split(" ")];
  return {
    id,
    codename: release.VERSION_CODENAME ?? "",
    name: release.PRETTY_NAME ?? { darwin: "macOS", win32: "Windows" }[String(process.platform)] ?? process.platform,
    isDebianLike: family.some((name) => name === "debian" || name === "ubuntu") && onPath("apt-get") !== undefined,
  };
}

/** The names of this processor in Debian and its libraries; undefined for a processor that heed fetches no tools for. */
export function architecture() {
  return ARCHITECTURES[process.arch];
}

/** The first of the names that is a program on PATH, or at the path given. @param {...string} names */
export function onPath(...names) {
  for (const name of names) {
    const folders = isAbsolute(name) ? [""] : (process.env.PATH ?? "").split(delimiter);
    for (const folder of folders) {
      const file = join(folder, name);
      if (isProgram(file)) return file;
    }
  }
  return undefined;
}

/** @param {string} file */
export function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** @returns {Record<string, string | undefined>} */
function osRelease() {
  try {
    const lines = readFileSync("/etc/os-release", "utf8").matchAll(/^(\w+)="?([^"\n]*)"?$/gm);
    return Object.fromEntries([...lines].map(([, key, value]) => [key, value]));
  } catch {
    return {};
  }
}
