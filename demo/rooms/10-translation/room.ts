// Room 10, translation: a date that is written anew by a network with attention, and what each character of it looks at.

import type { MatrixView } from "heed/viz";
import type { Engine } from "../../src/engine/engine.js";
import { at } from "../../src/model/matrix.js";
import { agreement, agreementLine, OWN_ARITHMETIC } from "../../src/page/furnish.js";
import { choice } from "../../src/ui/choice.js";
import { calm, h } from "../../src/ui/dom.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { presets } from "../../src/ui/presets.js";
import { slider } from "../../src/ui/slider.js";
import { Teller } from "../../src/ui/teller.js";
import { BEAM, BeamPicture } from "./beam-picture.js";
import type { TranslationAnswer } from "./calls.js";
import { explain, explainLearnt } from "./explain.js";
import { GradientsPicture } from "./gradients-picture.js";
import { kindsOfModels } from "./kinds.js";
import { Lines, saidOf } from "./lines.js";
import { Networks } from "./networks.js";
import { ANSWER, NAMES, NETWORKS, type Network, nothingRead, type Reading, readingOf } from "./reading.js";
import { FAILS, RECORDED } from "./recorded.js";
import { LONGEST, type TranslationState, type TranslationStore } from "./state.js";
import { TrainingPicture } from "./training-picture.js";
import { TwoScores } from "./two-scores.js";
import { alignmentView, learntView } from "./views.js";

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

