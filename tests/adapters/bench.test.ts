// bench/gpu runs for a moment on lavapipe and finds some rate.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

test("bench/gpu prints a rate for each shape", async () => {
  const { folder, lavapipe, launcher } = inject("adapters");
  const [command = "", ...args] = [...launcher, process.execPath, join(root, "bench/gpu/run.js")];
  const dawn = join(inject("tools"), "node_modules/webgpu/index.js");
  const { stdout } = await promisify(execFile)(command, [...args, "--shapes=1x64x32", "--size=128", `--dawn=${dawn}`], {
    cwd: root,
    env: {
      ...process.env,
      VK_DRIVER_FILES: lavapipe,
      XDG_RUNTIME_DIR: folder,
      GALLIVM_PERF: "nopt",
      GALLIVM_DEBUG: "nopt",
    },
  });
  expect(stdout.trim().split("\n")).toEqual([
    expect.stringMatching(/^adapter: .*llvmpipe/),
    expect.stringMatching(/^matmul 128: \d+\.\d GFLOP\/s$/),
    expect.stringMatching(/^attention 1x64x32: \d+\.\d GFLOP\/s, /),
    expect.stringMatching(/^attention 1x64x32 causal: \d+\.\d GFLOP\/s, /),
  ]);
}, 600_000);
