// What the stage shows at each stop: columns beside the words, arcs from the word that asks, and one sentence. Pure.

import { at, type Matrix, rowsOf } from "../../src/model/matrix.js";
import { normal } from "../../src/model/random.js";
import * as toy from "../../src/model/toy.js";
import type { Draw } from "../../src/ui/board.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { SKETCHES } from "./guesses.js";
import {
  BIN_NAMES,
  binned,
  calledIdea,
  FULL_ROW,
  pouredIdea,
  recipesIdea,
  sharedIdea,
  spreadIdea,
  triangleIdea,
} from "./ideas.js";
import type { Sketch } from "./sketch.js";
import type { Sketched, Stop, ThreadState } from "./state.js";

/** "one" and "two" are heads or layers. */
type Tone = "query" | "key" | "value" | "one" | "two";

type Cells = Readonly<
  /** What lies in a drawer, which is as far out as its weight says. */
  | { kind: "drawers"; cells: readonly string[]; weights: readonly number[] }
  /** A word's numbers as small squares, of which `full` has the full colour. */
  | { kind: "squares"; cells: readonly (readonly number[])[]; full: number }
  /** `most` fills the column. */
  | { kind: "bars"; cells: readonly number[]; most: number; say: (value: number) => string }
>;

export type Column = Cells & { readonly title: string; readonly tone: Tone };

export interface ThreadScene {
  readonly words: readonly string[];
  /** What the words are here. */
  readonly keyed: string;
  /** The word that asks; -1 where none of the sentence does. */
  readonly asker: number;
  readonly query?: { readonly title: string; readonly numbers?: readonly number[]; readonly full?: number };
  readonly arcs: readonly { readonly tone: Tone; readonly weights: readonly number[] }[];
  readonly columns: readonly Column[];
  /** A picture of its own instead of columns; and what one draws on it. */
  readonly idea?: Draw;
  readonly sketch?: Sketch;
  /** The sum of the values, each times its weight, under a column. */
  readonly output?: { readonly numbers: readonly number[]; readonly column: number; readonly whose?: string };
  /** A number after ^ is a power. */
  readonly said: string;
}

function squares(title: string, tone: Tone, numbers: Matrix, full = 1): Column {
  return { kind: "squares", title, tone, cells: rowsOf(numbers), full };
}

function weightBars(title: string, weights: readonly number[], tone: Tone = "one"): Column {
  return { kind: "bars", title, tone, cells: weights, most: 1, say: percent };
}

type Given = ReturnType<typeof givenBy>;

