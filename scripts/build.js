// Builds the package: toolchain -> wasm -> generated modules -> dist, with its download sizes. Steps with unchanged inputs are skipped.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureDependencies } from "./lib/dependencies.js";
import { step } from "./lib/steps.js";
import { buildArtefacts, MODULES, moduleFile } from "./make/artefacts.js";
import { filesUnder, whenChanged } from "./make/freshness.js";
import { noticesFile, writeNotices } from "./make/notices.js";
import { root } from "./make/root.js";
import { findToolchain } from "./toolchain/find.js";

/** @typedef {{ toolchain?: import("./toolchain/find.js").Toolchain<"wasm"> }} Options a record that the caller already has */

/** @param {Options} [options] */
export async function build(options = {}) {
  await ensureDependencies();
  await buildGenerated(options);
  await buildDist();
}

/** Builds everything that web/src imports but git does not hold, which tests and the demo need. @param {Options} [options] */
export async function buildGenerated(options = {}) {
  const toolchain =
    options.toolchain ?? (await step("find the toolchain", () => findToolchain({ need: ["wasm", "tests"] })));
  await buildArtefacts(toolchain);
  // Imported here, because they need packages that may just have been installed.
  const { generate, generated, generateInputs } = await import("./make/generate.js");
  const inputs = [...generateInputs, ...buildScripts()];
  await whenChanged("generated", { inputs, outputs: [generated] }, () => step("generate modules", generate));
  const maps = MODULES.map((name) => moduleFile(name, "map"));
  await whenChanged("notices", { inputs: [...maps, ...buildScripts()], outputs: [noticesFile] }, () =>
    step("write the notices", () => writeNotices(toolchain)),
  );
}

/** Builds dist and its sizes from the generated modules. */
export async function buildDist() {
  const { bundle, copyAssets, declareEntries, dist } = await import("./make/bundle.js");
  const { measureSizes, printSizes, sizesFile } = await import("./make/sizes.js");
  const inputs = [
    join(root, "web/src"),
    join(root, "tsconfig.json"),
    join(root, "tsconfig.declarations.json"),
    noticesFile,
    ...buildScripts(),
  ];
  await whenChanged("dist", { inputs, outputs: [dist, sizesFile] }, async () => {
    await step("bundle", bundle);
    await step("declarations", declareEntries);
    copyAssets();
    measureSizes();
  });
  printSizes();
}

/** The build's own scripts are inputs of every step: when they change, results may change. */
const buildScripts = () => filesUnder([join(root, "scripts/make"), join(root, "scripts/build.js")]);

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await build();
