// The same problems on adapters that differ in what matters to shaders: two compilers, subgroups of 8, 4 and none, half precision
// and none. Chromium's own runs are in tests/gpu.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";
import notCovered from "../conformance/not-covered.json";
import { ATTENTION_CASES } from "../conformance/onnx.js";
import { EXTRA_CASES } from "../conformance/onnx-extra.js";
import { FLEX_CASES } from "../conformance/onnx-flex.js";
import { conformanceFolder } from "../conformance/plugin.js";
import type { Findings } from "./program.js";

const { folder, lavapipe, launcher } = inject("adapters");
const packages = join(inject("tools"), "node_modules");
const dawn = join(packages, "webgpu/index.js");
/** Chromium's own: Dawn runs on it in Node as it does there. Debian's program is a script, elsewhere than what it starts. */
const swiftShader = [".", "../lib/chromium"]
  .map((folder) => join(dirname(inject("chromiumPath")), folder, "vk_swiftshader_icd.json"))
  .find((place) => existsSync(place));
const deno = ["linux-x64-glibc", "linux-arm64-glibc"]
  .map((name) => join(packages, "@deno", name, "deno"))
  .find((place) => existsSync(place));

interface Adapter {
  readonly name: string;
  readonly program: readonly string[];
  readonly driver: string;
  /** That the device is asked for. */
  readonly wanted: string;
  /** That it has. */
  readonly features: readonly string[];
  readonly description: RegExp;
  /** Any options together, and ONNX's cases as well: where shaders compile in a fraction of a second. */
  readonly all?: boolean;
  /** Of a subgroup; lavapipe has as many as numbers fit into the vectors that it is told to use. */
  readonly lanes?: number;
  /** Few problems, all by kernels whose threads have to do with each other. */
  readonly kernels?: "shared";
}

/** Attention's, flex attention's and rotary embedding's; none where their folder is missing. */
const seen = existsSync(join(conformanceFolder(), "cases.json"))
  ? ATTENTION_CASES - Object.keys(notCovered).length + FLEX_CASES + EXTRA_CASES.RotaryEmbedding
  : 0;

const ALL = "shader-f16 subgroups";
const NODE = [process.execPath];

const ADAPTERS: readonly Adapter[] = [
  {
    name: "Tint, half precision, subgroups of 8",
    program: NODE,
    driver: lavapipe,
    wanted: ALL,
    features: ["shader-f16", "subgroups"],
    description: /llvmpipe/,
    lanes: 8,
    kernels: "shared",
  },
  {
    name: "Tint, half precision, subgroups of 4",
    program: NODE,
    driver: lavapipe,
    wanted: ALL,
    features: ["shader-f16", "subgroups"],
    description: /llvmpipe/,
    lanes: 4,
    kernels: "shared",
  },
  {
    name: "Tint, no half precision, subgroups of 4",
    program: NODE,
    driver: swiftShader ?? "no SwiftShader",
    wanted: ALL,
    features: ["subgroups"],
    description: /SwiftShader/,
    all: true,
    lanes: 4,
  },
  { name: "Tint, neither", program: NODE, driver: lavapipe, wanted: "", features: [], description: /llvmpipe/ },
  {
    name: "naga, half precision, no subgroups",
    program: [deno ?? "no Deno", "run", "--allow-all"],
    driver: lavapipe,
    wanted: ALL,
    features: ["shader-f16"],
    description: /llvmpipe/,
    kernels: "shared",
  },
];

/** Every kind in single and in half precision, and those that threads share by subgroups where there are any. */
function kernelsFor(features: readonly string[], kernels: Adapter["kernels"]): readonly string[] {
  const half = features.includes("shader-f16") ? [" f16"] : [];
  const shared = features.includes("subgroups") ? " subgroups" : "";
  const [apart, several] = kernels === "shared" ? [[], []] : [["untiled"], ["software"]];
  const kinds = [...apart, `decode${shared}`, ...several, `tiles${shared}`];
  return kinds.flatMap((kind) => [kind, ...half.map((one) => kind + one)]).sort();
}

test.each(ADAPTERS)(
  "$name",
  async ({ program, driver, wanted, features, description, lanes, kernels, all = false }) => {
    const [command = "", ...args] = [...launcher, ...program, join(folder, "program.js")];
    const { stdout } = await promisify(execFile)(command, args, {
      env: {
        ...process.env,
        VK_DRIVER_FILES: driver,
        XDG_RUNTIME_DIR: folder,
        HEED_FEATURES: wanted,
        HEED_KERNELS: kernels ?? "all",
        LP_NATIVE_VECTOR_WIDTH: `${(lanes ?? 8) * 32}`,
        // Compiling is nearly all that it does here, and takes a fifth of the time where it does not optimise. Two names of two ages.
        GALLIVM_PERF: "nopt",
        GALLIVM_DEBUG: "nopt",
        // It takes shaders for vectors of another width for the same.
        ...(kernels === "shared" ? { MESA_SHADER_CACHE_DISABLE: "true" } : {}),
        ...(all ? { HEED_ALL: "1" } : {}),
        ...(program === NODE ? { HEED_DAWN: dawn } : {}),
      },
    });
    const { checked, conformance, lanes: found, ...rest }: Findings = JSON.parse(stdout);
    if (lanes !== undefined) expect(found).toBe(lanes);
    expect(rest).toEqual({
      features,
      description: expect.stringMatching(description),
      kernels: kernelsFor(features, kernels),
      // Eights of threads need subgroups that they fit into.
      byLanes: features.includes("subgroups") && (lanes ?? 0) >= 8,
      wrong: [],
      uncaptured: [],
    });
    if (kernels === "shared") expect(checked).toBe(4);
    else expect(checked).toBeGreaterThan(all ? 40 : 20);
    expect(conformance).toBe(all ? seen : 0);
  },
  600_000,
);
