// The test projects: unit and conformance in Node, the browser suite in three engines with and without cross-origin isolation, the demo,
// GPU adapters, and the packed package, also under bundlers.

import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { playwright } from "@vitest/browser-playwright";
import type { ProvidedContext } from "vitest";
import { defineConfig, type TestProjectConfiguration } from "vitest/config";
import type { BrowserProviderOption } from "vitest/node";
import { SOFTWARE_GPU } from "./scripts/lib/software-gpu.js";
import { type WebKit, wantedBrowsers } from "./scripts/toolchain/browsers.js";
import { whyNoDebian } from "./scripts/toolchain/debian.js";
import { findToolchain } from "./scripts/toolchain/find.js";
import { conformance } from "./tests/conformance/plugin.js";
import { DAY_SEED } from "./tests/support/day.js";
import { roundsOf } from "./tests/support/rounds.js";
import { webkit } from "./tests/support/webkit.js";
import { probe } from "./web/src/platform/features.js";
import { currentHost } from "./web/src/platform/host.js";

const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** Node 20 has relaxed SIMD only behind this flag; later versions always have it, and may refuse the flag. */
const RELAXED_SIMD = probe(currentHost()).relaxedSimd ? [] : ["--experimental-wasm-relaxed-simd"];

/** The demo's files in the short run: the front page, the five-minute page, and short tests of parts. The others visit every room, or test one. */
const SHARED_PARTS = ["arithmetic", "front", "mask-options", "pictures", "thread", "typed", "viz"].map(
  (name) => `tests/browser/demo/${name}.test.ts`,
);

/** What examples import, from its sources. */
const SOURCES = ["", "/expr", "/layers", "/models", "/train"].map((entry) => ({
  find: new RegExp(`^heed${entry}$`),
  replacement: fileURLToPath(new URL(`web/src${entry}/index.ts`, import.meta.url)),
}));

function node(
  name: string,
  include: string | string[],
  provide: Partial<ProvidedContext> = {},
  globalSetup: string | string[] = [],
  {
    alias = [],
    exclude = [],
    setup = [],
  }: { alias?: { find: RegExp; replacement: string }[]; exclude?: string[]; setup?: string[] } = {},
): TestProjectConfiguration {
  return {
    plugins: [conformance()],
    resolve: { alias },
    test: {
      name,
      include: [include].flat(),
      exclude,
      provide,
      globalSetup,
      setupFiles: ["tests/support/equality.ts", ...setup],
      execArgv: [...RELAXED_SIMD, "--expose-gc"],
      pool: "forks",
      testTimeout: 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 30_000 } },
    },
  };
}

interface Pages {
  readonly name: string;
  readonly browser: "chromium" | "firefox" | "webkit";
  readonly provider: BrowserProviderOption;
  readonly isolated: boolean;
  readonly relaxedSimd: boolean;
  readonly include?: string[];
  readonly provide?: Partial<ProvidedContext>;
}

const BROWSER_TESTS = ["tests/browser/*.test.ts", "tests/conformance/*.browser.test.ts"];

/** The browser suite in one browser, isolated or not. */
function pages({
  name,
  browser,
  provider,
  isolated,
  relaxedSimd,
  include = BROWSER_TESTS,
  provide = {},
}: Pages): TestProjectConfiguration {
  return {
    plugins: [conformance()],
    server: { headers: isolated ? ISOLATION : {} },
    // WebKit has no `using` yet.
    oxc: { target: "es2022" },
    test: {
      name,
      include,
      provide: { isolated, relaxedSimd, ...provide },
      testTimeout: 120_000,
      hookTimeout: 120_000,
      browser: { enabled: true, headless: true, screenshotFailures: false, provider, instances: [{ browser }] },
    },
  };
}

/** As root, Chromium has no sandbox. */
function rootless(): string[] {
  return process.getuid?.() === 0 ? ["--no-sandbox"] : [];
}

