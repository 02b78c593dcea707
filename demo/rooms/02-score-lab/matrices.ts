// The room’s matrices, and one number taken apart: a score of any kind, a weight, or what was typed. Pure; the room draws them.

import { along, at, multiply, rowsOf } from "../../src/model/matrix.js";
import { strongestOf } from "../../src/model/strongest.js";
import { directions, distances, type Explanation, lit, products, softened } from "../../src/ui/explanation.js";
import { type NamedSpot, numbered, signed, type View, weighed } from "../../src/ui/named-matrices.js";
import { exact, timesTold } from "../../src/ui/numbers.js";
import { ABOUT, FEATURES, HIDDEN, KEYS, KINDS, type Kind, WIDTH } from "./kinds.js";
import type { ScoreAnswer, ScoreScene } from "./scene.js";
import { TYPED, type TypedName } from "./state.js";

export const MATRICES = [...TYPED, "S", "A"] as const;
export type MatrixName = (typeof MATRICES)[number];

/** Which matrices a kind uses beside q and K. */
export const PARAMETERS: Readonly<Partial<Record<Kind, readonly TypedName[]>>> = {
  general: ["W"],
  additive: ["Wq", "Wk", "b", "v"],
  gated: ["g"],
};

const KEY_NAMES = numbered("k", KEYS);
const UNITS = numbered("h", HIDDEN);
const partsOf = (of: string): readonly string[] => FEATURES.map((name) => `${of} ${name}`);
const [QUERY_PARTS, KEY_PARTS] = [partsOf("q"), partsOf("k")];
const BOTH = [...QUERY_PARTS, ...KEY_PARTS];

export function viewsOf({ typed, scores, weights }: ScoreScene, answer?: ScoreAnswer) {
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
    g: editable("w", "of the gate: the query’s part, then the key’s", typed.g, ["w"], BOTH),
    S: signed("S", "scores over T", scores, names, KEY_NAMES),
    A: weighed("A", "weights: each row sums to 1", answer?.weights ?? weights, names, KEY_NAMES),
  } satisfies Record<MatrixName, View>;
}

export function explain(scene: ScoreScene, spot: NamedSpot<MatrixName>, answer?: ScoreAnswer): Explanation | undefined {
  const { name, row, col } = spot;
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

type Told = Required<Pick<Explanation, "sentence" | "head" | "terms" | "last">>;
type Entry = (index: number) => number;
type Pair = readonly [a: Entry, b: Entry];
type Tell = (scene: ScoreScene, key: number, pair: Pair) => Told;

const dot = (names: readonly string[], [a, b]: Pair): number => names.reduce((sum, _, i) => sum + a(i) * b(i), 0);
const summed = (pair: Pair, left = "q") => products(FEATURES, ...pair, ["", left, "k"]);

/** Of all others, which begin with one: the scaled dot product. */
const scaled: Tell = ({ state }, _key, pair) => ({
  sentence: `The sum of products, over √${WIDTH}.${state.kind === "own" ? " Then the formula." : ""}`,
  ...summed(pair),
  last: `${exact(dot(FEATURES, pair))} / ${exact(Math.sqrt(WIDTH))} = ${exact(dot(FEATURES, pair) / Math.sqrt(WIDTH))}`,
});

const SQUARED = "The squared difference in each feature.";

const SCORES: Readonly<Partial<Record<Kind, Tell>>> = {
  dot: (_scene, _key, pair) => ({ sentence: "The sum of products.", ...summed(pair) }),
  cosine: (_scene, _key, pair) => ({
    sentence: "The sum of products, over both lengths, which are roots of sums of squares.",
    ...directions(FEATURES, ...pair),
  }),
  gated: ({ typed }, _key, [q, k]) => {
    const both: Entry = (part) => (part < WIDTH ? q(part) : k(part - WIDTH));
    const open = dot(BOTH, [both, along(typed.g, 0)]);
    const [product, gate] = [dot(FEATURES, [q, k]), 1 / (1 + Math.exp(-open))];
    return {
      sentence: `The sum of products, times the gate of this key: query and key by w make ${exact(open)}, and a sigmoid of that is the gate.`,
      ...summed([q, k]),
      last: timesTold([product, gate], product * gate),
    };
  },
  general: ({ typed }, _key, [, k]) => ({
    sentence: "q W first, a number for each feature of the key; then the products.",
    ...summed([along(multiply(typed.q, typed.W), 0), k], "q W"),
  }),
  additive: ({ typed: { Wq, Wk, b, v } }, _key, [q, k]) => {
    const sum = (unit: number): number =>
      dot(FEATURES, [q, along(Wq, unit)]) + dot(FEATURES, [k, along(Wk, unit)]) + at(b, 0, unit);
    const bent = (unit: number): number => Math.tanh(sum(unit));
    const weight = along(v, 0);
    return {
      sentence: "Query and key by the weights of each hidden number, and b; then a tanh, and v weighs what comes out.",
      head: ["", "sum", "tanh", "v", "product"],
      terms: UNITS.map((label, unit) => ({
        label,
        figures: [sum(unit), bent(unit), weight(unit), weight(unit) * bent(unit)].map((value) => exact(value, 3)),
      })),
      last: `sum = ${exact(dot(UNITS, [bent, weight]))}`,
    };
  },
  rbf: ({ state }, _key, pair) => ({ sentence: SQUARED, ...distances(FEATURES, ...pair, state.bandwidth) }),
  distance: (_scene, _key, pair) => ({ sentence: SQUARED, ...distances(FEATURES, ...pair) }),
};

function weightTold(scene: ScoreScene, kind: Kind, col: number, answer?: ScoreAnswer): Explanation {
  const row = KINDS.indexOf(kind);
  const [scores = []] = rowsOf(scene.scores).slice(row);
  const weight = along(scene.weights, row);
  const subject = `${ABOUT[kind].name}: weight of k${col + 1}`;
  const kernel = answer && at(answer.weights, row, col);
  if (kind !== "sparsemax") {
    const isKept = (key: number): boolean => kind !== "top-k" || rankOf(scores, key) < scene.state.keep;
    const kept = scores.map((one, key) => (isKept(key) ? one : Number.NEGATIVE_INFINITY));
    return softened(kept, KEY_NAMES, { subject, at: col, kernel });
  }
  // Of any key with a weight: the score less the weight.
  const [best = 0] = strongestOf(rowsOf(scene.weights)[row] ?? [], 1);
  const [score, threshold] = [scores[col] ?? Number.NaN, (scores[best] ?? Number.NaN) - weight(best)];
  return {
    subject,
    sentence: "The score minus a threshold, or 0. With this threshold the weights add up to 1.",
    head: ["", "score", "weight"],
    terms: KEY_NAMES.map((label, key) => ({
      label,
      figures: [exact(scores[key] ?? Number.NaN), exact(weight(key))],
      own: key === col,
      faint: weight(key) === 0,
    })),
    last: `${exact(score)} − ${exact(threshold)} → ${exact(weight(col))}`,
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
