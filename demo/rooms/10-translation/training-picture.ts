// Both networks trained here: the alignment as it condenses, what each writes, both losses, and what each has learnt at the end.

import type { Engine } from "../../src/engine/engine.js";
import { h } from "../../src/ui/dom.js";
import { type ChartView, HeedChart } from "../../src/ui/heed-chart.js";
import { percent } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { Training } from "../../src/ui/training.js";
import type { Pair } from "./learn.js";
import { RECORDED } from "./recorded.js";
import type { TranslationStore } from "./state.js";
import { EVERY, KIND_NAMES, KINDS, type Kind, LENGTHS, type Learnt, type Moment, STEPS } from "./training.js";

export class TrainingPicture {
  readonly #picture: Picture;
  readonly #training: Training<"dates", Moment>;
  readonly #answers = h("p", { class: "answers" });
  readonly #lengths = new HeedChart();
  readonly #changed: () => void;
  #learnt: Learnt | undefined;
  #cursor = 0;
  /** Both networks, once they are trained. */
  pair: Pair | undefined;

  constructor(
    { store, engine }: { readonly store: TranslationStore; readonly engine: Engine },
    matrices: { readonly alignment: readonly HTMLElement[]; readonly learnt: readonly HTMLElement[] },
    changed: () => void,
  ) {
    this.#changed = changed;
    this.#training = new Training<"dates", Moment>({
      engine,
      every: { dates: EVERY },
      steps: { dates: STEPS },
      learn: async ({ heed, signal }, seen, say) => {
        const { trainPair } = await import("./learn.js");
        this.#learnt = undefined;
        const { text } = store.state;
        this.pair = await trainPair({ heed, signal, text: text.trim() === "" ? RECORDED.text : text }, seen, say);
      },
      after: async (signal) => {
        const { examine } = await import("./learn.js");
        if (this.pair !== undefined) this.#learnt = await examine(this.pair, LENGTHS, signal);
      },
      chosen: () => ({ kind: "dates", step: store.state.step }),
      go: (step) => store.change({ step }),
      viewOf: lossView,
      changed,
    });
    this.#lengths.choose = (cursor) => {
      this.#cursor = cursor;
      this.#changed();
    };
    const training = this.#training;
    this.#picture = picture({
      name: "training",
      title: "Train it here, with attention and without",
      body: [
        training.work.line(),
        h(
          "div",
          { class: "learning-both" },
          h("div", {}, this.#answers, ...matrices.alignment, training.slider.element),
          h("div", {}, training.chart),
          h("div", {}, h("h3", {}, "Right, character by character"), ...matrices.learnt),
          h("div", {}, h("h3", {}, "Whole dates right, against length"), this.#lengths),
        ),
      ],
      data: () => ({ moments: training.moments, learnt: this.#learnt }),
    });
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  get moment(): Moment | undefined {
    return this.#training.moment;
  }

  get learnt(): Learnt | undefined {
    return this.#learnt;
  }

  follow(): void {
    this.#training.follow();
  }

  show(): void {
    const { moment } = this;
    this.#training.draw();
    this.#answers.replaceChildren(
      ...KINDS.map((kind) => {
        const date = kind === "dot" ? moment?.date : moment?.other.date;
        return h("span", {}, `${KIND_NAMES[kind]} `, h("output", {}, date ?? "?".repeat(10)));
      }),
    );
    this.#lengths.show(lengthView(this.#learnt, this.#cursor));
    this.#picture.say(textOf(this.#learnt));
  }
}

function textOf(learnt: Learnt | undefined): string {
  if (learnt === undefined) {
    return "Two networks, alike but for attention. One looks back at every state of the encoder; the other has only the last, one vector of 64 numbers. In training both are fed the right characters so far: teacher forcing.";
  }
  const [dot, none] = KINDS.map((kind) => percent(learnt[kind].dates[0] ?? 0));
  const day = percent(learnt.none.characters.at(-1) ?? 0);
  return `Of dates without other words around, ${dot} are right with attention, ${none} without. It has learnt the year and little more: ${day} of the last digits are right. Longer texts do not hurt what it never learnt.`;
}

function lossView(moments: readonly Moment[], cursor: number): ChartView {
  const values = Array.from({ length: STEPS / EVERY + 1 }, (_, index) => index * EVERY);
  const series = [
    { name: KIND_NAMES.dot, values: moments.map(({ loss }) => loss), tone: "share" },
    { name: KIND_NAMES.none, values: moments.map(({ other }) => other.loss), tone: "key" },
  ] as const;
  return {
    label: "Loss against the step of training",
    x: { name: "step", values, log: false, ticks: values.filter((value) => value % 50 === 0) },
    y: { name: "loss", most: 2.5 },
    series: moments.length > 0 ? series : [],
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
