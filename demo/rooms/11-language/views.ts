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
  const row = (numbers: ArrayLike<number>) => unstack(1, numbers.length, numbers);
  const labels = columns.map((place) => words[place]?.text ?? "");
  const components = Array.from({ length: HEAD_DIM }, (_, at) => String(at + 1));
  const [title, about, matrix, colLabels] = (
    {
      S: ["score", "query times key, over √d", look.scores, labels],
      A: ["weight", "after the softmax", row(answer?.weights ?? look.weights.data), labels],
      O: ["output", "values by weight", row(answer?.output ?? look.output.data), components],
    } as const
  )[name];
  const colour =
    name === "A" ? ({ tone: "share", full: 1 } as const) : ({ tone: "signed", full: largest(matrix) } as const);
  return { name, title, about, matrix, rowLabels: [title], colLabels, ...colour };
}
