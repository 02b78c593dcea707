// One pass of a brought model: its files read once, its text to tokens, the weights of every layer and head. Runs in the worker.

import { createHeed, type Heed, HeedError } from "heed";
import { BertModel, GPT2Model, LlamaModel, loadSafetensors, loadTokenizer, type Tokenizer } from "heed/layers";
import { bytes, whole } from "../../../src/ui/numbers.js";
import { counted, refuse } from "../arrays.js";
import { strongestOf } from "../rows.js";
import { isUsed, type Model } from "./recognise.js";
import { wordOf, wordsOf } from "./words.js";

/** A quarter of a gigabyte in single precision, which stays in the page. */
const MOST_WEIGHTS = 2 ** 26;
const PREDICTED = 8;

/** The words; of each layer the weights, [heads, tokens, tokens]; what comes next, nothing of a model that says nothing of it. */
export type Pass = Awaited<ReturnType<typeof run>>;

type Say = (text: string) => void;

type Loaded = BertModel | GPT2Model | LlamaModel;

/** Makes anew what belongs to another key than the last. */
function last<T>() {
  let held: { readonly key: string; readonly made: T } | undefined;
  return async (key: string, make: (before: T | undefined) => Promise<T>): Promise<T> => {
    const before = held;
    if (before?.key === key) return before.made;
    held = undefined;
    const made = await make(before?.made);
    held = { key, made };
    return made;
  };
}

/** They are kept for the next text. */
const [lastModel, lastTokenizer] = [last<Loaded>(), last<Tokenizer>()];
let heed: Promise<Heed> | undefined;

/** `asked`: a text, or without a tokenizer numbers of tokens. Refuses what it cannot run. */
export async function run(model: Model, asked: string, say: Say) {
  try {
    return await pass(model, asked, say);
  } catch (error) {
    const isMemory = error instanceof RangeError || (error instanceof HeedError && error.code === "memory");
    if (!isMemory) throw error;
    return refuse(`There is too little memory here for this model and this text: ${error.message}.`);
  }
}

async function pass(model: Model, asked: string, say: Say) {
  const { tokenizer: file, layers } = model;
  const tokenizer =
    file &&
    (await lastTokenizer(keyOf(file), () => {
      say("Reading the tokenizer …");
      return loadTokenizer(file);
    }));
  const { ids, words } = tokenizer === undefined ? numbered(asked) : tokenized(tokenizer, asked);
  assertFits(model, ids);
  const key = `${JSON.stringify(model.config)} ${model.files.map(keyOf).join(" ")}`;
  const loaded = await lastModel(key, (before) => load(model, say, before));
  say(`${counted(ids.length, "token")} through ${counted(layers, "layer")} …`);
  const { attentions = [], logits } =
    loaded instanceof BertModel
      ? { ...(await loaded.forward(ids, { attentions: true })), logits: undefined }
      : await loaded.forward(ids, { attentions: true, last: true });
  const write = (id: number): string => (tokenizer === undefined ? `#${id}` : wordOf(tokenizer, id));
  const next = logits === undefined ? [] : likeliest(logits.data);
  return {
    words,
    weights: attentions.map(({ data }) => data),
    next: next.map(({ id, probability }) => ({ word: write(id), probability })),
  };
}

async function load({ family: type, files, config }: Model, say: Say, before: Loaded | undefined): Promise<Loaded> {
  before?.dispose();
  const parameters = [];
  for (const file of files) {
    const tensors = await loadSafetensors(file, {
      only: isUsed,
      onProgress: ({ loaded }) => say(`Reading ${file.name}, ${Math.floor((100 * loaded) / file.size)} % …`),
    });
    parameters.push(...tensors);
  }
  say("Preparing the model …");
  heed ??= createHeed();
  const Class = type === "bert" ? BertModel : type === "gpt2" ? GPT2Model : LlamaModel;
  return new Class(config, { engine: await heed }).load(new Map(parameters));
}

function tokenized(tokenizer: Tokenizer, text: string) {
  const encoding = tokenizer.encode(text);
  return { ids: encoding.ids, words: wordsOf(text, encoding) };
}

function numbered(text: string) {
  const parts = text.split(/[\s,;[\]]+/).filter((part) => part !== "");
  const odd = parts.find((part) => !/^\d{1,9}$/.test(part));
  if (odd !== undefined) refuse(`“${odd}” is no number of a token. Without tokenizer.json, give such as: 5, 3, 12.`);
  return { ids: Int32Array.from(parts, Number), words: parts.map((part) => `#${Number(part)}`) };
}

function assertFits({ name, positions, vocabulary, layers, heads }: Model, ids: Int32Array): void {
  const { length } = ids;
  if (length === 0) refuse("There is nothing to read: give a text.");
  const beyond = ids.find((id) => id >= vocabulary);
  if (beyond !== undefined) {
    const known = `the ${whole(vocabulary)} that this ${name} knows, 0 to ${whole(vocabulary - 1)}`;
    refuse(`Token ${whole(beyond)} is beyond ${known}.`);
  }
  const long = `The text is ${whole(length)} tokens long`;
  if (length > positions) refuse(`${long}, and this ${name} reads at most ${whole(positions)}.`);
  const most = Math.floor(Math.sqrt(MOST_WEIGHTS / (layers * heads)));
  const weights = `The weights of all ${whole(layers * heads)} heads would be ${bytes(layers * heads * length ** 2 * 4)}`;
  if (length > most) refuse(`${long}. ${weights}; this page keeps those of ${whole(most)} tokens.`);
}

/** The likeliest tokens, by the softmax of the logits. */
function likeliest(logits: Float32Array) {
  const most = logits.reduce((largest, logit) => Math.max(largest, logit), Number.NEGATIVE_INFINITY);
  const powers = Float64Array.from(logits, (logit) => Math.exp(logit - most));
  const sum = powers.reduce((total, power) => total + power, 0);
  return strongestOf(powers, PREDICTED).map((id) => ({ id, probability: (powers[id] ?? 0) / sum }));
}

const keyOf = ({ name, size, lastModified }: File): string => [name, size, lastModified].join();
