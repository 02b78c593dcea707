// One attention weight taken apart: the softmax of the scores of one character of the date.

import { rowsOf } from "../../src/model/matrix.js";
import { type Explanation, softened } from "../../src/ui/explanation.js";
import { nameOf } from "./lines.js";
import { labelsOf, type Network, type Reading } from "./reading.js";
import { KIND_NAMES, KINDS, type Learnt } from "./training.js";

export interface Spot {
  readonly name: Network | "own";
  readonly row: number;
  readonly col: number;
}

export function explain({ text, date, scores, kernel }: Reading, { name, row, col }: Spot): Explanation {
  return softened(rowsOf(scores)[row] ?? [], labelsOf(text), {
    subject: `${nameOf(date[row] ?? "")} looks at ${nameOf(text[col] ?? "")}`,
    at: col,
    kernel: kernel?.data[row * kernel.cols + col],
    light: { name, row, col },
  });
}

export function explainLearnt(learnt: Learnt | undefined, row: number, col: number): Explanation {
  const kind = KINDS[row] ?? "dot";
  const result = learnt?.[kind].characters[col] ?? 0;
  return {
    subject: `character ${col + 1}, ${KIND_NAMES[kind]}`,
    sentence: "In how many of 128 new dates this character is right, after right ones.",
    last: learnt === undefined ? "Nothing has been trained yet." : "",
    result,
    lights: [{ name: "learnt", row, col }],
  };
}
