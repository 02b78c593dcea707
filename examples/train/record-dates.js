// node examples/train/record-dates.js: records what the demo's room about translation shows before it loads anything: the date that both
// trained networks write, and its attention scores.

import { readFile, writeFile } from "node:fs/promises";
import { createHeed } from "heed";
import { loadSafetensors } from "heed/layers";
import { restore } from "./dates.js";
import { MODELS } from "./weights.js";

const TEXT = "the 3rd of May 1997";
const DEMO = new URL("../../demo/", import.meta.url);

/** Scores have four decimals. */
async function record(name, engine) {
  const file = await readFile(new URL(`public/weights/${name}.safetensors`, DEMO));
  const { answer } = restore(await loadSafetensors(new Uint8Array(file)), { ...MODELS[name].options, engine });
  const { date, scores } = await answer(TEXT.toLowerCase());
  return { date, scores: scores.map((row) => row.map((score) => Number(score.toFixed(4)))) };
}

const engine = await createHeed({ backend: "wasm" });
const [bahdanau, luong] = [await record("dates-bahdanau", engine), await record("dates-luong", engine)];
const text = JSON.stringify({ text: TEXT, bahdanau, luong });
await writeFile(new URL("rooms/10-translation/recorded.json", DEMO), `${text}\n`);
engine.dispose();
