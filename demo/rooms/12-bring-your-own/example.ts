// A long text that nobody wrote: words, topics and repeats drawn at random, and heads whose vectors are made to look for one thing each.

import { identity, rowsOf } from "../../src/model/matrix.js";
import { uniform } from "../../src/model/random.js";
import { whole } from "../../src/ui/numbers.js";
import type { Source, Vectors } from "./source.js";

/** Of vectors, which are padded with zeros. */
const WIDTH = 32;
const VOCABULARY = 512;
const WORD_PARTS = 24;
const TOPICS = 6;
/** Each 7.3 times slower than the one before. */
const SPEEDS = [0, 1, 2, 3].map((power) => 7.3 ** -power);
const ROOT = Math.sqrt(SPEEDS.length);

type Vector = readonly number[];
type VectorAt = (at: number) => Vector;
/** Scores are `strength` times the products of its queries and keys. */
type Head = readonly [name: string, strength: number, q: VectorAt, k: VectorAt];

/** Cosines and sines, so that products are highest where both places are the same. */
const place = (at: number, fastest: number): Vector =>
  SPEEDS.flatMap((speed) => [Math.cos(at * fastest * speed) / ROOT, Math.sin(at * fastest * speed) / ROOT]);

const near = (name: string, strength: number, fastest: number, back = 0): Head => [
  name,
  strength,
  (at) => place(at - back, fastest),
  (at) => place(at, fastest),
];

const times = (factor: number, vector: Vector): Vector => vector.map((part) => part * factor);

const sided = uniform(99);
/** Vectors of length 1 whose parts differ by sign alone: nearly at right angles. */
const WORDS = Array.from({ length: VOCABULARY }, () =>
  Array.from({ length: WORD_PARTS }, () => (sided() < 0.5 ? -1 : 1) / Math.sqrt(WORD_PARTS)),
);
const NO_WORD = WORDS[0]?.map(() => 0) ?? [];

/** One in the topic's own place. */
const TOPIC_PLACES = rowsOf(identity(TOPICS));

function layersOf({ words, topics }: ReturnType<typeof textOf>): readonly (readonly Head[])[] {
  const word: VectorAt = (at) => WORDS[words[at] ?? -1] ?? NO_WORD;
  const topic: VectorAt = (at) => TOPIC_PLACES[topics[at] ?? 0] ?? [];
  const isFirst: VectorAt = (at) => [at === 0 ? 1 : 0];
  return [
    [
      near("the token before", 60, 1.2, 1),
      near("neighbours", 40, 0.2),
      ["the same word", 24, word, word],
      ["the first token", 9, () => [1], isFirst],
    ],
    [
      ["what came after the same word", 26, word, (at) => word(at - 1)],
      ["the same topic", 7, topic, topic],
      ["the topic, or else the first token", 6, (at) => [...topic(at), 1.2], (at) => [...topic(at), ...isFirst(at)]],
      [
        "the same word nearby",
        1,
        (at) => [...times(20, word(at)), ...times(24, place(at, 0.02))],
        (at) => [...word(at), ...place(at, 0.02)],
      ],
    ],
  ];
}

/** Heads are made when they are first looked at. */
export function exampleSource(tokens: number): Source {
  const layers = layersOf(textOf(tokens));
  const made = new Map<Head, Vectors>();
  return {
    name: `an example, ${whole(tokens)} tokens`,
    ...{ layers: layers.length, heads: layers[0]?.length ?? 0, queries: tokens, keys: tokens },
    headName: (layer, head) => layers[layer]?.[head]?.[0] ?? "",
    vectors: (layer, head) => {
      const own = layers[layer]?.[head];
      if (own === undefined) return undefined;
      const vectors = made.get(own) ?? vectorsOf(own, tokens);
      made.set(own, vectors);
      return vectors;
    },
    origin: "made by the recipe of this head",
  };
}

function vectorsOf([, strength, q, k]: Head, count: number): Vectors {
  const vectors = { width: WIDTH, q: new Float32Array(count * WIDTH), k: new Float32Array(count * WIDTH) };
  // Scores will be divided by the root of the width.
  const factor = strength * Math.sqrt(WIDTH);
  for (let at = 0; at < count; at++) {
    vectors.q.set(times(factor, q(at)), at * WIDTH);
    vectors.k.set(k(at), at * WIDTH);
  }
  return vectors;
}

/** Topics change now and then; a phrase of before is said again now and then. */
function textOf(tokens: number) {
  const next = uniform(1);
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
