// Room 11, language: the streams of a sentence through two layers, the mask as a switch, and the next word.

import { HEADS, type Kind, KNOWN, LAYERS, LONGEST } from "../../src/language/words.js";
import { Store } from "../../src/model/store.js";
import { GUESSES } from "../../src/page/guesses.js";
import { agreed, type BuiltRoom, type RoomContext, tellingRoom } from "../../src/page/room.js";
import { brokenOff, choice } from "../../src/ui/controls.js";
import { behind, h } from "../../src/ui/dom.js";
import { guess } from "../../src/ui/guess.js";
import { percent } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { barList } from "./bars.js";
import { controlsOf } from "./controls.js";
import {
  callsOf,
  explainLook,
  explainWord,
  heedCode,
  type LanguageAnswer,
  NAMES,
  readAnswers,
  torchCode,
  viewOf,
} from "./look.js";
import { Readings } from "./readings.js";
import { type LanguageScene, sceneOf } from "./scene.js";
import { shelfPicture } from "./shelf.js";
import { headName, LANGUAGE_STATE, shortHead } from "./state.js";
import { streamsOf } from "./streams.js";
import "../../style/language.css";

/** The cells of bars in the address. */
const WORD = "P";

/** A word that is likelier is worth a mention. */
const LIKELY = 0.03;

const store = new Store(LANGUAGE_STATE);
const readings = new Readings();
tellingRoom({
  store,
  sceneOf: (state) => sceneOf(state, readings),
  kernel: { callsOf, read: readAnswers, said: (answer) => agreed("Attention weights", answer?.difference) },
  code: { heed: heedCode, torch: torchCode },
  matrices: NAMES,
  build: languageRoom,
});

type Name = (typeof NAMES)[number];

function languageRoom(room: RoomContext<LanguageScene, LanguageAnswer, Name>): BuiltRoom<Name> {
  const { matrices, teller, engine } = room;
  let reading: Promise<void> | undefined;
  const streams = streamsOf(
    (at) => store.change({ at, wrote: [] }, "new"),
    (head) => {
      const { off } = store.state;
      store.change({ off: off.includes(head) ? off.filter((one) => one !== head) : [...off, head] }, "new");
    },
  );
  const bars = barList(
    (id, held) => teller.point({ name: WORD, row: id, col: 0 }, held),
    () => teller.leave(),
  );
  const mask = choice<Kind>("Mask", { masked: "BERT: both sides", causal: "GPT: left side" }, (kind) =>
    store.change({ kind, wrote: [] }, "new"),
  );
  const { show: showControls, ...controls } = controlsOf(
    store,
    () => room.scene,
    async () => reading,
  );
  const shelf = shelfPicture();
  const heads = Array.from({ length: LAYERS * HEADS }, (_, head) => ({ value: String(head), text: shortHead(head) }));
  const head = choice("Layer and head", heads, (head) => store.change({ head: Number(head) }, "new"));
  const look = picture({
    name: "head",
    title: "One head, number by number",
    body: [head.element, matrices.line(...NAMES)],
    data: () => room.scene.look,
  });
  const beside = [
    h("div", { class: "language-mask" }, mask.element),
    h("div", { class: "language-side" }, bars.element),
  ];
  const main = picture({
    name: "language",
    title: "A sentence and its streams",
    body: [h("div", { class: "language-stage" }, streams.element, ...beside)],
    ...controls,
    data: () => {
      const { state, reading, bars } = room.scene;
      return { state, reading, bars };
    },
  });
  /** One question after the other; what was asked in between and is not asked any more is left out. */
  async function read(): Promise<void> {
    try {
      for (let [question] = room.scene.missing; question !== undefined; [question] = room.scene.missing) {
        await readings.read(question, engine);
        store.renew();
      }
    } catch (error) {
      main.say(brokenOff(error));
      main.element.removeAttribute("aria-busy");
    }
    reading = undefined;
  }

  return {
    guess: guess("language", GUESSES.language, () => store.change({ kind: "causal", wrote: [] }, "new")),
    pictures: [main, shelf, look, end()],
    first: () => ({ name: WORD, row: room.scene.bars[0]?.id ?? 0, col: 0 }),
    explain: ({ name, col }) => explainLook(room.scene, name, col, room.answer),
    explainOther: ({ name, row }) => (name === WORD ? explainWord(room.scene, row) : undefined),
    show: () => {
      const { scene, answer } = room;
      const { state, missing } = scene;
      mask.show(state.kind);
      head.show(String(state.head));
      showControls(scene);
      main.element.toggleAttribute("aria-busy", missing.length > 0);
      if (missing.length > 0) {
        reading ??= read();
        return false;
      }
      streams.show(scene);
      shelf.show(scene);
      main.say(mainText(scene));
      matrices.show((name) => viewOf(name, scene, answer));
      look.say(lookText(scene));
      bars.show(scene, store.cell?.name === WORD ? store.cell.row : undefined);
      return true;
    },
  };
}

