// Room 11, language: the streams of a sentence through two layers, the mask as a switch, and the next word.

import type { Engine } from "../../src/engine/engine.js";
import { HEADS, KNOWN, LAYERS, LONGEST } from "../../src/language/words.js";
import { agreement, agreementLine, furnish, OWN_ARITHMETIC } from "../../src/page/furnish.js";
import { choice } from "../../src/ui/choice.js";
import { h } from "../../src/ui/dom.js";
import { brokenOff } from "../../src/ui/long-work.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { percent } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { Teller } from "../../src/ui/teller.js";
import { type Bar, Bars } from "./bars.js";
import type { LanguageAnswer } from "./calls.js";
import { heedCode, torchCode } from "./code.js";
import { Controls } from "./controls.js";
import { explainLook, explainWord, NAMES } from "./explain.js";
import { Induction } from "./induction.js";
import type { Readings } from "./readings.js";
import type { LanguageScene } from "./scene.js";
import { Shelf } from "./shelf.js";
import { headName, type LanguageState, type LanguageStore } from "./state.js";
import { Streams } from "./streams.js";
import { mainText } from "./texts.js";
import { viewOf } from "./views.js";

const BARS = 10;
/** The cells of bars in the address. */
const WORD = "P";

export class LanguageRoom {
  #scene: LanguageScene;
  #answer: LanguageAnswer | undefined;
  #reading: Promise<void> | undefined;
  readonly #store: LanguageStore;
  readonly #engine: Engine;
  readonly #readings: Readings;
  readonly #matrices = new NamedMatrices(NAMES);
  readonly #teller: Teller;
  readonly #streams: Streams;
  readonly #bars: Bars;
  readonly #controls: Controls;
  readonly #shelf: Shelf;
  readonly #induction: Induction;
  readonly #mask;
  readonly #head;
  readonly #look;
  readonly #main: Picture;
  readonly #agreement = agreementLine();

  constructor(parts: {
    readonly store: LanguageStore;
    readonly engine: Engine;
    readonly readings: Readings;
    readonly root: HTMLElement;
    readonly scene: LanguageScene;
  }) {
    const { store, engine, readings, root, scene } = parts;
    this.#store = store;
    this.#engine = engine;
    this.#readings = readings;
    this.#scene = scene;
    this.#teller = new Teller({
      keeper: () => store,
      first: () => ({ name: WORD, row: this.#scene.bars[0]?.id ?? 0, col: 0 }),
      explain: (cell) => {
        if (cell.name === WORD) return explainWord(this.#scene, cell.row);
        const spot = this.#matrices.find(cell);
        return spot && explainLook(this.#scene, spot.name, spot.col, this.#answer);
      },
      light: (lights) => this.#matrices.light(lights),
    });
    this.#matrices.listen(this.#teller);
    this.#streams = new Streams({
      hide: (at) => store.change({ at, wrote: [] }, "new"),
      toggle: (head) => {
        const { off } = store.state;
        const left = off.filter((one) => one !== head);
        store.change({ off: left.length < off.length ? left : [...off, head] }, "new");
      },
    });
    this.#bars = new Bars(
      "told-word",
      BARS,
      (id, held) => this.#teller.point({ name: WORD, row: id, col: 0 }, held),
      () => this.#teller.leave(),
    );
    this.#mask = choice<LanguageState["kind"]>(
      "Mask",
      { masked: "BERT: both sides", causal: "GPT: left side" },
      (kind) => store.change({ kind, wrote: [] }, "new"),
    );
    this.#controls = new Controls(
      store,
      () => this.#scene,
      async () => this.#reading,
    );
    this.#shelf = new Shelf(engine);
    this.#induction = new Induction(store, LAYERS * HEADS);
    this.#head = choice<string>(
      "Layer and head",
      Array.from({ length: LAYERS * HEADS }, (_, head) => ({
        value: String(head),
        text: `${Math.floor(head / HEADS) + 1} · ${(head % HEADS) + 1}`,
      })),
      (head) => store.change({ head: Number(head) }, "new"),
    );
    this.#look = picture({
      name: "head",
      title: "One head, number by number",
      body: [this.#head.element, h("div", { class: "matrices" }, ...this.#matrices.of(...NAMES))],
      data: () => this.#scene.look,
    });
    this.#main = this.#mainPicture();
    furnish(root, {
      pictures: [
        ...[this.#main, this.#shelf.picture, this.#induction.picture, this.#look].map(({ element }) => element),
        this.#end(),
      ],
      readout: this.#teller.element,
      agreement: this.#agreement,
      heedCode: () => heedCode(this.#scene),
      torchCode: () => torchCode(this.#scene),
    });
  }

  #mainPicture(): Picture {
    return picture({
      name: "language",
      title: "A sentence and its streams",
      body: [
        h(
          "div",
          { class: "language-stage" },
          this.#streams.element,
          h("div", { class: "language-mask" }, this.#mask.element),
          h("div", { class: "language-side" }, this.#bars.element),
        ),
      ],
      ...this.#controls.parts,
      data: () => {
        const { state, reading, bars } = this.#scene;
        return { state, reading, bars };
      },
    });
  }

  #end(): HTMLElement {
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

  show(scene: LanguageScene, answer: LanguageAnswer | undefined): void {
    this.#scene = scene;
    this.#answer = answer;
    const { state, missing } = scene;
    this.#mask.show(state.kind);
    this.#head.show(String(state.head));
    this.#controls.show(scene);
    this.#main.element.toggleAttribute("aria-busy", missing.length > 0);
    if (missing.length > 0) {
      this.#reading ??= this.#read();
      return;
    }
    this.#streams.show(scene);
    this.#shelf.show(scene);
    this.#induction.show(scene);
    this.#main.say(mainText(scene));
    this.#matrices.show((name) => viewOf(name, scene, answer));
    this.#look.say(lookText(scene));
    this.#agreement.textContent = agreementOf(answer);
    this.#teller.tell();
    const { cell } = this.#store;
    const title = state.kind === "masked" ? "What is in the blank?" : "What comes next?";
    this.#bars.show(title, barsOf(scene), cell?.name === WORD ? cell.row : undefined);
  }

  /** One question after the other; what was asked in between and is not asked any more is left out. */
  async #read(): Promise<void> {
    try {
      for (let [question] = this.#scene.missing; question !== undefined; [question] = this.#scene.missing) {
        await this.#readings.read(question, this.#engine);
        this.#store.renew();
      }
    } catch (error) {
      this.#main.say(brokenOff(error));
      this.#main.element.removeAttribute("aria-busy");
    }
    this.#reading = undefined;
  }
}

function barsOf({ bars, before }: LanguageScene): readonly Bar[] {
  return bars.map(({ id, word, share, isKept }) => {
    const mark = before && (before.get(id) ?? 0);
    const text = mark === undefined ? percent(share) : `${percent(mark)} → ${percent(share)}`;
    return { value: id, name: word, share, mark, text, isCut: !isKept };
  });
}

function lookText({ words, columns, asked, state }: LanguageScene): string {
  const word = words[columns[asked] ?? -1]?.text ?? "";
  return `${headName(state.head)} for “${word}”: scores, a softmax over them, and the values added up by weight. Press a number to take it apart.`;
}

function agreementOf(answer: LanguageAnswer | undefined): string {
  if (answer === undefined) return OWN_ARITHMETIC;
  return `Attention weights come from the kernel. They and the arithmetic by hand ${agreement(answer.difference)}.`;
}
