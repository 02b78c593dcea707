// A long text that nobody wrote: words, topics and repeats drawn from a seed, and heads whose vectors are made to look for one thing each.

import { identity, rowsOf } from "../../src/model/matrix.js";
import { uniform } from "../../src/model/random.js";
import { whole } from "../../src/ui/numbers.js";
import { madeSource, type Recipe, type Recipes, type Source } from "./source.js";

const WIDTH = 32;
const VOCABULARY = 512;
const WORD_PARTS = 24;
const TOPICS = 6;
const LINE = 64;
/** Each 7.3 times slower than the one before. */
const SPEEDS = [0, 1, 2, 3].map((power) => 7.3 ** -power);
const ROOT = Math.sqrt(SPEEDS.length);

type Text = ReturnType<typeof textOf>;

/** Cosines and sines, so that products are highest where both places are the same. */
const place = (at: number, fastest: number): readonly number[] =>
  SPEEDS.flatMap((speed) => [Math.cos(at * fastest * speed) / ROOT, Math.sin(at * fastest * speed) / ROOT]);

const times = (factor: number, vector: readonly number[]): number[] => vector.map((part) => part * factor);

const sided = uniform(99);
/** Vectors of length 1 whose parts differ by sign alone: nearly at right angles. */
const WORDS = Array.from({ length: VOCABULARY }, () =>
  Array.from({ length: WORD_PARTS }, () => (sided() < 0.5 ? -1 : 1) / Math.sqrt(WORD_PARTS)),
);
const NO_WORD = WORDS[0]?.map(() => 0) ?? [];

/** One in the topic's own place. */
const TOPIC_PLACES = rowsOf(identity(TOPICS));

function near(name: string, strength: number, fastest: number, back = 0): Recipe {
  return { name, strength, q: (at) => place(at - back, fastest), k: (at) => place(at, fastest) };
}

function recipesOf({ words, topics }: Text): Recipes {
  const wordAt = (at: number): readonly number[] => WORDS[words[at] ?? -1] ?? NO_WORD;
  const topicAt = (at: number): readonly number[] => TOPIC_PLACES[topics[at] ?? 0] ?? [];
  const isFirst = (at: number): readonly number[] => [at === 0 ? 1 : 0];
  const begins = (at: number): readonly number[] => [at % LINE === 0 ? 1 : 0];
  return [
    [
      near("the token before", 60, 1.2, 1),
      near("neighbours", 40, 0.2),
      { name: "the same word", strength: 24, q: wordAt, k: wordAt },
      { name: "the first token", strength: 9, q: () => [1], k: isFirst },
    ],
    [
      { name: "what came after the same word", strength: 26, q: wordAt, k: (at) => wordAt(at - 1) },
      { name: "the same topic", strength: 7, q: topicAt, k: topicAt },
      { name: "the beginning of lines", strength: 7, q: () => [1], k: begins },
      { name: "everything alike", strength: 0, q: () => [0], k: () => [0] },
    ],
    [
      {
        name: "the topic, or else the first token",
        strength: 6,
        q: (at) => [...topicAt(at), 1.2],
        k: (at) => [...topicAt(at), ...isFirst(at)],
      },
      near("wide surroundings", 30, 0.02),
      {
        name: "the same word nearby",
        strength: 1,
        q: (at) => [...times(20, wordAt(at)), ...times(24, place(at, 0.02))],
        k: (at) => [...wordAt(at), ...place(at, 0.02)],
      },
      { name: "some words, whatever the query", strength: 6, q: () => WORDS[5] ?? NO_WORD, k: wordAt },
    ],
  ];
}

export function exampleSource(tokens: number, seed: number): Source {
  return madeSource(`an example, ${whole(tokens)} tokens`, recipesOf(textOf(tokens, seed)), tokens, WIDTH);
}

/** Topics change now and then; a phrase of before is said again now and then. */
function textOf(tokens: number, seed: number) {
  const next = uniform(seed);
  const words = new Int32Array(tokens);
  const topics = new Int32Array(tokens);
  let topic = 0;
  let from = -1;
  for (let at = 0; at < tokens; at++) {
    if (next() < 12 / tokens) topic = Math.floor(next() * TOPICS);
    if (from < 0 && at > tokens / 16 && next() < 24 / tokens) from = Math.floor(next() * (at - tokens / 32));
    else if (from >= 0 && next() < 80 / tokens) from = -1;
    topics[at] = topic;
    // Common words are common: the square of a number below one is small more often than not.
    words[at] = from < 0 ? Math.floor(next() ** 1.5 * VOCABULARY) : (words[from++] ?? 0);
  }
  return { words, topics };
}
