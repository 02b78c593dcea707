// Records what the masked language model finds in the sentence that the demo's room "Language" begins with: node scripts/record-language.js

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadSafetensors } from "heed/layers";
import { createServer } from "vite";
import { root } from "./make/root.js";

const SENTENCE = "the dog didn't cross the road because it was [mask] . it was the road";

const server = await createServer({ configFile: join(root, "demo/vite.config.ts"), server: { middlewareMode: true } });
const { idOf, MASK } = await server.ssrLoadModule("/src/language/words.ts");
const { Inside } = await server.ssrLoadModule("/src/language/inside.ts");
const ids = SENTENCE.split(" ").map((word) => idOf(word));
const question = { kind: "masked", ids, asked: ids.indexOf(MASK), off: [] };
const file = await readFile(join(root, "demo/public/weights/language-masked.safetensors"));
const parameters = await loadSafetensors(new Uint8Array(file));
const reading = await new Inside(question.kind, parameters).read(ids, question.asked);
await server.close();

/** Typed arrays as arrays, numbers with so many decimals. @param {string} _ @param {unknown} value */
const short = (_, value) => {
  if (ArrayBuffer.isView(value)) return Array.from(/** @type {Float32Array} */ (value));
  return typeof value === "number" ? Number(value.toFixed(3)) : value;
};
const text = JSON.stringify({ question, reading }, short);
await writeFile(join(root, "demo/rooms/11-language/recorded.json"), `${text}\n`);
process.exit();
