// How docs/hosting.md has a bundler make one script of a service worker.

import { cp } from "node:fs/promises";
import { Consumer, type Entry } from "./consumer.js";

export interface OneScript {
  readonly entry: Entry;
  /** Its program, and what to build. */
  readonly command: readonly [string, ...string[]];
}

const SOURCE = "service-worker.js";

/** The bundlers, by the words of the guide's table. */
export const ONE_SCRIPT: Readonly<Record<string, OneScript>> = {
  "esbuild --bundle --format=esm": {
    entry: "heed/assets",
    command: ["esbuild/bin/esbuild", SOURCE, "--bundle", "--format=esm", "--outdir=dist"],
  },
  "esbuild --bundle": { entry: "heed", command: ["esbuild/bin/esbuild", SOURCE, "--bundle", "--outdir=dist"] },
  "rollup --inlineDynamicImports": {
    entry: "heed",
    command: [
      "rollup/dist/bin/rollup",
      SOURCE,
      "--inlineDynamicImports",
      ...["-p", "@rollup/plugin-node-resolve", "-o", `dist/${SOURCE}`],
    ],
  },
  "webpack --no-output-async-chunks": {
    entry: "heed",
    command: [
      "webpack-cli/bin/cli.js",
      "build",
      "--no-output-async-chunks",
      ...["--entry", `./${SOURCE}`, "--output-filename", SOURCE],
    ],
  },
};

/** A project with `dist/service-worker.js`, and the files of heed/assets beside it where that is the entry. */
export async function oneScript(name: string, { entry, command }: OneScript): Promise<Consumer> {
  const consumer = await Consumer.make(name, "page");
  await consumer.useEntry(SOURCE, entry);
  const [program, ...words] = command;
  await consumer.tool(program, ...words);
  if (entry === "heed/assets") {
    await cp(consumer.path("node_modules/heed/dist/assets"), consumer.path("dist/assets"), { recursive: true });
  }
  return consumer;
}
