// What the room says about its pictures, for the numbers at hand.

import { at, bestOf } from "../../src/model/matrix.js";
import { h } from "../../src/ui/dom.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { type DictionaryAnswer, type DictionaryScene, lengthOf } from "./scene.js";

export function temperatureName(temperature: number): string {
  if (temperature === 0) return "0: exact";
  return temperature === Number.POSITIVE_INFINITY ? "∞: average" : String(temperature);
}

export function cabinetText(scene: DictionaryScene): string {
  const { temperature } = scene.state;
  if (temperature === 0) {
    return "A dictionary as programs know it: the best drawer opens, all others stay shut. Its weights are one-hot, and one-hot times a matrix picks a row: that is an embedding. Attention is the same with a temperature; raise it.";
  }
  if (temperature === Number.POSITIVE_INFINITY) {
    return "So hot that it no longer matters what is asked: every drawer opens equally, and the answer is the plain average.";
  }
  return {
    students:
      "Each card carries four interests, from 0 to 3, and the drawer a major. Press a drawer to ask with its card. All drawers open a little, the wider the more similar the cards, and the answer is a mixture.",
    salary:
      "Each drawer carries a GPA and holds a salary; the numbers are invented. Ask for a GPA that nobody has, and those close by answer. Read the attention weights as probabilities of the drawers: the answer is an expected value.",
    movies:
      "People and movies on the same three scales, from −1 (against) to 1 (for). The answer for a person is a mixture of movies: an ideal that need not exist.",
  }[scene.state.example];
}

/** What is compared with the cards. */
export function questionText({ example, q, state }: DictionaryScene): string {
  const card = example.features.map((name, col) => `${name} ${exact(at(q, state.asker, col), 2)}`).join(", ");
  const who = example.queries[state.asker] ?? "";
  return `${who === "you ask" ? "You ask with" : `${who} asks with`}: ${card}.`;
}

/** The answer in words; its numbers are emphasised. */
export function answerParts(scene: DictionaryScene, answer?: DictionaryAnswer): readonly (Node | string)[] {
  const { example, state } = scene;
  const output = answer?.output ?? scene.output;
  const of = example.contents.map((name, col) => ({ name, value: at(output, state.asker, col) }));
  const bold = (figure: string): HTMLElement => h("b", {}, figure);
  if (state.example === "salary") return ["Expected salary: ", bold(exact(at(output, 0, 0), 2)), " thousand."];
  const list = (some: typeof of, figure: (value: number) => string) =>
    some.flatMap(({ name, value }, index) => [`${index === 0 ? "" : ", "}${name} `, bold(figure(value))]);
  if (state.example === "movies")
    return [`An ideal movie for ${example.queries[state.asker]}: `, ...list(of, (value) => exact(value, 2)), "."];
  const named = of.filter(({ value }) => value >= 0.005).sort((a, b) => b.value - a.value);
  return ["The answer: ", ...list(named, percent), "."];
}

export function curveText({ state }: DictionaryScene): string {
  const { score, bandwidth, temperature } = state;
  if (score === "dot") {
    return "By dot product the highest GPA always wins, whatever GPA is asked for: a larger key makes every score larger. Closeness needs a score that knows distance.";
  }
  if (score === "cosine") {
    return "With a single feature all keys point the same way: every cosine is 1, so every question gets the plain average.";
  }
  const heat =
    temperature === 0 || temperature === Number.POSITIVE_INFINITY
      ? ""
      : ` Temperature acts as bandwidth does: only b √T = ${exact(bandwidth * Math.sqrt(temperature), 3)} counts.`;
  return `Attention with this score is kernel regression, as Nadaraya and Watson described it in 1964. A narrow bandwidth follows each graduate, a wide one flattens to the average.${heat}`;
}

export function tasteText(scene: DictionaryScene): string {
  const { k, example } = scene;
  const differing = example.queries.findIndex(
    (_, row) => bestOf(scene.rivals.dot.scores, row) !== bestOf(scene.rivals.cosine.scores, row),
  );
  const common =
    "Minus times minus is plus: someone who dislikes romance is drawn to films with little of it. A dot product also counts length; the cosine compares directions alone.";
  if (differing < 0) return common;
  const [loud, like] = [bestOf(scene.rivals.dot.scores, differing), bestOf(scene.rivals.cosine.scores, differing)];
  const asks = example.queries[differing] === "you ask" ? "your query" : `“${example.queries[differing]}”`;
  return `${common} For ${asks}, the dot product picks “${example.keys[loud]}” (length ${exact(lengthOf(k, loud), 2)}), the cosine “${example.keys[like]}” (${exact(lengthOf(k, like), 2)}).`;
}

export const NUMBERS_TEXT =
  "One row for each query or drawer; press a number to take it apart, or change Q, K and V. In word2vec such rows were learned: words used alike lie near each other. Values cannot be queried, unless K and V are swapped.";
