// Both networks trained here: the alignment as it condenses, what each writes, both losses, and what each has learnt at the end.

import type { Engine } from "../../src/engine/engine.js";
import { h } from "../../src/ui/dom.js";
import { type ChartView, HeedChart } from "../../src/ui/heed-chart.js";
import { percent } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { atOnce } from "../../src/ui/pieces.js";
import { Training } from "../../src/ui/training.js";
import type { Pair } from "./learn.js";
import { nothingRead, RECORDED, type Reading, readingOf } from "./reading.js";
import type { TranslationStore } from "./state.js";
import { EVERY, KIND_NAMES, KINDS, LENGTHS, type Learnt, type Moment, STEPS } from "./training.js";

/** `look` shows what is new in the grid. */
export function trainingPicture(
  store: TranslationStore,
  engine: Engine,
  alignment: readonly HTMLElement[],
  look: () => void,
) {
  let pair: Pair | undefined;
  let learnt: Learnt | undefined;
  let cursor = 0;
  const training: Training<"dates", Moment> = new Training({
    engine,
    learn: async (run, seen) => {
      const { trainPair } = await import("./learn.js");
      [pair, learnt] = [undefined, undefined];
      pair = await trainPair({ ...run, text: store.state.text.trim() || RECORDED.text }, seen);
    },
    after: async (signal) => {
      const { examine } = await import("./learn.js");
      if (pair !== undefined) learnt = await examine(pair, LENGTHS, signal);
    },
    chosen: () => ({ kind: "dates", step: store.state.step, every: EVERY, steps: STEPS }),
    go: (step) => store.change({ step }),
    series: (moments) => [
      { name: KIND_NAMES.dot, values: moments.map(({ loss }) => loss), tone: TONES.dot },
      { name: KIND_NAMES.none, values: moments.map(({ other }) => other.loss), tone: TONES.none },
    ],
    mostLoss: 2.5,
    changed: () => showing(),
  });
  const answers = h("p", { class: "answers" });
  const lengths = new HeedChart();
  lengths.choose = (chosen) => {
    cursor = chosen;
    lengths.show(lengthView(learnt, cursor));
  };
  const parts = [
    [answers, ...alignment, training.slider.element],
    [training.chart, training.hint, h("h3", {}, "Whole dates right, against length"), lengths],
  ];
  const { element, say } = picture({
    name: "training",
    title: "Train it here, with attention and without",
    body: [training.work.line(), h("div", { class: "learning-both" }, ...parts.map((part) => h("div", {}, ...part)))],
    data: () => ({ moments: training.moments, learnt }),
  });

  function* showing(): Iterable<unknown> {
    const { moment } = training;
    training.draw();
    const dates = { dot: moment?.date, none: moment?.other.date };
    answers.replaceChildren(
      ...KINDS.map((kind) => h("span", {}, `${KIND_NAMES[kind]} `, h("output", {}, dates[kind] ?? "?".repeat(10)))),
    );
    yield look();
    lengths.show(lengthView(learnt, cursor));
    yield say(textOf(learnt));
  }

  return {
    element,
    /** By the network with attention, at the moment that is shown. */
    reading: (): Reading => {
      const { moment } = training;
      return moment === undefined
        ? nothingRead(store.state.text || RECORDED.text)
        : readingOf(moment.text, moment.date, moment.scores, moment.alignment);
    },
    follow: () => training.follow(),
    /** Unless it was trained already. */
    begin: (): void => {
      if (training.moments.length === 0 && !training.isRunning) training.work.begin();
    },
    /** At once, but for what a training shows piece by piece. */
    show: () => {
      if (!training.isRunning) atOnce(showing());
    },
  };
}

function textOf(learnt: Learnt | undefined): string {
  if (learnt === undefined)
    return "Two recurrent networks learn dates alone, then dates between two words. One looks back at every state of the encoder; the other has only the last, 80 numbers. In training the decoder is given the right characters so far: teacher forcing.";
  const at = (words: number) => KINDS.map((kind) => percent(learnt[kind][LENGTHS.indexOf(words)] ?? 0));
  const [[dot, none], [far, forgotten]] = [at(0), at(MANY)];
  return `Of dates alone, ${dot} are right with attention, ${none} without. With ${MANY} words on each side, ${far} and ${forgotten}. Each word that follows takes a part of the one state, until the date is forgotten. Attention looks back at the state that read it.`;
}

/** Words before the date and after it, of texts in which one state forgets. */
const MANY = 8;

const TONES = { dot: "share", none: "key" } as const;

function lengthView(learnt: Learnt | undefined, cursor: number): ChartView {
  return {
    label: "Whole dates right, against the words before the date and after it",
    x: { name: "words before and after", values: LENGTHS, log: false },
    y: { name: "right", most: 1 },
    series: KINDS.flatMap((kind) =>
      learnt ? [{ name: KIND_NAMES[kind], values: learnt[kind], tone: TONES[kind] }] : [],
    ),
    cursor,
  };
}
