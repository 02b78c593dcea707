// node examples/train/weights.js [name ...]: trains the models that the demo loads, and writes their parameters as safetensors into
// demo/public/weights. It computes with plain SIMD, whatever variant the machine would choose.

import { writeFile } from "node:fs/promises";
import { createHeed } from "heed";
import { saveSafetensors } from "heed/layers";
import * as dates from "./dates.js";
import * as language from "./language.js";

/** Each model by the name of its file. */
export const MODELS = {
  language: { recipe: language, options: { kind: "causal", seed: 1 } },
  "language-masked": { recipe: language, options: { kind: "masked", seed: 1 } },
  "dates-bahdanau": { recipe: dates, options: { attention: "additive", seed: 1 } },
  "dates-luong": { recipe: dates, options: { attention: "dot", seed: 1 } },
};

/**
 * The file of a model, and how well it learned. `steps`: others than its recipe takes.
 *
 * @param {keyof typeof MODELS} name @param {{ threads?: number | "auto", steps?: number }} [given]
 */
export async function make(name, { threads = "auto", ...more } = {}) {
  const { recipe, options } = MODELS[name];
  const engine = await createHeed({ backend: "wasm", variant: "simd", threads });
  try {
    const trained = await recipe.train({ ...options, ...more, engine });
    const file = saveSafetensors(await trained.model.readParameters());
    return { file, accuracy: await recipe.accuracy(trained) };
  } finally {
    engine.dispose();
  }
}

if (process.argv[1] === import.meta.filename) {
  const asked = process.argv.slice(2);
  for (const name of asked.length > 0 ? asked : Object.keys(MODELS)) {
    const { file, accuracy } = await make(name);
    await writeFile(new URL(`../../demo/public/weights/${name}.safetensors`, import.meta.url), file);
    console.log(`${name}: accuracy ${accuracy.toFixed(3)}, ${file.length} bytes`);
  }
  process.exit();
}
