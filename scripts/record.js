// Records the sizes and a few speeds of this version: `npm run record` writes docs/record.json and the table of docs/record.md.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeFlags } from "./bench/program.js";
import { build } from "./build.js";
import { ensureDependencies } from "./lib/dependencies.js";
import { recordPage, sizesOf } from "./lib/record.js";
import { note, run, step } from "./lib/steps.js";
import { root } from "./make/root.js";
import { sizesFile } from "./make/sizes.js";

await ensureDependencies();
await build();
const { stdout } = await step("measure", () =>
  run(process.execPath, [...nodeFlags("wasm-relaxed"), join(root, "bench/record.js")], { cwd: root }),
);

/** @param {string} path */
const read = (path) => JSON.parse(readFileSync(path, "utf8"));

const [file, page] = ["docs/record.json", "docs/record.md"].map((path) => join(root, path));
const { version } = read(join(root, "package.json"));
const now = {
  version,
  date: new Date().toISOString().slice(0, 10),
  bytes: sizesOf(read(sizesFile)),
  ...JSON.parse(stdout),
};
const versions = [now, ...read(file ?? "").filter((/** @type {typeof now} */ one) => one.version !== version)];
writeFileSync(file ?? "", `${JSON.stringify(versions, null, 2)}\n`);
writeFileSync(page ?? "", recordPage(versions));
note(`recorded version ${version}`);
