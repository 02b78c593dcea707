// A model that was brought: a text for it, its pass with the means to stop it, and what it says comes next.

import { LongWork } from "../../src/ui/controls.js";
import { h, line } from "../../src/ui/dom.js";
import { exact, percent, whole } from "../../src/ui/numbers.js";
import { FileTrouble } from "./arrays.js";
import type { Helper } from "./helper.js";
import type { Model } from "./model/recognise.js";
import { passSource, type Source } from "./source.js";
import { type BringStore, LONGEST_TEXT } from "./state.js";

const NUMBERS = /^[\d\s,;[\]]*$/;

export function modelPanel(store: BringStore, helper: Helper, ran: (source: Source) => void) {
  let shown: Model | undefined;
  /** Its text was brought before any model, which reads it as soon as it is there. */
  let isAsked = false;
  const label = h("label", { for: "model-text" });
  const field = h("textarea", { id: "model-text", rows: 3, class: "model-text" });
  const next = h("table", { class: "plain-table", hidden: true });
  const run = async (signal: AbortSignal, say: (text: string) => void): Promise<string> => {
    const [model, text] = [shown, field.value];
    if (model === undefined) return "";
    next.hidden = true;
    store.change({ text: text.length <= LONGEST_TEXT ? text : "" });
    const start = performance.now();
    try {
      const pass = await helper.do({ kind: "run", model, asked: text }, signal, say);
      next.hidden = pass.next.length === 0;
      const lines = pass.next.map(({ word, probability }) => line(h("bdi", {}, word), [percent(probability)]));
      next.replaceChildren(h("caption", {}, `What ${model.name} takes for the next token`), h("tbody", {}, ...lines));
      ran(passSource(model, pass));
      if (isAsked) scrollTo(0, 0);
      isAsked = false;
      const seconds = exact(Math.max(0.1, (performance.now() - start) / 1000), 1);
      const heads = whole(model.layers * model.heads);
      const isKept = text.length <= LONGEST_TEXT;
      const lost = isKept ? "" : ` The address keeps no text of more than ${whole(LONGEST_TEXT)} letters.`;
      return `Done in ${seconds} s: ${pass.words.length} tokens, ${heads} heads to look at.${lost}`;
    } catch (error) {
      if (error instanceof FileTrouble) return error.message;
      throw error;
    }
  };
  const work = new LongWork({ name: "Run it", look: "button primary", run });
  // Enter begins a line, as in any text.
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || work.isRunning) return;
    event.preventDefault();
    work.begin();
  });
  const inside = [h("div", { class: "field" }, label, field), work.line(), next];
  const element = h("div", { class: "model-panel", hidden: true }, ...inside);
  return {
    element,
    /** undefined: there is none that could run. */
    show: (model: Model | undefined): void => {
      shown = model;
      element.hidden = model === undefined && !isAsked;
      work.button.hidden = model === undefined;
      next.hidden = true;
      work.say("");
      if (model === undefined) return;
      const takesText = model.tokenizer !== undefined;
      const numbers = `Numbers of tokens for ${model.name}, 0 to ${whole(model.vocabulary - 1)}`;
      label.textContent = takesText ? `Text for ${model.name}` : numbers;
      field.placeholder = takesText ? "" : "5, 3, 12";
      field.dir = takesText ? "auto" : "ltr";
      const text = field.value || store.state.text;
      field.value = takesText || NUMBERS.test(text) ? text : "";
      if (isAsked && takesText) work.begin();
    },
    /** The text of the address waits for a model. */
    ask: (): void => {
      isAsked = true;
      element.hidden = false;
      if (shown !== undefined) return;
      label.textContent = "Text for the model";
      field.value ||= store.state.text;
      work.button.hidden = true;
    },
  };
}
