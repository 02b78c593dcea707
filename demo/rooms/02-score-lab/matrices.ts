// The room’s matrices, and one number taken apart: a score of any kind, a weight, or what was typed. Pure; the room draws them.

import { along, at, down, rowsOf } from "../../src/model/matrix.js";
import { directions, distances, type Explanation, lit, products, softened } from "../../src/ui/explanation.js";
import { type NamedSpot, numbered, signed, type View, weighed } from "../../src/ui/named-matrices.js";
import { exact, timesTold } from "../../src/ui/numbers.js";
import { ABOUT, FEATURES, HIDDEN, KEYS, KINDS, type Kind, WIDTH } from "./kinds.js";
import type { ScoreAnswer, ScoreScene } from "./scene.js";
import { TYPED, type TypedName } from "./state.js";

/** What a kind makes of query and keys on the way to a score. */
const MADE = ["qW", "H", "gate"] as const;
type MadeName = (typeof MADE)[number];

export const MATRICES = [...TYPED, ...MADE, "S", "A"] as const;
export type MatrixName = (typeof MATRICES)[number];

/** Which matrices a kind uses and makes, beside q and K. */
export const PARAMETERS: Readonly<Partial<Record<Kind, readonly (TypedName | MadeName)[]>>> = {
  general: ["W", "qW"],
  additive: ["Wq", "Wk", "b", "v", "H"],
  gated: ["g", "gate"],
};

const KEY_NAMES = numbered("k", KEYS);
const UNITS = numbered("h", HIDDEN);
const partsOf = (of: string): readonly string[] => FEATURES.map((name) => `${of} ${name}`);
const [QUERY_PARTS, KEY_PARTS] = [partsOf("q"), partsOf("k")];

export function viewsOf({ typed, made, scores, weights }: ScoreScene, answer?: ScoreAnswer) {
  const names = KINDS.map((kind) => ABOUT[kind].name);
  const editable = (...parts: Parameters<typeof signed>): View => ({ ...signed(...parts), editable: true });
  return {
    q: editable("q", "the query; change any", typed.q, ["q"], FEATURES),
    K: editable("K", "the keys; change any", typed.K, KEY_NAMES, FEATURES),
    W: editable("W", "of general", typed.W, QUERY_PARTS, KEY_PARTS),
    Wq: editable("W_q", "of additive", typed.Wq, UNITS, QUERY_PARTS),
    Wk: editable("W_k", "of additive", typed.Wk, UNITS, KEY_PARTS),
    b: editable("b", "added before the tanh", typed.b, ["b"], UNITS),
    v: editable("v", "weighs the hidden numbers", typed.v, ["v"], UNITS),
    g: editable("w", "of the gate: the query’s part, then the key’s", typed.g, ["w"], [...QUERY_PARTS, ...KEY_PARTS]),
    qW: signed("q W", "what meets the keys", made.qW, ["q W"], KEY_PARTS),
    H: signed("H", "the hidden numbers, before the tanh", made.H, KEY_NAMES, UNITS),
    gate: signed("gate", "open at 1", made.gate, KEY_NAMES, ["gate"]),
    S: signed("S", "scores over T", scores, names, KEY_NAMES),
    A: weighed("A", "weights: each row sums to 1", answer?.weights ?? weights, names, KEY_NAMES),
  } satisfies Record<MatrixName, View>;
}

type Told = Required<Pick<Explanation, "sentence" | "head" | "terms" | "last">>;
type Entry = (index: number) => number;
type Pair = readonly [a: Entry, b: Entry];

const BOTH = [...QUERY_PARTS, ...KEY_PARTS];
/** Of the query, then of the key. */
function joined(query: Entry, key: Entry): Entry {
  return (part) => (part < WIDTH ? query(part) : key(part - WIDTH));
}
const dot = (names: readonly string[], [a, b]: Pair): number => names.reduce((sum, _, i) => sum + a(i) * b(i), 0);
const summed = (names: readonly string[], pair: Pair, ...head: readonly string[]) =>
  products(names, ...pair, ["", ...head]);

export function explain(scene: ScoreScene, spot: NamedSpot<MatrixName>, answer?: ScoreAnswer): Explanation | undefined {
  const { name, row, col } = spot;
  if (name === "qW" || name === "H" || name === "gate") return explainMade(scene, name, row, col);
  if (name !== "S" && name !== "A") {
    return {
      subject: `${name} [${row + 1}, ${col + 1}]`,
      sentence: "Set by hand. Type another number, or move the slider.",
      result: at(scene.typed[name], row, col),
      lights: [spot],
      editable: true,
    };
  }
  const kind = KINDS[row];
  if (kind === undefined) return undefined;
  const lights = [lit("K", col), spot];
  if (name === "A") return { ...weightTold(scene, kind, col, answer), lights: [...lights, lit("S", row)] };
  const told = (SCORES[kind] ?? scaled)(scene, col, [along(scene.typed.q, 0), along(scene.typed.K, col)]);
  const { temperature, formula } = scene.state;
  const last = temperature === 1 ? told.last : `${told.last}, over T = ${temperature}`;
  return {
    subject: `${ABOUT[kind].name}: score of k${col + 1}`,
    ...told,
    last: kind === "own" ? `${last}; ${formula}, where q = 0 and k = ${col}` : last,
    result: at(scene.scores, row, col),
    lights,
  };
}

type Tell = (scene: ScoreScene, key: number, pair: Pair) => Told;

