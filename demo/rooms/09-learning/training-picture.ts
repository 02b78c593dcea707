// The matrix of a model that learns: the task, a guess, training that can be stopped, and every moment of it to go back to. What trains is
// loaded when somebody trains.

import type { Engine } from "../../src/engine/engine.js";
import { choice } from "../../src/ui/controls.js";
import { h } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { type Moment as AnyMoment, type Run, Training, withLoss } from "../../src/ui/training.js";
import { numbered } from "./scene.js";
import {
  answerOf,
  isWord,
  LETTERS,
  type LearningState,
  type LearningStore,
  TASKS,
  type Task,
  watched,
} from "./state.js";

/** The same seed gives the same numbers. */
const SEED = 1;
/** Steps between two moments, and how many are trained before the last of them. */
const EVERY: Readonly<Record<Task, number>> = { copy: 1, reverse: 1, sort: 3 };
const STEPS: Readonly<Record<Task, number>> = { copy: 120, reverse: 120, sort: 240 };

export interface Moment extends AnyMoment {
  readonly answer: string;
  /** Scores before the softmax, and weights, row by row. */
  readonly scores: Float32Array;
  readonly weights: Float32Array;
}

async function learn(
  { heed, kind: task, signal }: Run<Task>,
  word: string,
  seen: (moment: Moment) => void,
): Promise<void> {
  const { train } = await import("../../../examples/train/one-look.js");
  const { model } = await train({
    task,
    word,
    seed: SEED,
    steps: STEPS[task] + 1,
    every: EVERY[task],
    engine: heed,
    signal,
    ...withLoss<Omit<Moment, "loss">>(seen),
  });
  await model.dispose();
}

const PLACES = numbered("", LETTERS);

/** `look` shows the matrix of a moment. */
export function trainingPicture(
  store: LearningStore,
  engine: Engine,
  matrix: readonly HTMLElement[],
  look: () => void,
) {
  /** The word that each task was watched on. */
  const words = new Map<Task, string>();
  const training: Training<Task, Moment> = new Training({
    engine,
    every: EVERY,
    steps: STEPS,
    learn: (run, seen) => {
      const word = watched(store.state);
      words.set(run.kind, word);
      return learn(run, word, seen);
    },
    chosen: () => ({ kind: store.state.task, step: store.state.step }),
    go: (step) => store.change({ step }),
    series: (moments, values) => [
      { name: "loss", values: moments.map(({ loss }) => loss), tone: "share" },
      // Among 26 letters.
      { name: "by chance", values: values.map(() => Math.log(26)), tone: "soft", dashed: true },
      // What was trained before runs along: which of the tasks is the hardest?
      ...TASKS.filter((task) => task !== store.state.task).map((task) => {
        const losses = new Map(training.momentsOf(task).map(({ step, loss }) => [step, loss]));
        const known = values.filter((step) => losses.has(step - (step % EVERY[task])));
        return {
          name: task,
          values: known.map((step) => losses.get(step - (step % EVERY[task])) ?? 0),
          tone: "value",
          dashed: true,
        } as const;
      }),
    ],
    mostLoss: 3.6,
    changed: () => [draw()],
  });
  const task = choice<Task>("Task", TASKS, (task) =>
    store.change({ task, guess: 0, step: training.lastOf(task) }, "new"),
  );
  const guess = choice("Your guess: which letter will the first output look at?", PLACES, (place) =>
    store.change({ guess: Number(place) }, "new"),
  );
  const word = h("p", { class: "learning-word" });
  const plain = { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
  const field = h("input", { ...plain, id: "own-word", maxlength: LETTERS, "aria-describedby": "own-word-message" });
  const message = h("p", { class: "field-message", id: "own-word-message", role: "status" });
  field.addEventListener("input", () => {
    const own = field.value.toLowerCase();
    message.textContent = own === "" || isWord(own) ? "" : `${LETTERS} letters from a to z`;
    if (message.textContent === "") store.change({ word: own, guess: 0 }, "run");
  });
  const own = h("div", { class: "field" }, h("label", { for: "own-word" }, "A word of your own"), field, message);

  const { element, say } = picture({
    name: "training",
    title: "What each output looks at",
    body: [
      h(
        "div",
        { class: "learning-stage" },
        h("div", { class: "learning-matrix" }, ...matrix, training.slider.element),
        h("div", { class: "controls-options" }, guess.element, training.work.line(), own),
        h("div", { class: "learning-side" }, word, training.chart, training.hint),
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
    word.replaceChildren(...wordOf(state, training.moment));
    say(textOf(state, training.moment));
  }

  return {
    element,
    task: task.element,
    /** The moment that is shown; undefined before any training. */
    moment: () => training.moment,
    show: (state: LearningState) => {
      task.show(state.task);
      for (const [index, place] of PLACES.entries()) guess.label(place, watched(state)[index] ?? "");
      guess.show(String(state.guess));
      if (document.activeElement !== field) field.value = state.word;
      training.work.button.disabled = state.guess === 0 && state.step === 0 && !training.isRunning;
      // The same seed trains the same model again, and watches how it comes to read the other word.
      if (!training.isRunning && (words.get(state.task) ?? watched(state)) !== watched(state))
        training.forget(state.task);
      draw();
      training.follow();
    },
  };
}

/** The word, and what the model makes of it: letters that are wrong are pale. */
function wordOf(state: LearningState, moment: Moment | undefined): (Node | string)[] {
  const read = watched(state);
  const wanted = answerOf(state.task, read);
  const letters = Array.from(moment?.answer ?? "?".repeat(LETTERS), (letter, place) =>
    h("span", { class: letter === wanted[place] ? "right" : "wrong" }, letter),
  );
  return [read, h("span", { class: "arrow" }, " → "), h("output", { "aria-label": "The answer" }, ...letters)];
}

function textOf(state: LearningState, moment: Moment | undefined): string {
  const { guess } = state;
  const word = watched(state);
  if (moment === undefined) {
    return `A row for each letter of the answer, a column for each letter of the word. Before training, every output looks everywhere equally. ${guess === 0 ? "Pick a letter to begin." : "Now train."}`;
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
