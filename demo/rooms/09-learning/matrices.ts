// The room's matrices: how each is shown, and one number of it taken apart, a gradient with its finite difference.

import { along, at, down, fill, unstack } from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import { lit, products, softened } from "../../src/ui/explanation.js";
import { numbered, type Telling, weighed } from "../../src/ui/named-matrices.js";
import { exact, small, timesTold } from "../../src/ui/numbers.js";
import type { LearningAnswer } from "./calls.js";
import { finiteDifference, INPUTS, KEYS, type LearningScene, type Part, VALUE_WIDTH, WIDTH } from "./scene.js";
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
const [COMPONENTS, VALUES] = [numbered("", WIDTH), numbered("", VALUE_WIDTH)];

export function viewOf(name: Name, scene: LearningScene, { answer, moment }: Found): Telling {
  if (name === "M") return trainedView(scene, moment);
  const { weights, dWeights, dOutput, dScores, mean, scale, scores } = scene;
  type Shown = readonly [title: string, about: string, rows: readonly string[], cols: readonly string[]];
  const views: Readonly<Record<Part, readonly [...Shown, Telling["tell"]]>> = {
    A: ["weight a", "after the softmax", ["weight a"], K, (_, col) => softened(scores, K, { at: col })],
    dA: [
      "∂L/∂a",
      "in each weight",
      ["∂L/∂a"],
      K,
      (_, col) => ({
        sentence: `The output’s gradient times the value of k${col + 1}: no softmax is in the way yet.`,
        ...products(VALUES, (i) => dOutput[i] ?? Number.NaN, along(INPUTS.v, col), ["", "∂o", `v${col + 1}`]),
      }),
    ],
    dS: [
      "∂L/∂s",
      "in each score",
      ["∂L/∂s"],
      K,
      (_, col, result) => ({
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
    ],
    dV: [
      "∂L/∂V",
      "in the values",
      numbered("v", KEYS),
      VALUES,
      (row, col, result) => ({
        sentence: "The weight times the output’s gradient. Where the weight is 1, all of it arrives.",
        last: timesTold([weights[row] ?? 0, dOutput[col] ?? 0], result),
        lights: [lit("A", 0, row)],
      }),
    ],
    dK: [
      "∂L/∂K",
      "in the keys",
      K,
      COMPONENTS,
      (row, col, result) => ({
        sentence: "The score’s gradient, times the scale, times the query’s component.",
        last: timesTold([dScores[row] ?? 0, scale, at(INPUTS.q, 0, col)], result),
        lights: [lit("dS", 0, row)],
      }),
    ],
    dQ: [
      "∂L/∂q",
      "in the query",
      ["q"],
      COMPONENTS,
      (_, col, result) => ({
        sentence: `Each score’s gradient times its key’s component, and the sum times the scale, ${exact(scale)}.`,
        ...products(K, (key) => dScores[key] ?? Number.NaN, down(INPUTS.k, col), ["", "∂s", `K ${col + 1}`]),
        last: timesTold([result / scale, scale], result),
        lights: [lit("dS", 0)],
      }),
    ],
  };
  const [title, about, rowLabels, colLabels, tell] = views[name];
  const own = scene.matrices[name];
  const input = MOVED[name];
  return {
    title,
    about,
    matrix: answer?.matrices[name] ?? own,
    own,
    rowLabels,
    colLabels,
    tone: name === "A" ? "share" : "signed",
    // Gradients beyond 1 have the full colour.
    full: 1,
    tell: (row, col, result) => ({
      ...tell(row, col, result),
      ...(input && { difference: finiteDifference(scene, input, row, col) }),
    }),
  };
}

/** What a finite difference moves. */
const MOVED: Readonly<Partial<Record<Part, keyof typeof INPUTS>>> = { dS: "bias", dV: "v", dK: "k", dQ: "q" };

function trainedView({ state }: LearningScene, moment: Moment | undefined): Telling {
  const letters = Array.from(watched(state));
  // Before any training all that an output may see has the same weight.
  const isCausal = state.task === "induction" && !without(state).includes("mask");
  const untrained = (row: number, col: number): number => {
    const seen = isCausal ? row + 1 : LETTERS;
    return col < seen ? 1 / seen : 0;
  };
  const scoresOf = (row: number) => Array.from(moment?.scores.subarray(row * LETTERS, (row + 1) * LETTERS) ?? []);
  const title = "Attention";
  const about = `which letter each output looks at, ${moment === undefined ? "before training" : `after ${moment.step} steps`}`;
  const matrix = fill(LETTERS, LETTERS, (row, col) => moment?.weights[row * LETTERS + col] ?? untrained(row, col));
  // An output that names the next letter stands at the letter before.
  const rows = state.task === "induction" ? letters : numbered("", LETTERS);
  return {
    ...weighed(title, about, matrix, rows, letters),
    ...(moment && { own: softmax(unstack(LETTERS, LETTERS, moment.scores)) }),
    tell: (row, col, result) => ({
      ...(moment === undefined
        ? {
            sentence: "Nothing has been learnt yet: every letter that is seen is as good as any other.",
            last: result === 0 ? "hidden" : `1 / ${1 / result} = ${small(result)}`,
          }
        : softened(scoresOf(row), letters, { at: col })),
      subject: `output ${row + 1} looks at “${letters[col]}”`,
    }),
  };
}
