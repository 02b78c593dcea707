// One number of the room taken apart: a score of any kind, a weight, or what was typed.

import { at, type Matrix, rowsOf } from "../../src/model/matrix.js";
import { squaredDistance } from "../../src/model/similarity.js";
import { directions, type Explanation, products, softened } from "../../src/ui/explanation.js";
import { exact } from "../../src/ui/numbers.js";
import type { ScoreAnswer } from "./calls.js";
import { ABOUT, FEATURES, KINDS, type Kind, WIDTH } from "./kinds.js";
import { gateScore, rankOf, type ScoreScene, thresholdOf } from "./scene.js";
import { KEY_PARTS, type MadeName, type MatrixName, QUERY_PARTS } from "./views.js";

export interface Spot {
  readonly name: MatrixName;
  readonly row: number;
  readonly col: number;
}

type Told = Required<Pick<Explanation, "sentence" | "head" | "terms" | "last">>;
type Numbers = readonly number[];

const BOTH = [...QUERY_PARTS, ...KEY_PARTS];
const rowIn = (matrix: Matrix, row: number): Numbers => rowsOf(matrix)[row] ?? [];
const entry = (numbers: Numbers, index: number): number => numbers[index] ?? Number.NaN;
const summed = (names: readonly string[], a: Numbers, b: Numbers, ...head: readonly string[]) =>
  products(
    names,
    (index) => entry(a, index),
    (index) => entry(b, index),
    ["", ...head],
  );
const dot = (a: Numbers, b: Numbers): number => a.reduce((sum, value, index) => sum + value * entry(b, index), 0);

export function explain(scene: ScoreScene, { name, row, col }: Spot, answer?: ScoreAnswer): Explanation | undefined {
  if (name === "qW" || name === "H" || name === "gate") return explainMade(scene, name, row, col);
  if (name !== "S" && name !== "A") {
    return {
      subject: `${name} [${row + 1}, ${col + 1}]`,
      sentence: "Set by hand. Type another number, or move the slider.",
      result: at(scene.typed[name], row, col),
      lights: [{ name, row, col }],
      editable: true,
    };
  }
  const kind = KINDS[row];
  if (kind === undefined) return undefined;
  const lights = [
    { name: "K", row: col },
    { name, row, col },
  ];
  if (name === "A") return { ...weightTold(scene, kind, row, col, answer), lights: [...lights, { name: "S", row }] };
  const told = scoreTold(scene, kind, col);
  const { temperature } = scene.state;
  const last = temperature === 1 ? told.last : `${told.last}, over T = ${temperature}`;
  return {
    subject: `${ABOUT[kind].name}: score of k${col + 1}`,
    ...told,
    last: kind === "own" ? `${last}; ${scene.state.formula}, where q = 0 and k = ${col}` : last,
    result: at(scene.scores, row, col),
    lights,
  };
}

function scoreTold(scene: ScoreScene, kind: Kind, key: number): Told {
  const { typed, made } = scene;
  const [q, k] = [rowIn(typed.q, 0), rowIn(typed.K, key)];
  const dots = summed(FEATURES, q, k, "q", "k");
  const product = dot(q, k);
  switch (kind) {
    case "dot":
      return { sentence: "The sum of products.", ...dots };
    case "cosine": {
      const cosine = directions(
        FEATURES,
        (index) => entry(q, index),
        (index) => entry(k, index),
      );
      return { sentence: "The sum of products, over both lengths, which are roots of sums of squares.", ...cosine };
    }
    case "gated": {
      const gate = at(made.gate, key, 0);
      const last = `${exact(product)} × ${exact(gate)} = ${exact(product * gate)}`;
      return { sentence: "The sum of products, times the gate of this key.", ...dots, last };
    }
    case "general":
      return {
        sentence: "q W first, a number for each feature of the key; then the products.",
        ...summed(FEATURES, rowIn(made.qW, 0), k, "q W", "k"),
      };
    case "additive":
      return additiveTold(scene, key);
    case "rbf":
    case "distance":
      return distanceTold(scene, kind, key);
    default: {
      const last = `${exact(product)} / ${exact(Math.sqrt(WIDTH))} = ${exact(product / Math.sqrt(WIDTH))}`;
      const sentence = `The sum of products, over √${WIDTH}.${kind === "own" ? " Then the formula." : ""}`;
      return { sentence, ...dots, last };
    }
  }
}

function explainMade({ typed, made }: ScoreScene, name: MadeName, row: number, col: number): Explanation {
  const both = [...rowIn(typed.q, 0), ...rowIn(typed.K, row)];
  const result = at(made[name], row, col);
  const weights = [...rowIn(typed.Wq, col), ...rowIn(typed.Wk, col)];
  const gate = { ...summed(BOTH, both, rowIn(typed.g, 0), "part", "weight") };
  const told = {
    qW: {
      subject: `q W [${col + 1}]`,
      sentence: "The query times one column of W.",
      ...summed(
        FEATURES,
        rowIn(typed.q, 0),
        rowsOf(typed.W).map((line) => entry(line, col)),
        "q",
        "W",
      ),
      lights: [{ name: "W", col }],
    },
    H: {
      subject: `H [k${row + 1}, h${col + 1}]`,
      sentence: "The query times one row of the first matrix, the key times one of the second, and b.",
      ...summed(BOTH, both, weights, "part", "weight"),
      last: `${exact(dot(both, weights))} + ${exact(at(typed.b, 0, col))} = ${exact(result)}`,
      lights: [
        { name: "Wq", row: col },
        { name: "Wk", row: col },
        { name: "b", row: 0, col },
      ],
    },
    gate: {
      subject: `gate of k${row + 1}`,
      sentence: "Query and key by the weights of the gate, and a sigmoid of the sum.",
      ...gate,
      last: `1 / (1 + e^(${exact(-gateScore(typed, row))})) = ${exact(result)}`,
      lights: [{ name: "g", row: 0 }],
    },
  }[name];
  return { ...told, result, lights: [{ name, row, col }, ...told.lights] };
}

function additiveTold({ typed, made }: ScoreScene, key: number): Told {
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
}

function distanceTold({ typed, state }: ScoreScene, kind: "rbf" | "distance", key: number): Told {
  const squared = squaredDistance(typed.q, 0, typed.K, key);
  return {
    sentence: "The squared difference in each feature.",
    head: ["", "q", "k", "(q − k)²"],
    terms: FEATURES.map((label, index) => {
      const [a, b] = [at(typed.q, 0, index), at(typed.K, key, index)];
      return { label, figures: [a, b, (a - b) ** 2].map((value) => exact(value)), faint: a === b };
    }),
    last:
      kind === "rbf"
        ? `−${exact(squared)} / (2 × ${state.bandwidth}²) = ${exact(-squared / (2 * state.bandwidth ** 2))}`
        : `−√${exact(squared)} = ${exact(-Math.sqrt(squared))}`,
  };
}

function weightTold(scene: ScoreScene, kind: Kind, row: number, col: number, answer?: ScoreAnswer): Explanation {
  const [scores, shares] = [rowIn(scene.scores, row), rowIn(scene.shares, row)];
  const names = scores.map((_, key) => `k${key + 1}`);
  const subject = `${ABOUT[kind].name}: weight of k${col + 1}`;
  const kernel = answer && at(answer.shares, row, col);
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
      figures: [exact(score), exact(entry(shares, key))],
      own: key === col,
      faint: shares[key] === 0,
    })),
    last: `${exact(entry(scores, col))} − ${exact(thresholdOf(scene.scores, row))} → ${exact(entry(shares, col))}`,
    result: entry(shares, col),
    kernel,
    lights: [],
  };
}
