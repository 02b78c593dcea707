// The sentence, the kinds of position, and their settings.

import { choice } from "../../src/ui/choice.js";
import { button, h } from "../../src/ui/dom.js";
import { byChoice, worded } from "../../src/ui/orientation.js";
import { slider } from "../../src/ui/slider.js";
import { BASES, type Kind, MOST_SHIFT, MOST_WORDS, type OrderStore, SLOPES, wordsOf } from "./state.js";
import { KIND_TEXTS } from "./texts.js";

export const KIND_NAMES: Readonly<Record<Kind, string>> = {
  none: "none",
  causal: "causal mask",
  sinusoidal: "sinusoidal",
  learned: "learned",
  rope: "rotary",
  alibi: "ALiBi",
  relative: "relative",
};

export function controls(store: OrderStore) {
  const typing = { type: "text", maxlength: 200, autocomplete: "off", spellcheck: "false", dir: "auto" };
  const text = h("input", { id: "sentence", ...typing });
  text.addEventListener("input", () => store.change({ text: text.value, order: [], numbers: null, asker: 0 }, "run"));
  const message = h("p", { class: "field-message", role: "status" });
  const kind = choice<Kind>("Positions", KIND_NAMES, (value) => store.change({ kind: value }, "new"));
  const shift = slider("First position", { least: 0, most: MOST_SHIFT, step: 1 }, (at) => store.change({ shift: at }));
  const base = slider("Base", BASES, (value) => store.change({ base: value }));
  const slope = slider("Slope", SLOPES, (value) => store.change({ slope: value }));
  const by = byChoice("word", (value) => store.change({ by: value }));
  const table = button("Another table", () => store.change({ seed: (store.state.seed % 9999) + 1 }));
  const about = h("p", { class: "picture-text" });
  return {
    controls: [kind.element, base.element, slope.element, table, about],
    more: [h("div", { class: "field" }, h("label", { for: "sentence" }, "Sentence"), text, message), shift.element],
    menu: [by.element],
    show: () => {
      const { state } = store;
      if (text.value !== state.text) text.value = state.text;
      const said: Readonly<Record<number, string>> = {
        0: "No words yet. Type some.",
        [MOST_WORDS]: `No more than ${MOST_WORDS} words are shown.`,
      };
      message.textContent = said[wordsOf(state).length] ?? "";
      kind.show(state.kind);
      about.textContent = (state.by === "columns" ? worded : String)(KIND_TEXTS[state.kind]);
      shift.show(state.shift, String(state.shift));
      base.show(state.base, state.base.toLocaleString("en"));
      base.element.hidden = state.kind !== "sinusoidal" && state.kind !== "rope";
      slope.show(state.slope, String(state.slope));
      slope.element.hidden = state.kind !== "alibi";
      by.show(state.by);
      table.hidden = state.kind !== "learned";
    },
  };
}
