// The numbers of one head's look as matrices of one row.

import type { MatrixView } from "heed/viz";
import { HEAD_DIM } from "../../src/language/words.js";
import { largest, unstack } from "../../src/model/matrix.js";
import type { LanguageAnswer } from "./calls.js";
import type { Name } from "./explain.js";
import type { LanguageScene } from "./scene.js";

export function viewOf(
  name: Name,
  { look, words, columns }: LanguageScene,
  answer: LanguageAnswer | undefined,
): MatrixView | undefined {
  if (look === undefined) return undefined;
  const colLabels = columns.map((place) => words[place]?.text ?? "");
  const row = (numbers: ArrayLike<number>) => unstack(1, numbers.length, numbers);
  switch (name) {
    case "S":
      return {
        ...{ name, title: "score", about: "query times key, over √d", matrix: look.scores, colLabels },
        ...{ rowLabels: ["score"], tone: "signed", full: largest(look.scores) },
      };
    case "A":
      return {
        ...{ name, title: "weight", about: "after the softmax", matrix: row(answer?.weights ?? look.weights.data) },
        ...{ rowLabels: ["weight"], colLabels, tone: "share", full: 1 },
      };
    case "O":
      return {
        ...{ name, title: "output", about: "values by weight", matrix: row(answer?.output ?? look.output.data) },
        rowLabels: ["output"],
        colLabels: Array.from({ length: HEAD_DIM }, (_, at) => String(at + 1)),
        ...{ tone: "signed", full: largest(look.output) },
      };
  }
}
