// Room 11, language: the streams of a sentence through two layers, the mask as a switch, and the next word.

import type { Engine } from "../../src/engine/engine.js";
import { HEADS, type Kind, KNOWN, LAYERS, LONGEST } from "../../src/language/words.js";
import { agreed, agreementLine, furnish } from "../../src/page/furnish.js";
import type { Room } from "../../src/page/run-room.js";
import { choice } from "../../src/ui/choice.js";
import { h } from "../../src/ui/dom.js";
import { brokenOff } from "../../src/ui/long-work.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { percent } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { Teller } from "../../src/ui/teller.js";
import { type Bar, barList } from "./bars.js";
import type { LanguageAnswer } from "./calls.js";
import { heedCode, torchCode } from "./code.js";
import { controlsOf } from "./controls.js";
import { explainLook, explainWord, NAMES } from "./explain.js";
import { inductionPicture } from "./induction.js";
import type { Readings } from "./readings.js";
import type { LanguageScene } from "./scene.js";
import { shelfPicture } from "./shelf.js";
import { headName, type LanguageStore, shortHead } from "./state.js";
import { streamsOf } from "./streams.js";
import { mainText } from "./texts.js";
import { viewOf } from "./views.js";

const BARS = 10;
/** The cells of bars in the address. */
const WORD = "P";

export function languageRoom(parts: {
  readonly store: LanguageStore;
  readonly engine: Engine;
  readonly readings: Readings;
  readonly root: HTMLElement;
  readonly scene: LanguageScene;
}): Room<LanguageScene, LanguageAnswer> {
  const { store, engine, readings, root } = parts;
  let { scene } = parts;
  let answer: LanguageAnswer | undefined;
  let reading: Promise<void> | undefined;
  const matrices = new NamedMatrices(NAMES);
  const teller = new Teller({
    keeper: () => store,
    first: () => ({ name: WORD, row: scene.bars[0]?.id ?? 0, col: 0 }),
    explain: (cell) => {
      if (cell.name === WORD) return explainWord(scene, cell.row);
      const spot = matrices.find(cell);
      return spot && explainLook(scene, spot.name, spot.col, answer);
    },
    light: (lights) => matrices.light(lights),
  });
  matrices.listen(teller);
  const streams = streamsOf({
    hide: (at) => store.change({ at, wrote: [] }, "new"),
    toggle: (head) => {
      const { off } = store.state;
      const left = off.filter((one) => one !== head);
      store.change({ off: left.length < off.length ? left : [...off, head] }, "new");
    },
  });
  const bars = barList(
    "told-word",
    BARS,
    (id, held) => teller.point({ name: WORD, row: id, col: 0 }, held),
    () => teller.leave(),
  );
  const mask = choice<Kind>("Mask", { masked: "BERT: both sides", causal: "GPT: left side" }, (kind) =>
    store.change({ kind, wrote: [] }, "new"),
  );
  const { show: showControls, ...controls } = controlsOf(
    store,
    () => scene,
    async () => reading,
  );
  const shelf = shelfPicture(engine);
  const induction = inductionPicture(store);
  const head = choice<string>(
    "Layer and head",
    Array.from({ length: LAYERS * HEADS }, (_, head) => ({ value: String(head), text: shortHead(head) })),
    (head) => store.change({ head: Number(head) }, "new"),
  );
  const look = picture({
    name: "head",
    title: "One head, number by number",
    body: [head.element, matrices.line(...NAMES)],
    data: () => scene.look,
  });
  const main = picture({
    name: "language",
    title: "A sentence and its streams",
    body: [
      h(
        "div",
        { class: "language-stage" },
        streams.element,
        h("div", { class: "language-mask" }, mask.element),
        h("div", { class: "language-side" }, bars.element),
      ),
    ],
    ...controls,
    data: () => {
      const { state, reading, bars } = scene;
      return { state, reading, bars };
    },
  });
  const agreement = agreementLine();
  furnish(root, {
    pictures: [main.element, shelf.element, induction.element, look.element, end()],
    readout: teller.element,
    agreement,
    heedCode: () => heedCode(scene),
    torchCode: () => torchCode(scene),
  });

  /** One question after the other; what was asked in between and is not asked any more is left out. */
  async function read(): Promise<void> {
    try {
      for (let [question] = scene.missing; question !== undefined; [question] = scene.missing) {
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
    show: (next, answered) => {
      [scene, answer] = [next, answered];
      const { state, missing } = scene;
      mask.show(state.kind);
      head.show(String(state.head));
      showControls(scene);
      main.element.toggleAttribute("aria-busy", missing.length > 0);
      if (missing.length > 0) {
        reading ??= read();
        return;
      }
      streams.show(scene);
      shelf.show(scene);
      induction.show(scene);
      main.say(mainText(scene));
      matrices.show((name) => viewOf(name, scene, answer));
      look.say(lookText(scene));
      agreement.textContent = agreed("Attention weights", answer?.difference);
      teller.tell();
      const title = state.kind === "masked" ? "What is in the blank?" : "What comes next?";
      bars.show(title, barsOf(scene), store.cell?.name === WORD ? store.cell.row : undefined);
    },
  };
}

function end(): HTMLElement {
  return h(
    "section",
    { class: "picture", "data-picture": "words" },
    h("h2", {}, "Who is it?"),
    h(
      "p",
      { class: "picture-text" },
      "You have seen every part of it now. ",
      h("a", { href: "./#which" }, "Back to the question"),
      " that this began with: a larger model, and the same streams. A decoder alone translates too: it reads the text, and writes the translation after it. ",
      h("a", { href: "./translation.html" }, "Translation"),
      " needs two networks and cross-attention.",
    ),
    h(
      "details",
      { class: "as-table" },
      h("summary", {}, `The ${KNOWN.length} words that these models know`),
      h("p", {}, KNOWN.join(" "), `. They learned from sentences of ${LONGEST} words at most.`),
    ),
  );
}

function barsOf({ bars, before }: LanguageScene): readonly Bar[] {
  return bars.map(({ id, word, probability, isKept }) => {
    const mark = before && (before.get(id) ?? 0);
    const text = mark === undefined ? percent(probability) : `${percent(mark)} → ${percent(probability)}`;
    return { value: id, name: word, size: probability, mark, text, isCut: !isKept };
  });
}

function lookText({ words, columns, asked, state }: LanguageScene): string {
  const word = words[columns[asked] ?? -1]?.text ?? "";
  return `${headName(state.head)} for “${word}”: scores, a softmax over them, and the values added up by weight. Press a number to take it apart.`;
}
