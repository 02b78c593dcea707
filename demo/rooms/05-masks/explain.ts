// One cell of the room taken apart: why a pair is seen or not, what its share comes from, what a row adds up to.

import { at } from "../../src/model/matrix.js";
import { rowSum } from "../../src/model/softmax.js";
import type { Explanation } from "../../src/ui/explanation.js";
import { exact, small } from "../../src/ui/numbers.js";
import type { MaskAnswer } from "./call.js";
import { verdictsOn } from "./rules.js";
import { LARGE, type MaskScene } from "./scene.js";

export interface Spot {
  readonly name: "mask" | "A" | "sum";
  readonly row: number;
  readonly col: number;
}

export function explain(scene: MaskScene, spot: Spot, answer?: MaskAnswer): Explanation | undefined {
  const { queries, keys } = scene.state;
  if (spot.row >= queries || spot.col >= (spot.name === "sum" ? 1 : keys)) return undefined;
  switch (spot.name) {
    case "mask":
      return explainSight(scene, spot.row, spot.col);
    case "A":
      return explainShare(scene, spot.row, spot.col, answer);
    case "sum":
      return explainSum(scene, spot.row);
  }
}

function explainSight(scene: MaskScene, row: number, col: number): Explanation {
  const verdicts = verdictsOn(scene.state, row, col);
  const result = at(scene.seen, row, col);
  const hiding = verdicts.filter((verdict) => !verdict.sees).map(({ rule }) => rule);
  return {
    subject: `q${row + 1} sees k${col + 1}?`,
    sentence:
      result === 1
        ? `Yes. ${verdicts.length === 0 ? "No rule is on." : "Every rule that is on lets it."}`
        : `No: hidden by ${hiding.join(" and ")}.`,
    head: verdicts.length === 0 ? [] : ["", "because", "sees"],
    terms: verdicts.map(({ rule, sees, why }) => ({ label: rule, figures: [why, sees ? "yes" : "no"], own: !sees })),
    last: "",
    result,
    lights: [
      { name: "mask", row, col },
      { name: "A", row, col },
    ],
  };
}

function explainShare(scene: MaskScene, row: number, col: number, answer?: MaskAnswer): Explanation {
  const { given, shares, seen, state } = scene;
  const { most, sum } = rowSum(given, row);
  const result = at(shares, row, col);
  const hidden = at(seen, row, col) === 0;
  const power = Math.exp(at(given, row, col) - most);
  const share = `${small(power)} / ${exact(sum)} = ${small(sum === 0 ? 0 : power / sum)}`;
  const own = answer === undefined ? {} : { kernel: at(answer.shares, row, col) };
  return {
    subject: `share of k${col + 1} for q${row + 1}`,
    sentence: shareSentence(scene, row, hidden),
    head: sum === 0 ? [] : ["", "score", "− max", "e^"],
    terms:
      sum === 0
        ? []
        : Array.from({ length: state.keys }, (_, key) => {
            const score = at(given, row, key);
            return {
              label: `k${key + 1}`,
              figures: [exact(score, 3), exact(score - most, 3), small(Math.exp(score - most))],
              own: key === col,
              faint: at(seen, row, key) === 0,
            };
          }),
    last: sum === 0 ? "no visible key → 0" : state.hiding === "after" && hidden ? `${share}, struck out → 0` : share,
    result,
    ...own,
    lights: [
      { name: "mask", row, col },
      { name: "A", row, col },
    ],
  };
}

function shareSentence({ state, seen }: MaskScene, row: number, hidden: boolean): string {
  const blind = Array.from({ length: state.keys }, (_, key) => at(seen, row, key)).every((sees) => sees === 0);
  if (state.hiding === "before") {
    if (blind)
      return "This query sees no key at all. There is nothing to share out, and by rule every share is 0, not NaN.";
    return hidden ? "Its score was set to −∞, and e to that is 0, exactly." : "Only what is seen is in the sum.";
  }
  if (state.hiding === "after")
    return "The softmax has shared out among all keys, hidden ones too; what they got is thrown away.";
  return blind
    ? `Every score lost the same ${-LARGE}, which a softmax does not notice: the hidden keys are all heard.`
    : `Hidden scores lost ${-LARGE}: e to that is 0 in single precision. Nothing is wrong, as long as one key is seen.`;
}

function explainSum({ shares, state }: MaskScene, row: number): Explanation {
  const parts = Array.from({ length: state.keys }, (_, key) => at(shares, row, key));
  const result = parts.reduce((total, part) => total + part, 0);
  return {
    subject: `sum of q${row + 1}`,
    sentence:
      "All shares of this query. One, where any key is seen; else nothing was shared out, or some of it was lost.",
    head: ["", "share"],
    terms: parts.map((part, key) => ({ label: `k${key + 1}`, figures: [exact(part)], faint: part === 0 })),
    last: `sum = ${exact(result)}`,
    result,
    lights: [
      { name: "A", row },
      { name: "sum", row, col: 0 },
    ],
  };
}
