// Makes unpacked Debian programs work from a private folder on a system with another C library: each names the private
// loader and the private libraries. Files that the loader finds by itself are not changed.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../lib/steps.js";
import { readElf } from "./elf.js";

/** Folders below usr/ with programs, and with libraries that name search folders of their own. */
const PROGRAM_FOLDERS = ["bin", "lib/llvm-19/bin"];

/** The C library finds its own parts, and breaks when it is edited. */
const C_LIBRARY = /^(ld-linux|libc|libm|libmvec|libpthread|libdl|librt)[.-]/;

/**
 * @param {string} folder where the packages lie unpacked now
 * @param {string} finalFolder their final folder
 * @param {import("./versions.js").Architecture} architecture
 */
export async function relocate(folder, finalFolder, architecture) {
  const libraries = `lib/${architecture.triple}`;
  const search = [libraries, "lib/llvm-19/lib"].map((path) => join(finalFolder, "usr", path)).join(":");
  const rpath = ["--force-rpath", "--set-rpath", search];
  const loader = join(finalFolder, "usr", libraries, architecture.loader);

  const programs = [];
  const shared = [];
  for (const path of [...PROGRAM_FOLDERS, libraries]) {
    for (const file of await plainFiles(join(folder, "usr", path))) {
      const elf = await readElf(file.path);
      if (elf === undefined || C_LIBRARY.test(file.name)) continue;
      if (elf.hasLoader) programs.push(file.path);
      else if (elf.hasSearchPath) shared.push(file.path);
    }
  }
  const patch = await patcher(folder, architecture);
  await patch(rpath, [...programs, ...shared]);
  // In a second pass: done in one, or the other way round, patchelf 0.18 lets segments of Python's program overlap.
  await patch(["--set-interpreter", loader], programs);
}

/**
 * patchelf is itself one of the unpacked programs: until it is moved, it is started through the unpacked loader.
 * @param {string} folder
 * @param {import("./versions.js").Architecture} architecture
 */
async function patcher(folder, architecture) {
  const libraries = join(folder, "usr/lib", architecture.triple);
  const loader = join(libraries, architecture.loader);
  const patchelf = join(folder, "usr/bin/patchelf");
  /** @param {string[]} changes @param {string[]} files */
  return async (changes, files) => {
    // It cannot patch itself: a program cannot be written while it is executed, and it is not needed afterwards.
    const others = files.filter((file) => file !== patchelf);
    if (others.length > 0) await run(loader, ["--library-path", libraries, patchelf, ...changes, ...others]);
  };
}

/** @param {string} folder */
async function plainFiles(folder) {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => ({ name: entry.name, path: join(folder, entry.name) }));
}
