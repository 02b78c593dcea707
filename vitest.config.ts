// Test projects: unit and conformance in Node, both again in Chromium with and without cross-origin isolation, the demo, the packed package.

import { playwright } from "@vitest/browser-playwright";
import type { ProvidedContext } from "vitest";
import { defineConfig, type TestProjectConfiguration } from "vitest/config";
import { findToolchain } from "./scripts/toolchain/find.js";
import { conformance } from "./tests/conformance/plugin.js";
import { probe } from "./web/src/platform/features.js";
import { currentHost } from "./web/src/platform/host.js";

const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** Node 20 runs relaxed SIMD only behind this flag; later versions run it anyway, and may refuse the flag. */
const RELAXED_SIMD = probe(currentHost()).relaxedSimd ? [] : ["--experimental-wasm-relaxed-simd"];

async function chromiumPath(): Promise<string> {
  const { chromium } = await findToolchain({ need: ["chromium"], log: () => {} });
  return chromium.path;
}

function node(
  name: string,
  include: string,
  provide: Partial<ProvidedContext> = {},
  globalSetup: string | string[] = [],
): TestProjectConfiguration {
  return {
    plugins: [conformance()],
    test: {
      name,
      include: [include],
      provide,
      globalSetup,
      execArgv: [...RELAXED_SIMD, "--expose-gc"],
      pool: "forks",
      testTimeout: 60_000,
    },
  };
}

function chromium(name: string, headers: Record<string, string>, executablePath: string): TestProjectConfiguration {
  return {
    plugins: [conformance()],
    server: { headers },
    test: {
      name,
      include: ["tests/browser/*.test.ts", "tests/conformance/*.browser.test.ts"],
      provide: { isolated: headers === ISOLATION },
      testTimeout: 60_000,
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        // As root, Chromium has no sandbox.
        provider: playwright({
          launchOptions: { executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] },
        }),
        instances: [{ browser: "chromium" }],
      },
    },
  };
}

export default defineConfig(async () => {
  const executablePath = await chromiumPath();
  return {
    test: {
      projects: [
        node("unit", "tests/unit/**/*.test.ts"),
        node("conformance", "tests/conformance/**/*.node.test.ts"),
        chromium("chromium-isolated", ISOLATION, executablePath),
        chromium("chromium-plain", {}, executablePath),
        node("demo", "tests/browser/demo/**/*.test.ts", { chromiumPath: executablePath }),
        node("package", "tests/package/**/*.test.ts", { chromiumPath: executablePath }, "tests/package/setup.ts"),
      ],
    },
  };
});
