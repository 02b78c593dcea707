// The parts of `npm test`. The short run has the tests that a change most likely breaks; the rest is the same tests on further builds, browsers and bundlers.

/**
 * @typedef {{ cpp?: readonly string[], bench?: readonly string[], vitest?: readonly string[] }} Runs CMake presets, kinds of benches and Vitest projects
 * @typedef {{ short: Runs, rest: Runs }} Part
 * @typedef {"short" | "rest" | "full"} Depth
 */

/** @type {Record<string, Part>} */
const PARTS = {
  cpp: {
    short: { cpp: ["native-asan"] },
    rest: {
      cpp: ["native-release", "native-tsan", "native-emulated256", "native-emulated512", "wasm-simd", "wasm-relaxed"],
    },
  },
  bench: { short: {}, rest: { bench: ["native-release", "wasm-relaxed", "scripts"] } },
  unit: { short: { vitest: ["unit", "conformance"] }, rest: {} },
  browser: {
    short: { vitest: ["chromium-isolated"] },
    rest: { vitest: ["chromium-webgpu", "chromium-plain", "firefox-*", "webkit-*", "adapters"] },
  },
  demo: { short: { vitest: ["demo"] }, rest: { vitest: ["demo-rooms"] } },
  package: { short: { vitest: ["package"] }, rest: { vitest: ["package-matrix"] } },
};

/**
 * The presets and projects that the arguments of a command line name: parts (none: all of them) and a depth. Without a depth it is the
 * short run of all parts, and a named part whole.
 * @param {readonly string[]} args
 * @returns {{ presets: string[], benches: string[], projects: string[], unknown: string[] }}
 */
export function runsOf(args) {
  const depths = args.filter((word) => word in DEPTHS);
  const named = args.filter((word) => !(word in DEPTHS));
  const parts = named.length === 0 ? Object.keys(PARTS) : named.filter((word) => word in PARTS);
  const asked = DEPTHS[depths[0] ?? (named.length === 0 ? "short" : "full")] ?? [];
  const runs = parts.flatMap((part) => asked.map((depth) => PARTS[part]?.[depth] ?? {}));
  return {
    presets: runs.flatMap(({ cpp = [] }) => cpp),
    benches: runs.flatMap(({ bench = [] }) => bench),
    projects: runs.flatMap(({ vitest = [] }) => vitest),
    unknown: [...named.filter((word) => !(word in PARTS)), ...depths.slice(1)],
  };
}

/** @type {Record<string, readonly ("short" | "rest")[]>} */
const DEPTHS = { short: ["short"], rest: ["rest"], full: ["short", "rest"] };

export const ARGUMENTS = [...Object.keys(DEPTHS), ...Object.keys(PARTS)];
