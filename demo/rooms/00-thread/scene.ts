// What the stage shows at each stop: columns beside the words, arcs from the word that asks, and one sentence. Pure.

import { at, type Matrix, rowsOf } from "../../src/model/matrix.js";
import { normal } from "../../src/model/random.js";
import * as toy from "../../src/model/toy.js";
import type { Draw } from "../../src/ui/board.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { pouredIdea, recipesIdea, sharedIdea, spreadIdea, triangleIdea } from "./ideas.js";
import type { Stop, ThreadState } from "./state.js";

/** "one" and "two" are heads or layers. */
type Tone = "query" | "key" | "value" | "score" | "one" | "two";

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
  /** A picture of its own instead of columns. */
  readonly idea?: Draw;
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

function scoreBars(title: string, cells: readonly number[], most: number): Column {
  return { kind: "bars", title, tone: "score", cells, most, say: (score) => exact(score, 1) };
}

/** What a word's query finds. */
function asked(words: readonly string[], asker: number, { query, weights }: toy.Row) {
  const arcs = [{ tone: "one" as const, weights }];
  return { asker, query: { title: words[asker] ?? "", numbers: query, full: 7 }, arcs };
}

type Given = ReturnType<typeof givenBy>;

function givenBy(state: ThreadState) {
  const x = toy.vectorsOf(state.ending);
  const words = [...toy.WORDS, state.ending];
  /** The word that the reader chose. */
  const asker = words.indexOf(state.asker === "tired" ? state.ending : state.asker);
  const [keys, values] = [squares("key", "key", toy.keysOf(x)), squares("value", "value", toy.valuesOf(x))];
  return { state, x, words, asker, row: toy.rowOf(x, "nouns", asker), keys, values };
}

const SCENES = {
  "look-up": ({ state: { lookedUp }, x, words }) => {
    const found = words.indexOf(lookedUp);
    const cells = saidValues(x);
    const weights = words.map((_, word) => (word === found ? 1 : 0));
    return {
      keyed: "key",
      query: { title: lookedUp },
      columns: [weightBars("equal?", weights), { kind: "drawers", title: "value", tone: "value", cells, weights }],
      said: found < 0 ? `“${lookedUp}” is no key here: nothing comes back.` : `${lookedUp}: ${cells[found]}.`,
    };
  },
  soft: ({ state: { sharpness, ending }, x, keys }) => {
    const wanted = [sharpness, 0, sharpness, 0];
    const { weights, output } = toy.lookOf(x, wanted, { scale: 1 });
    return {
      query: { title: "a noun that lives", numbers: wanted, full: 8 },
      columns: [
        keys,
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
  scores: ({ x, words, asker, row, keys }) => {
    const products = row.scores.map((score) => score * Math.sqrt(toy.KEY_WIDTH));
    const best = products.indexOf(Math.max(...products));
    const sum = row.query.map((entry, i) => `${exact(entry)} × ${exact(at(toy.keysOf(x), best, i))}`).join(" + ");
    return {
      ...asked(words, asker, row),
      arcs: [],
      columns: [keys, scoreBars("query · key", products, 8)],
      said: `${words[asker]} · ${words[best]} = ${sum} = ${exact(products[best] ?? 0)}`,
    };
  },
  // Scores of random vectors, whose entries have variance 1.
  scale: ({ state: { width }, words }) => {
    const next = normal(3);
    const query = Array.from({ length: width }, next);
    const products = words.map(() => query.reduce((sum, entry) => sum + entry * next(), 0));
    const divided = products.map((product) => product / Math.sqrt(width));
    const range = (scores: readonly number[]): string =>
      `${exact(Math.min(...scores), 1)} to ${exact(Math.max(...scores), 1)}`;
    return {
      columns: [],
      idea: spreadIdea(
        [
          { name: "query · key", scores: products },
          { name: "divided by √d", scores: divided },
        ],
        64,
      ),
      said: `Random keys of ${width} numbers. Scores reach from ${range(products)}; divided by √${width} = ${Math.sqrt(width)}, from ${range(divided)}.`,
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
  mask: ({ state: { sees, ending }, x, words }) => {
    const visible = sees === "all" ? toy.COUNT : toy.IT + 1;
    const row = toy.rowOf(x, "nouns", toy.IT, { visible });
    return {
      columns: [],
      idea: triangleIdea(words, toy.IT, sees !== "all", row.weights),
      said:
        visible === toy.COUNT
          ? "“it” sees the whole sentence."
          : `“it” sees ${visible} words. “${ending}” is not among them, so nothing can tell animal from road.`,
    };
  },
  heads: ({ state: { heads, ending }, x }) => {
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
  layers: ({ state: { ending }, x }) => {
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

export function sceneOf(state: ThreadState, stop: Stop): ThreadScene {
  const given = givenBy(state);
  return { words: given.words, keyed: "word", asker: -1, arcs: [], ...SCENES[stop](given) };
}

const saidValues = (x: Matrix): readonly string[] =>
  rowsOf(toy.valuesOf(x)).map(([life, size]) => (life ? "it lives" : size ? "it has a size" : "–"));

/** How the weight of animal comes from the scores: its own, the other noun's, and nine that are 0. */
function softmaxText({ scores, weights }: toy.Row): string {
  const sum = (power: (score: number) => string): string => {
    const [animal, road, rest] = [toy.ANIMAL, toy.ROAD, toy.LAST].map((word) => power(scores[word] ?? 0));
    return `${animal} ÷ (${animal} + ${road} + ${toy.COUNT - 2} × ${rest})`;
  };
  const [powers, values] = [sum((score) => `e^${exact(score, 1)}`), sum((score) => exact(Math.exp(score), 1))];
  return `animal: ${powers} = ${values} = ${percent(weights[toy.ANIMAL] ?? 0)}`;
}
