// Room 10, translation: a date that is written anew by a network with attention, and what each character of it looks at.

import type { MatrixView } from "heed/viz";
import { bestOf } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { GUESSES } from "../../src/page/guesses.js";
import { agreed, type BuiltRoom, type RoomContext, tellingRoom } from "../../src/page/room.js";
import { boundChoice, presets } from "../../src/ui/controls.js";
import { h } from "../../src/ui/dom.js";
import { guess } from "../../src/ui/guess.js";
import { told } from "../../src/ui/named-matrices.js";
import { picture } from "../../src/ui/picture.js";
import { BEAM, beamPicture } from "./beam-picture.js";
import { heedCode, torchCode } from "./code.js";
import { alignmentView, callsOf, readAnswers, type TranslationAnswer } from "./grids.js";
import { kindsOfModels } from "./kinds.js";
import { linesOf, saidOf } from "./lines.js";
import { Networks } from "./networks.js";
import {
  ANSWER,
  dateIn,
  FAILS,
  NAMES,
  NETWORKS,
  type Network,
  nothingRead,
  RECORDED,
  type Reading,
} from "./reading.js";
import { LONGEST, TRANSLATION_STATE, type TranslationState } from "./state.js";
import { trainingPicture } from "./training-picture.js";
import "../../style/translation.css";

const TRY = [
  RECORDED.text,
  "december 25th, 2024",
  FAILS,
  "we met in the garden on the 21st of june 2031 before rain came",
].map((name) => ({ name }));
const SCORES: Readonly<Record<Network, string>> = { bahdanau: "score = v · tanh(W q + U k)", luong: "score = q · W k" };
/** Characters of a text whose grids stand beside each other. */
const BESIDE = 20;
/** A new text is written at once, and from its start. */
const WRITTEN = { written: ANSWER, begun: "" };

const store = new Store(TRANSLATION_STATE);
const MATRICES = [...NETWORKS, "own"] as const;
type MatrixName = (typeof MATRICES)[number];

tellingRoom({
  store,
  sceneOf: (state) => state,
  kernel: {
    callsOf,
    read: (_, answers) => readAnswers(answers),
    said: (answer) => agreed("The attention weights of the date shown first", answer?.difference),
    // Networks that were loaded have an engine's answers of their own.
    computedFrom: [],
  },
  code: { heed: heedCode, torch: torchCode },
  matrices: MATRICES,
  build: translationRoom,
});

function translationRoom(room: RoomContext<TranslationState, TranslationAnswer, MatrixName>): BuiltRoom<MatrixName> {
  const { matrices, teller, engine } = room;
  /** What was drawn last, but for the step of the training and how much is written. */
  let drawn: unknown;
  const networks = new Networks(engine, () => {
    draw();
    teller.tell();
  });
  const lines = linesOf(
    (character, held) => {
      say(said());
      teller.point(spotOf(character), held);
    },
    (written) => store.change({ written }, "run"),
  );
  const typing = { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
  const field = h("input", { ...typing, id: "date", maxlength: LONGEST });
  field.addEventListener("input", () => store.change({ ...WRITTEN, text: field.value }, "run"));
  const { element, say } = picture({
    name: "translation",
    title: "What each character looks at",
    body: [lines.element],
    controls: [
      h("div", { class: "field" }, h("label", { for: "date" }, "Type a date, as in “march 1st, 1984”"), field),
      presets("Try", TRY, ({ name }) => store.change({ ...WRITTEN, text: name }, "new")),
    ],
    more: [boundChoice(store, "network", "Network", NAMES, { entry: "new" })],
    data: () => ({ state: room.scene, reading: readingBy() }),
  });
  const training = trainingPicture(store, engine, matrices.of("own"), () => {
    matrices.show(viewOf, ["own"]);
    teller.tell();
  });
  const columns = NETWORKS.map((network) =>
    h("div", {}, h("h3", {}, NAMES[network]), h("p", { class: "formula" }, SCORES[network]), ...matrices.of(network)),
  );
  const grids = h("div", { class: "two-scores" }, ...columns);
  const scores = picture({
    name: "scores",
    title: "Two ways to score",
    body: [grids],
    data: () => networks.readings,
  });
  scores.say(
    "Cross-attention: the query q comes from the decoder, which writes; keys k and values come from the encoder, which has read. Bahdanau’s score is a small network of its own, Luong’s a dot product. A row for each character of the date.",
  );
  const beam = beamPicture(store, networks, teller);
  training.element
    .querySelector(".picture-body")
    ?.before(guess("translation", GUESSES.translation, () => training.begin()));

  function draw(): void {
    const { scene } = room;
    // Setting the same text again would move the cursor.
    if (field.value !== scene.text) field.value = scene.text;
    drawLines();
    // Grids of long texts stand below each other.
    grids.classList.toggle("long", readingBy().text.length > BESIDE);
    beam.show(scene);
    matrices.show(viewOf, NETWORKS);
    training.show();
  }

  function drawLines(): void {
    const { written: count } = room.scene;
    if (isEmpty()) lines.show(nothingRead(""), 0);
    else lines.show(readingBy(), count);
    lines.element.ariaBusy = networks.isReading ? "true" : null;
    say(said());
  }

  function viewOf(name: MatrixName): MatrixView {
    return { name, ...alignmentView(name, readingBy(name)) };
  }

  /** What the kernel found of the recorded scores goes with them. */
  function readingBy(network: MatrixName = room.scene.network): Reading {
    if (network === "own") return training.reading();
    const reading = networks.readings[network];
    const kernel = room.answer?.weights.get(network);
    return reading === RECORDED[network] && kernel !== undefined ? { ...reading, kernel } : reading;
  }

  function said(): string {
    const chosen = lines.chosen();
    if (networks.trouble !== "") return networks.trouble;
    if (isEmpty()) return "Nothing to read yet: type a date.";
    if (room.scene.written === 0) return "Nothing is written yet. The decoder’s first query comes next.";
    if (chosen >= 0) return `${saidOf(readingBy(), chosen)}.`;
    const [{ lack, date }, written] = [dateIn(room.scene.text), readingBy().date];
    if (lack !== "" && !networks.isReading)
      return `Made up: this text has ${lack}, and the network knows nothing else to do than to write a date. Its weights look no less sure.`;
    if (date !== "" && date !== written && !networks.isReading)
      return `Wrong: “${date}” was meant, and ${NAMES[room.scene.network]}’s network has not learnt to write it. Its weights look no less sure.`;
    return "The thicker a line, the larger the attention weight. Each ends at a state of the encoder, which has read as far as there. Point at a character of the date to see its own.";
  }

  const isEmpty = (): boolean => room.scene.text.trim() === "";

  /** The largest weight of a character of the date. */
  const spotOf = (row: number) => ({ name: room.scene.network, row, col: bestOf(readingBy().weights, row) });

  return {
    pictures: [element, scores, beam, training, kindsOfModels()],
    first: () => spotOf(Math.max(0, room.scene.written - 1)),
    explain: (spot) => told(alignmentView(spot.name, readingBy(spot.name)), spot),
    explainOther: (cell) => (cell.name === BEAM ? beam.explain(cell) : undefined),
    show: () => {
      const { scene, answer } = room;
      const others = JSON.stringify({ ...scene, step: 0, written: 0, answered: answer !== undefined });
      void networks.read(scene.text, scene.network);
      if (others === drawn) {
        drawLines();
        training.show();
      } else draw();
      drawn = others;
      training.follow();
    },
  };
}
