// A sentence as a model reads it, word by word: the weights of all heads, with the start mark before the words.

import type { Weights } from "heed/viz";

export interface Reading {
  /** The model. */
  readonly by: string;
  readonly words: readonly string[];
  /** Of each layer, [heads, places, places]: the start mark is place 0, also in models that have none. */
  readonly layers: readonly Weights[];
  /** What is said beside its arcs. */
  readonly also?: readonly (Node | string)[];
}

/** Counted from 1. */
export type Head = Readonly<Record<"layer" | "head", number>>;

/** A word's weights on the start mark, then on each word. */
export type Row = readonly number[];

export function rowOf({ layers }: Reading, { layer, head }: Head, place: number): Row {
  const { data, shape } = layers[layer - 1] ?? { data: [], shape: [] };
  const places = shape.at(-1) ?? 0;
  const first = ((head - 1) * places + place) * places;
  return Array.from({ length: places }, (_, key) => data[first + key] ?? 0);
}

export function headsOf({ layers }: Reading): readonly Head[] {
  return layers.flatMap(({ shape: [heads = 0] }, layer) =>
    Array.from({ length: heads }, (_, head) => ({ layer: layer + 1, head: head + 1 })),
  );
}

export const spelt = ({ layer, head }: Head): string => `${layer}.${head}`;

/** "4.2", where there is such a head. */
export const headOf = (reading: Reading, text: string): Head | undefined =>
  headsOf(reading).find((head) => spelt(head) === text);

/** A word or a sign, and where it stands in the text. */
export interface Spoken {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Tokens as models have them: where each stands in the text, [0, 0] for a mark; and the weights of each layer, [heads, tokens, tokens]. */
export interface Pieces {
  readonly offsets: readonly (readonly [start: number, end: number])[];
  readonly weights: readonly Float32Array[];
}

/** Pieces of a word are joined: what they get is added up, and what they give is their mean. Marks but for the first are left out. */
export function joined({ offsets, weights }: Pieces, words: readonly Spoken[]): readonly Weights[] {
  const [count, places] = [offsets.length, words.length + 1];
  const placeOf = offsets.map(([start, end], token) => {
    if (start === end) return token === 0 ? 0 : -1;
    const word = words.findIndex((one) => one.start < end && start < one.end);
    return word < 0 ? -1 : word + 1;
  });
  const pieces = Array.from({ length: places }, (_, place) => placeOf.filter((one) => one === place).length);
  return weights.map((all) => {
    const heads = all.length / count ** 2;
    const data = new Float32Array(heads * places ** 2);
    all.forEach((weight, at) => {
      const head = Math.floor(at / count ** 2);
      const [query = -1, key = -1] = [placeOf[Math.floor(at / count) % count], placeOf[at % count]];
      if (query < 0 || key < 0) return;
      const to = (head * places + query) * places + key;
      data[to] = (data[to] ?? 0) + weight / (pieces[query] ?? 1);
    });
    return { data, shape: [heads, places, places] };
  });
}
