// One attention weight taken apart: the softmax of the scores of one character of the date.

import { rowsOf } from "../../src/model/matrix.js";
import { type Explanation, softened } from "../../src/ui/explanation.js";
import { nameOf } from "./lines.js";
import { labelsOf, type Network, type Reading } from "./reading.js";

export interface Spot {
  readonly name: Network;
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
