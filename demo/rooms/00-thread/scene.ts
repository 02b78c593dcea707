// What the stage shows at each stop: columns beside the words, arcs from the word that asks, and one sentence. Pure.

import { at, fill, type Matrix, multiply } from "../../src/model/matrix.js";
import { normal } from "../../src/model/random.js";
import { softmax } from "../../src/model/softmax.js";
import { exact, percent } from "../../src/ui/numbers.js";
import type { ThreadState } from "./state.js";
import {
  ANIMAL,
  afterLayer,
  COUNT,
  HEADS,
  type HeadName,
  IT,
  KEY_WIDTH,
  keysOf,
  LAST,
  PROPERTIES,
  ROAD,
  type Row,
  rowOf,
  VALUES,
  valuesOf,
  vectorsOf,
  WORDS,
} from "./toy.js";

export const STOPS = [
  "look-up",
  "soft look-up",
  "roles",
  "scores",
  "scale",
  "softmax",
  "mix",
  "mask",
  "heads",
  "layers",
] as const;
export type Stop = (typeof STOPS)[number];

/** "one" and "two" are heads or layers. */
export type Tone = "query" | "key" | "value" | "score" | "one" | "two";

export type Cells =
  | { readonly kind: "text"; readonly cells: readonly string[] }
  /** A word's numbers as small squares, of which 1 has the full colour unless `full` says otherwise. */
  | { readonly kind: "squares"; readonly cells: readonly (readonly number[])[]; readonly full?: number }
  /** `most` fills the column; below zero a bar goes to the left. */
  | { readonly kind: "bars"; readonly cells: readonly number[]; readonly most: number; readonly isSigned?: boolean };

export type Column = Cells & { readonly title: string; readonly tone: Tone; readonly say?: (value: number) => string };

export interface ThreadScene {
  readonly words: readonly string[];
  /** What the words are here. */
  readonly keyed: string;
  /** The word that asks; -1 where none of the sentence does. */
  readonly asker: number;
  readonly query?: { readonly title: string; readonly numbers?: readonly number[]; readonly full?: number };
  readonly arcs: readonly { readonly tone: Tone; readonly weights: readonly number[] }[];
  readonly columns: readonly Column[];
  /** The sum of the values, each times its weight, under a column. */
  readonly output?: { readonly numbers: readonly number[]; readonly column: number; readonly whose?: string };
  /** Keys from here on are hidden. */
  readonly visible: number;
  /** A number after ^ is a power. */
  readonly said: string;
}

const column = (title: string, tone: Tone, cells: Cells, say?: (value: number) => string): Column => ({
  ...cells,
  title,
  tone,
  ...(say === undefined ? {} : { say }),
});
const listOf = (matrix: Matrix): readonly (readonly number[])[] =>
  Array.from({ length: matrix.rows }, (_, row) =>
    Array.from({ length: matrix.cols }, (_, col) => at(matrix, row, col)),
  );
const weightBars = (title: string, weights: readonly number[], tone: Tone = "one"): Column =>
  column(title, tone, { kind: "bars", cells: weights, most: 1 }, percent);
const scoreBars = (title: string, cells: readonly number[], most: number, isSigned = false): Column =>
  column(title, "score", { kind: "bars", cells, most, isSigned }, (score) => exact(score, 1));

