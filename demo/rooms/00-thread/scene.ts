// What the stage shows at each stop: a picture, and one sentence about it. Pure.

import { at, type Matrix, rowsOf } from "../../src/model/matrix.js";
import { normal } from "../../src/model/random.js";
import * as toy from "../../src/model/toy.js";
import type { Draw } from "../../src/ui/board.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { SKETCHES } from "./guesses.js";
import { BIN_NAMES, binned, pouredIdea, recipesIdea, rowsIdea, sharedIdea, spreadIdea, triangleIdea } from "./ideas.js";
import type { Sketch } from "./sketch.js";
import type { Sketched, Stop, ThreadState } from "./state.js";

export interface ThreadScene {
  readonly draw: Draw;
  /** What one draws on it. */
  readonly sketch?: Sketch;
  /** A number after ^ is a power. */
  readonly said: string;
}

type Given = ReturnType<typeof givenBy>;

function givenBy(state: ThreadState, stop: Stop, sketch: Sketch) {
  // Only the last stop is about its last word; the texts of the others say "tired".
  const ending = stop === "layers" ? state.ending : toy.ENDINGS[0];
  const x = toy.vectorsOf(ending);
  const words: readonly string[] = [...toy.WORDS, ending];
  /** The word that the reader chose. */
  const asker = words.indexOf(state.asker);
  return { state, ending, x, words, asker, row: toy.rowOf(x, "nouns", asker), sketch };
}

/** Scores of random vectors, whose entries have variance 1. */
function randomScores(width: number): readonly number[] {
  if (random.width === width) return random.scores;
  const next = normal(3);
  const query = Array.from({ length: width }, next);
  const scores = Array.from({ length: KEYS }, () => query.reduce((sum, entry) => sum + entry * next(), 0));
  random = { width, scores };
  return scores;
}
const KEYS = 200;
let random: { readonly width: number; readonly scores: readonly number[] } = { width: 0, scores: [] };

const dividedScores = (width: number): readonly number[] =>
  randomScores(width).map((score) => score / Math.sqrt(width));

/** The weights of each word, as it may see all or those before. */
function weightsSeen(x: Matrix, sees: ThreadState["sees"]): readonly (readonly number[])[] {
  return Array.from({ length: toy.COUNT }, (_, word) => {
    const visible = sees === "all" ? toy.COUNT : word + 1;
    return toy.rowOf(x, "nouns", word, { visible }).weights;
  });
}

/** The bars that a reader is to draw. */
export const BARS: Readonly<Record<Sketched, (state: ThreadState) => readonly number[]>> = {
  scale: ({ width }) => binned(dividedScores(width)),
  mask: () => weightsSeen(toy.vectorsOf("tired"), "before")[toy.ANIMAL] ?? [],
};

export function emptySketch(stop: Sketched): Sketch {
  const names = stop === "scale" ? BIN_NAMES : [...toy.WORDS, toy.ENDINGS[0]];
  return { ask: SKETCHES[stop].ask, names, bars: names.map(() => 0), cursor: names.length >> 1 };
}

