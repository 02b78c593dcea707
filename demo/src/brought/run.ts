// A brought model in the worker: loaded from its files, run on a text, whole and without some of its heads.

import { createHeed, type Heed, HeedError } from "heed";
import { type LoadedModel, loadModel, type ModelSource } from "heed/models";
import { type Encoding, Tokenizer } from "heed/text";
import { bytes, whole } from "../ui/numbers.js";
import { refuse } from "./arrays.js";
import { chances, changes, cosineOfMeans, divergence, movements } from "./odds.js";
import { wordOf, wordsOf } from "./words.js";

/** A quarter of a gigabyte in single precision, which stays in the page. */
const MOST_WEIGHTS = 2 ** 26;
const LISTED = 8;
/** How published vocabularies spell a word that is to be guessed. */
const MASKS = ["[MASK]", "<mask>"];

export interface ModelTask {
  /** Of the source. */
  readonly key: number;
  readonly source: ModelSource;
  /** What to call it, where that is known. */
  readonly name: string | undefined;
}

export type Tell = (said: string, done?: number) => void;

/** What a model's answer is: the next word, the masked one, a label; or nothing but the states of its tokens. */
type Kind = "next" | "mask" | "label" | "states";

interface Held {
  readonly key: number;
  readonly lm: LoadedModel;
  readonly kind: Kind;
  readonly about: ModelSummary;
}

/** What a page says of a model. */
export interface ModelSummary extends Readonly<Record<"layers" | "heads" | "parameters" | "vocabulary", number>> {
  readonly name: string;
  readonly type: string;
  readonly positions: number | undefined;
  readonly takesText: boolean;
  /** Whether it goes on with a text. */
  readonly isCausal: boolean;
  /** Bytes of the formats that its weights have. */
  readonly formats: Readonly<Record<string, number>>;
}

/** A text that was read, and what the whole model made of it. */
interface Reading {
  readonly ids: Int32Array;
  readonly kind: Kind;
  /** Odds, or states. */
  readonly before: Float32Array;
  readonly width: number;
}

/** The words and where they stand in the text, the weights of each layer, [heads, tokens, tokens], and the answer. */
export interface Pass {
  readonly words: readonly string[];
  readonly offsets: Encoding["offsets"];
  readonly weights: readonly Float32Array[];
  readonly answer: Answer;
}

/** By the whole model and without some heads. */
export type Answer =
  | {
      readonly kind: "next" | "mask" | "label";
      readonly odds: readonly { readonly word: string; readonly before: number; readonly after: number }[];
      /** How far the odds moved, in nats. */
      readonly apart: number;
    }
  | {
      readonly kind: "states";
      /** Of each token: how far its state moved, as a part of its length. */
      readonly moved: readonly number[];
      /** Between the means of the states. */
      readonly cosine: number;
    };

let heed: Promise<Heed> | undefined;
/** They are kept for the next text. */
let held: Held | undefined;
let reading: Reading | undefined;

/** Loads it, unless it is here. Refuses what it cannot load, in heed's words. */
export async function load(task: ModelTask, tell: Tell): Promise<ModelSummary> {
  if (held?.key === task.key) return held.about;
  held?.lm.dispose();
  [held, reading] = [undefined, undefined];
  const { key, source } = task;
  tell("Reading …");
  heed ??= createHeed();
  const lm = await inWords(async () =>
    loadModel(source, {
      weights: "as stored",
      engine: await heed,
      cache: typeof source === "string",
      onProgress: ({ loaded, total, file }) => {
        const of = total === undefined ? "" : ` of ${bytes(total)}`;
        tell(`Reading ${file}: ${bytes(loaded)}${of} …`, total === undefined ? undefined : loaded / total);
      },
    }),
  );
  held = await inWords(async () => ({ key, lm, ...(await examined(lm, task)) }));
  return held.about;
}

/** A pass of one token tells its layers, its heads and what it answers. */
async function examined(lm: LoadedModel, { name }: ModelTask): Promise<Pick<Held, "kind" | "about">> {
  const { config, model, tokenizer } = lm;
  const { logits, attentions = [] } = await model.forward([0], { attentions: true });
  const vocabulary = Number(config["vocab_size"]);
  const { parameters, formats } = model.describe();
  const positions = config["max_position_embeddings"] ?? config["n_positions"];
  const about = {
    name: name ?? String(config["model_type"]),
    type: String(config["model_type"]),
    layers: attentions.length,
    heads: attentions[0]?.shape[1] ?? 0,
    parameters,
    vocabulary,
    positions: typeof positions === "number" ? positions : undefined,
    takesText: tokenizer !== null,
    isCausal: logits !== undefined,
    formats: { ...formats },
  };
  const shape = logits?.shape ?? (await headShape(lm));
  if (shape === undefined) return { kind: "states", about };
  const isOfWords = shape.at(-1) === vocabulary;
  if (about.isCausal) return { kind: isOfWords ? "next" : "label", about };
  return { kind: isOfWords ? "mask" : shape.length === 2 ? "label" : "states", about };
}

/** Of an encoder's logits, where it has a head. */
async function headShape({ model }: LoadedModel): Promise<readonly number[] | undefined> {
  try {
    return (await model.forward([0], { logits: true })).logits?.shape;
  } catch (error) {
    if (error instanceof HeedError && error.code === "option") return undefined;
    throw error;
  }
}

