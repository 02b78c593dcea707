// One number of the room taken apart: a word's probability, or what one head gives one word.

import { HEAD_DIM } from "../../src/language/words.js";
import { at } from "../../src/model/matrix.js";
import { type Explanation, products, softened } from "../../src/ui/explanation.js";
import { exact, percent } from "../../src/ui/numbers.js";
import type { LanguageAnswer } from "./calls.js";
import { type LanguageScene, type Look, lastOf, SCALE } from "./scene.js";

export const NAMES = ["S", "A", "O"] as const;
export type Name = (typeof NAMES)[number];

const COMPONENTS = Array.from({ length: HEAD_DIM }, (_, at) => String(at + 1));

export function explainWord({ reading, bars, state }: LanguageScene, id: number): Explanation | undefined {
  const chosen = bars.findIndex((bar) => bar.id === id);
  const bar = bars[chosen];
  if (reading === undefined || bar === undefined) return undefined;
  const logits = lastOf(reading);
  const kept = bars.filter(({ isKept }) => isKept).reduce((total, { probability }) => total + probability, 0);
  const names = bars.map(({ word }) => word);
  const scores = bars.map((one) => (logits[one.id] ?? Number.NaN) / state.temperature);
  const softmax = softened(scores, names, { subject: `“${bar.word}”`, at: chosen });
  const drawn = bar.isKept ? `It is drawn with ${percent(bar.probability / kept)}` : "It is cut off, and never drawn";
  return { ...softmax, sentence: `${drawn}. A score is a logit over the temperature, ${exact(state.temperature)}.` };
}

export function explainLook(
  { look, words, columns }: LanguageScene,
  name: Name,
  col: number,
  answer: LanguageAnswer | undefined,
): Explanation | undefined {
  if (look === undefined) return undefined;
  const labels = columns.map((place) => words[place]?.text ?? "");
  const light = { name, row: 0, col };
  if (name === "S") return explainScore(look, col, labels[col] ?? "");
  if (name === "A") {
    const subject = `weight of “${labels[col]}”`;
    return softened(Array.from(look.scores.data), labels, { subject, at: col, kernel: answer?.weights[col], light });
  }
  return {
    subject: `output, component ${col + 1}`,
    sentence: "Each word’s weight times its value’s component; the sum goes on to the stream.",
    ...products(
      labels,
      (word) => at(look.weights, 0, word),
      (word) => at(look.v, word, col),
      ["", "weight", `v${col + 1}`],
    ),
    result: at(look.output, 0, col),
    kernel: answer?.output[col],
    lights: [light, { name: "A", row: 0 }],
  };
}

function explainScore({ q, k, scores }: Look, col: number, label: string): Explanation {
  const dot = at(scores, 0, col) / SCALE;
  return {
    subject: `score of “${label}”`,
    sentence: `The query times this word’s key, component by component; the sum over √${HEAD_DIM}.`,
    ...products(
      COMPONENTS,
      (i) => at(q, 0, i),
      (i) => at(k, col, i),
      ["", "q", "k"],
    ),
    last: `${exact(dot)} / ${exact(1 / SCALE)} = ${exact(at(scores, 0, col))}`,
    result: at(scores, 0, col),
    lights: [{ name: "S", row: 0, col }],
  };
}
