// What chooses the next word: the sentence, what sampling may draw, and the buttons that write.

import { LONGEST, WORDS } from "../../src/language/words.js";
import { choice } from "../../src/ui/choice.js";
import { button, h } from "../../src/ui/dom.js";
import { exact, percent } from "../../src/ui/numbers.js";
import type { Controls as BelowPicture } from "../../src/ui/picture.js";
import { presets } from "../../src/ui/presets.js";
import { slider } from "../../src/ui/slider.js";
import { draw } from "./sampling.js";
import { type LanguageScene, lastOf } from "./scene.js";
import { type LanguageState, type LanguageStore, SENTENCES, TEMPERATURES, TOP_K, TOP_P, wordsOf } from "./state.js";

const SEVERAL = 4;

export class Controls {
  readonly parts: BelowPicture;
  readonly #store: LanguageStore;
  readonly #scene: () => LanguageScene;
  readonly #settled: () => Promise<void>;
  readonly #field = h("input", {
    type: "text",
    id: "sentence",
    maxlength: 400,
    autocomplete: "off",
    spellcheck: "false",
  });
  readonly #note = h("p", { class: "field-message", role: "status" });
  readonly #temperature = slider("Temperature", TEMPERATURES, (temperature) => this.#sample({ temperature }));
  readonly #topK = slider("Top k", TOP_K, (k) => this.#sample({ topK: k === TOP_K.at(-1) ? 0 : k }));
  readonly #topP = slider("Top p", TOP_P, (topP) => this.#sample({ topP }));
  readonly #next = button("Next word", () => void this.#write(1), "button primary");
  readonly #several = button(`${SEVERAL} words`, () => void this.#write(SEVERAL));
  readonly #again = button("Start again", () => this.#store.change({ wrote: [] }, "new"));
  readonly #seed = choice<string>(
    "Seed",
    ["1", "2", "3", "4"].map((value) => ({ value, text: value })),
    (seed) => this.#store.change({ seed: Number(seed), wrote: [] }, "new"),
  );
  readonly #writing = h(
    "div",
    { class: "language-writing" },
    this.#next,
    this.#several,
    this.#again,
    this.#seed.element,
  );

  /** `settled`: resolves when all that was asked of the model is read. */
  constructor(store: LanguageStore, scene: () => LanguageScene, settled: () => Promise<void>) {
    this.#store = store;
    this.#scene = scene;
    this.#settled = settled;
    this.#field.addEventListener("input", () => {
      const { value } = this.#field;
      const words = wordsOf(value);
      const blank = words.indexOf("[mask]");
      store.change({ text: value, at: blank < 0 ? words.length : blank, wrote: [] }, "run");
    });
    const examples = presets("Try", SENTENCES, ({ text, at }) => store.change({ text, at, wrote: [] }, "new"));
    const label = h("label", { for: "sentence" }, "Sentence; press a word above to hide it, or write ___");
    this.parts = {
      controls: [this.#writing, h("div", { class: "field" }, label, this.#field, this.#note, examples)],
      more: [this.#temperature.element, this.#topK.element, this.#topP.element],
    };
  }

  show({ state, unknown, columns }: LanguageScene): void {
    const { kind, text, wrote, temperature, topK, topP, seed } = state;
    if (this.#field.value !== text) this.#field.value = text;
    this.#note.textContent =
      unknown.length === 0 ? "" : `Dotted words it does not know, and skips: ${unknown.join(", ")}. The list is below.`;
    this.#writing.hidden = kind === "masked";
    const isFull = columns.length >= LONGEST || columns.length === 0;
    for (const one of [this.#next, this.#several]) one.disabled = isFull;
    this.#again.disabled = wrote.length === 0;
    this.#seed.show(String(seed));
    this.#temperature.show(temperature, exact(temperature, 2));
    this.#topK.show(topK === 0 ? (TOP_K.at(-1) ?? 0) : topK, topK === 0 ? `all ${WORDS.length}` : String(topK));
    this.#topP.show(topP, topP === 1 ? "all" : percent(topP));
  }

  #sample(patch: Partial<LanguageState>): void {
    this.#store.change(patch, "run");
  }

  /** One word after the other, as long as nobody changes anything else. */
  async #write(count: number): Promise<void> {
    let expected = this.#store.state;
    for (let written = 0; written < count; written++) {
      await this.#settled();
      const { state, reading, columns } = this.#scene();
      if (state !== expected || reading === undefined || columns.length >= LONGEST) return;
      const id = await draw(lastOf(reading), state);
      if (id === undefined || this.#store.state !== state) return;
      this.#store.change({ wrote: [...state.wrote, id] }, written === 0 ? "new" : "same");
      expected = this.#store.state;
    }
  }
}