function end(): HTMLElement {
  const known = h("p", {}, KNOWN.join(" "), `. They learned from sentences of ${LONGEST} words at most.`);
  return h(
    "section",
    { class: "picture", "data-picture": "words" },
    h("h2", {}, "Who is it?"),
    h(
      "p",
      { class: "picture-text" },
      "Now you have seen every part. ",
      h("a", { href: "./#which" }, "Back to the question"),
      " that this began with: a larger model, and the same streams. A decoder alone translates too: it reads the text, and writes the translation after it. ",
      h("a", { href: "./translation.html" }, "Translation"),
      " needs two networks and cross-attention.",
    ),
    behind(known, `The ${KNOWN.length} words that these models know`),
  );
}

function mainText(scene: LanguageScene): string {
  const { state, bars, columns, before, words, isFull } = scene;
  const [best] = bars;
  if (words.length < 2) return "Type a sentence, and its words stand here.";
  if (best === undefined) return columns.length === 0 ? "It knows none of these words." : "";
  if (state.off.length > 0 && before !== undefined) return ablatedText(scene);
  const open = bars.filter(({ probability }) => probability >= LIKELY).length;
  const unsure = open > 1 ? `${open} words are possible` : `only “${best.word}” is left`;
  if (isFull) {
    const then = state.wrote.length > 0 ? "Start again." : "Press one of them, and it writes from there.";
    return `The model has read ${LONGEST} words, as many as in its longest lesson. ${then}`;
  }
  return state.kind === "masked"
    ? `BERT sees both sides of the blank: lines come from left and right, and ${unsure}. Below each layer stands what it would say if it stopped there. Now turn the mask: GPT sees only the left side.`
    : `GPT sees only the left side: every line comes from there, and ${unsure}. So it can write: each word that it says becomes one that it reads. Below each layer stands what it would say if it stopped there.`;
}

function ablatedText({ state, bars, before }: LanguageScene): string {
  const [moved] = bars
    .map(({ id, word, probability }) => ({ word, probability, was: before?.get(id) ?? probability }))
    .sort((a, b) => Math.abs(b.probability - b.was) - Math.abs(a.probability - a.was));
  const heads = state.off.map(headName).join(", ").replaceAll("Head", "head");
  if (moved === undefined) return "";
  const change =
    Math.abs(moved.probability - moved.was) < 0.01
      ? "hardly anything changes"
      : `“${moved.word}” goes from ${percent(moved.was)} to ${percent(moved.probability)}`;
  return `Without ${heads}, ${change}. Press a head again to bring it back.`;
}

function lookText({ words, columns, asked, state }: LanguageScene): string {
  const word = words[columns[asked] ?? -1]?.text ?? "";
  return `${headName(state.head)} for “${word}”: scores, a softmax over them, and the values added up by weight. Press a number to take it apart.`;
}
