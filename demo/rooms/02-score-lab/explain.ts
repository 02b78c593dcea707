// One number of the room taken apart: a score of any kind, a share, or what was typed.

import { at, type Matrix } from "../../src/model/matrix.js";
import { dotOf, squaredDistance } from "../../src/model/similarity.js";
import { directions, type Explanation, products } from "../../src/ui/explanation.js";
import { exact, small } from "../../src/ui/numbers.js";
import type { ScoreAnswer } from "./calls.js";
import { KINDS, type Kind, NAMES, WIDTH } from "./kinds.js";
import { gateScore, rankOf, type ScoreScene, thresholdOf } from "./scene.js";
import type { MatrixName } from "./views.js";

export interface Spot {
  readonly name: MatrixName;
  readonly row: number;
  readonly col: number;
}

type Told = Pick<Explanation, "sentence" | "head" | "terms" | "last">;

export function explain(scene: ScoreScene, { name, row, col }: Spot, answer?: ScoreAnswer): Explanation | undefined {
  const kind = KINDS[row];
  if (name === "qW" || name === "H" || name === "gate") return explainMade(scene, name, row, col);
  if (name !== "S" && name !== "A") {
    const matrix = scene.typed[name];
    if (row >= matrix.rows || col >= matrix.cols) return undefined;
    return {
      subject: `${name} [${row + 1}, ${col + 1}]`,
      sentence: "Set by hand. Type another number, or move the slider.",
      head: [],
      terms: [],
      last: "",
      result: at(matrix, row, col),
      lights: [{ name, row, col }],
      editable: true,
    };
  }
  if (kind === undefined || col >= scene.scores.cols) return undefined;
  const common = {
    lights: [
      { name: "K", row: col },
      { name, row, col },
    ],
  };
  if (name === "S") {
    return {
      subject: `${NAMES[kind]}: score of k${col + 1}`,
      ...(kind === "own" ? ownTold(scene, col) : heated(scene, scoreTold(scene, kind, col))),
      result: at(scene.scores, row, col),
      ...common,
    };
  }
  return {
    subject: `${NAMES[kind]}: share of k${col + 1}`,
    ...shareTold(scene, kind, row, col),
    result: at(scene.shares, row, col),
    ...(answer === undefined ? {} : { kernel: at(answer.shares, row, col) }),
    lights: [...common.lights, { name: "S", row }],
  };
}

function heated({ state }: ScoreScene, told: Told): Told {
  return state.temperature === 1 ? told : { ...told, last: `${told.last}, over T = ${state.temperature}` };
}

const parts = Array.from({ length: WIDTH }, (_, index) => String(index + 1));

function scoreTold(scene: ScoreScene, kind: Exclude<Kind, "own">, key: number): Told {
  const { q, K } = scene.typed;
  const dots = products(
    parts,
    (index) => at(q, 0, index),
    (index) => at(K, key, index),
    ["", "q", "k"],
  );
  const dot = dotOf(q, 0, K, key);
  switch (kind) {
    case "dot":
      return { sentence: "The sum of products.", ...dots };
    case "scaled-dot":
    case "top-k":
    case "sparsemax":
      return {
        sentence: `The sum of products, over √${WIDTH}.`,
        ...dots,
        last: `${exact(dot)} / ${exact(Math.sqrt(WIDTH))} = ${exact(dot / Math.sqrt(WIDTH))}`,
      };
    case "cosine":
      return {
        sentence: "The sum of products, over both lengths, which are roots of sums of squares.",
        ...directions(
          parts,
          (index) => at(q, 0, index),
          (index) => at(K, key, index),
        ),
      };
    case "gated": {
      const gate = at(scene.made.gate, key, 0);
      return {
        sentence: "The sum of products, times the gate of this key.",
        ...dots,
        last: `${exact(dot)} × ${exact(gate)} = ${exact(dot * gate)}`,
      };
    }
    case "general":
      return {
        sentence: "q W first, a number for each part of the key; then the products.",
        ...products(
          parts,
          (index) => at(scene.made.qW, 0, index),
          (index) => at(K, key, index),
          ["", "q W", "k"],
        ),
      };
    case "additive":
      return additiveTold(scene, key);
    case "rbf":
    case "distance":
      return distanceTold(scene, kind, key);
  }
}

function ownTold(scene: ScoreScene, key: number): Told {
  const { temperature, formula } = scene.state;
  const scaled = heated(scene, scoreTold(scene, "scaled-dot", key));
  const score = dotOf(scene.typed.q, 0, scene.typed.K, key) / Math.sqrt(WIDTH) / temperature;
  return {
    ...scaled,
    sentence: `${scaled.sentence} Then the formula.`,
    last: `${scaled.last}; ${formula}, where score = ${exact(score)}, q = 0 and k = ${key}`,
  };
}

