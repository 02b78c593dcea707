// A chat in which every word of an answer shows which earlier words it attended to.

import * as jinja from "@huggingface/jinja";
import { loadModel } from "heed/models";

const byId = (id) => document.getElementById(id);
const [files, status, layer, words, said] = ["files", "status", "layer", "words", "said"].map(byId);
let lm, cache, messages;
/** What each word of an answer attended to, [1, H, 1, S] in every layer. */
const attentions = new Map();

function write(text, attention) {
  const word = Object.assign(document.createElement("span"), { textContent: text });
  words.append(word);
  if (attention === undefined) return;
  attentions.set(word, attention);
  Object.assign(word, { className: "answer", tabIndex: 0 });
  layer.max = attention.length - 1;
}

/** Lights up what a word attended to: the mean over the heads of a layer. */
function light(word) {
  const { data, shape } = attentions.get(word)?.[layer.value] ?? { data: [], shape: [1, 0, 1, 0] };
  const [, heads, , keys] = shape;
  [...words.children].forEach((span, key) => {
    let weight = 0;
    for (let head = 0; key < keys && head < heads; head++) weight += data[head * keys + key] / heads;
    span.style.setProperty("--weight", weight);
  });
}

async function load() {
  const onProgress = ({ loaded }) => (status.value = `${(loaded / 1e6).toFixed(0)} MB …`);
  lm = await loadModel(files.files, { jinja, weights: "as stored", onProgress });
  [cache, messages] = [await lm.createCache({ maxLength: 1024 }), []];
  words.replaceChildren();
  status.value = "ready";
}

async function say(content) {
  if (lm === undefined) throw new Error("open a model first");
  messages.push({ role: "user", content });
  const prompt = await lm.encode(messages);
  const stream = lm.tokenizer.decodeStream({ skipSpecialTokens: false });
  const texts = prompt.map((token) => stream.push(token));
  // Earlier turns stay as they were written, with what their words attended to.
  for (const text of texts.slice(words.childElementCount)) write(text);
  let answer = "";
  for await (const { text, tokens, attentions } of lm.generate(prompt, { maxTokens: 200, cache, attentions: true })) {
    answer += text;
    if (tokens.length > 0) write(text, attentions);
  }
  messages.push({ role: "assistant", content: answer });
  status.value = `${cache.length} tokens`;
}

const reporting = (work) => work.catch((error) => (status.value = error.message));
files.addEventListener("change", () => reporting(load()));
document.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  reporting(say(said.value));
  said.value = "";
});
for (const event of ["pointerover", "focusin"]) words.addEventListener(event, ({ target }) => light(target));
