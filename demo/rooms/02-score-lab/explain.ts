// One number of the room taken apart: a score of any kind, a weight, or what was typed.

import { at, type Matrix, rowsOf } from "../../src/model/matrix.js";
import { directions, distances, type Explanation, products, softened } from "../../src/ui/explanation.js";
import type { NamedSpot } from "../../src/ui/named-matrices.js";
import { exact, timesTold } from "../../src/ui/numbers.js";
import type { ScoreAnswer } from "./calls.js";
import { ABOUT, FEATURES, KINDS, type Kind, WIDTH } from "./kinds.js";
import { gateScore, rankOf, type ScoreScene, thresholdOf } from "./scene.js";
import { KEY_PARTS, type MadeName, type MatrixName, QUERY_PARTS } from "./views.js";

type Sum = Required<Pick<Explanation, "head" | "terms" | "last">>;
type Told = Sum & Pick<Explanation, "sentence">;
type Numbers = readonly number[];

const BOTH = [...QUERY_PARTS, ...KEY_PARTS];
const rowIn = (matrix: Matrix, row: number): Numbers => rowsOf(matrix)[row] ?? [];
const entry = (numbers: Numbers, index: number): number => numbers[index] ?? Number.NaN;
const within = (numbers: Numbers) => (index: number) => entry(numbers, index);
const summed = (names: readonly string[], a: Numbers, b: Numbers, ...head: readonly string[]): Sum =>
  products(names, within(a), within(b), ["", ...head]);
const dot = (a: Numbers, b: Numbers): number => a.reduce((sum, value, index) => sum + value * entry(b, index), 0);

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
  const lights = [{ name: "K", row: col }, spot];
  if (name === "A") return { ...weightTold(scene, kind, col, answer), lights: [...lights, { name: "S", row }] };
  const [q, k] = [rowIn(scene.typed.q, 0), rowIn(scene.typed.K, col)];
  const told = (SCORES[kind] ?? scaled)(scene, col, q, k);
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

type Tell = (scene: ScoreScene, key: number, q: Numbers, k: Numbers) => Told;

/** Of all others, which begin with one: the scaled dot product. */
const scaled: Tell = ({ state }, _key, q, k) => ({
  sentence: `The sum of products, over √${WIDTH}.${state.kind === "own" ? " Then the formula." : ""}`,
  ...summed(FEATURES, q, k, "q", "k"),
  last: `${exact(dot(q, k))} / ${exact(Math.sqrt(WIDTH))} = ${exact(dot(q, k) / Math.sqrt(WIDTH))}`,
});

const SQUARED = "The squared difference in each feature.";

const SCORES: Readonly<Partial<Record<Kind, Tell>>> = {
  dot: (_scene, _key, q, k) => ({ sentence: "The sum of products.", ...summed(FEATURES, q, k, "q", "k") }),
  cosine: (_scene, _key, q, k) => ({
    sentence: "The sum of products, over both lengths, which are roots of sums of squares.",
    ...directions(FEATURES, within(q), within(k)),
  }),
  gated: ({ made }, key, q, k) => {
    const [product, gate] = [dot(q, k), at(made.gate, key, 0)];
    return {
      sentence: "The sum of products, times the gate of this key.",
      ...summed(FEATURES, q, k, "q", "k"),
      last: timesTold([product, gate], product * gate),
    };
  },
  general: ({ made }, _key, _q, k) => ({
    sentence: "q W first, a number for each feature of the key; then the products.",
    ...summed(FEATURES, rowIn(made.qW, 0), k, "q W", "k"),
  }),
  additive: ({ typed, made }, key) => {
    const [hidden, v] = [rowIn(made.H, key), rowIn(typed.v, 0)];
    const bent = hidden.map(Math.tanh);
    return {
      sentence: `Row k${key + 1} of H goes through a tanh, number by number; v weighs what comes out.`,
      head: ["", "sum", "tanh", "v", "product"],
      terms: hidden.map((sum, unit) => {
        const [tanh, weight] = [entry(bent, unit), entry(v, unit)];
        return { label: `h${unit + 1}`, figures: [sum, tanh, weight, weight * tanh].map((value) => exact(value, 3)) };
      }),
      last: `sum = ${exact(dot(bent, v))}`,
    };
  },
  rbf: ({ state: { bandwidth } }, _key, q, k) => ({
    sentence: SQUARED,
    ...distances(FEATURES, within(q), within(k), {
      score: (sum) => -sum / (2 * bandwidth ** 2),
      written: (sum) => `−${sum} / (2 × ${bandwidth}²)`,
    }),
  }),
  distance: (_scene, _key, q, k) => ({
    sentence: SQUARED,
    ...distances(FEATURES, within(q), within(k), { score: (sum) => -Math.sqrt(sum), written: (sum) => `−√${sum}` }),
  }),
};

