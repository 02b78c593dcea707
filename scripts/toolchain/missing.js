// Writes the message for a machine that lacks tools which heed cannot fetch: all of them at once, and how each system
// installs them.

import { system } from "./system.js";
import { CATCH2_VERSION, CLANG_TOOLS_MAJOR } from "./versions.js";

/** @typedef {"debian" | "fedora" | "macos"} Family */

/** @type {Record<string, Partial<Record<Family, string>>>} */
const PACKAGES = {
  emscripten: { debian: "emscripten", fedora: "emscripten", macos: "emscripten" },
  native: { debian: "g++", fedora: "gcc-c++ libasan libubsan libtsan", macos: "llvm" },
  cmake: { debian: "cmake", fedora: "cmake", macos: "cmake" },
  ninja: { debian: "ninja-build", fedora: "ninja-build", macos: "ninja" },
  python: { debian: "python3", fedora: "python3", macos: "python" },
  clangFormat: {
    debian: `clang-format-${CLANG_TOOLS_MAJOR}`,
    fedora: `clang${CLANG_TOOLS_MAJOR}-tools-extra`,
    macos: `llvm@${CLANG_TOOLS_MAJOR}`,
  },
  clangTidy: {
    debian: `clang-tidy-${CLANG_TOOLS_MAJOR}`,
    fedora: `clang${CLANG_TOOLS_MAJOR}-tools-extra`,
    macos: `llvm@${CLANG_TOOLS_MAJOR}`,
  },
  xsimd: { debian: "libxsimd-dev", fedora: "xsimd-devel", macos: "xsimd" },
  json: { debian: "nlohmann-json3-dev", fedora: "json-devel", macos: "nlohmann-json" },
  chromium: { debian: "chromium-headless-shell", fedora: "chromium", macos: "--cask chromium" },
  firefox: { debian: "firefox-esr", fedora: "firefox", macos: "--cask firefox" },
  webkit: { debian: "webkit2gtk-driver xvfb xauth" },
};

/** @type {Record<Family, string>} */
const COMMANDS = {
  debian: "sudo apt-get install",
  fedora: "sudo dnf install",
  macos: "brew install",
};

/**
 * @param {Partial<Record<string, import("./programs.js").Problem>>} problems by the name of what is missing
 * @param {string | undefined} obstacle why heed cannot fetch it
 */
export function missingMessage(problems, obstacle) {
  const names = Object.keys(problems);
  const lines = [
    "this machine lacks something that heed needs:",
    ...Object.values(problems).map((one) => `  - ${one?.problem}`),
  ];
  if (obstacle !== undefined) {
    lines.push("", `On Debian heed fetches its tools itself, into a private folder; here it cannot: ${obstacle}.`);
  }
  const family = familyOfSystem();
  const commands = family === undefined ? /** @type {Family[]} */ (Object.keys(COMMANDS)) : [family];
  const advice = commands.flatMap((one) => {
    const packages = [...new Set(names.flatMap((name) => PACKAGES[name]?.[one] ?? []))];
    return packages.length === 0 ? [] : [`  ${COMMANDS[one]} ${packages.join(" ")}`];
  });
  if (advice.length > 0)
    lines.push(
      "",
      "Install (or name what you have by EMSDK, CC and CXX, XSIMD_ROOT, NLOHMANN_JSON_ROOT, CHROME_PATH, FIREFOX_PATH):",
      ...advice,
    );
  if ("emscripten" in problems)
    lines.push("  Emscripten can also come from its own SDK, emsdk: set EMSDK to its folder.");
  if ("catch2" in problems)
    lines.push(
      `  Catch2 is needed as source: unpack its release ${CATCH2_VERSION} and set CATCH2_SOURCE to the folder.`,
    );
  if ("firefox" in problems || "webkit" in problems)
    lines.push('  To test without some of the browsers, name those that you have: HEED_BROWSERS="chromium firefox".');
  if (process.platform === "win32") lines.push("  On Windows, use Debian or Ubuntu in WSL.");
  return lines.join("\n");
}

/** @returns {Family | undefined} */
function familyOfSystem() {
  const os = system();
  if (os.isDebianLike) return "debian";
  if (os.id === "fedora") return "fedora";
  return process.platform === "darwin" ? "macos" : undefined;
}