export function sceneOf(state: ThreadState, stop: Stop): ThreadScene {
  const x = vectorsOf(state.ending);
  const words = [...WORDS, state.ending];
  const asker = words.indexOf(state.asker === "tired" ? state.ending : state.asker);
  const none = {
    words,
    keyed: stop === "look-up" || stop === "scale" ? "key" : "word",
    asker: -1,
    arcs: [],
    visible: COUNT,
  };
  const keys = column("key", "key", { kind: "squares", cells: listOf(keysOf(x)) });
  const values = column("value", "value", { kind: "squares", cells: listOf(valuesOf(x)) });
  const asked = (row: Row, from = asker) => ({
    ...none,
    asker: from,
    query: { title: words[from] ?? "", numbers: row.query, full: 7 },
    arcs: [{ tone: "one" as const, weights: row.weights }],
  });
  switch (stop) {
    case "look-up":
      return lookUp(state, x, { ...none, words });
    case "soft look-up": {
      const wanted = [1, 0, 1, 0].map((entry) => entry * state.sharpness);
      const scores = listOf(keysOf(x)).map((key) => key.reduce((sum, entry, i) => sum + entry * (wanted[i] ?? 0), 0));
      const weights = Array.from(softmax(row1(scores)).data);
      const output = Array.from(multiply(row1(weights), valuesOf(x)).data);
      return {
        ...none,
        query: { title: "a noun with a body", numbers: wanted, full: 8 },
        columns: [keys, weightBars("weight", weights), values],
        output: { numbers: output, column: 2 },
        said: `animal has ${percent(weights[ANIMAL] ?? 0)} of the weight, road ${percent(weights[ROAD] ?? 0)}, ${state.ending} ${percent(weights[LAST] ?? 0)}. The output has some of each.`,
      };
    }
    case "roles": {
      const queries = column("query", "query", { kind: "squares", cells: listOf(multiply(x, HEADS.nouns)), full: 6 });
      return {
        ...none,
        asker,
        columns: [queries, keys, values],
        said: rolesText(words[asker] ?? "", x, asker),
      };
    }
    case "scores": {
      const row = rowOf(x, "nouns", asker);
      const products = row.scores.map((score) => score * Math.sqrt(KEY_WIDTH));
      const best = products.indexOf(Math.max(...products));
      const sum = row.query.map((entry, i) => `${exact(entry)} × ${exact(at(keysOf(x), best, i))}`).join(" + ");
      return {
        ...asked(row),
        arcs: [],
        columns: [keys, scoreBars("query · key", products, 8)],
        said: `${words[asker]} · ${words[best]} = ${sum} = ${exact(products[best] ?? 0)}`,
      };
    }
    case "scale":
      return scaled(state, none);
    case "softmax": {
      const row = rowOf(x, "nouns", IT, { raise: state.raise });
      return {
        ...asked(row, IT),
        columns: [scoreBars("score", row.scores, 7, true), weightBars("weight", row.weights)],
        said: softmaxText(row),
      };
    }
    case "mix": {
      const row = rowOf(x, "nouns", asker);
      const parts = listOf(valuesOf(x)).map((value, word) => value.map((entry) => entry * (row.weights[word] ?? 0)));
      return {
        ...asked(row),
        columns: [
          weightBars("weight", row.weights),
          values,
          column("× weight", "value", { kind: "squares", cells: parts }),
        ],
        output: { numbers: row.output, column: 2 },
        said: `The output of ${words[asker]}: ${outputText(row.output)}.`,
      };
    }
    case "mask": {
      const visible = state.sees === "all" ? COUNT : IT + 1;
      const row = rowOf(x, "nouns", IT, { visible });
      return {
        ...asked(row, IT),
        visible,
        columns: [weightBars("weight", row.weights)],
        said:
          visible === COUNT
            ? "“it” sees the whole sentence."
            : `“it” sees ${visible} words. “${state.ending}” is not among them, so nothing can tell animal from road.`,
      };
    }
    case "heads":
      return heads(state, x, none);
    case "layers":
      return layers(state, x, none);
  }
}

type Blank = Pick<ThreadScene, "words" | "keyed" | "asker" | "arcs" | "visible">;
const row1 = (numbers: readonly number[]): Matrix => fill(1, numbers.length, (_, col) => numbers[col] ?? 0);

function lookUp({ lookedUp }: ThreadState, x: Matrix, none: Blank): ThreadScene {
  const found = none.words.indexOf(lookedUp);
  const meanings = listOf(valuesOf(x)).map(([body, extent]) => (body ? "a body" : extent ? "an extent" : "–"));
  const weights = none.words.map((_, word) => (word === found ? 1 : 0));
  return {
    ...none,
    query: { title: lookedUp },
    columns: [weightBars("equal?", weights), column("value", "value", { kind: "text", cells: meanings })],
    said: found < 0 ? `“${lookedUp}” is no key here: nothing comes back.` : `${lookedUp}: it has ${meanings[found]}.`,
  };
}

