// One number of the room taken apart: a weight of the trained matrix, or a gradient, with its finite difference.

import { at } from "../../src/model/matrix.js";
import { type Explanation, products, softened } from "../../src/ui/explanation.js";
import type { NamedSpot } from "../../src/ui/named-matrices.js";
import { exact, small } from "../../src/ui/numbers.js";
import type { LearningAnswer } from "./calls.js";
import { finiteDifference, INPUTS, KEYS, type LearningScene, VALUE_WIDTH } from "./scene.js";
import { LETTERS, WORDS } from "./tasks.js";
import type { Moment } from "./training.js";

export const NAMES = ["M", "A", "dA", "dS", "dV", "dK", "dQ"] as const;
export type Name = (typeof NAMES)[number];

const count = (length: number, name: string): readonly string[] => Array.from({ length }, (_, i) => `${name}${i + 1}`);

export function explain(
  scene: LearningScene,
  spot: NamedSpot<Name>,
  { answer, moment }: { readonly answer: LearningAnswer | undefined; readonly moment: Moment | undefined },
): Explanation {
  const { name, row, col } = spot;
  switch (name) {
    case "M":
      return explainTrained(scene, row, col, moment);
    case "A":
      return softened(scene.scores, count(KEYS, "k"), {
        subject: `weight of k${col + 1}`,
        at: col,
        kernel: answer?.weights[col],
        light: { name, row: 0, col },
      });
    case "dA":
      return {
        subject: `∂L / ∂a${col + 1}`,
        sentence: `The output’s gradient times the value of k${col + 1}: no softmax is in the way yet.`,
        ...products(
          count(VALUE_WIDTH, ""),
          (i) => scene.dOutput[i] ?? Number.NaN,
          (i) => at(INPUTS.v, col, i),
          ["", "∂o", `v${col + 1}`],
        ),
        result: scene.dWeights[col] ?? Number.NaN,
        lights: [{ name, row: 0, col }],
      };
    case "dS":
      return measured(scene, spot, ["bias", answer?.dS], explainScore(scene, col));
    case "dV":
      return measured(scene, spot, ["v", answer?.dv], {
        subject: `∂L / ∂v${row + 1}, component ${col + 1}`,
        sentence: "The weight times the output’s gradient. Where the weight is 1, all of it arrives.",
        last: `${small(scene.weights[row] ?? 0)} × ${exact(scene.dOutput[col] ?? 0)} = ${small(at(scene.dv, row, col))}`,
        result: at(scene.dv, row, col),
        lights: [{ name: "A", row: 0, col: row }],
      });
    case "dK":
      return measured(scene, spot, ["k", answer?.dk], {
        subject: `∂L / ∂k${row + 1}, component ${col + 1}`,
        sentence: "The score’s gradient, times the scale, times the query’s component.",
        last: `${small(scene.dScores[row] ?? 0)} × ${exact(scene.scale)} × ${exact(at(INPUTS.q, 0, col))} = ${small(at(scene.dk, row, col))}`,
        result: at(scene.dk, row, col),
        lights: [{ name: "dS", row: 0, col: row }],
      });
    case "dQ":
      return measured(scene, spot, ["q", answer?.dq], {
        subject: `∂L / ∂q, component ${col + 1}`,
        sentence: `Each score’s gradient times its key’s component, and the sum times the scale, ${exact(scene.scale)}.`,
        head: ["", "∂s", `K ${col + 1}`, "product"],
        terms: scene.dScores.map((gradient, key) => {
          const component = at(INPUTS.k, key, col);
          return { label: `k${key + 1}`, figures: [small(gradient), exact(component), small(gradient * component)] };
        }),
        last: `${small(at(scene.dq, 0, col) / scene.scale)} × ${exact(scene.scale)} = ${small(at(scene.dq, 0, col))}`,
        result: at(scene.dq, 0, col),
        lights: [{ name: "dS", row: 0 }],
      });
  }
}

/** With the finite difference and the kernel's figure beside it. */
function measured(
  scene: LearningScene,
  { name, row, col }: NamedSpot<Name>,
  [input, kernel]: readonly [keyof typeof INPUTS, ArrayLike<number> | undefined],
  told: Explanation,
): Explanation {
  return {
    ...told,
    difference: finiteDifference(scene, input, row, col),
    kernel: kernel?.[row * INPUTS[input].cols + col],
    lights: [...told.lights, { name, row, col }],
  };
}

function explainScore({ weights, dWeights, mean, dScores }: LearningScene, key: number): Explanation {
  const [weight, gradient, result] = [weights[key] ?? 0, dWeights[key] ?? 0, dScores[key] ?? 0];
  return {
    subject: `∂L / ∂s${key + 1}`,
    sentence:
      "The weight, times how far its gradient is from the mean of all. With one weight near 1, the mean is that one’s: nothing is left.",
    head: ["", "a", "∂a", "product"],
    terms: dWeights.map((one, other) => ({
      label: `k${other + 1}`,
      figures: [small(weights[other] ?? 0), exact(one), small((weights[other] ?? 0) * one)],
      own: other === key,
    })),
    last: `mean ${exact(mean)}; ${small(weight)} × (${exact(gradient)} − ${exact(mean)}) = ${small(result)}`,
    result,
    lights: [
      { name: "A", row: 0 },
      { name: "dA", row: 0 },
    ],
  };
}

function explainTrained({ state }: LearningScene, row: number, col: number, moment: Moment | undefined): Explanation {
  const letters = Array.from(WORDS[state.task]);
  const subject = `output ${row + 1} looks at “${letters[col]}”`;
  if (moment === undefined) {
    const sentence = "Nothing has been learnt yet: every letter is as good as any other.";
    const result = 1 / LETTERS;
    return { subject, sentence, last: `1 / ${LETTERS} = ${result}`, result, lights: [] };
  }
  const from = row * LETTERS;
  return softened(Array.from(moment.scores.subarray(from, from + LETTERS)), letters, {
    subject,
    at: col,
    kernel: moment.weights[from + col],
    light: { name: "M", row, col },
  });
}
