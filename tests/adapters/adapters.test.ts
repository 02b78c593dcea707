// The same problems on adapters that differ in what matters to shaders: two compilers, subgroups of 8, of 4 and none, with and without f16.
// tests/gpu has all options and ONNX's cases, on Chromium's adapter, which has subgroups of 4 and no f16.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";
import type { Findings } from "./program.js";

const { folder, lavapipe, launcher } = inject("adapters");
const packages = join(inject("tools"), "node_modules");
const dawn = join(packages, "webgpu/index.js");
const deno = ["linux-x64-glibc", "linux-arm64-glibc"]
  .map((name) => join(packages, "@deno", name, "deno"))
  .find((place) => existsSync(place));

interface Adapter {
  readonly name: string;
  readonly program: readonly string[];
  /** The features that the device is asked for. */
  readonly wanted: string;
  /** The features that it has. */
  readonly features: readonly string[];
  /** Lanes of a subgroup. lavapipe has as many as elements fit into the vectors that it is told to use. */
  readonly lanes?: number;
  /** Runs few problems, all by kernels whose threads share what they read. */
  readonly kernels?: "shared";
}

const ALL = "shader-f16 subgroups";
const NODE = [process.execPath];

const ADAPTERS: readonly Adapter[] = [
  {
    name: "Tint, f16, subgroups of 8",
    program: NODE,
    wanted: ALL,
    features: ["shader-f16", "subgroups"],
    lanes: 8,
    kernels: "shared",
  },
  {
    name: "Tint, f16, subgroups of 4",
    program: NODE,
    wanted: ALL,
    features: ["shader-f16", "subgroups"],
    lanes: 4,
    kernels: "shared",
  },
  { name: "Tint, neither", program: NODE, wanted: "", features: [] },
  {
    name: "naga, f16, no subgroups",
    program: [deno ?? "no Deno", "run", "--allow-all"],
    wanted: ALL,
    features: ["shader-f16"],
    kernels: "shared",
  },
];

/** Every kernel with f32 and f16, and with subgroups if the adapter has them and threads share what they read. */
function kernelsFor(features: readonly string[], kernels: Adapter["kernels"]): readonly string[] {
  const half = features.includes("shader-f16") ? [" f16"] : [];
  const shared = features.includes("subgroups") ? " subgroups" : "";
  const apart = kernels === "shared" ? [] : ["untiled"];
  const kinds = [...apart, `decode${shared}`, `tiles${shared}`];
  return kinds.flatMap((kind) => [kind, ...half.map((one) => kind + one)]).sort();
}

test.each(ADAPTERS)(
  "$name",
  async ({ program, wanted, features, lanes, kernels }) => {
    const [command = "", ...args] = [...launcher, ...program, join(folder, "program.js")];
    const { stdout } = await promisify(execFile)(command, args, {
      env: {
        ...process.env,
        VK_DRIVER_FILES: lavapipe,
        XDG_RUNTIME_DIR: folder,
        HEED_FEATURES: wanted,
        HEED_KERNELS: kernels ?? "all",
        LP_NATIVE_VECTOR_WIDTH: `${(lanes ?? 8) * 32}`,
        // Compiling takes nearly all the time, and without optimization a fifth of it. Old and new versions have different names for this.
        GALLIVM_PERF: "nopt",
        GALLIVM_DEBUG: "nopt",
        // Its cache confuses shaders that were compiled for vectors of different widths.
        ...(kernels === "shared" ? { MESA_SHADER_CACHE_DISABLE: "true" } : {}),
        ...(program === NODE ? { HEED_DAWN: dawn } : {}),
      },
    });
    const { checked, lanes: found, ...rest }: Findings = JSON.parse(stdout);
    if (lanes !== undefined) expect(found).toBe(lanes);
    expect(rest).toEqual({
      features,
      description: expect.stringMatching(/llvmpipe/),
      kernels: kernelsFor(features, kernels),
      // Eight threads share by subgroups only if these have eight lanes or more.
      byLanes: features.includes("subgroups") && (lanes ?? 0) >= 8,
      wrong: [],
      uncaptured: [],
    });
    if (kernels === "shared") expect(checked).toBe(4);
    else expect(checked).toBeGreaterThan(20);
  },
  600_000,
);
