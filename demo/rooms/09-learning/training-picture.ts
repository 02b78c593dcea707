// The matrix of a model that learns: the task, a guess, training that can be stopped, and every moment of it to go back to.

import type { Engine } from "../../src/engine/engine.js";
import { choice } from "../../src/ui/choice.js";
import { h } from "../../src/ui/dom.js";
import { HeedChart } from "../../src/ui/heed-chart.js";
import { LongWork } from "../../src/ui/long-work.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { drawn } from "../../src/ui/pieces.js";
import { slider } from "../../src/ui/slider.js";
import type { LearningScene } from "./scene.js";
import type { LearningState, LearningStore } from "./state.js";
import { answerOf, LETTERS, TASKS, type Task, WORDS } from "./tasks.js";
import { EVERY, learn, type Moment, STEPS } from "./training.js";
import { lossView } from "./views.js";

const PLACES = Array.from({ length: LETTERS }, (_, place) => String(place + 1));

export class TrainingPicture {
  readonly #picture;
  readonly #store: LearningStore;
  readonly #engine: Engine;
  /** Shows the matrix of a moment. */
  readonly #look: () => void;
  /** What was seen of each task, finished or not. */
  readonly #seen = new Map<Task, readonly Moment[]>();
  #running: Task | undefined;
  #scene: LearningScene;
  readonly task = choice<Task>(
    "Task",
    TASKS.map((value) => ({ value, text: value })),
    (task) => this.#store.change({ task, guess: 0, step: this.#lastOf(task) }, "new"),
  );
  readonly #guess = choice<string>(
    "Your guess: which letter will the first output look at?",
    PLACES.map((value) => ({ value, text: value })),
    (place) => this.#store.change({ guess: Number(place) }, "new"),
  );
  readonly #work = new LongWork({
    name: "Train",
    look: "button primary",
    run: (signal, say) => this.#train(signal, say),
  });
  readonly #steps = slider("Step", { least: 0, most: 1, step: 1 }, (step) => this.#store.change({ step }));
  readonly #chart = new HeedChart();
  readonly #word = h("p", { class: "learning-word" });

  constructor(
    { store, engine, scene }: { readonly store: LearningStore; readonly engine: Engine; readonly scene: LearningScene },
    matrix: readonly HTMLElement[],
    look: () => void,
  ) {
    this.#store = store;
    this.#engine = engine;
    this.#scene = scene;
    this.#look = look;
    this.#chart.choose = (index) => {
      const step = this.#moments[index]?.step;
      if (step !== undefined) this.#store.change({ step });
    };
    this.#picture = picture({
      name: "training",
      title: "What each output looks at",
      body: [
        h(
          "div",
          { class: "learning-stage" },
          h("div", { class: "learning-matrix" }, ...matrix, this.#steps.element),
          h("div", { class: "learning-controls" }, this.#guess.element, this.#work.line()),
          h("div", { class: "learning-side" }, this.#word, this.#chart),
        ),
      ],
      data: () => ({ state: store.state, moments: this.#moments }),
    });
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  get #moments(): readonly Moment[] {
    return this.#seen.get(this.#scene.state.task) ?? [];
  }

  /** The moment that is shown; undefined before any training. */
  get moment(): Moment | undefined {
    return this.#moments[this.#cursor];
  }

  get #cursor(): number {
    const { task, step } = this.#scene.state;
    const last = this.#moments.length - 1;
    return this.#running === task ? last : Math.min(Math.round(step / EVERY[task]), last);
  }

  #lastOf(task: Task): number {
    return this.#seen.get(task)?.at(-1)?.step ?? 0;
  }

  show(scene: LearningScene): void {
    const { state } = scene;
    this.#scene = scene;
    this.task.show(state.task);
    for (const [index, place] of PLACES.entries()) this.#guess.label(place, WORDS[state.task][index] ?? "");
    this.#guess.show(String(state.guess));
    this.#work.button.disabled = state.guess === 0 && state.step === 0 && !this.#work.isRunning;
    this.#draw();
    if (this.#running !== undefined && this.#running !== state.task) void this.#work.press();
    else if (state.step > 0 && this.#moments.length === 0) void this.#again(state);
  }

  /** An address names a step of a training that this page has yet to do again, as soon as there is an engine. */
  async #again({ task, step }: LearningState): Promise<void> {
    await this.#engine.opened;
    if (this.#work.isRunning || this.#seen.has(task)) return;
    await this.#work.press();
    if (this.#lastOf(task) >= step && this.#scene.state.task === task) this.#store.change({ step });
  }

  async #train(signal: AbortSignal, say: (text: string) => void): Promise<string> {
    const heed = await this.#engine.opened;
    if (heed === undefined) return "The kernels did not start here.";
    const { task } = this.#scene.state;
    const moments: Moment[] = [];
    this.#seen.set(task, moments);
    this.#running = task;
    let isDrawing = false;
    const draw = async (): Promise<void> => {
      if (isDrawing) return;
      isDrawing = true;
      await drawn();
      isDrawing = false;
      if (this.#running !== undefined) this.#draw();
    };
    const begun = performance.now();
    try {
      await learn({ heed, task, signal }, (moment) => {
        moments.push(moment);
        say(`Step ${moment.step} of ${STEPS[task]}`);
        void draw();
      });
    } finally {
      this.#running = undefined;
      if (this.#store.state.task === task) this.#store.change({ step: this.#lastOf(task) });
    }
    return `${STEPS[task]} steps in ${exact((performance.now() - begun) / 1000, 1)} s.`;
  }

  #draw(): void {
    const { state } = this.#scene;
    const { moment } = this;
    const moments = this.#moments;
    this.#look();
    this.#markGuess(state.guess);
    this.#steps.limit(moments.at(-1)?.step ?? 1);
    this.#steps.enable(moments.length > 0 && this.#running === undefined);
    this.#steps.show(moment?.step ?? 0, String(moment?.step ?? 0));
    this.#chart.show(lossView(this.#scene, moments, Math.max(0, this.#cursor)));
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
