// How far narrow weights are from f32, beside onnxruntime's dynamic quantization: `node bench/web/quality.js`, after `npm run build`, where the
// peers are installed. With --minilm FOLDER and --llama FOLDER/FILE.gguf it is that of published files, of shapes that the bench has; else that
// of random weights. It fails unless int8 is closer to f32 than onnxruntime's.

import { basename, dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { digits, small, table } from "../table.js";
import { aboutRun, chromiumPath, tell } from "./lib/bench.js";
import { serve } from "./lib/server.js";
import { Stage } from "./lib/stage.js";
import { outOf } from "./studies/settings.js";

/** @typedef {import("./pages/peers/quality.js").Quality} Quality */

/** Two models of 135 million parameters compute 5,000 tokens. */
const LONGEST_MS = 600_000;

const { values } = parseArgs({
  options: {
    minilm: { type: "string" },
    llama: { type: "string" },
    only: { type: "string" },
    smoke: { type: "boolean", default: false },
    out: { type: "string", default: outOf("quality") },
  },
});

const MODELS = [
  { title: "MiniLM: 1 - cosine of embeddings", name: "notes", files: values.minilm && "/minilm" },
  {
    title: "Llama: KL divergence of logits, nats; how often the likeliest token is another",
    name: "llama-prefill",
    files: values.llama && `/llama/${basename(values.llama)}`,
  },
].filter(({ name }) => values.only === undefined || name.startsWith(values.only));

const others = {
  ...(values.minilm !== undefined && { minilm: resolve(values.minilm) }),
  ...(values.llama !== undefined && { llama: dirname(resolve(values.llama)) }),
};
const server = await serve({ isolated: true, others });
const stage = await Stage.open({
  address: server.address,
  executablePath: await chromiumPath(),
  hasGpu: false,
  longestMs: LONGEST_MS,
});
/** @type {{ title: string, figures: readonly Quality[] }[]} */
const found = [];
try {
  for (const { title, name, files } of MODELS) {
    const size = values.smoke ? "small" : "whole";
    const options = { name, size, ...(files && { files }) };
    const { figures } = await stage.about({ name, page: "quality", threads: 2, options });
    found.push({ title, figures: /** @type {readonly Quality[]} */ (figures) });
  }
} finally {
  await stage.end();
  server.close();
}
const tables = found.map(({ title, figures }) => `${title}\n\n${tableOfFigures(figures)}`);
tell(values.out, { ...aboutRun(), found }, tables.join("\n\n"));
for (const { title, figures } of found) {
  const apart = (/** @type {string} */ name) => Number(figures.find(({ who }) => who === name)?.["apart"]);
  if (!(apart("heed int8") < apart("onnxruntime q8"))) throw new Error(`${title}: int8 is not closer to f32 than q8`);
}

/** @param {readonly Quality[]} figures */
function tableOfFigures(figures) {
  const heads = Object.keys(figures[0] ?? {});
  const cell = (/** @type {number | string | undefined} */ value) =>
    typeof value === "string" ? value : value !== undefined && value < 0.01 ? small(value) : digits(value);
  return table(
    ["", ...heads.slice(1)],
    figures.map((one) => heads.map((head) => cell(one[head]))),
  );
}
