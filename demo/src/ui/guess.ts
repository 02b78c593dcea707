// Guess, then see: a question whose answer the picture gives, because the guess itself brings the picture there. What was guessed is kept on
// this device, and counted in the foot of every page.

import { guessed, keepGuess } from "../page/kept.js";
import { button, h, oneStop } from "./dom.js";

export interface Question {
  readonly ask: string;
  readonly answers: readonly string[];
  /** Among the answers, counted from 0. */
  readonly right: number;
  /** Said after the guess, whichever it was. */
  readonly why: string;
}

/** `name`: of the page or the stop, as it is counted. `then`: shows the answer in the picture. */
export function guess(name: string, { ask, answers, right, why }: Question, then: () => void): HTMLElement {
  const said = h("p", { class: "guess-said", role: "status" });
  const buttons = answers.map((answer, index) =>
    button(
      answer,
      () => {
        keepGuess(name, index === right);
        show(index);
        then();
      },
      "chip plain",
    ),
  );
  function show(chosen: number): void {
    for (const [index, one] of buttons.entries()) {
      one.setAttribute("aria-pressed", String(index === chosen));
      one.classList.toggle("right", index === right);
    }
    said.replaceChildren(h("b", {}, chosen === right ? "Yes. " : `No: ${answers[right]}. `), why);
  }
  const label = h("span", { class: "guess-ask" }, h("b", {}, "Guess: "), ask);
  const element = h("div", { class: "guess", role: "toolbar", "aria-label": ask }, label, ...buttons, said);
  oneStop(element, buttons);
  return element;
}

/** "7 of 10 guessed right"; empty before there is a guess. */
export function scoreText(): string {
  const all = guessed();
  const right = all.filter(([, isRight]) => isRight).length;
  return all.length === 0 ? "" : `Guessed right: ${right} of ${all.length}.`;
}
