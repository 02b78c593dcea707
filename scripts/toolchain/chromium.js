// Finds a Chromium for the browser tests: the one CHROME_PATH names, the system's, or, as root on Debian, the package
// it installs. How it is started is the tests' business.

import { existsSync } from "node:fs";
import { run, step } from "../lib/steps.js";
import { versionOf } from "./programs.js";
import { onPath, system } from "./system.js";

/** @typedef {import("./programs.js").Program} Program */

const NAMES = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** @returns {Promise<import("./programs.js").Search>} */
export async function findChromium() {
  const { CHROME_PATH } = process.env;
  if (CHROME_PATH) {
    const version = existsSync(CHROME_PATH) ? await versionOf(CHROME_PATH) : undefined;
    if (version === undefined) return { problem: `CHROME_PATH is ${CHROME_PATH}, which does not run` };
    return { found: { path: CHROME_PATH, version, origin: "CHROME_PATH" } };
  }
  const present = await systemChromium();
  if (present !== undefined) return { found: present };
  if (!mayInstall()) return { problem: "no Chromium or Chrome is on PATH, and CHROME_PATH is not set" };
  await install();
  const installed = await systemChromium();
  if (installed === undefined) return { problem: "the package chromium is installed but does not run" };
  return { found: { ...installed, origin: "system, installed just now" } };
}

/** @returns {Promise<Program | undefined>} */
async function systemChromium() {
  const path = onPath(...NAMES);
  const version = path === undefined ? undefined : await versionOf(path);
  return path === undefined || version === undefined ? undefined : { path, version, origin: "system" };
}

/** Ubuntu's package of that name is only a pointer to a snap, which does not run in containers. */
function mayInstall() {
  const os = system();
  return os.isDebianLike && os.id === "debian" && process.getuid?.() === 0;
}

async function install() {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (/** @type {string[]} */ ...args) => run("apt-get", ["-o", "DPkg::Lock::Timeout=300", ...args], { env });
  await step("install the package chromium (this is root on Debian)", async () => {
    const wanted = ["install", "-y", "--no-install-recommends", "chromium"];
    try {
      await apt(...wanted);
    } catch {
      // A machine without package lists, or with lists older than the mirror.
      await apt("update");
      await apt(...wanted);
    }
  });
}