/** `asked`: a text, or without a tokenizer numbers of tokens. Refuses what it cannot run. */
export async function run(asked: string, tell: Tell): Promise<Pass> {
  const { lm, about, kind: kindOfModel } = loadedModel();
  const tokenizer = tokenizerOf(lm);
  const { ids, words, offsets } = tokenizer === undefined ? numbered(asked) : tokenized(tokenizer, asked);
  assertFits(about, ids);
  tell(`${whole(ids.length)} tokens through ${whole(about.layers)} layers …`);
  // The mask is a word of the text, or there is nothing to guess.
  const kind = kindOfModel === "mask" && maskIn(tokenizer, ids) < 0 ? "states" : kindOfModel;
  const { made, width, attentions } = await inWords(() => pass(ids, kind, { attentions: true }));
  reading = { ids, kind, before: made, width };
  return {
    words,
    offsets,
    weights: attentions.map(({ data }) => data),
    answer: answerOf(reading, made),
  };
}

/** The answer to the last text without some heads, by their places among all. */
export async function without(off: readonly number[]): Promise<Answer> {
  const { heads } = loadedModel().about;
  if (reading === undefined) throw new Error("nothing was read");
  const { ids, kind } = reading;
  const hooks = Object.fromEntries(off.map((head) => [`layers.${Math.floor(head / heads)}.heads.${head % heads}`, 0]));
  const { made } = await inWords(() => pass(ids, kind, { hooks }));
  return answerOf(reading, made);
}

async function pass(
  ids: Int32Array,
  kind: Kind,
  options: { attentions?: true; hooks?: Readonly<Record<string, number>> },
) {
  const { lm, about } = loadedModel();
  const asked = about.isCausal ? ({ last: true } as const) : ({ logits: kind !== "states" } as const);
  const { logits, hidden, attentions = [] } = await lm.model.forward(ids, { ...options, ...asked });
  const tensor = (kind === "states" ? hidden : logits) ?? refuse("This model gives nothing that could be shown.");
  const width = tensor.shape.at(-1) ?? 0;
  const row = kind === "mask" ? maskIn(tokenizerOf(lm), ids) : 0;
  const made = kind === "states" ? tensor.data : tensor.data.slice(row * width, (row + 1) * width);
  return { made, width, attentions };
}

function answerOf({ kind, before, width }: Reading, made: Float32Array): Answer {
  if (kind === "states") {
    return { kind, moved: movements(before, made, width), cosine: cosineOfMeans(before, made, width) };
  }
  const [was, is] = [chances(before), chances(made)];
  const odds = changes(was, is, LISTED).map(({ id, ...odd }) => ({ word: spelt(kind, id), ...odd }));
  return { kind, odds, apart: divergence(was, is) };
}

function spelt(kind: Kind, id: number): string {
  const { lm } = loadedModel();
  if (kind === "label") {
    const labels = lm.config["id2label"] as Readonly<Record<number, unknown>> | undefined;
    return String(labels?.[id] ?? `label ${id}`);
  }
  const tokenizer = tokenizerOf(lm);
  return tokenizer === undefined ? `#${id}` : wordOf(tokenizer, id);
}

const loadedModel = (): Held => held ?? refuse("The model is gone. Run it again.");

const tokenizerOf = ({ tokenizer }: LoadedModel): Tokenizer | undefined =>
  tokenizer instanceof Tokenizer ? tokenizer : undefined;

function maskIn(tokenizer: Tokenizer | undefined, ids: Int32Array): number {
  const masks = MASKS.map((mask) => tokenizer?.idOf(mask));
  return ids.findIndex((id) => masks.includes(id));
}

/** What heed refuses, it refuses in words. */
async function inWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RangeError) return refuse(`There is too little memory here: ${error.message}.`);
    throw error instanceof HeedError ? refuse(`${error.message}.`) : error;
  }
}

function tokenized(tokenizer: Tokenizer, text: string) {
  const encoding = tokenizer.encode(text);
  return { ids: encoding.ids, words: wordsOf(text, encoding), offsets: encoding.offsets };
}

function numbered(text: string) {
  const parts = text.split(/[\s,;[\]]+/).filter((part) => part !== "");
  const odd = parts.find((part) => !/^\d{1,9}$/.test(part));
  if (odd !== undefined) refuse(`“${odd}” is no number of a token. Without tokenizer.json, give such as: 5, 3, 12.`);
  return { ids: Int32Array.from(parts, Number), words: parts.map((part) => `#${Number(part)}`), offsets: [] };
}

/** All other bounds are heed's. */
function assertFits({ layers, heads }: ModelSummary, ids: Int32Array): void {
  const { length } = ids;
  if (length === 0) refuse("There is nothing to read: give a text.");
  const most = Math.floor(Math.sqrt(MOST_WEIGHTS / (layers * heads)));
  const weights = `The weights of all ${whole(layers * heads)} heads would be ${bytes(layers * heads * length ** 2 * 4)}`;
  if (length > most) {
    refuse(`The text is ${whole(length)} tokens long. ${weights}; this page keeps those of ${whole(most)} tokens.`);
  }
}
