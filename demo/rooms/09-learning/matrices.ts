// The room's matrices: how each is shown, and one number of it taken apart, a gradient with its finite difference.

import type { MatrixView } from "heed/viz";
import { along, at, fill } from "../../src/model/matrix.js";
import { type Explanation, lit, products, softened } from "../../src/ui/explanation.js";
import type { NamedSpot } from "../../src/ui/named-matrices.js";
import { exact, small, timesTold } from "../../src/ui/numbers.js";
import type { LearningAnswer } from "./calls.js";
import {
  finiteDifference,
  INPUTS,
  KEYS,
  type LearningScene,
  numbered,
  type Part,
  VALUE_WIDTH,
  WIDTH,
} from "./scene.js";
import { LETTERS, watched, without } from "./state.js";
import type { Moment } from "./training.js";

export const NAMES = ["M", "A", "dA", "dS", "dV", "dK", "dQ"] as const;
export type Name = (typeof NAMES)[number];

/** What is known by now besides the page's own arithmetic. */
interface Found {
  readonly answer: LearningAnswer | undefined;
  readonly moment: Moment | undefined;
}

const K = numbered("k", KEYS);
/** Titles, and names of rows and columns. */
const LABELS: Readonly<Record<Part, readonly [string, string, readonly string[], readonly string[]]>> = {
  A: ["weight a", "after the softmax", ["weight a"], K],
  dA: ["∂L/∂a", "in each weight", ["∂L/∂a"], K],
  dS: ["∂L/∂s", "in each score", ["∂L/∂s"], K],
  dV: ["∂L/∂V", "in the values", numbered("v", KEYS), numbered("", VALUE_WIDTH)],
  dK: ["∂L/∂K", "in the keys", K, numbered("", WIDTH)],
  dQ: ["∂L/∂q", "in the query", ["q"], numbered("", WIDTH)],
};

export function viewOf(name: Name, scene: LearningScene, { answer, moment }: Found): MatrixView {
  if (name === "M") return trainedView(scene, moment);
  const [title, about, rowLabels, colLabels] = LABELS[name];
  const matrix = answer?.matrices[name] ?? scene.matrices[name];
  // Gradients beyond 1 have the full colour.
  return { name, title, about, matrix, rowLabels, colLabels, tone: name === "A" ? "share" : "signed", full: 1 };
}

/** Before any training all that an output may see has the same weight. */
function untrained({ state }: LearningScene, row: number, col: number): number {
  const isCausal = state.task === "induction" && !without(state).includes("mask");
  const seen = isCausal ? row + 1 : LETTERS;
  return col < seen ? 1 / seen : 0;
}

function trainedView(scene: LearningScene, moment: Moment | undefined): MatrixView {
  const { state } = scene;
  const letters = Array.from(watched(state));
  return {
    name: "M",
    title: "Attention",
    about: `which letter each output looks at, ${moment === undefined ? "before training" : `after ${moment.step} steps`}`,
    matrix: fill(LETTERS, LETTERS, (row, col) => moment?.weights[row * LETTERS + col] ?? untrained(scene, row, col)),
    // An output that names the next letter stands at the letter before.
    rowLabels: state.task === "induction" ? letters : numbered("", LETTERS),
    colLabels: letters,
    tone: "share",
    full: 1,
  };
}

/** What a finite difference moves. */
const INPUT = { dS: "bias", dV: "v", dK: "k", dQ: "q" } as const;

export function explain(
  scene: LearningScene,
  { name, row, col }: NamedSpot<Name>,
  { answer, moment }: Found,
): Explanation {
  if (name === "M") return explainTrained(scene, row, col, moment);
  const [matrix, light] = [answer?.matrices[name], { name, row, col }];
  const kernel = matrix && at(matrix, row, col);
  if (name === "A") return softened(scene.scores, K, { subject: `weight of k${col + 1}`, at: col, kernel, light });
  const result = at(scene.matrices[name], row, col);
  const told = TELL[name](scene, { row, col, result });
  return {
    ...told,
    result,
    lights: [...(told.lights ?? []), light],
    ...(name === "dA" ? {} : { kernel, difference: finiteDifference(scene, INPUT[name], row, col) }),
  };
}