export class TranslationRoom {
  readonly #store: TranslationStore;
  readonly #networks: Networks;
  readonly #lines: Lines;
  readonly #matrices = new NamedMatrices([...NETWORKS, "own", "learnt"]);
  readonly #training: TrainingPicture;
  readonly #teller: Teller;
  readonly #agreement = agreementLine();
  readonly #field = h("input", {
    type: "text",
    id: "date",
    maxlength: LONGEST,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
  });
  readonly #scores: TwoScores;
  readonly #beam: BeamPicture;
  readonly #network;
  readonly #written;
  readonly #picture;
  readonly #play = h("button", { type: "button", class: "button" }, "Play");
  #timer: ReturnType<typeof setInterval> | undefined;
  #state: TranslationState;
  #answer: TranslationAnswer | undefined;

  constructor(given: {
    readonly store: TranslationStore;
    readonly engine: Engine;
    readonly root: HTMLElement;
    readonly state: TranslationState;
  }) {
    const { store, engine, root, state } = given;
    this.#store = store;
    this.#state = state;
    this.#networks = new Networks(engine, () => this.#draw());
    this.#lines = new Lines((character, held) => this.#point(character, held));
    this.#teller = new Teller({
      keeper: () => store,
      first: () => this.#spotOf(this.#state.network, Math.max(0, this.#state.written - 1)),
      explain: (cell) => {
        if (cell.name === BEAM) return this.#beam.explain(cell);
        const spot = this.#matrices.find(cell);
        if (spot === undefined) return undefined;
        const { name, row, col } = spot;
        return name === "learnt"
          ? explainLearnt(this.#training.learnt, row, col)
          : explain(this.#reading(name), { name, row, col });
      },
      light: (lights) => this.#matrices.light(lights),
    });
    this.#matrices.listen(this.#teller);
    this.#network = choice<Network>(
      "Network",
      NETWORKS.map((value) => ({ value, text: NAMES[value] })),
      (network) => store.change({ network }, "new"),
    );
    this.#written = slider("Written", { least: 0, most: ANSWER, step: 1 }, (written) => {
      this.#stop();
      store.change({ written });
    });
    this.#field.addEventListener("input", () => store.change({ ...WRITTEN, text: this.#field.value }, "run"));
    this.#play.addEventListener("click", () => (this.#timer === undefined ? this.#start() : this.#stop()));
    this.#play.hidden = calm();
    const [alignment, learnt] = [this.#matrices.of("own"), this.#matrices.of("learnt")];
    this.#training = new TrainingPicture(given, { alignment, learnt }, (name) => this.#look(name));
    this.#picture = this.#build();
    this.#scores = new TwoScores(this.#networks, (network) => this.#matrices.of(network));
    this.#beam = new BeamPicture(store, this.#networks, this.#teller);
    const gradients = new GradientsPicture(engine, () => this.#training.pair);
    const parts = [this.#picture, this.#scores, this.#beam, this.#training, gradients];
    root.append(
      h(
        "div",
        { class: "with-readout" },
        h("div", {}, ...parts.map(({ element }) => element), kindsOfModels()),
        this.#teller.element,
      ),
      h("div", { class: "room-foot" }, this.#agreement),
    );
  }

  #build(): Picture {
    return picture({
      name: "translation",
      title: "What each character looks at",
      body: [this.#lines.element],
      controls: [
        h("div", { class: "field" }, h("label", { for: "date" }, "Type a date, as in “march 1st, 1984”"), this.#field),
        presets("Try", TRY, ({ name }) => this.#store.change({ ...WRITTEN, text: name }, "new")),
      ],
      more: [this.#network.element, h("div", { class: "with-slider" }, this.#written.element, this.#play)],
      data: () => ({ state: this.#state, reading: this.#reading() }),
    });
  }

  show(state: TranslationState, answer: TranslationAnswer | undefined): void {
    const others = (all: TranslationState): string => JSON.stringify({ ...all, step: 0 });
    const isStep = state !== this.#state && answer === this.#answer && others(state) === others(this.#state);
    this.#state = state;
    this.#answer = answer;
    void this.#networks.read(state.text, state.network);
    // Another step of the training changes no other picture.
    if (isStep) this.#training.show();
    else this.#draw();
    this.#training.follow();
  }

  #draw(): void {
    const { text, network, written } = this.#state;
    const reading = this.#reading();
    // Setting the same text again would move the cursor.
    if (this.#field.value !== text) this.#field.value = text;
    this.#network.show(network);
    this.#written.show(written, `${written} of ${ANSWER}`);
    this.#lines.show(reading, written);
    this.#lines.element.ariaBusy = this.#networks.isReading ? "true" : null;
    this.#scores.show(reading);
    this.#beam.show(this.#state);
    this.#matrices.show((name) => this.#view(name), NETWORKS);
    this.#training.show();
    this.#teller.tell();
    this.#picture.say(this.#said(reading));
    this.#agreement.textContent = agreementOf(this.#answer);
  }

  #look(name: "own" | "learnt"): void {
    this.#matrices.show((one) => this.#view(one), [name]);
    this.#teller.tell();
  }

  #view(name: Network | "own" | "learnt"): MatrixView {
    return name === "learnt" ? learntView(this.#training.learnt) : alignmentView(name, this.#reading(name));
  }

  /** What the kernel found of the recorded scores goes with them. */
  #reading(network: Network | "own" = this.#state.network): Reading {
    if (network === "own") {
      const { moment } = this.#training;
      return moment === undefined
        ? nothingRead(this.#state.text || RECORDED.text)
        : readingOf(moment.text, moment.date, moment.scores, moment.alignment);
    }
    const reading = this.#networks.reading(network);
    const kernel = this.#answer?.weights.get(network);
    return reading === RECORDED[network] && kernel !== undefined ? { ...reading, kernel } : reading;
  }

  #said(reading: Reading): string {
    const { chosen } = this.#lines;
    if (this.#networks.trouble !== "") return this.#networks.trouble;
    if (this.#state.text.trim() === "") return "Nothing to read yet.";
    if (this.#state.written === 0) return "Nothing is written yet. The decoder’s first query comes next.";
    if (chosen >= 0) return `${saidOf(reading, chosen)}.`;
    return "The thicker a line, the larger the attention weight. Each ends at a state of the encoder, which has read as far as there. Point at a character of the date to see its own.";
  }

  #spotOf(name: Network, row: number): { readonly name: Network; readonly row: number; readonly col: number } {
    const { weights } = this.#reading(name);
    const found = Array.from({ length: weights.cols }, (_, col) => at(weights, row, col));
    return { name, row, col: found.indexOf(Math.max(...found)) };
  }

  #point(character: number, held: boolean): void {
    this.#picture.say(this.#said(this.#reading()));
    this.#teller.point(this.#spotOf(this.#state.network, character), held);
  }

  #start(): void {
    if (this.#state.written === ANSWER) this.#store.change({ written: 0 }, "run");
    this.#play.textContent = "Stop";
    this.#timer = setInterval(() => {
      this.#store.change({ written: this.#state.written + 1 }, "run");
      if (this.#state.written === ANSWER) this.#stop();
    }, PACE);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#play.textContent = "Play";
  }
}

function agreementOf(answer: TranslationAnswer | undefined): string {
  if (answer === undefined) return OWN_ARITHMETIC;
  return `Weights come from the kernel. Those shown first and the arithmetic by hand ${agreement(answer.difference)}.`;
}