function givenBy(state: ThreadState, stop: Stop, sketch: Sketch) {
  // Only the last stop is about its last word; the texts of the others say "tired".
  const ending = stop === "layers" ? state.ending : toy.ENDINGS[0];
  const x = toy.vectorsOf(ending);
  const words = [...toy.WORDS, ending];
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

/** Of each word, as it may see all or those before. */
function rowsSeen(x: Matrix, sees: ThreadState["sees"]): readonly toy.Row[] {
  return Array.from({ length: toy.COUNT }, (_, word) =>
    toy.rowOf(x, "nouns", word, { visible: sees === "all" ? toy.COUNT : word + 1 }),
  );
}

/** The bars that a reader is to draw. */
export const BARS: Readonly<Record<Sketched, (state: ThreadState) => readonly number[]>> = {
  scale: ({ width }) => binned(dividedScores(width)),
  mask: () => rowsSeen(toy.vectorsOf("tired"), "before")[toy.ANIMAL]?.weights.map((one) => one / FULL_ROW) ?? [],
};

export function emptySketch(stop: Sketched): Sketch {
  const names = stop === "scale" ? BIN_NAMES : [...toy.WORDS, toy.ENDINGS[0]];
  return { ask: SKETCHES[stop].ask, names, bars: names.map(() => 0), cursor: names.length >> 1 };
}

const SCENES = {
  "look-up": ({ state: { lookedUp }, x, words }) => {
    const found = (words as readonly string[]).indexOf(lookedUp);
    const cells = saidValues(x);
    const weights = words.map((_, word) => (word === found ? 1 : 0));
    return {
      keyed: "key",
      query: { title: lookedUp },
      columns: [weightBars("equal?", weights), { kind: "drawers", title: "value", tone: "value", cells, weights }],
      said: found < 0 ? `“${lookedUp}” is no key here: nothing comes back.` : `${lookedUp}: ${cells[found]}.`,
    };
  },
  soft: ({ state: { sharpness }, ending, x }) => {
    const wanted = [sharpness, 0, sharpness, 0];
    const { weights, output } = toy.lookOf(x, wanted, { scale: 1 });
    return {
      query: { title: "a noun that lives", numbers: wanted, full: 8 },
      columns: [
        squares("key", "key", toy.keysOf(x)),
        weightBars("weight", weights),
        { kind: "drawers", title: "value", tone: "value", cells: saidValues(x), weights },
      ],
      output: { numbers: output, column: 2 },
      said: `animal has ${percent(weights[toy.ANIMAL] ?? 0)} of the weight, road ${percent(weights[toy.ROAD] ?? 0)}, ${ending} ${percent(weights[toy.LAST] ?? 0)}. The output has some of each.`,
    };
  },
  roles: ({ x, words, asker, row }) => {
    const wanted = toy.PROPERTIES.filter((_, property) => (row.query[property] ?? 0) > 0).join(", ");
    return {
      columns: [],
      idea: recipesIdea(words[asker] ?? "", rowsOf(x)[asker] ?? []),
      said: `“${words[asker]}” looks for: ${wanted}. The small words look for nothing.`,
    };
  },
  scores: ({ x, words, asker, row }) => {
    const products = row.scores.map((score) => score * Math.sqrt(toy.KEY_WIDTH));
    const best = products.indexOf(Math.max(...products));
    const sum = row.query.map((entry, i) => `${exact(entry)} × ${exact(at(toy.keysOf(x), best, i))}`).join(" + ");
    return {
      columns: [],
      idea: calledIdea(words, asker, row.query, toy.keysOf(x)),
      said: `${words[asker]} · ${words[best]} = ${sum} = ${exact(products[best] ?? 0)}`,
    };
  },
  scale: ({ state: { width, divided }, sketch }) => {
    const [raw, after] = [randomScores(width), divided === "yes" ? dividedScores(width) : undefined];
    const range = (scores: readonly number[]): string =>
      `${exact(Math.min(...scores), 1)} to ${exact(Math.max(...scores), 1)}`;
    const then = after && `; divided by √${width} = ${Math.sqrt(width)}, from ${range(after)}`;
    return {
      columns: [],
      idea: spreadIdea(raw, after, sketch),
      ...(after === undefined && { sketch }),
      said: `How often scores come up, with ${KEYS} random keys of ${width} numbers. They reach from ${range(raw)}${then ?? ""}.`,
    };
  },
  softmax: ({ state: { raise }, x, words }) => {
    const row = toy.rowOf(x, "nouns", toy.IT, { raise });
    return { columns: [], idea: sharedIdea(words, row), said: softmaxText(row) };
  },
  mix: ({ x, words, asker, row }) => {
    const output = toy.VALUES.map((name, i) => `${name} ${exact(row.output[i] ?? 0, 2)}`).join(", ");
    return {
      columns: [],
      idea: pouredIdea(words, toy.valuesOf(x), row),
      said: `The output of ${words[asker]}: ${output}.`,
    };
  },
  mask: ({ state: { sees }, x, words, sketch }) => {
    const weights = rowsSeen(x, sees).map((row) => row.weights);
    const [own, last] = [toy.ANIMAL, toy.LAST].map((word) => percent(weights[toy.ANIMAL]?.[word] ?? 0));
    return {
      columns: [],
      idea: triangleIdea(words, toy.ANIMAL, sees !== "all", weights, sketch),
      ...(sees === "all" && { sketch }),
      said:
        sees === "all"
          ? `Every word sees all others. Below, the row of animal: it gives tired ${last}.`
          : `Animal sees two words now, and gives itself ${own}. “it” has lost tired as well, which tells animal from road.`,
    };
  },
  heads: ({ state: { heads }, ending, x }) => {
    const names: readonly toy.HeadName[] = heads === "1" ? ["both"] : ["nouns", "adjectives"];
    const tones = ["one", "two"] as const;
    const found = names.map((name, head) => ({
      tone: tones[head] ?? "one",
      weights: toy.rowOf(x, name, toy.IT).weights,
    }));
    const weight = (head: number, word: number): string => percent(found[head]?.weights[word] ?? 0);
    return {
      asker: toy.IT,
      arcs: found,
      columns: found.map(({ weights, tone }, head) =>
        weightBars(heads === "1" ? "weight" : `head ${head + 1}`, weights, tone),
      ),
      said:
        heads === "1"
          ? `One head that asks for both averages: ${ending} ${weight(0, toy.LAST)}, animal ${weight(0, toy.ANIMAL)}, road ${weight(0, toy.ROAD)}.`
          : `Head 1 finds two nouns, ${weight(0, toy.ANIMAL)} each. Head 2 finds ${ending}, ${weight(1, toy.LAST)}.`,
    };
  },
  layers: ({ ending, x }) => {
    const [first, second] = [toy.rowOf(x, "adjectives", toy.IT), toy.rowOf(toy.afterLayer(x), "nouns", toy.IT)];
    const added = exact(Math.max(...first.output), 2);
    const [what, noun] = ending === "tired" ? ["life", "animal"] : ["size", "road"];
    return {
      asker: toy.IT,
      query: { title: "it, in layer 2", numbers: second.query, full: 7 },
      arcs: [first, second].map(({ weights }, layer) => ({ tone: layer === 0 ? "two" : "one", weights })),
      columns: [weightBars("layer 1", first.weights, "two"), weightBars("layer 2", second.weights)],
      output: { numbers: first.output, column: 0, whose: "of “it”, from layer 1" },
      said: `Layer 1 adds ${what} ${added} to “it”, so its query in layer 2 has ${added} × 4 = ${exact(Math.max(...second.query.slice(2)), 1)} of that and finds a noun with it: ${noun}, ${percent(Math.max(...second.weights))}.`,
    };
  },
} as const satisfies Readonly<
  Record<Stop, (given: Given) => Partial<ThreadScene> & Pick<ThreadScene, "columns" | "said">>
>;

const NO_SKETCH: Sketch = { ask: "", names: [], bars: [], cursor: 0 };

/** `sketch`: what the reader has drawn there. */
export function sceneOf(state: ThreadState, stop: Stop, sketch = NO_SKETCH): ThreadScene {
  const given = givenBy(state, stop, sketch);
  return { words: given.words, keyed: "word", asker: -1, arcs: [], ...SCENES[stop](given) };
}

const saidValues = (x: Matrix): readonly string[] =>
  rowsOf(toy.valuesOf(x)).map(([life, size]) => (life ? "life" : size ? "size" : "–"));

/** How the weight of animal comes from the scores: its own, the other noun's, and nine that are 0. */
function softmaxText({ scores, weights }: toy.Row): string {
  const sum = (power: (score: number) => string): string => {
    const [animal, road, rest] = [toy.ANIMAL, toy.ROAD, toy.LAST].map((word) => power(scores[word] ?? 0));
    return `${animal} ÷ (${animal} + ${road} + ${toy.COUNT - 2} × ${rest})`;
  };
  const [powers, values] = [sum((score) => `e^${exact(score, 1)}`), sum((score) => exact(Math.exp(score), 1))];
  return `animal: ${powers} = ${values} = ${percent(weights[toy.ANIMAL] ?? 0)}`;
}
