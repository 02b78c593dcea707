// Room 10, translation: a date that is written anew by a network with attention, and what each character of it looks at.

import type { MatrixView } from "heed/viz";
import type { Engine } from "../../src/engine/engine.js";
import { bestOf } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { agreed, agreementLine } from "../../src/page/furnish.js";
import { type Room, runRoom } from "../../src/page/run-room.js";
import { choice } from "../../src/ui/choice.js";
import { button, calm, find, h } from "../../src/ui/dom.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { picture } from "../../src/ui/picture.js";
import { presets } from "../../src/ui/presets.js";
import { slider } from "../../src/ui/slider.js";
import { Teller } from "../../src/ui/teller.js";
import { BEAM, beamPicture } from "./beam-picture.js";
import { gradientsPicture } from "./gradients-picture.js";
import {
  alignmentView,
  callsOf,
  explain,
  explainLearnt,
  learntView,
  readAnswers,
  type TranslationAnswer,
} from "./grids.js";
import { kindsOfModels } from "./kinds.js";
import { linesOf, saidOf } from "./lines.js";
import { Networks } from "./networks.js";
import { ANSWER, FAILS, NAMES, NETWORKS, type Network, RECORDED, type Reading } from "./reading.js";
import { LONGEST, TRANSLATION_STATE, type TranslationState } from "./state.js";
import { trainingPicture } from "./training-picture.js";
import { twoScores } from "./two-scores.js";
// After the frame, whose styles a room refines.
import "../../style/board.css";
import "../../style/translation.css";

const TRY = [
  RECORDED.text,
  "december 25th, 2024",
  FAILS,
  "we met in the garden on the 21st of june 2031 before rain came",
].map((name) => ({ name }));
/** A new text is written at once, and from its start. */
const WRITTEN = { written: ANSWER, begun: "" };
/** Milliseconds for a character. */
const PACE = 500;

const store = new Store(TRANSLATION_STATE);
runRoom({
  store,
  sceneOf: (state) => state,
  callsOf,
  read: (_, answers) => readAnswers(answers),
  // Networks that were loaded have an engine's answers of their own.
  computedFrom: [],
  build: translationRoom,
});

function translationRoom(_: TranslationState, engine: Engine): Room<TranslationState, TranslationAnswer> {
  let { state } = store;
  let answer: TranslationAnswer | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  const networks = new Networks(engine, draw);
  const matrices = new NamedMatrices([...NETWORKS, "own", "learnt"]);
  const teller = new Teller({
    keeper: () => store,
    first: () => spotOf(Math.max(0, state.written - 1)),
    explain: (cell) => {
      if (cell.name === BEAM) return beam.explain(cell);
      return matrices.told(cell, ({ name, row, col }) =>
        name === "learnt"
          ? explainLearnt(training.now().learnt, row, col)
          : explain(readingBy(name), { name, row, col }),
      );
    },
    light: (lights) => matrices.light(lights),
  });
  matrices.listen(teller);

  const lines = linesOf((character, held) => {
    say(said());
    teller.point(spotOf(character), held);
  });
  const field = h("input", {
    type: "text",
    id: "date",
    maxlength: LONGEST,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
  });
  field.addEventListener("input", () => store.change({ ...WRITTEN, text: field.value }, "run"));
  const network = choice<Network>("Network", NAMES, (network) => store.change({ network }, "new"));
  const written = slider("Written", { least: 0, most: ANSWER, step: 1 }, (written) => {
    stop();
    store.change({ written });
  });
  const play = button("Play", () => (timer === undefined ? start() : stop()));
  play.hidden = calm();
  const { element, say } = picture({
    name: "translation",
    title: "What each character looks at",
    body: [lines.element],
    controls: [
      h("div", { class: "field" }, h("label", { for: "date" }, "Type a date, as in “march 1st, 1984”"), field),
      presets("Try", TRY, ({ name }) => store.change({ ...WRITTEN, text: name }, "new")),
    ],
    more: [network.element, h("div", { class: "with-slider" }, written.element, play)],
    data: () => ({ state, reading: readingBy() }),
  });
  const grids = { own: matrices.of("own"), learnt: matrices.of("learnt") };
  const training = trainingPicture(store, engine, grids, (name) => {
    matrices.show(viewOf, [name]);
    teller.tell();
  });
  const scores = twoScores(networks, (network) => matrices.of(network));
  const beam = beamPicture(store, networks, teller);
  const gradients = gradientsPicture(engine, () => training.now().pair);
  const agreement = agreementLine();
  const pictures = [element, scores.element, beam.element, training.element, gradients, kindsOfModels()];
  find("#room", HTMLElement).append(
    h("div", { class: "with-readout" }, h("div", {}, ...pictures), teller.element),
    h("div", { class: "room-foot" }, agreement),
  );

  function draw(): void {
    const { text, network: chosen, written: count } = state;
    const reading = readingBy();
    // Setting the same text again would move the cursor.
    if (field.value !== text) field.value = text;
    network.show(chosen);
    written.show(count, `${count} of ${ANSWER}`);
    lines.show(reading, count);
    lines.element.ariaBusy = networks.isReading ? "true" : null;
    scores.show(reading);
    beam.show(state);
    matrices.show(viewOf, NETWORKS);
    training.show();
    teller.tell();
    say(said());
    agreement.textContent = agreed("The attention weights of the date shown first", answer?.difference);
  }

  function viewOf(name: Network | "own" | "learnt"): MatrixView {
    return name === "learnt" ? learntView(training.now().learnt) : alignmentView(name, readingBy(name));
  }

  /** What the kernel found of the recorded scores goes with them. */
  function readingBy(network: Network | "own" = state.network): Reading {
    if (network === "own") return training.reading();
    const reading = networks.readings[network];
    const kernel = answer?.weights.get(network);
    return reading === RECORDED[network] && kernel !== undefined ? { ...reading, kernel } : reading;
  }

  function said(): string {
    const chosen = lines.chosen();
    if (networks.trouble !== "") return networks.trouble;
    if (state.text.trim() === "") return "Nothing to read yet.";
    if (state.written === 0) return "Nothing is written yet. The decoder’s first query comes next.";
    if (chosen >= 0) return `${saidOf(readingBy(), chosen)}.`;
    return "The thicker a line, the larger the attention weight. Each ends at a state of the encoder, which has read as far as there. Point at a character of the date to see its own.";
  }

  /** The largest weight of a character of the date. */
  function spotOf(row: number) {
    return { name: state.network, row, col: bestOf(readingBy().weights, row) };
  }

  function start(): void {
    if (state.written === ANSWER) store.change({ written: 0 }, "run");
    play.textContent = "Stop";
    timer = setInterval(() => {
      store.change({ written: state.written + 1 }, "run");
      if (state.written === ANSWER) stop();
    }, PACE);
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
    play.textContent = "Play";
  }

  return {
    show: (next, answered) => {
      const others = (all: TranslationState): string => JSON.stringify({ ...all, step: 0 });
      const isStep = next !== state && answered === answer && others(next) === others(state);
      [state, answer] = [next, answered];
      void networks.read(state.text, state.network);
      // Another step of the training changes no other picture.
      if (isStep) training.show();
      else draw();
      training.follow();
    },
  };
}
