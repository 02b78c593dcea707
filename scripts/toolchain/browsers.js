// Finds the browsers for the tests: those that variables name, the system's, or, as root on Debian, packages that it installs.
// The tests start them.

import { existsSync } from "node:fs";
import { Failure, run, step } from "../lib/steps.js";
import { versionOf } from "./programs.js";
import { architecture, onPath, system } from "./system.js";

/** @typedef {import("./programs.js").Program} Program */
/** @typedef {"chromium" | "firefox" | "webkit"} Browser */
/** WebKit's path is its driver's; browser and display are the programs that this needs. @typedef {Program & { browser: string, display: string }} WebKit */

/** @type {readonly Browser[]} */
const ALL = ["chromium", "firefox", "webkit"];

/** The browsers that tests run in: all, unless HEED_BROWSERS names fewer. @returns {readonly Browser[]} */
export function wantedBrowsers() {
  const names = (process.env.HEED_BROWSERS ?? ALL.join(" ")).split(/[\s,]+/).filter((name) => name !== "");
  const wanted = ALL.filter((name) => names.includes(name));
  if (wanted.length < new Set(names).size || !wanted.includes("chromium")) {
    throw new Failure(
      `HEED_BROWSERS must name some of ${ALL.join(", ")}, chromium among them, got "${names.join(" ")}"`,
    );
  }
  return wanted;
}

/**
 * Debian's headless shell is Chromium without the windows of a browser, which take a third of a page's processor time. Where it cannot be
 * had, any Chrome will do.
 * @returns {Promise<import("./programs.js").Search>}
 */
export async function findChromium() {
  const title = "Chromium or Chrome";
  const variable = "CHROME_PATH";
  const shell = "chromium-headless-shell";
  const found = await findProgram({ title, variable, names: [shell], packages: [shell] }).catch(() => undefined);
  if (found !== undefined && "found" in found) return found;
  const names = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
  ];
  return findProgram({ title, variable, names, packages: ["chromium"] });
}

/** Chromium that loads extensions, which its shell does not, nor does Chrome. @returns {Promise<import("./programs.js").Search>} */
export const findWholeChromium = () =>
  findProgram({
    title: "Chromium",
    variable: "CHROMIUM_PATH",
    names: ["chromium", "chromium-browser", "/Applications/Chromium.app/Contents/MacOS/Chromium"],
    packages: ["chromium"],
  });

/** @returns {Promise<import("./programs.js").Search>} */
export const findFirefox = () =>
  findProgram({
    title: "Firefox",
    variable: "FIREFOX_PATH",
    names: ["firefox-esr", "firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"],
    packages: ["firefox-esr"],
  });

/** @returns {Promise<{ found: WebKit } | import("./programs.js").Problem>} */
export const findWebkit = () =>
  findOrInstall({
    title: "WebKitGTK with WebKitWebDriver, MiniBrowser and xvfb-run",
    find: systemWebkit,
    packages: ["webkit2gtk-driver", "xvfb", "xauth"],
  });

/**
 * @param {{ title: string, variable: string, names: readonly string[], packages: readonly string[] }} wanted
 * @returns {Promise<import("./programs.js").Search>}
 */
async function findProgram({ title, variable, names, packages }) {
  const named = process.env[variable];
  if (!named) return findOrInstall({ title, find: () => systemProgram(names), packages });
  const version = existsSync(named) ? await versionOf(named) : undefined;
  if (version === undefined) return { problem: `${variable} is ${named}, which does not run` };
  return { found: { path: named, version, origin: variable } };
}

/**
 * @template {Program} Found
 * @param {{ title: string, find: () => Promise<Found | undefined>, packages: readonly string[] }} wanted
 * @returns {Promise<{ found: Found } | import("./programs.js").Problem>}
 */
async function findOrInstall({ title, find, packages }) {
  const present = await find();
  if (present !== undefined) return { found: present };
  if (!mayInstall()) return { problem: `this machine has no ${title} that runs` };
  await install(packages);
  const installed = await find();
  if (installed === undefined) return { problem: `${packages.join(", ")} are installed, and ${title} does not run` };
  return { found: { ...installed, origin: "system, installed just now" } };
}

/** @param {readonly string[]} names @returns {Promise<Program | undefined>} */
async function systemProgram(names) {
  const path = onPath(...names);
  const version = path === undefined ? undefined : await versionOf(path);
  return path === undefined || version === undefined ? undefined : { path, version, origin: "system" };
}

/** @returns {Promise<WebKit | undefined>} */
async function systemWebkit() {
  const path = onPath("WebKitWebDriver");
  const display = onPath("xvfb-run");
  const folders = [`/usr/lib/${architecture()?.triple}`, "/usr/libexec", "/usr/lib64", "/usr/lib"];
  const browser = folders.map((folder) => `${folder}/webkit2gtk-4.1/MiniBrowser`).find((file) => existsSync(file));
  if (path === undefined || display === undefined || browser === undefined) return undefined;
  const version = await versionOf(display, ["-a", browser, "--version"]);
  return version === undefined ? undefined : { path, version, origin: "system", browser, display };
}

/** Ubuntu's packages of browsers are only pointers to snaps, which do not run in containers. */
function mayInstall() {
  const os = system();
  return os.isDebianLike && os.id === "debian" && process.getuid?.() === 0;
}

/** @param {readonly string[]} packages */
async function install(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (/** @type {string[]} */ ...args) => run("apt-get", ["-o", "DPkg::Lock::Timeout=300", ...args], { env });
  await step(`install ${packages.join(", ")} (this is root on Debian)`, async () => {
    const wanted = ["install", "-y", "--no-install-recommends", ...packages];
    try {
      await apt(...wanted);
    } catch {
      // The machine has no package lists, or its lists are older than the mirror.
      await apt("update");
      await apt(...wanted);
    }
  });
}