/** Of all others, which begin with one: the scaled dot product. */
const scaled: Tell = ({ state }, _key, pair) => ({
  sentence: `The sum of products, over √${WIDTH}.${state.kind === "own" ? " Then the formula." : ""}`,
  ...summed(FEATURES, pair, "q", "k"),
  last: `${exact(dot(FEATURES, pair))} / ${exact(Math.sqrt(WIDTH))} = ${exact(dot(FEATURES, pair) / Math.sqrt(WIDTH))}`,
});

const SQUARED = "The squared difference in each feature.";

const SCORES: Readonly<Partial<Record<Kind, Tell>>> = {
  dot: (_scene, _key, pair) => ({ sentence: "The sum of products.", ...summed(FEATURES, pair, "q", "k") }),
  cosine: (_scene, _key, pair) => ({
    sentence: "The sum of products, over both lengths, which are roots of sums of squares.",
    ...directions(FEATURES, ...pair),
  }),
  gated: ({ made }, key, pair) => {
    const [product, gate] = [dot(FEATURES, pair), at(made.gate, key, 0)];
    return {
      sentence: "The sum of products, times the gate of this key.",
      ...summed(FEATURES, pair, "q", "k"),
      last: timesTold([product, gate], product * gate),
    };
  },
  general: ({ made }, _key, [, k]) => ({
    sentence: "q W first, a number for each feature of the key; then the products.",
    ...summed(FEATURES, [along(made.qW, 0), k], "q W", "k"),
  }),
  additive: ({ typed, made }, key) => {
    const [sum, v] = [along(made.H, key), along(typed.v, 0)];
    const bent = (unit: number): number => Math.tanh(sum(unit));
    return {
      sentence: `Row k${key + 1} of H goes through a tanh, number by number; v weighs what comes out.`,
      head: ["", "sum", "tanh", "v", "product"],
      terms: UNITS.map((label, unit) => ({
        label,
        figures: [sum(unit), bent(unit), v(unit), v(unit) * bent(unit)].map((value) => exact(value, 3)),
      })),
      last: `sum = ${exact(dot(UNITS, [bent, v]))}`,
    };
  },
  rbf: ({ state }, _key, pair) => ({ sentence: SQUARED, ...distances(FEATURES, ...pair, state.bandwidth) }),
  distance: (_scene, _key, pair) => ({ sentence: SQUARED, ...distances(FEATURES, ...pair) }),
};

function explainMade({ typed, made }: ScoreScene, name: MadeName, row: number, col: number): Explanation {
  const { q, K, W, Wq, Wk, b, g } = typed;
  const result = at(made[name], row, col);
  const both = joined(along(q, 0), along(K, row));
  const hidden: Pair = [both, joined(along(Wq, col), along(Wk, col))];
  const gate: Pair = [both, along(g, 0)];
  const told = {
    qW: {
      subject: `q W [${col + 1}]`,
      sentence: "The query times one column of W.",
      ...summed(FEATURES, [along(q, 0), down(W, col)], "q", "W"),
      lights: [lit("W", undefined, col)],
    },
    H: {
      subject: `H [k${row + 1}, h${col + 1}]`,
      sentence: "The query times one row of the first matrix, the key times one of the second, and b.",
      ...summed(BOTH, hidden, "part", "weight"),
      last: `${exact(dot(BOTH, hidden))} + ${exact(at(b, 0, col))} = ${exact(result)}`,
      lights: [lit("Wq", col), lit("Wk", col), lit("b", 0, col)],
    },
    gate: {
      subject: `gate of k${row + 1}`,
      sentence: "Query and key by the weights of the gate, and a sigmoid of the sum.",
      ...summed(BOTH, gate, "part", "weight"),
      last: `1 / (1 + e^(${exact(-dot(BOTH, gate))})) = ${exact(result)}`,
      lights: [lit("g", 0)],
    },
  }[name];
  return { ...told, result, lights: [lit(name, row, col), ...told.lights] };
}

function weightTold(scene: ScoreScene, kind: Kind, col: number, answer?: ScoreAnswer): Explanation {
  const row = KINDS.indexOf(kind);
  const [score, weight] = [along(scene.scores, row), along(scene.weights, row)];
  const [scores = []] = rowsOf(scene.scores).slice(row);
  const names = numbered("k", KEYS);
  const subject = `${ABOUT[kind].name}: weight of k${col + 1}`;
  const kernel = answer && at(answer.weights, row, col);
  if (kind !== "sparsemax") {
    const isKept = (key: number): boolean => kind !== "top-k" || rankOf(scores, key) < scene.state.keep;
    const kept = scores.map((one, key) => (isKept(key) ? one : Number.NEGATIVE_INFINITY));
    return softened(kept, names, { subject, at: col, kernel });
  }
  return {
    subject,
    sentence: "The score minus a threshold, or 0. With this threshold the weights add up to 1.",
    head: ["", "score", "weight"],
    terms: names.map((label, key) => ({
      label,
      figures: [exact(score(key)), exact(weight(key))],
      own: key === col,
      faint: weight(key) === 0,
    })),
    last: `${exact(score(col))} − ${exact(thresholdOf(scores))} → ${exact(weight(col))}`,
    result: weight(col),
    kernel,
    lights: [],
  };
}

/** How many keys come before this one, the first of equals first. */
function rankOf(scores: readonly number[], key: number): number {
  const own = scores[key] ?? Number.NaN;
  return scores.filter((score, other) => score > own || (score === own && other < key)).length;
}

/** With which the scores above it, less it, add up to 1: from the sorted scores, as Martins and Astudillo have it. */
function thresholdOf(scores: readonly number[]): number {
  let [sum, threshold] = [0, 0];
  for (const [index, score] of [...scores].sort((a, b) => b - a).entries()) {
    sum += score;
    if (1 + (index + 1) * score > sum) threshold = (sum - 1) / (index + 1);
  }
  return threshold;
}
