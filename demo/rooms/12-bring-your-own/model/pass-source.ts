// What a model computed, as something to look at.

import type { Source } from "../source.js";
import type { Model } from "./recognise.js";
import type { Pass } from "./run.js";

export function passSource({ name, layers, heads }: Model, { words, weights }: Pass): Source {
  const size = words.length ** 2;
  return {
    name: `${name}, ${words.length} tokens`,
    layers,
    heads,
    queries: words.length,
    keys: words.length,
    headName: () => "",
    vectors: () => undefined,
    weights: (layer, head) => weights[layer]?.subarray(head * size, (head + 1) * size),
    origin: `as ${name} computed them`,
    words: { q: words, k: words },
  };
}