type Told = Omit<Explanation, "result" | "lights"> & { readonly lights?: Explanation["lights"] };

/** A cell and its number. */
interface Place {
  readonly row: number;
  readonly col: number;
  readonly result: number;
}

const TELL: Readonly<Record<Exclude<Part, "A">, (scene: LearningScene, place: Place) => Told>> = {
  dA: ({ dOutput }, { col }) => ({
    subject: `∂L / ∂a${col + 1}`,
    sentence: `The output’s gradient times the value of k${col + 1}: no softmax is in the way yet.`,
    ...products(numbered("", VALUE_WIDTH), (i) => dOutput[i] ?? Number.NaN, along(INPUTS.v, col), [
      "",
      "∂o",
      `v${col + 1}`,
    ]),
  }),
  dS: ({ weights, dWeights, mean }, { col, result }) => ({
    subject: `∂L / ∂s${col + 1}`,
    sentence:
      "The weight, times how far its gradient is from the mean of all. With one weight near 1, the mean is that one’s: nothing is left.",
    head: ["", "a", "∂a", "product"],
    terms: dWeights.map((one, key) => ({
      label: `k${key + 1}`,
      figures: [small(weights[key] ?? 0), exact(one), small((weights[key] ?? 0) * one)],
      own: key === col,
    })),
    last: `mean ${exact(mean)}; ${small(weights[col] ?? 0)} × (${exact(dWeights[col] ?? 0)} − ${exact(mean)}) = ${small(result)}`,
    lights: [lit("A", 0), lit("dA", 0)],
  }),
  dV: ({ weights, dOutput }, { row, col, result }) => ({
    subject: `∂L / ∂v${row + 1}, component ${col + 1}`,
    sentence: "The weight times the output’s gradient. Where the weight is 1, all of it arrives.",
    last: timesTold([weights[row] ?? 0, dOutput[col] ?? 0], result),
    lights: [lit("A", 0, row)],
  }),
  dK: ({ dScores, scale }, { row, col, result }) => ({
    subject: `∂L / ∂k${row + 1}, component ${col + 1}`,
    sentence: "The score’s gradient, times the scale, times the query’s component.",
    last: timesTold([dScores[row] ?? 0, scale, at(INPUTS.q, 0, col)], result),
    lights: [lit("dS", 0, row)],
  }),
  dQ: ({ dScores, scale }, { col, result }) => ({
    subject: `∂L / ∂q, component ${col + 1}`,
    sentence: `Each score’s gradient times its key’s component, and the sum times the scale, ${exact(scale)}.`,
    head: ["", "∂s", `K ${col + 1}`, "product"],
    terms: dScores.map((gradient, key) => {
      const component = at(INPUTS.k, key, col);
      return { label: `k${key + 1}`, figures: [small(gradient), exact(component), small(gradient * component)] };
    }),
    last: timesTold([result / scale, scale], result),
    lights: [lit("dS", 0)],
  }),
};

function explainTrained(scene: LearningScene, row: number, col: number, moment: Moment | undefined): Explanation {
  const letters = Array.from(watched(scene.state));
  const subject = `output ${row + 1} looks at “${letters[col]}”`;
  if (moment === undefined) {
    const sentence = "Nothing has been learnt yet: every letter that is seen is as good as any other.";
    const result = untrained(scene, row, col);
    return {
      subject,
      sentence,
      last: result === 0 ? "hidden" : `1 / ${1 / result} = ${small(result)}`,
      result,
      lights: [],
    };
  }
  const from = row * LETTERS;
  return softened(Array.from(moment.scores.subarray(from, from + LETTERS)), letters, {
    subject,
    at: col,
    kernel: moment.weights[from + col],
    light: { name: "M", row, col },
  });
}
