// The language model of examples/train/language.js, which heed trained and this site brings. Loaded when it comes into view.

import { createHeed } from "heed";
import { GPT2Model, loadSafetensors } from "heed/layers";
import { WORDS } from "../../../examples/train/grammar.js";
import { restore } from "../../../examples/train/language.js";

/** It was trained on no longer sentences. */
const LONGEST = 15;
const LIKELIEST = 3;
const LEAST_SHARE = 0.01;

export interface Reading {
  /** By layer and head, for each word that it read the weights of all of them. */
  readonly weights: readonly (readonly (readonly (readonly number[])[])[])[];
  /** What it goes on with, the likeliest first; the first one however unlikely. */
  readonly next: readonly { readonly word: string; readonly share: number }[];
}

export interface Language {
  readonly words: readonly string[];
  /** Which of the words it reads: those that it knows, as far as it can. */
  readonly reads: (words: readonly string[]) => readonly number[];
  readonly read: (words: readonly string[]) => Promise<Reading>;
}

export async function openLanguage(): Promise<Language> {
  const [engine, parameters] = await Promise.all([createHeed(), loadSafetensors("./weights/language.safetensors")]);
  const { model } = restore(parameters, { engine });
  if (!(model instanceof GPT2Model)) throw new TypeError("the recipe's causal model is a GPT-2");
  const idOf = (word: string): number => WORDS.indexOf(word.toLowerCase().replace("’", "'"));
  return {
    words: WORDS.filter((word) => /^\w/.test(word)),
    reads: (words) =>
      Array.from(words.keys())
        .filter((at) => idOf(words[at] ?? "") >= 0)
        .slice(0, LONGEST),
    read: async (words) => {
      const count = words.length;
      const ids = { data: Int32Array.from(words, idOf), shape: [1, count] };
      const { logits, attentions = [] } = await model.forward(ids, { attentions: true, last: true });
      const row = (data: Float32Array, at: number): readonly number[] =>
        Array.from(data.subarray(at * count, (at + 1) * count));
      return {
        weights: attentions.map(({ data }) =>
          Array.from({ length: data.length / count ** 2 }, (_, head) =>
            words.map((_, query) => row(data, head * count + query)),
          ),
        ),
        next: likeliest(logits.data),
      };
    },
  };
}

function likeliest(logits: Float32Array): Reading["next"] {
  const most = Math.max(...logits);
  const powers = Array.from(logits, (logit) => Math.exp(logit - most));
  const sum = powers.reduce((total, power) => total + power, 0);
  return WORDS.map((word, id) => ({ word, share: (powers[id] ?? 0) / sum }))
    .sort((a, b) => b.share - a.share)
    .slice(0, LIKELIEST)
    .filter(({ share }, index) => index === 0 || share >= LEAST_SHARE);
}
