// What vitest.config.ts provides to tests.

import "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** Whether the pages of this project are served cross-origin isolated. */
    isolated: boolean;
    /** Whether the browser of this project has relaxed SIMD. */
    relaxedSimd: boolean;
    /** Problems that the day draws for the GPU. */
    drawn: { readonly seed: number; readonly cases: number };
    chromiumPath: string;
    /** Where the demo was built. */
    demo: string;
    /** Null where the tests run without it. */
    firefoxPath: string | null;
    webkit: { readonly path: string; readonly browser: string; readonly display: string } | null;
    /** Where the bundlers and runtimes are that the package is tried with: the folder of their node_modules. */
    tools: string;
    /** A folder inside of it, for this run alone, in whose node_modules the packed package is installed. */
    workshop: string;
    /** What runs the program of tests/adapters, and where that is. */
    adapters: { readonly folder: string; readonly lavapipe: string; readonly launcher: readonly string[] };
  }
}
