// The matrix of a model that learns: the task, a guess, training that can be stopped, and every moment of it to go back to.

import type { Engine } from "../../src/engine/engine.js";
import { choice } from "../../src/ui/choice.js";
import { h } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { Training } from "../../src/ui/training.js";
import type { LearningScene } from "./scene.js";
import type { LearningState, LearningStore } from "./state.js";
import { answerOf, LETTERS, TASKS, type Task, WORDS } from "./tasks.js";
import { EVERY, learn, type Moment, STEPS } from "./training.js";
import { lossView } from "./views.js";

const PLACES = Array.from({ length: LETTERS }, (_, place) => String(place + 1));

export class TrainingPicture {
  readonly #picture;
  readonly #store: LearningStore;
  /** Shows the matrix of a moment. */
  readonly #look: () => void;
  readonly #training: Training<Task, Moment>;
  #scene: LearningScene;
  readonly task = choice<Task>(
    "Task",
    TASKS.map((value) => ({ value, text: value })),
    (task) => this.#store.change({ task, guess: 0, step: this.#training.lastOf(task) }, "new"),
  );
  readonly #guess = choice<string>(
    "Your guess: which letter will the first output look at?",
    PLACES.map((value) => ({ value, text: value })),
    (place) => this.#store.change({ guess: Number(place) }, "new"),
  );
  readonly #word = h("p", { class: "learning-word" });

  constructor(
    { store, engine, scene }: { readonly store: LearningStore; readonly engine: Engine; readonly scene: LearningScene },
    matrix: readonly HTMLElement[],
    look: () => void,
  ) {
    this.#store = store;
    this.#scene = scene;
    this.#look = look;
    const training = new Training<Task, Moment>({
      engine,
      every: EVERY,
      steps: STEPS,
      learn,
      chosen: () => ({ kind: store.state.task, step: store.state.step }),
      go: (step) => store.change({ step }),
      viewOf: (moments, cursor) => lossView(this.#scene, moments, cursor),
      changed: () => [this.#draw()],
    });
    this.#training = training;
    this.#picture = picture({
      name: "training",
      title: "What each output looks at",
      body: [
        h(
          "div",
          { class: "learning-stage" },
          h("div", { class: "learning-matrix" }, ...matrix, training.slider.element),
          h("div", { class: "learning-controls" }, this.#guess.element, training.work.line()),
          h("div", { class: "learning-side" }, this.#word, training.chart),
        ),
      ],
      data: () => ({ state: store.state, moments: training.moments }),
    });
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  /** The moment that is shown; undefined before any training. */
  get moment(): Moment | undefined {
    return this.#training.moment;
  }

  show(scene: LearningScene): void {
    const { state } = scene;
    const { work } = this.#training;
    this.#scene = scene;
    this.task.show(state.task);
    for (const [index, place] of PLACES.entries()) this.#guess.label(place, WORDS[state.task][index] ?? "");
    this.#guess.show(String(state.guess));
    work.button.disabled = state.guess === 0 && state.step === 0 && !work.isRunning;
    this.#draw();
    this.#training.follow();
  }

  #draw(): void {
    const { state } = this.#scene;
    const { moment } = this;
    this.#look();
    this.#markGuess(state.guess);
    this.#training.draw();
    this.#word.replaceChildren(...wordOf(state.task, moment));
    this.#picture.say(textOf(state, moment));
  }

  #markGuess(guess: number): void {
    for (const cell of this.element.querySelectorAll('td[data-row="0"]')) {
      cell.classList.toggle("guessed", cell.getAttribute("data-col") === String(guess - 1));
    }
  }
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
