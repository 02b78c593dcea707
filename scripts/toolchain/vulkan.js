// Finds a Vulkan driver that needs no GPU: Mesa's lavapipe, from Debian, in a private folder with the C library that it needs. A program
// uses the driver when that folder's loader starts the program.

import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { finishedEntries, hashOf, makeEntry } from "./cache.js";
import { PrivateApt, whyNoDebian } from "./debian.js";
import { architecture } from "./system.js";
import { DEBIAN_SUITE, SCHEME } from "./versions.js";

/**
 * @typedef {object} Vulkan
 * @property {(program: string) => readonly string[]} launch a command line for a program, which then sees the driver's libraries
 * @property {string} lavapipe the path for VK_DRIVER_FILES
 */

const PACKAGES = ["mesa-vulkan-drivers", "libvulkan1"];

/** @returns {Promise<Vulkan | { problem: string }>} */
export async function findVulkan() {
  const machine = architecture();
  const problem = await whyNoDebian();
  if (problem !== undefined || machine === undefined) return { problem: problem ?? "unknown processor" };
  const name = `vulkan-${hashOf([SCHEME, DEBIAN_SUITE, process.arch, PACKAGES])}`;
  const find = async () => (await finishedEntries(name))[0]?.folder;
  const folder = (await find()) ?? (await makeEntry({ name, find, fill }));
  const libraries = join(folder, "usr/lib", machine.triple);
  return {
    launch: (program) => [join(libraries, machine.loader), "--library-path", libraries, program],
    lavapipe: join(folder, "lavapipe.json"),
  };
}

/** @param {string} folder @param {string} final */
async function fill(folder, final) {
  const aptFolder = join(folder, "apt");
  const apt = await PrivateApt.open(aptFolder, {});
  const closure = await apt.closure(PACKAGES);
  await apt.unpack(closure, folder);
  await rm(aptFolder, { recursive: true });
  const library = join("usr/lib", architecture()?.triple ?? "", "libvulkan_lvp.so");
  if (!existsSync(join(folder, library))) throw new Error(`Debian's Mesa came without ${library}`);
  const driver = { file_format_version: "1.0.1", ICD: { library_path: join(final, library), api_version: "1.4.0" } };
  await writeFile(join(folder, "lavapipe.json"), JSON.stringify(driver));
  return { suite: DEBIAN_SUITE, packages: closure.packages };
}