function explainMade({ typed, made }: ScoreScene, name: MadeName, row: number, col: number): Explanation {
  const both = [...rowIn(typed.q, 0), ...rowIn(typed.K, row)];
  const result = at(made[name], row, col);
  const weights = [...rowIn(typed.Wq, col), ...rowIn(typed.Wk, col)];
  const column = rowsOf(typed.W).map((line) => entry(line, col));
  const told = {
    qW: {
      subject: `q W [${col + 1}]`,
      sentence: "The query times one column of W.",
      ...summed(FEATURES, rowIn(typed.q, 0), column, "q", "W"),
      lights: [{ name: "W", col }],
    },
    H: {
      subject: `H [k${row + 1}, h${col + 1}]`,
      sentence: "The query times one row of the first matrix, the key times one of the second, and b.",
      ...summed(BOTH, both, weights, "part", "weight"),
      last: `${exact(dot(both, weights))} + ${exact(at(typed.b, 0, col))} = ${exact(result)}`,
      lights: [...["Wq", "Wk"].map((matrix) => ({ name: matrix, row: col })), { name: "b", row: 0, col }],
    },
    gate: {
      subject: `gate of k${row + 1}`,
      sentence: "Query and key by the weights of the gate, and a sigmoid of the sum.",
      ...summed(BOTH, both, rowIn(typed.g, 0), "part", "weight"),
      last: `1 / (1 + e^(${exact(-gateScore(typed, row))})) = ${exact(result)}`,
      lights: [{ name: "g", row: 0 }],
    },
  }[name];
  return { ...told, result, lights: [{ name, row, col }, ...told.lights] };
}

function weightTold(scene: ScoreScene, kind: Kind, col: number, answer?: ScoreAnswer): Explanation {
  const row = KINDS.indexOf(kind);
  const [scores, weights] = [rowIn(scene.scores, row), rowIn(scene.weights, row)];
  const names = scores.map((_, key) => `k${key + 1}`);
  const subject = `${ABOUT[kind].name}: weight of k${col + 1}`;
  const kernel = answer && at(answer.weights, row, col);
  if (kind !== "sparsemax") {
    const isKept = (key: number): boolean => kind !== "top-k" || rankOf(scene.scores, row, key) < scene.state.keep;
    const kept = scores.map((score, key) => (isKept(key) ? score : Number.NEGATIVE_INFINITY));
    return softened(kept, names, { subject, at: col, kernel });
  }
  return {
    subject,
    sentence: "The score minus a threshold, or 0. With this threshold the weights add up to 1.",
    head: ["", "score", "weight"],
    terms: scores.map((score, key) => ({
      label: names[key] ?? "",
      figures: [exact(score), exact(entry(weights, key))],
      own: key === col,
      faint: weights[key] === 0,
    })),
    last: `${exact(entry(scores, col))} − ${exact(thresholdOf(scene.scores, row))} → ${exact(entry(weights, col))}`,
    result: entry(weights, col),
    kernel,
    lights: [],
  };
}
