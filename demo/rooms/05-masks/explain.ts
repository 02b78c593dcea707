// One cell of the room taken apart: why a pair is seen or not, what its weight comes from, what a row adds up to.

import { at, rowsOf } from "../../src/model/matrix.js";
import type { Cell } from "../../src/model/store.js";
import { type Explanation, lit, softened } from "../../src/ui/explanation.js";
import { exact } from "../../src/ui/numbers.js";
import type { MaskAnswer } from "./call.js";
import { verdictsOn } from "./rules.js";
import { LARGE, type MaskScene, sumOf } from "./scene.js";
import { weightsAt } from "./sight.js";

/** `place`: of the board, from no mask at 0 to the mask at 1. undefined: there is no such pair. */
export function explain(
  scene: MaskScene,
  { name, row, col }: Cell,
  answer: MaskAnswer | undefined,
  place: number,
): Explanation | undefined {
  const { queries, keys } = scene.state;
  if (row >= queries || col >= keys) return undefined;
  const told =
    name === "mask"
      ? explainSight(scene, row, col)
      : place < 1
        ? explainOnTheWay(scene, row, col, place)
        : explainWeight(scene, row, col, answer);
  return { ...told, lights: [lit("mask", row, col), lit("A", row, col)] };
}

type Told = Omit<Explanation, "lights">;

/** As the board shows it before all of the mask is there. */
function explainOnTheWay(scene: MaskScene, row: number, col: number, place: number): Told {
  const weight = weightsAt(scene, scene.weights, place);
  const [before, result] = [at(scene.plain, row, col), weight(row, col)];
  return {
    subject: `weight of k${col + 1} for q${row + 1}`,
    sentence:
      place === 0
        ? "Without the mask: a softmax over the scores of all keys."
        : "The mask is on its way: what hidden keys lose, the others share.",
    head: ["", "without mask", "here"],
    terms: Array.from({ length: scene.state.keys }, (_, key) => ({
      label: `k${key + 1}`,
      figures: [exact(at(scene.plain, row, key)), exact(weight(row, key))],
      own: key === col,
    })),
    last: `${exact(before)} → ${exact(result)}`,
    result,
  };
}

function explainSight(scene: MaskScene, row: number, col: number): Told {
  const verdicts = verdictsOn(scene.state, row, col);
  const result = at(scene.seen, row, col);
  const hiding = verdicts.filter((verdict) => !verdict.sees).map(({ rule }) => rule);
  return {
    subject: `q${row + 1} sees k${col + 1}?`,
    sentence:
      result === 1
        ? `Yes. ${verdicts.length === 0 ? "No rule is on." : "Every rule that is on allows it."}`
        : `No: hidden by ${hiding.join(" and ")}.`,
    head: ["", "because", "sees"],
    terms: verdicts.map(({ rule, sees, why }) => ({ label: rule, figures: [why, sees ? "yes" : "no"], own: !sees })),
    result,
  };
}

function explainWeight(scene: MaskScene, row: number, col: number, answer?: MaskAnswer): Told {
  const { given, weights, seen, state } = scene;
  const isHidden = at(seen, row, col) === 0;
  const scores = rowsOf(given)[row] ?? [];
  const names = scores.map((_, key) => `k${key + 1}`);
  const subject = `weight of k${col + 1} for q${row + 1}`;
  const told = softened(scores, names, { subject, at: col, kernel: answer && at(answer.weights, row, col) });
  const isBlind = scores.every((score) => score === Number.NEGATIVE_INFINITY);
  return {
    ...told,
    ...(isBlind ? { head: [], terms: [], last: "no visible key → 0" } : {}),
    ...(state.hiding === "after" && isHidden ? { last: `${told.last}, set to 0` } : {}),
    sentence: weightSentence(scene, row, isHidden),
    result: at(weights, row, col),
  };
}

function weightSentence({ state, seen }: MaskScene, row: number, hidden: boolean): string {
  const blind = sumOf(seen, row) === 0;
  if (state.hiding === "before") {
    if (blind) return "This query sees no key at all. By rule every weight is then 0, not NaN.";
    return hidden ? "Its score was set to −∞, and e to that is exactly 0." : "Only visible keys are in the sum.";
  }
  if (state.hiding === "after") return "The softmax gave weight to all keys, hidden ones too; theirs is thrown away.";
  return blind
    ? `Every score lost the same ${-LARGE}, which a softmax does not notice: the hidden keys all have weight.`
    : `Hidden scores lost ${-LARGE}: e to that is 0 in single precision. Nothing is wrong, as long as one key is seen.`;
}
