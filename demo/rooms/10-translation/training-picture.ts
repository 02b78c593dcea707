// Both networks trained here: the alignment as it condenses, what each writes, both losses, and what each has learnt at the end.

import type { Engine } from "../../src/engine/engine.js";
import { choice } from "../../src/ui/choice.js";
import { h } from "../../src/ui/dom.js";
import { type ChartView, HeedChart } from "../../src/ui/heed-chart.js";
import { percent } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { atOnce } from "../../src/ui/pieces.js";
import { Training } from "../../src/ui/training.js";
import type { Pair } from "./learn.js";
import { RECORDED } from "./recorded.js";
import type { TranslationStore } from "./state.js";
import {
  EVERY,
  GIVEN,
  type Given,
  KIND_NAMES,
  KINDS,
  type Kind,
  LENGTHS,
  type Learnt,
  type Moment,
  STEPS,
} from "./training.js";

export class TrainingPicture {
  readonly #picture: Picture;
  readonly #training: Training<Given, Moment>;
  readonly #given = choice<Given>(
    "The decoder is given",
    GIVEN.map((value) => ({ value, text: NAMES[value] })),
    (given) => this.#store.change({ given, step: this.#training.lastOf(given) }, "new"),
  );
  readonly #store: TranslationStore;
  readonly #answers = h("p", { class: "answers" });
  readonly #lengths = new HeedChart();
  readonly #look: (name: "own" | "learnt") => void;
  readonly #learnt = new Map<Given, Learnt>();
  readonly #pairs = new Map<Given, Pair>();
  #cursor = 0;

  constructor(
    { store, engine }: { readonly store: TranslationStore; readonly engine: Engine },
    matrices: { readonly alignment: readonly HTMLElement[]; readonly learnt: readonly HTMLElement[] },
    look: (name: "own" | "learnt") => void,
  ) {
    this.#store = store;
    this.#look = look;
    this.#training = new Training<Given, Moment>({
      engine,
      every: { right: EVERY, own: EVERY },
      steps: { right: STEPS, own: STEPS },
      learn: async (run, seen, say) => {
        const { trainPair } = await import("./learn.js");
        this.#learnt.delete(run.kind);
        const text = store.state.text.trim() || RECORDED.text;
        this.#pairs.set(run.kind, await trainPair({ ...run, text }, seen, say));
      },
      after: async (signal) => {
        const { examine } = await import("./learn.js");
        const { given } = store.state;
        if (this.pair !== undefined) this.#learnt.set(given, await examine(this.pair, LENGTHS, signal));
      },
      chosen: () => ({ kind: store.state.given, step: store.state.step }),
      go: (step) => store.change({ step }),
      viewOf: (moments, cursor) => lossView(moments, cursor, this.#training.momentsOf(OTHER[store.state.given])),
      changed: () => this.showing(),
    });
    this.#lengths.choose = (cursor) => {
      this.#cursor = cursor;
      this.#lengths.show(lengthView(this.learnt, cursor));
    };
    const training = this.#training;
    this.#picture = picture({
      name: "training",
      title: "Train it here, with attention and without",
      body: [
        training.work.line(this.#given.element),
        h(
          "div",
          { class: "learning-both" },
          h("div", {}, this.#answers, ...matrices.alignment, training.slider.element),
          h("div", {}, training.chart),
          h("div", {}, h("h3", {}, "Right, character by character"), ...matrices.learnt),
          h("div", {}, h("h3", {}, "Whole dates right, against length"), this.#lengths),
        ),
      ],
      data: () => ({ moments: training.moments, learnt: this.learnt }),
    });
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  get moment(): Moment | undefined {
    return this.#training.moment;
  }

  get learnt(): Learnt | undefined {
    return this.#learnt.get(this.#store.state.given);
  }

  /** Both networks, once they are trained. */
  get pair(): Pair | undefined {
    return this.#pairs.get(this.#store.state.given);
  }

  follow(): void {
    this.#training.follow();
  }

  /** At once, but for what a training shows piece by piece. */
  show(): void {
    if (!this.#training.isRunning) atOnce(this.showing());
  }

  *showing(): Iterable<unknown> {
    const { moment } = this;
    this.#given.show(this.#store.state.given);
    this.#training.draw();
    this.#answers.replaceChildren(
      ...KINDS.map((kind) => {
        const date = kind === "dot" ? moment?.date : moment?.other.date;
        return h("span", {}, `${KIND_NAMES[kind]} `, h("output", {}, date ?? "?".repeat(10)));
      }),
    );
    yield this.#look("own");
    yield this.#look("learnt");
    this.#lengths.show(lengthView(this.learnt, this.#cursor));
    yield this.#picture.say(textOf(this.learnt, this.#store.state.given));
  }
}

const NAMES = { right: "the right characters so far", own: "its own" } as const satisfies Record<Given, string>;
const OTHER = { right: "own", own: "right" } as const satisfies Record<Given, Given>;

function textOf(learnt: Learnt | undefined, given: Given): string {
  if (learnt === undefined) {
    return given === "right"
      ? "Two networks, alike but for attention. One looks back at every state of the encoder; the other has only the last, one vector of 64 numbers. Given the right characters, teacher forcing, the decoder reads a whole date at once."
      : "Given its own characters, the decoder must write each date before it learns from it, one character after the other: half again as long. In use there is no teacher either. Will it learn more?";
  }
  const [dot, none] = KINDS.map((kind) => percent(learnt[kind].dates[0] ?? 0));
  const day = percent(learnt.none.characters.at(-1) ?? 0);
  const found = `Of dates without other words around, ${dot} are right with attention, ${none} without.`;
  return given === "right"
    ? `${found} It has learnt the year and little more: ${day} of the last digits are right. Longer texts do not hurt what it never learnt.`
    : `${found} Its own mistakes slow the beginning and change little at the end: in a date, hardly a character depends on the one before it.`;
}

/** Dashed: the loss with attention where the decoder was given the other characters. */
function lossView(moments: readonly Moment[], cursor: number, others: readonly Moment[]): ChartView {
  const values = Array.from({ length: STEPS / EVERY + 1 }, (_, index) => index * EVERY);
  const series = [
    { name: KIND_NAMES.dot, values: moments.map(({ loss }) => loss), tone: "share" },
    { name: KIND_NAMES.none, values: moments.map(({ other }) => other.loss), tone: "key" },
    { name: "given the other way", values: others.map(({ loss }) => loss), tone: "soft", dashed: true },
  ] as const;
  return {
    label: "Loss against the step of training",
    x: { name: "step", values, log: false, ticks: values.filter((value) => value % 50 === 0) },
    y: { name: "loss", most: 2.5 },
    series: series.filter((one) => one.values.length > 0),
    cursor,
  };
}

const TONES = { dot: "share", none: "key" } as const satisfies Record<Kind, string>;

function lengthView(learnt: Learnt | undefined, cursor: number): ChartView {
  return {
    label: "Whole dates right, against the words before the date and after it",
    x: { name: "words before and after", values: LENGTHS, log: false },
    y: { name: "right", most: 1 },
    series:
      learnt === undefined
        ? []
        : KINDS.map((kind) => ({ name: KIND_NAMES[kind], values: learnt[kind].dates, tone: TONES[kind] })),
    cursor,
  };
}