function explainMade(
  { typed, made }: ScoreScene,
  name: "qW" | "H" | "gate",
  row: number,
  col: number,
): Explanation | undefined {
  if (row >= made[name].rows || col >= made[name].cols) return undefined;
  const { q, K, W, Wq, Wk, b, g } = typed;
  const result = at(made[name], row, col);
  const key = `k${row + 1}`;
  const both = [...parts.map((part) => `q${part}`), ...parts.map((part) => `k${part}`)];
  const part = (index: number): number => (index < WIDTH ? at(q, 0, index) : at(K, row, index - WIDTH));
  switch (name) {
    case "qW":
      return {
        subject: `q W [${col + 1}]`,
        sentence: "The query times one column of W.",
        ...products(
          parts,
          (index) => at(q, 0, index),
          (index) => at(W, index, col),
          ["", "q", "W"],
        ),
        result,
        lights: [
          { name: "qW", row, col },
          { name: "W", col },
        ],
      };
    case "H": {
      const weight = (index: number): number => (index < WIDTH ? at(Wq, col, index) : at(Wk, col, index - WIDTH));
      const sum = both.reduce((total, _, index) => total + part(index) * weight(index), 0);
      return {
        subject: `H [${key}, h${col + 1}]`,
        sentence: "The query times one row of the first matrix, the key times one of the second, and b.",
        ...products(both, part, weight, ["", "part", "weight"]),
        last: `${exact(sum)} + ${exact(at(b, 0, col))} = ${exact(result)}`,
        result,
        lights: [
          { name: "H", row, col },
          { name: "Wq", row: col },
          { name: "Wk", row: col },
          { name: "b", row: 0, col },
        ],
      };
    }
    case "gate": {
      const score = gateScore(typed, row);
      return {
        subject: `gate of ${key}`,
        sentence: "Query and key by the weights of the gate, and a sigmoid of the sum.",
        ...products(both, part, (index) => at(g, 0, index), ["", "part", "weight"]),
        last: `1 / (1 + e^(${exact(-score)})) = ${exact(result)}`,
        result,
        lights: [
          { name: "gate", row, col },
          { name: "g", row: 0 },
        ],
      };
    }
  }
}

function additiveTold({ typed, made }: ScoreScene, key: number): Told {
  const hidden = made.H;
  const units = Array.from({ length: hidden.cols }, (_, unit) => unit);
  const value = (unit: number): number => at(typed.v, 0, unit) * Math.tanh(at(hidden, key, unit));
  return {
    sentence: `Row k${key + 1} of H goes through a tanh, number by number; v weighs what comes out.`,
    head: ["", "sum", "tanh", "v", "product"],
    terms: units.map((unit) => ({
      label: `h${unit + 1}`,
      figures: [
        exact(at(hidden, key, unit), 3),
        exact(Math.tanh(at(hidden, key, unit)), 3),
        exact(at(typed.v, 0, unit), 3),
        exact(value(unit), 3),
      ],
    })),
    last: `sum = ${exact(units.reduce((sum, unit) => sum + value(unit), 0))}`,
  };
}

function distanceTold({ typed, state }: ScoreScene, kind: "rbf" | "distance", key: number): Told {
  const squared = squaredDistance(typed.q, 0, typed.K, key);
  return {
    sentence: "Part by part the difference, squared.",
    head: ["", "q", "k", "(q − k)²"],
    terms: parts.map((label, index) => {
      const [a, b] = [at(typed.q, 0, index), at(typed.K, key, index)];
      return { label, figures: [exact(a), exact(b), exact((a - b) ** 2)], faint: a === b };
    }),
    last:
      kind === "rbf"
        ? `−${exact(squared)} / (2 × ${state.bandwidth}²) = ${exact(-squared / (2 * state.bandwidth ** 2))}`
        : `−√${exact(squared)} = ${exact(-Math.sqrt(squared))}`,
  };
}

function shareTold({ scores, shares, state }: ScoreScene, kind: Kind, row: number, col: number): Told {
  const keys = Array.from({ length: scores.cols }, (_, key) => key);
  if (kind === "sparsemax") {
    const threshold = thresholdOf(scores, row);
    return {
      sentence: "The score less a threshold, or 0. The threshold is the one with which the shares add up to 1.",
      head: ["", "score", "share"],
      terms: keys.map((key) => ({
        label: `k${key + 1}`,
        figures: [exact(at(scores, row, key)), exact(at(shares, row, key))],
        own: key === col,
        faint: at(shares, row, key) === 0,
      })),
      last: `${exact(at(scores, row, col))} − ${exact(threshold)} → ${exact(at(shares, row, col))}`,
    };
  }
  const kept = keys.filter((key) => kind !== "top-k" || rankOf(scores, row, key) < state.keep);
  const most = Math.max(...kept.map((key) => at(scores, row, key)));
  const power = (key: number): number => (kept.includes(key) ? Math.exp(at(scores, row, key) - most) : 0);
  const sum = keys.reduce((total, key) => total + power(key), 0);
  return {
    sentence:
      kind === "top-k"
        ? `Only the best ${state.keep} count; then e to the power of each score less the largest, over the sum.`
        : "e to the power of each score less the largest; then this one over the sum of all.",
    head: ["", "score", "e^"],
    terms: keys.map((key) => ({
      label: `k${key + 1}`,
      figures: [exact(at(scores, row, key), 3), small(power(key))],
      own: key === col,
      faint: !kept.includes(key),
    })),
    last: `${small(power(col))} / ${exact(sum)} = ${small(at(shares, row, col))}`,
  };
}

/** The key that gets most. */
export function bestOf(shares: Matrix, row: number): number {
  let best = 0;
  for (let key = 1; key < shares.cols; key++) if (at(shares, row, key) > at(shares, row, best)) best = key;
  return best;
}