function chromium(name: string, isolated: boolean, executablePath: string): TestProjectConfiguration {
  const provider = playwright({ launchOptions: { executablePath, args: rootless() } });
  return pages({ name, browser: "chromium", provider, isolated, relaxedSimd: true });
}

/** The GPU tests on Chromium's software adapter. */
function webgpu(executablePath: string): TestProjectConfiguration {
  const args = [...rootless(), ...SOFTWARE_GPU];
  const provider = playwright({ launchOptions: { executablePath, args } });
  return pages({
    name: "chromium-webgpu",
    browser: "chromium",
    provider,
    isolated: true,
    relaxedSimd: true,
    include: ["tests/gpu/*.test.ts"],
    provide: { drawn: { seed: DAY_SEED, cases: roundsOf(8) } },
  });
}

/** An ordinary Firefox, driven by WebDriver BiDi. Playwright's own Firefox would have to be newer than Debian's. */
function firefox(name: string, isolated: boolean, executablePath: string): TestProjectConfiguration {
  const provider = playwright({ launchOptions: { channel: "moz-firefox", executablePath } });
  return pages({ name, browser: "firefox", provider, isolated, relaxedSimd: true });
}

/** WebKitGTK has neither relaxed SIMD nor shared memory by default; isolated pages enable both by options of its engine. */
function webkitGtk(name: string, isolated: boolean, found: WebKit): TestProjectConfiguration {
  const engine = isolated ? { JSC_useSharedArrayBuffer: "1", JSC_useWasmRelaxedSIMD: "1" } : {};
  const provider = webkit({ driver: found.path, browser: found.browser, display: found.display, engine });
  return pages({ name, browser: "webkit", provider, isolated, relaxedSimd: isolated });
}

export default defineConfig(async () => {
  const found = await findToolchain({ need: wantedBrowsers(), log: () => {} });
  const chromiumPath = found.chromium.path;
  const browsers = { chromiumPath, firefoxPath: found.firefox?.path ?? null, webkit: found.webkit ?? null };
  const vulkanProblem = await whyNoDebian();
  if (vulkanProblem !== undefined) console.warn(`GPU adapters beside Chromium's are not tested: ${vulkanProblem}`);
  return {
    test: {
      // Test files wait for browsers and workers: one more than there are cores keeps these busy.
      maxWorkers: availableParallelism() + 1,
      projects: [
        node("unit", ["tests/unit/**/*.test.ts", "tests/fuzz/*.test.ts"], {}, [], {
          alias: SOURCES,
          setup: ["tests/support/poison.ts"],
        }),
        node("conformance", "tests/conformance/**/*.node.test.ts"),
        chromium("chromium-isolated", true, chromiumPath),
        chromium("chromium-plain", false, chromiumPath),
        webgpu(chromiumPath),
        ...(found.firefox === undefined ? [] : [true, false]).map((isolated) =>
          firefox(isolated ? "firefox-isolated" : "firefox-plain", isolated, found.firefox.path),
        ),
        ...(found.webkit === undefined ? [] : [true, false]).map((isolated) =>
          webkitGtk(isolated ? "webkit-isolated" : "webkit-plain", isolated, found.webkit),
        ),
        node("demo", SHARED_PARTS, { chromiumPath }, "tests/browser/demo/setup.ts"),
        node("demo-rooms", "tests/browser/demo/*.test.ts", browsers, "tests/browser/demo/setup.ts", {
          exclude: SHARED_PARTS,
        }),
        ...(vulkanProblem === undefined
          ? [node("adapters", "tests/adapters/**/*.test.ts", {}, "tests/adapters/setup.ts")]
          : []),
        node("package", "tests/package/*.test.ts", browsers, "tests/package/setup.ts"),
        node("package-matrix", "tests/package/matrix/*.test.ts", browsers, "tests/package/setup.ts"),
      ],
    },
  };
});
