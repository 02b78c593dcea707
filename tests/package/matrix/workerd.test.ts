// The packed package in Cloudflare's runtime, bundled as Wrangler does it: by esbuild, with its conditions, and each .wasm file as a module.

import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attention as reference } from "../../../web/src/reference/index.js";
import { Consumer } from "../support/consumer.js";
import { codeUnder, paragraphWith } from "../support/guide.js";
import { expectRight } from "../support/outcome.js";
import { expectParts } from "../support/parts.js";
import { programOf } from "../support/program.js";

const HEADING = "Cloudflare Workers";
const PACKAGES = ["linux-64", "linux-arm64", "darwin-arm64", "darwin-64"].map((name) => `@cloudflare/workerd-${name}`);
const BUNDLE = [
  "--bundle",
  "--format=esm",
  "--target=es2024",
  "--outdir=out",
  "--conditions=workerd,worker,browser",
  "--loader:.wasm=copy",
  "--external:node:*",
  "--external:@huggingface/jinja",
];

/** The oldest compatibility date that the guide names. */
const OLDEST = /\d{4}-\d\d-\d\d/.exec(paragraphWith("compatibility_date", HEADING))?.[0] ?? "";

interface Worker {
  ask(path: string, init?: RequestInit): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts the bundle in `out`. */
async function serve(consumer: Consumer, date: string, flags: readonly string[]): Promise<Worker> {
  const modules = readdirSync(consumer.path("out")).map((file) => {
    const kind = file.endsWith(".wasm") ? "wasm" : "esModule";
    return { order: kind === "esModule" ? 0 : 1, text: `(name = "${file}", ${kind} = embed "out/${file}")` };
  });
  // The first module is the Worker.
  const texts = modules.sort((a, b) => a.order - b.order).map(({ text }) => text);
  await writeFile(
    consumer.path("config.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [(name = "main", worker = .main)],
      sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
    );
    const main :Workerd.Worker = (
      modules = [${texts}],
      compatibilityDate = "${date}",
      compatibilityFlags = [${flags.map((flag) => `"${flag}"`)}],
    );`,
  );
  const args = ["serve", "--control-fd=1", "config.capnp"];
  const child = spawn(programOf(PACKAGES, "bin/workerd"), args, { cwd: consumer.folder });
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  let complaints = "";
  child.stderr.on("data", (text) => {
    complaints += String(text);
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    ended.then(() => reject(new Error(complaints)));
    createInterface(child.stdout).once("line", (line) => resolve(JSON.parse(line).port));
  });
  return {
    ask: async (path, init) => (await fetch(`http://127.0.0.1:${port}${path}`, init)).json(),
    async stop() {
      child.kill();
      await ended;
      expect(complaints).toBe("");
    },
  };
}

async function bundled(name: string, main: string): Promise<Consumer> {
  const consumer = await Consumer.make(name, "workerd");
  await consumer.add("page/compute.js", "compute.js");
  await consumer.add("page/parts.js", "parts.js");
  await consumer.tool("esbuild/bin/esbuild", main, ...BUNDLE);
  return consumer;
}

let everything: Consumer;
beforeAll(async () => {
  everything = await bundled("workerd", "main.js");
});

describe.each([
  ["the oldest compatibility date of the guide", OLDEST, []],
  ["Node's names", OLDEST, ["nodejs_compat"]],
  ["a date of the version under test", "2026-11-01", []],
])("with %s", (_name, date, flags) => {
  let worker: Worker;
  beforeAll(async () => {
    worker = await serve(everything, date, flags);
  });
  afterAll(() => worker?.stop());

  test.each(["/before", "/simd", "/relaxed"])("computes right: %s", async (path) => {
    const found = await worker.ask(path);
    expectRight(found as never);
    expect(found).toMatchObject({
      worker: null,
      variant: path === "/simd" ? "simd" : "relaxed",
      reasons: ["no workers in this runtime: calls compute on the calling thread"],
    });
  });

  test("computes with every part of the package", async () => {
    const found = await worker.ask("/parts");
    expectParts(found as never);
    expect(found).toMatchObject({ worker: null });
  });

  test("refuses a binary for threads", async () => {
    expect(await worker.ask("/threads")).toEqual({
      failure: expect.stringMatching(/^load: createHeed: .*there are no threads/),
    });
  });
});

describe("the guide's", () => {
  let consumer: Consumer;
  let worker: Worker;
  beforeAll(async () => {
    consumer = await Consumer.make("workerd-guide", "workerd");
    await writeFile(consumer.path("worker.js"), codeUnder(HEADING));
    await consumer.tool("esbuild/bin/esbuild", "worker.js", ...BUNDLE);
    worker = await serve(consumer, OLDEST, []);
  });
  afterAll(() => worker?.stop());

  const ROWS = [
    [1, 0, 2, 0],
    [0, 1, 0, 3],
    [1, 1, 1, 1],
  ];

  test("answers requests that come at once, the first among them", async () => {
    const tensor = { data: Float32Array.from(ROWS.flat()), shape: [3, 4] };
    const expected = [...reference(tensor, tensor, tensor, {}).output.data];
    const body = JSON.stringify({ query: ROWS, key: ROWS, value: ROWS });
    const ask = (): Promise<unknown> => worker.ask("/", { method: "POST", body });
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    for (const answer of answers) {
      expect((answer as number[]).length).toBe(12);
      for (const [i, number] of (answer as number[]).entries())
        expect(number).toBeCloseTo(expected[i] ?? Number.NaN, 5);
    }
  });

  test("takes, gzipped, what the guide says", () => {
    const said = Number(/(\d+) kB/.exec(paragraphWith("gzip", HEADING))?.[1]);
    const files = readdirSync(consumer.path("out")).map((file) => readFileSync(consumer.path("out", file)));
    const size = files.reduce((sum, bytes) => sum + gzipSync(bytes).length, 0) / 1000;
    expect(size).toBeLessThanOrEqual(said);
    expect(size).toBeGreaterThan(said * 0.9);
  });
});
