// The matrix of a model that learns: the task, what it has to do without, a guess, a race, and every moment of it to go back to.

import type { Engine } from "../../src/engine/engine.js";
import { chips, choice } from "../../src/ui/controls.js";
import { h } from "../../src/ui/dom.js";
import type { Series } from "../../src/ui/heed-chart.js";
import { numbered } from "../../src/ui/named-matrices.js";
import { picture } from "../../src/ui/picture.js";
import { Training } from "../../src/ui/training.js";
import { questionOf, textOf, wordOf } from "./said.js";
import {
  answerOf,
  guessedRow,
  isWord,
  LEARNING_STATE,
  LETTERS,
  type LearningState,
  type LearningStore,
  mayRace,
  nameOf,
  partsOf,
  RIVAL_NAMES,
  RIVALS,
  TASKS,
  type Task,
  UNKNOWN,
  watched,
  without,
  withoutOf,
} from "./state.js";
import { EVERY, type Moment, STEPS } from "./training.js";

const PLACES = numbered("", LETTERS);

/** What is trained: "sort", say, or "sort, no positions". */
const kindOf = (state: LearningState): string =>
  [state.task, ...without(state).map((part) => RIVAL_NAMES[part])].join(", ");

/** `look` shows the matrix of a moment. */
export function trainingPicture(
  store: LearningStore,
  engine: Engine,
  matrix: readonly HTMLElement[],
  look: () => void,
) {
  /** The word that each was watched on. */
  const words = new Map<string, string>();
  const training: Training<string, Moment> = new Training({
    engine,
    learn: async (run, seen) => {
      const { state } = store;
      const word = watched(state);
      words.set(run.kind, word);
      const { race } = await import("./learn.js");
      const rival = state.rival === "nobody" ? undefined : withoutOf(state.rival);
      await race(run, { task: state.task, word, without: without(state), rival }, seen);
    },
    chosen: () => {
      const { state } = store;
      return { kind: kindOf(state), step: state.step, every: EVERY[state.task], steps: STEPS[state.task] };
    },
    go: (step) => store.change({ step }),
    series: (moments, values) => [
      { name: nameOf(without(store.state)), values: moments.map(({ loss }) => loss), tone: "share" },
      ...rivalOf(moments),
      // Among 26 letters.
      { name: "by chance", values: values.map(() => Math.log(26)), tone: "soft", dashed: true },
      ...beforeThat(values),
    ],
    mostLoss: 3.6,
    changed: () => [draw()],
  });

  function rivalOf(moments: readonly Moment[]): Series[] {
    const rivals = moments.flatMap(({ rival }) => rival ?? []);
    return rivals.slice(0, 1).map(({ name }) => ({ name, values: rivals.map(({ loss }) => loss), tone: "query" }));
  }

  /** What was trained before runs along; beyond its last step it stays as it is. */
  function beforeThat(values: readonly number[]): Series[] {
    if (training.before === undefined) return [];
    const [name, moments] = training.before;
    const last = moments.at(-1);
    const losses = values.flatMap((step) => (moments.find((moment) => moment.step >= step) ?? last)?.loss ?? []);
    return [{ name: `before: ${name}`, values: losses, tone: "value", dashed: true }];
  }

  const task = choice<Task>("Task", TASKS, (task) => begin({ task }));
  const lacks = chips("Parts that it is trained with", (without) => begin({ without }));
  const rival = choice("Race against", RIVAL_NAMES, (rival) => store.change({ rival }, "new"));

  /** Another model begins anew, or where it was left. */
  function begin(patch: Partial<LearningState>): void {
    const next = LEARNING_STATE.consistent({ ...store.state, ...patch });
    store.change({ ...patch, guess: 0, step: training.lastOf(kindOf(next)) }, "new");
  }
  const question = new Text();
  const guess = choice(question, PLACES, (place) => store.change({ guess: Number(place) }, "new"));
  const word = h("p", { class: "learning-word" });
  const other = h("p", { class: "learning-rival" });
  const plain = { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
  const field = h("input", { ...plain, id: "own-word", maxlength: LETTERS, "aria-describedby": "own-word-message" });
  const message = h("p", { class: "field-message", id: "own-word-message", role: "status" });
  field.addEventListener("input", () => {
    const own = field.value.toLowerCase();
    message.textContent = own === "" || isWord(own) ? "" : `${LETTERS} letters from a to z`;
    if (message.textContent === "") store.change({ word: own, guess: 0 }, "run");
  });
  // Why it cannot be pressed yet.
  const first = h("span", { class: "small-label", id: "train-first" }, "Pick a letter first.");
  training.work.button.setAttribute("aria-describedby", first.id);
  const own = h("div", { class: "field" }, h("label", { for: "own-word" }, "A word of your own"), field, message);

  const { element, say } = picture({
    name: "training",
    title: "What each output looks at",
    body: [
      h(
        "div",
        { class: "learning-stage" },
        h(
          "div",
          { class: "learning-matrix" },
          ...matrix,
          training.slider.element,
          h("div", { class: "with-parts" }, h("span", { class: "small-label" }, "Train without"), lacks.element),
          rival.element,
        ),
        h("div", { class: "controls-options" }, guess.element, training.work.line(first), own),
        h("div", { class: "learning-side" }, word, other, training.chart, training.hint),
      ),
    ],
    data: () => ({ state: store.state, moments: training.moments }),
  });

  function draw(): void {
    const { state } = store;
    const { moment } = training;
    look();
    const answer = answerOf(state.task, watched(state));
    for (const cell of element.querySelectorAll("td[data-row]")) {
      const [row, col] = ["data-row", "data-col"].map((name) => Number(cell.getAttribute(name)));
      cell.classList.toggle("guessed", row === guessedRow(state.task) && col === state.guess - 1);
      cell.classList.toggle("unknown", answer[row ?? 0] === UNKNOWN);
    }
    training.draw();
    word.replaceChildren(...wordOf(state, moment?.answer, "The answer"));
    const beside = moment?.rival;
    other.replaceChildren(
      ...(beside ? [`${beside.name}: `, ...wordOf(state, beside.answer, "The rival’s answer")] : []),
    );
    say(textOf(state, moment));
  }

  return {
    element,
    task: task.element,
    /** The moment that is shown; undefined before any training. */
    moment: () => training.moment,
    show: (state: LearningState) => {
      task.show(state.task);
      lacks.show(partsOf(state.task), state.without);
      for (const one of RIVALS) rival.enable(one, mayRace(state, one));
      rival.show(state.rival);
      question.textContent = questionOf(state.task);
      for (const [index, place] of PLACES.entries()) guess.label(place, watched(state)[index] ?? "");
      guess.show(String(state.guess));
      if (document.activeElement !== field) field.value = state.word;
      training.work.button.disabled = state.guess === 0 && state.step === 0 && !training.isRunning;
      first.hidden = !training.work.button.disabled;
      // The same seed trains the same model again, and watches how it comes to read the other word.
      const kind = kindOf(state);
      if (!training.isRunning && (words.get(kind) ?? watched(state)) !== watched(state)) training.forget(kind);
      draw();
      training.follow();
    },
  };
}
