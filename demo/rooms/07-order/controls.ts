// The sentence, the kinds of position, and their settings.

import { boundChoice, boundSlider } from "../../src/ui/controls.js";
import { h } from "../../src/ui/dom.js";
import { byChoice, worded } from "../../src/ui/named-matrices.js";
import { whole } from "../../src/ui/numbers.js";
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
  const shifts = { least: 0, most: MOST_SHIFT, step: 1 };
  const about = h("p", { class: "picture-text" });
  return {
    controls: [
      boundChoice(store, "kind", "Positions", KIND_NAMES, { entry: "new" }),
      boundSlider(store, "base", "Base", BASES, {
        said: whole,
        isThere: ({ kind }) => /^(?:sinusoidal|rope)$/.test(kind),
      }),
      boundSlider(store, "slope", "Slope", SLOPES, { isThere: ({ kind }) => kind === "alibi" }),
      about,
    ],
    more: [
      h("div", { class: "field" }, h("label", { for: "sentence" }, "Sentence"), text, message),
      boundSlider(store, "shift", "First position", shifts),
    ],
    menu: [byChoice(store, "word")],
    show: () => {
      const { state } = store;
      if (text.value !== state.text) text.value = state.text;
      const said: Readonly<Record<number, string>> = {
        0: "No words yet. Type some.",
        [MOST_WORDS]: `No more than ${MOST_WORDS} words are shown.`,
      };
      message.textContent = said[wordsOf(state).length] ?? "";
      about.textContent = (state.by === "columns" ? worded : String)(KIND_TEXTS[state.kind]);
    },
  };
}