const SCENES: Readonly<Record<Stop, (given: Given) => ThreadScene>> = {
  "look-up": ({ state: { lookedUp }, x, words }) => {
    const found = words.indexOf(lookedUp);
    const drawers = saidValues(x);
    const weights = words.map((_, word) => (word === found ? 1 : 0));
    const columns = [
      { title: "equal?", tone: "one", weights },
      { title: "value", tone: "value", weights, drawers },
    ];
    return {
      draw: rowsIdea({ words, asker: -1, title: `query: ${lookedUp}`, columns }),
      said: found < 0 ? `“${lookedUp}” is no key here: nothing comes back.` : `${lookedUp}: ${drawers[found]}.`,
    };
  },
  soft: ({ state: { sharpness }, ending, x, words }) => {
    const query = [sharpness, 0, sharpness, 0];
    const { weights, output } = toy.lookOf(x, query, { scale: 1 });
    const columns = [
      { title: "weight", tone: "one", weights },
      { title: "value", tone: "value", weights, drawers: saidValues(x) },
    ];
    const called = { query, keys: toy.keysOf(x) };
    return {
      draw: rowsIdea({ words, asker: -1, title: "query", called, columns, output: saidOutput(output) }),
      said: `The query is a noun that lives: animal has ${percent(weights[toy.ANIMAL] ?? 0)} of the weight, road ${percent(weights[toy.ROAD] ?? 0)}, ${ending} ${percent(weights[toy.LAST] ?? 0)}. The output has some of each.`,
    };
  },
  roles: ({ x, words, asker, row }) => {
    const wanted = toy.PROPERTIES.filter((_, property) => (row.query[property] ?? 0) > 0).join(", ");
    return {
      draw: recipesIdea(words[asker] ?? "", rowsOf(x)[asker] ?? []),
      said: `“${words[asker]}” looks for: ${wanted}. The small words look for nothing.`,
    };
  },
  scores: ({ x, words, asker, row: { query, scores } }) => {
    const keys = toy.keysOf(x);
    const products = scores.map((score) => score * Math.sqrt(toy.KEY_WIDTH));
    const best = products.indexOf(Math.max(...products));
    const sum = query.map((entry, i) => `${exact(entry)} × ${exact(at(keys, best, i))}`).join(" + ");
    return {
      draw: rowsIdea({ words, asker, title: "query", called: { query, keys }, sums: true }),
      said: `${words[asker]} · ${words[best]} = ${sum} = ${exact(products[best] ?? 0)}`,
    };
  },
  scale: ({ state: { width, divided }, sketch }) => {
    const [raw, after] = [randomScores(width), divided === "yes" ? dividedScores(width) : undefined];
    const range = (scores: readonly number[]): string =>
      `${exact(Math.min(...scores), 1)} to ${exact(Math.max(...scores), 1)}`;
    const then = after && `; divided by √${width} = ${Math.sqrt(width)}, from ${range(after)}`;
    return {
      draw: spreadIdea(raw, after, sketch),
      ...(after === undefined && { sketch }),
      said: `How often scores come up, with ${KEYS} random keys of ${width} numbers. They reach from ${range(raw)}${then ?? ""}.`,
    };
  },
  softmax: ({ state: { raise }, x, words }) => {
    const row = toy.rowOf(x, "nouns", toy.IT, { raise });
    return { draw: sharedIdea(words, row), said: softmaxText(row) };
  },
  mix: ({ x, words, asker, row }) => ({
    draw: pouredIdea(words, toy.valuesOf(x), row),
    said: `The output of ${words[asker]}: ${saidOutput(row.output)}.`,
  }),
  mask: ({ state: { sees }, x, words, sketch }) => {
    const weights = weightsSeen(x, sees);
    const [own, last] = [toy.ANIMAL, toy.LAST].map((word) => percent(weights[toy.ANIMAL]?.[word] ?? 0));
    return {
      draw: triangleIdea(words, toy.ANIMAL, sees !== "all", weights, sketch),
      ...(sees === "all" && { sketch }),
      said:
        sees === "all"
          ? `Every word sees all others. Below, the row of animal: it gives tired ${last}.`
          : `Animal sees two words now, and gives itself ${own}. “it” has lost tired as well, which tells animal from road.`,
    };
  },
  heads: ({ state: { heads }, ending, x, words }) => {
    const names: readonly toy.HeadName[] = heads === "1" ? ["both"] : ["nouns", "adjectives"];
    const columns = names.map((name, head) => ({
      title: heads === "1" ? "weight" : `head ${head + 1}`,
      tone: head === 0 ? "one" : "two",
      weights: toy.rowOf(x, name, toy.IT).weights,
    }));
    const weight = (head: number, word: number): string => percent(columns[head]?.weights[word] ?? 0);
    return {
      draw: rowsIdea({ words, asker: toy.IT, columns, arcs: true }),
      said:
        heads === "1"
          ? `One head that asks for both averages: ${ending} ${weight(0, toy.LAST)}, animal ${weight(0, toy.ANIMAL)}, road ${weight(0, toy.ROAD)}.`
          : `Head 1 finds two nouns, ${weight(0, toy.ANIMAL)} each. Head 2 finds ${ending}, ${weight(1, toy.LAST)}.`,
    };
  },
  layers: ({ ending, x, words }) => {
    const [first, second] = [toy.rowOf(x, "adjectives", toy.IT), toy.rowOf(toy.afterLayer(x), "nouns", toy.IT)];
    const added = exact(Math.max(...first.output), 2);
    const [what, noun] = ending === "tired" ? ["life", "animal"] : ["size", "road"];
    const columns = [
      { title: "layer 1", tone: "two", weights: first.weights },
      { title: "layer 2", tone: "one", weights: second.weights },
    ];
    const output = `added to “it”: ${saidOutput(first.output)}`;
    return {
      draw: rowsIdea({ words, asker: toy.IT, columns, arcs: true, output }),
      said: `Layer 1 adds ${what} ${added} to “it”, so its query in layer 2 has ${added} × 4 = ${exact(Math.max(...second.query.slice(2)), 1)} of that and finds a noun with it: ${noun}, ${percent(Math.max(...second.weights))}.`,
    };
  },
};

const NO_SKETCH: Sketch = { ask: "", names: [], bars: [], cursor: 0 };

/** `sketch`: what the reader has drawn there. */
export const sceneOf = (state: ThreadState, stop: Stop, sketch = NO_SKETCH): ThreadScene =>
  SCENES[stop](givenBy(state, stop, sketch));

const saidValues = (x: Matrix): readonly string[] =>
  rowsOf(toy.valuesOf(x)).map(([life, size]) => (life ? "life" : size ? "size" : "–"));

const saidOutput = (output: readonly number[]): string =>
  toy.VALUES.map((name, property) => `${name} ${exact(output[property] ?? 0, 2)}`).join(", ");

/** How the weight of animal comes from the scores: its own, the other noun's, and nine that are 0. */
function softmaxText({ scores, weights }: toy.Row): string {
  const sum = (power: (score: number) => string): string => {
    const [animal, road, rest] = [toy.ANIMAL, toy.ROAD, toy.LAST].map((word) => power(scores[word] ?? 0));
    return `${animal} ÷ (${animal} + ${road} + ${toy.COUNT - 2} × ${rest})`;
  };
  const [powers, values] = [sum((score) => `e^${exact(score, 1)}`), sum((score) => exact(Math.exp(score), 1))];
  return `animal: ${powers} = ${values} = ${percent(weights[toy.ANIMAL] ?? 0)}`;
}
