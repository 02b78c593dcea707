// The matrix of a model that learns: the task, a guess, training that can be stopped, and every moment of it to go back to.

import type { Engine } from "../../src/engine/engine.js";
import { choice } from "../../src/ui/choice.js";
import { h } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { Training } from "../../src/ui/training.js";
import { numbered } from "./scene.js";
import type { LearningState, LearningStore } from "./state.js";
import { answerOf, LETTERS, TASKS, type Task, WORDS } from "./tasks.js";
import { EVERY, learn, type Moment, STEPS } from "./training.js";
import { lossView } from "./views.js";

const PLACES = numbered("", LETTERS);

interface TrainingParts {
  readonly store: LearningStore;
  readonly engine: Engine;
  readonly matrix: readonly HTMLElement[];
  /** Shows the matrix of a moment. */
  readonly look: () => void;
}

export function trainingPicture({ store, engine, matrix, look }: TrainingParts) {
  const training = new Training<Task, Moment>({
    engine,
    every: EVERY,
    steps: STEPS,
    learn,
    chosen: () => ({ kind: store.state.task, step: store.state.step }),
    go: (step) => store.change({ step }),
    viewOf: (moments, cursor) => lossView(store.state.task, moments, cursor),
    changed: () => [draw()],
  });
  const task = choice<Task>(
    "Task",
    TASKS.map((value) => ({ value, text: value })),
    (task) => store.change({ task, guess: 0, step: training.lastOf(task) }, "new"),
  );
  const guess = choice<string>(
    "Your guess: which letter will the first output look at?",
    PLACES.map((value) => ({ value, text: value })),
    (place) => store.change({ guess: Number(place) }, "new"),
  );
  const word = h("p", { class: "learning-word" });
  const { element, say } = picture({
    name: "training",
    title: "What each output looks at",
    body: [
      h(
        "div",
        { class: "learning-stage" },
        h("div", { class: "learning-matrix" }, ...matrix, training.slider.element),
        h("div", { class: "learning-controls" }, guess.element, training.work.line()),
        h("div", { class: "learning-side" }, word, training.chart),
      ),
    ],
    data: () => ({ state: store.state, moments: training.moments }),
  });

  function draw(): void {
    const { state } = store;
    look();
    for (const cell of element.querySelectorAll('td[data-row="0"]')) {
      cell.classList.toggle("guessed", cell.getAttribute("data-col") === String(state.guess - 1));
    }
    training.draw();
    word.replaceChildren(...wordOf(state.task, training.moment));
    say(textOf(state, training.moment));
  }

  return {
    element,
    task: task.element,
    /** The moment that is shown; undefined before any training. */
    moment: () => training.moment,
    show: (state: LearningState) => {
      task.show(state.task);
      for (const [index, place] of PLACES.entries()) guess.label(place, WORDS[state.task][index] ?? "");
      guess.show(String(state.guess));
      training.work.button.disabled = state.guess === 0 && state.step === 0 && !training.isRunning;
      draw();
      training.follow();
    },
  };
}

/** The word, and what the model makes of it: letters that are wrong are pale. */
function wordOf(task: Task, moment: Moment | undefined): (Node | string)[] {
  const wanted = answerOf(task);
  const letters = Array.from(moment?.answer ?? "?".repeat(LETTERS), (letter, place) =>
    h("span", { class: letter === wanted[place] ? "right" : "wrong" }, letter),
  );
  return [WORDS[task], h("span", { class: "arrow" }, " → "), h("output", { "aria-label": "The answer" }, ...letters)];
}

function textOf({ task, guess }: LearningState, moment: Moment | undefined): string {
  const word = WORDS[task];
  if (moment === undefined) {
    return `A row for each letter of the answer, a column for each letter of the word. Every output looks everywhere alike: nothing has been learnt. ${guess === 0 ? "Guess first." : "Now train."}`;
  }
  const first = Array.from(moment.weights.subarray(0, LETTERS));
  const most = Math.max(...first);
  const place = first.indexOf(most);
  const looks = `The first output looks at letter ${place + 1}, “${word[place]}”, with ${percent(most)} of its weight.`;
  if (guess === 0) return looks;
  return guess === place + 1
    ? `${looks} Just as you guessed.`
    : `${looks} You guessed letter ${guess}, “${word[guess - 1]}”.`;
}
