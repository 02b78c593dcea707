// A model that was brought: its files, how its weights are kept, a text for it, and its pass with the means to stop it.

import { FileTrouble, listed } from "../../src/brought/arrays.js";
import type { Helper } from "../../src/brought/helper.js";
import type { ModelSummary, ModelTask } from "../../src/brought/run.js";
import { LongWork } from "../../src/ui/controls.js";
import { h } from "../../src/ui/dom.js";
import { bytes, exact, whole } from "../../src/ui/numbers.js";
import { passSource, type Source } from "./source.js";
import { type BringStore, INITIAL, LONGEST_TEXT } from "./state.js";

const NUMBERS = /^[\d\s,;[\]]*$/;

type Opened = Pick<ModelTask, "source" | "name">;

export type ModelPanel = ReturnType<typeof modelPanel>;

export function modelPanel(store: BringStore, helper: Helper, ran: (source: Source) => void) {
  /** Counts what was opened, and what of it was introduced. */
  let [key, introduced] = [0, 0];
  let opened: Opened | undefined;
  const about = h("p", { class: "model-about small-label" });
  const label = h("label", { for: "model-text" }, "Text for the model");
  const field = h("textarea", { id: "model-text", rows: 2, class: "model-text" });
  const bar = h("progress", { hidden: true, max: 1, "aria-label": "Read so far" });

  const load = async ({ source, name }: Opened, signal: AbortSignal, say: (text: string) => void) => {
    const tell = (said: string, done?: number): void => {
      say(said);
      bar.hidden = done === undefined;
      bar.value = done ?? 0;
    };
    try {
      return await helper.do({ kind: "load", key, source, name }, signal, tell);
    } finally {
      bar.hidden = true;
    }
  };
  const introduce = (model: ModelSummary): void => {
    const { name, type, layers, heads, parameters, positions, takesText, vocabulary } = model;
    const kept = Object.entries(model.formats).map(([format, size]) => `${bytes(size)} as ${format}`);
    const longest = positions === undefined ? "" : ` Texts up to ${whole(positions)} tokens.`;
    const what = name === type ? name : `${name}, ${type}`;
    about.textContent = `${what}: ${layers} layers × ${heads} heads, ${many(parameters)} numbers, ${listed(kept)}.${longest}`;
    label.textContent = takesText
      ? `Text for ${name}`
      : `Numbers of tokens for ${name}, 0 to ${whole(vocabulary - 1)}: it has no tokenizer.json`;
    field.placeholder = takesText ? "" : "5, 3, 12";
    field.dir = takesText ? "auto" : "ltr";
    const isNew = introduced < key;
    introduced = key;
    if (isNew && !takesText && !NUMBERS.test(field.value)) field.value = "";
    // What comes next is the last word, and not what follows the full stop.
    if (isNew && model.isCausal && field.value === INITIAL.text) field.value = field.value.replace(/ \w+\.$/, "");
  };
  const run = async (signal: AbortSignal, say: (text: string) => void): Promise<string> => {
    if (opened === undefined) return "";
    try {
      const model = await load(opened, signal, say);
      introduce(model);
      const text = field.value;
      if (text.trim() === "") return model.takesText ? "Give a text." : "Give numbers of tokens.";
      store.change({ text: text.length <= LONGEST_TEXT ? text : "" });
      const start = performance.now();
      const pass = await helper.do({ kind: "run", asked: text }, signal, say);
      ran(passSource(model, pass, (heads) => helper.do({ kind: "without", heads })));
      const seconds = exact(Math.max(0.01, (performance.now() - start) / 1000), 2);
      const isKept = text.length <= LONGEST_TEXT;
      const lost = isKept ? "" : ` The address keeps no text of more than ${whole(LONGEST_TEXT)} letters.`;
      return `Done in ${seconds} s: ${pass.words.length} tokens, ${whole(model.layers * model.heads)} heads to look at.${lost}`;
    } catch (error) {
      if (error instanceof FileTrouble) return error.message;
      throw error;
    }
  };
  const work = new LongWork({ name: "Run it", look: "button primary", run });
  work.button.hidden = true;
  // Enter begins a line, as in any text.
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || work.isRunning) return;
    event.preventDefault();
    work.begin();
  });
  const line = work.line();
  line.dataset["arrive"] = "true";
  const element = h("div", { class: "model-panel" }, about, h("div", { class: "field" }, label, field), line, bar);
  /** A text waits for its model. */
  const wait = (said: string): void => {
    element.closest<HTMLElement>("[data-picture]")?.removeAttribute("hidden");
    field.value ||= store.state.text;
    work.say(said);
  };
  return {
    element,
    wait,
    /** Loads it and runs it on the text. */
    open: (next: Opened): void => {
      opened = next;
      key += 1;
      about.textContent = "";
      wait("");
      work.button.hidden = false;
      element.scrollIntoView({ block: "nearest" });
      work.begin();
    },
  };
}

/** 124 million */
function many(count: number): string {
  const millions = count / 1e6;
  return millions < 1 ? whole(count) : `${millions < 10 ? millions.toFixed(1) : whole(millions)} million`;
}
