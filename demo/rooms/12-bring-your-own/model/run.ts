// One pass of a brought model: its files read once, its text to tokens, the weights of every layer and head. Runs in the worker.

import { createHeed, type Heed, HeedError } from "heed";
import {
  BertModel,
  GPT2Model,
  LlamaModel,
  loadSafetensors,
  loadTokenizer,
  type ParameterInput,
  type Tokenizer,
} from "heed/layers";
import { whole } from "../../../src/ui/numbers.js";
import { counted, FileTrouble } from "../arrays.js";
import { FAMILIES, isUsed } from "./families.js";
import type { Model } from "./recognise.js";
import { wordOf, wordsOf } from "./words.js";

/** A quarter of a gigabyte in single precision, which stays in the page. */
const MOST_WEIGHTS = 2 ** 26;
const PREDICTED = 8;

/** Of what comes next. */
export interface Prediction {
  readonly word: string;
  readonly share: number;
}

export interface Pass {
  readonly words: readonly string[];
  /** Of each layer, [heads, tokens, tokens]. */
  readonly weights: readonly Float32Array[];
  readonly next: readonly Prediction[];
}

type Say = (text: string) => void;

/** A model in memory; the last one is kept for the next text. */
export class Runner {
  #heed: Promise<Heed> | undefined;
  #held: { readonly key: string; readonly loaded: Loaded } | undefined;
  #tokenizer: { readonly key: string; readonly tokenizer: Tokenizer } | undefined;

  /** `asked`: a text, or without a tokenizer numbers of tokens. Throws FileTrouble. */
  async run(model: Model, asked: string, say: Say): Promise<Pass> {
    try {
      return await this.#pass(model, asked, say);
    } catch (error) {
      const isMemory = error instanceof RangeError || (error instanceof HeedError && error.code === "memory");
      if (!isMemory) throw error;
      throw new FileTrouble(`There is too little memory here for this model and this text: ${error.message}.`);
    }
  }

  async #pass(model: Model, asked: string, say: Say): Promise<Pass> {
    const tokenizer = await this.#tokenizerOf(model, say);
    const { ids, words } = tokenizer === undefined ? numbered(asked) : tokenized(tokenizer, asked);
    assertFits(model, ids);
    const loaded = await this.#load(model, say);
    say(`${counted(ids.length, "token")} through ${counted(model.layers, "layer")} …`);
    const { attentions, last } = await loaded.pass(ids);
    const next = strongest(last, PREDICTED).map(({ id, share }) => ({
      word: tokenizer === undefined ? `#${id}` : wordOf(tokenizer, id),
      share,
    }));
    return { words, weights: attentions, next };
  }

  async #tokenizerOf({ tokenizer: file }: Model, say: Say): Promise<Tokenizer | undefined> {
    if (file === undefined) return undefined;
    const key = keyOf([file]);
    if (this.#tokenizer?.key !== key) {
      say("Reading the tokenizer …");
      this.#tokenizer = { key, tokenizer: await loadTokenizer(file) };
    }
    return this.#tokenizer.tokenizer;
  }

  async #load(model: Model, say: Say): Promise<Loaded> {
    const key = `${JSON.stringify(model.config)} ${keyOf(model.files)}`;
    if (this.#held?.key !== key) {
      this.#held?.loaded.dispose();
      this.#held = undefined;
      this.#heed ??= createHeed();
      this.#held = { key, loaded: build(model, await this.#heed, await readParameters(model, say)) };
    }
    return this.#held.loaded;
  }
}

interface Loaded {
  readonly pass: (ids: Int32Array) => Promise<{
    readonly attentions: readonly Float32Array[];
    /** Logits after the last token; none of a model that says nothing of it. */
    readonly last: Float32Array;
  }>;
  readonly dispose: () => void;
}

async function readParameters({ family: type, files }: Model, say: Say): Promise<Map<string, ParameterInput>> {
  const family = FAMILIES.find((one) => one.type === type);
  const parameters = new Map<string, ParameterInput>();
  for (const file of files) {
    const tensors = await loadSafetensors(file, {
      only: (name) => family !== undefined && isUsed(family, name),
      onProgress: ({ loaded }) => say(`Reading ${file.name}, ${Math.floor((100 * loaded) / file.size)} % …`),
    });
    for (const [name, tensor] of tensors) parameters.set(name, tensor);
  }
  say("Preparing the model …");
  return parameters;
}

function build({ family, config }: Model, engine: Heed, parameters: ReadonlyMap<string, ParameterInput>): Loaded {
  if (family === "bert") {
    const model = new BertModel(config, { engine }).load(parameters);
    return {
      pass: async (ids) => {
        const { attentions = [] } = await model.forward(ids, { attentions: true });
        return { attentions: attentions.map(({ data }) => data), last: new Float32Array(0) };
      },
      dispose: () => model.dispose(),
    };
  }
  const model = new (family === "gpt2" ? GPT2Model : LlamaModel)(config, { engine }).load(parameters);
  return {
    pass: async (ids) => {
      const { attentions = [], logits } = await model.forward(ids, { attentions: true, last: true });
      return { attentions: attentions.map(({ data }) => data), last: logits.data };
    },
    dispose: () => model.dispose(),
  };
}

function tokenized(tokenizer: Tokenizer, text: string) {
  const encoding = tokenizer.encode(text);
  return { ids: encoding.ids, words: wordsOf(text, encoding) };
}

function numbered(text: string) {
  const parts = text.split(/[\s,;[\]]+/).filter((part) => part !== "");
  const odd = parts.find((part) => !/^\d{1,9}$/.test(part));
  if (odd !== undefined) {
    throw new FileTrouble(`“${odd}” is no number of a token. Without tokenizer.json, give such as: 5, 3, 12.`);
  }
  return { ids: Int32Array.from(parts, Number), words: parts.map((part) => `#${Number(part)}`) };
}

function assertFits({ name, positions, vocabulary, layers, heads }: Model, ids: Int32Array): void {
  const { length } = ids;
  if (length === 0) throw new FileTrouble("There is nothing to read: give a text.");
  const beyond = ids.find((id) => id >= vocabulary);
  if (beyond !== undefined) {
    throw new FileTrouble(
      `Token ${whole(beyond)} is beyond the ${whole(vocabulary)} that this ${name} knows, 0 to ${whole(vocabulary - 1)}.`,
    );
  }
  if (length > positions) {
    throw new FileTrouble(
      `The text is ${whole(length)} tokens long, and this ${name} reads at most ${whole(positions)}.`,
    );
  }
  const most = Math.floor(Math.sqrt(MOST_WEIGHTS / (layers * heads)));
  if (length > most) {
    throw new FileTrouble(
      `The text is ${whole(length)} tokens long. The weights of all ${whole(layers * heads)} heads would be ${whole(Math.round((layers * heads * length * length * 4) / 1e6))} MB; this page keeps those of ${whole(most)} tokens.`,
    );
  }
}

/** The largest, as shares of e to each. */
function strongest(logits: Float32Array, count: number): readonly { readonly id: number; readonly share: number }[] {
  const most = logits.reduce((largest, logit) => Math.max(largest, logit), Number.NEGATIVE_INFINITY);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  return Array.from(logits.keys())
    .sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0))
    .slice(0, count)
    .map((id) => ({ id, share: Math.exp((logits[id] ?? 0) - most) / sum }));
}

function keyOf(files: readonly File[]): string {
  return files.map(({ name, size, lastModified }) => [name, size, lastModified].join()).join(" ");
}
