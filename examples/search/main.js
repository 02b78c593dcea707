// Notes become vectors as they are typed, and a question finds those that point its way.

import { loadModel } from "heed/models";

const byId = (id) => document.getElementById(id);
const [files, status, notes, query, found] = ["files", "status", "notes", "query", "found"].map(byId);
let lm;
/** Vectors by their notes: what is there is not computed again. */
const known = new Map();

async function vectorsOf(texts) {
  const fresh = texts.filter((text) => !known.has(text));
  if (fresh.length > 0) {
    const { data, shape } = await lm.embed(fresh);
    for (const [row, text] of fresh.entries()) known.set(text, data.subarray(row * shape[1], (row + 1) * shape[1]));
  }
  return texts.map((text) => known.get(text));
}

async function search() {
  const lines = notes.value.split("\n").filter((line) => line.trim() !== "");
  if (lm === undefined || lines.length === 0) return;
  const asked = query.value;
  const [target, ...vectors] = await vectorsOf([asked, ...lines]);
  // Somebody types on meanwhile.
  if (asked !== query.value) return;
  const scores = vectors.map((vector) => vector.reduce((sum, x, i) => sum + x * target[i], 0));
  const order = [...lines.keys()].sort((a, b) => scores[b] - scores[a]);
  found.replaceChildren(...order.map((at) => itemOf(lines[at], scores[at])));
}

function itemOf(line, score) {
  const meter = Object.assign(document.createElement("meter"), { value: score, ariaLabel: score.toFixed(2) });
  const item = document.createElement("li");
  item.append(meter, line);
  return item;
}

async function load() {
  const onProgress = ({ loaded }) => (status.value = `${(loaded / 1e6).toFixed(0)} MB …`);
  lm = await loadModel(files.files, { onProgress });
  known.clear();
  status.value = "ready";
  await search();
}

const reporting = (work) => work.catch((error) => (status.value = error.message));
files.addEventListener("change", () => reporting(load()));
for (const field of [notes, query]) field.addEventListener("input", () => reporting(search()));