/** Scores of random vectors, whose entries have variance 1. */
function scaled({ width }: ThreadState, none: Blank): ThreadScene {
  const next = normal(3);
  const query = Array.from({ length: width }, next);
  const products = none.words.map(() => query.reduce((sum, entry) => sum + entry * next(), 0));
  const divided = products.map((product) => product / Math.sqrt(width));
  const range = (scores: readonly number[]): string =>
    `${exact(Math.min(...scores), 1)} to ${exact(Math.max(...scores), 1)}`;
  return {
    ...none,
    words: none.words.map((_, key) => `key ${key + 1}`),
    columns: [scoreBars("query · key", products, 64, true), scoreBars("÷ √d", divided, 64, true)],
    said: `Random keys of ${width} numbers. Scores reach from ${range(products)}; divided by √${width} = ${Math.sqrt(width)}, from ${range(divided)}.`,
  };
}

function heads({ heads, ending }: ThreadState, x: Matrix, none: Blank): ThreadScene {
  const names: readonly HeadName[] = heads === "1" ? ["both"] : ["nouns", "adjectives"];
  const rows = names.map((name) => rowOf(x, name, IT).weights);
  const tones = ["one", "two"] as const;
  const share = (head: number, word: number): string => percent(rows[head]?.[word] ?? 0);
  return {
    ...none,
    asker: IT,
    arcs: rows.map((weights, head) => ({ tone: tones[head] ?? "one", weights })),
    columns: rows.map((weights, head) =>
      weightBars(heads === "1" ? "weight" : `head ${head + 1}`, weights, tones[head]),
    ),
    said:
      heads === "1"
        ? `One head that asks for both averages: ${ending} ${share(0, LAST)}, animal ${share(0, ANIMAL)}, road ${share(0, ROAD)}.`
        : `Head 1 finds two nouns, ${share(0, ANIMAL)} each. Head 2 finds ${ending}, ${share(1, LAST)}.`,
  };
}

function layers({ ending }: ThreadState, x: Matrix, none: Blank): ThreadScene {
  const [first, second] = [rowOf(x, "adjectives", IT), rowOf(afterLayer(x), "nouns", IT)];
  const added = Math.max(...first.output);
  return {
    ...none,
    asker: IT,
    query: { title: "it, in layer 2", numbers: second.query, full: 7 },
    arcs: [
      { tone: "two", weights: first.weights },
      { tone: "one", weights: second.weights },
    ],
    columns: [weightBars("layer 1", first.weights, "two"), weightBars("layer 2", second.weights)],
    output: { numbers: first.output, column: 0, whose: "of “it”, from layer 1" },
    said: `Layer 1 adds ${VALUES[ending === "tired" ? 0 : 1]} ${exact(added, 2)} to “it”, so its query in layer 2 has ${exact(added, 2)} × 4 = ${exact(Math.max(...second.query.slice(2)), 1)} of that and finds a noun with it: ${ending === "tired" ? "animal" : "road"}, ${percent(Math.max(...second.weights))}.`,
  };
}

/** How the weight of animal comes from the scores: its own, the other noun's, and nine that are 0. */
function softmaxText({ scores, weights }: Row): string {
  const sum = (power: (score: number) => string): string => {
    const [animal, road, rest] = [ANIMAL, ROAD, LAST].map((word) => power(scores[word] ?? 0));
    return `${animal} ÷ (${animal} + ${road} + ${COUNT - 2} × ${rest})`;
  };
  const [powers, values] = [sum((score) => `e^${exact(score, 1)}`), sum((score) => exact(Math.exp(score), 1))];
  return `animal: ${powers} = ${values} = ${percent(weights[ANIMAL] ?? 0)}`;
}

function rolesText(word: string, x: Matrix, asker: number): string {
  const query = listOf(multiply(x, HEADS.nouns))[asker] ?? [];
  const asks = PROPERTIES.filter((_, property) => (query[property] ?? 0) > 0).join(", ");
  return `“${word}” looks for: ${asks}. The small words look for nothing.`;
}

function outputText(output: readonly number[]): string {
  return VALUES.map((name, i) => `${name} ${exact(output[i] ?? 0, 2)}`).join(", ");
}
