// Records the attention weights that the demo's front page shows, from the published files of all-MiniLM-L6-v2.
//
//   node scripts/record-minilm.js <folder with config.json, tokenizer.json and model.safetensors>
//
// Kept are the weights of "it" in every head of every layer, in thousandths. Parts of one word ("didn ' t") are added up.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BertModel, loadSafetensors, loadTokenizer } from "heed/layers";
import { root } from "./make/root.js";

/** A sentence as far as its last word, and the last words that it is tried with. */
const SENTENCES = [
  ["The animal didn't cross the road because it was too", "tired", "wide", "hungry", "icy"],
  ["The trophy didn't fit in the suitcase because it was too", "big", "small"],
];

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("which folder has config.json, tokenizer.json and model.safetensors?");
/** @param {string} name */
const bytesOf = async (name) => new Blob([new Uint8Array(await readFile(join(folder, name)))]);
const tokenizer = await loadTokenizer(await bytesOf("tokenizer.json"));
const model = new BertModel(JSON.parse(await readFile(join(folder, "config.json"), "utf8")));
model.load(await loadSafetensors(await bytesOf("model.safetensors")));

/** By layer and head, the thousandths of each word; the start mark, which is the first token, stands before them. @param {string} text */
async function weightsOfIt(text) {
  const { ids, tokens, offsets } = tokenizer.encode(text);
  const { attentions = [] } = await model.forward(ids, { attentions: true });
  const words = Array.from(text.matchAll(/\S+/g), ({ 0: word, index }) => ({ start: index, end: index + word.length }));
  const placeOf = offsets.map(([start, end]) => 1 + words.findIndex((word) => start >= word.start && end <= word.end));
  const [count, asker] = [tokens.length, tokens.indexOf("it")];
  return attentions.map(({ data }) =>
    Array.from({ length: data.length / count ** 2 }, (_, head) => {
      const row = data.subarray((head * count + asker) * count, (head * count + asker + 1) * count);
      const shares = Array.from({ length: words.length + 1 }, () => 0);
      row.forEach((weight, key) => {
        const place = key === 0 ? 0 : (placeOf[key] ?? 0);
        // The end mark belongs to no word.
        if (key < count - 1) shares[place] = (shares[place] ?? 0) + weight;
      });
      return shares.map((share) => Math.round(1000 * share));
    }),
  );
}

const recorded = [];
for (const [start = "", ...endings] of SENTENCES) {
  const weights = [];
  for (const ending of endings) weights.push(await weightsOfIt(`${start} ${ending}`));
  recorded.push({ words: start.split(" "), endings, weights });
}
await writeFile(join(root, "demo/rooms/00-front/minilm.json"), `${JSON.stringify(recorded)}\n`);
model.dispose();
