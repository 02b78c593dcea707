// What chooses the next word: the sentence, what sampling may draw, and the buttons that write.

import { tooLong, WORDS } from "../../src/language/words.js";
import { LONGEST_TEXT } from "../../src/model/tokens.js";
import { boundSlider, choice, presets, slider } from "../../src/ui/controls.js";
import { button, h } from "../../src/ui/dom.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { type LanguageScene, lastOf } from "./scene.js";
import { type LanguageState, type LanguageStore, SENTENCES, TEMPERATURES, TOP_K, TOP_P, wordsOf } from "./state.js";

const SEVERAL = 4;
/** Top k of all words. */
const ALL = TOP_K.at(-1) ?? 0;

/** `settled`: resolves when all that was asked of the model is read. */
export function controlsOf(store: LanguageStore, scene: () => LanguageScene, settled: () => Promise<void>) {
  const typing = { type: "text", maxlength: LONGEST_TEXT, autocomplete: "off", spellcheck: "false" };
  const field = h("input", { ...typing, id: "sentence" });
  field.addEventListener("input", () => {
    const { words } = wordsOf(field.value);
    const blank = words.indexOf("[mask]");
    store.change({ text: field.value, at: blank < 0 ? words.length : blank, wrote: [] }, "run");
  });
  const note = h("p", { class: "field-message", role: "status" });
  const topK = slider("Top k", TOP_K, (k) => store.change({ topK: k === ALL ? 0 : k }, "run"));
  const inWords = (part: number): string => (part === 1 ? "all" : percent(part));
  const next = button("Next word", () => void write(1), "button primary");
  const several = button(`${SEVERAL} words`, () => void write(SEVERAL));
  const again = button("Start again", () => store.change({ wrote: [] }, "new"));
  const seed = choice("Seed", ["1", "2", "3", "4"], (seed) => store.change({ seed: Number(seed), wrote: [] }, "new"));
  const writing = h("div", { class: "controls-options" }, next, several, again, seed.element);
  const examples = presets("Try", SENTENCES, ({ text, at }) => store.change({ text, at, wrote: [] }, "new"));
  const label = h("label", { for: "sentence" }, "Sentence; press a word above to hide it, or write ___");

  /** One word after the other, as long as nobody changes anything else. */
  async function write(count: number): Promise<void> {
    let expected = store.state;
    for (let written = 0; written < count; written++) {
      await settled();
      const { state, reading, isFull } = scene();
      if (state !== expected || reading === undefined || isFull) return;
      const id = await draw(lastOf(reading), state);
      if (id === undefined || store.state !== state) return;
      store.change({ wrote: [...state.wrote, id] }, written === 0 ? "new" : "same");
      expected = store.state;
    }
  }

  return {
    controls: [writing, h("div", { class: "field" }, label, field, note, examples)],
    more: [
      boundSlider(store, "temperature", "Temperature", TEMPERATURES, { entry: "run", said: (t) => exact(t, 2) }),
      topK.element,
      boundSlider(store, "topP", "Top p", TOP_P, { entry: "run", said: inWords }),
    ],
    show: ({ state, words, unknown, columns, leftOut, isFull }: LanguageScene): void => {
      // As the words stand above, once some of them were written by the model.
      const stands = words.filter(({ kind }) => kind !== "hidden").map(({ text }) => text);
      const text = state.wrote.length > 0 ? stands.join(" ") : state.text;
      if (field.value !== text) field.value = text;
      const dotted = `Dotted words it does not know, and skips: ${unknown.join(", ")}. The list is below.`;
      note.textContent = `${unknown.length === 0 ? "" : dotted}${tooLong(state.text, leftOut)}`.trim();
      writing.hidden = state.kind === "masked";
      for (const one of [next, several]) one.disabled = isFull || columns.length === 0;
      again.disabled = state.wrote.length === 0;
      seed.show(String(state.seed));
      topK.show(state.topK || ALL, state.topK === 0 ? `all ${WORDS.length}` : String(state.topK));
    },
  };
}

/** The next token, by the same rules as the bars. The same seed and number of words before draw the same. */
async function draw(logits: ArrayLike<number>, state: LanguageState): Promise<number | undefined> {
  const { sample } = await import("heed/layers");
  const { temperature, topK, topP, seed, wrote } = state;
  const options = {
    maxTokens: 1,
    temperature,
    topP,
    ...(topK === 0 ? {} : { topK }),
    seed: 1000 * seed + wrote.length,
  };
  const [next] = await sample(() => Float32Array.from(logits), [], options);
  return next;
}
