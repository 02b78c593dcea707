// A model that was brought: a text for it, its pass with the means to stop it, and what it says comes next.

import { h } from "../../src/ui/dom.js";
import { LongWork } from "../../src/ui/long-work.js";
import { exact, percent, whole } from "../../src/ui/numbers.js";
import { line } from "../../src/ui/table.js";
import { FileTrouble } from "./arrays.js";
import type { Helper } from "./helper.js";
import { passSource } from "./model/pass-source.js";
import type { Model } from "./model/recognise.js";
import type { Prediction } from "./model/run.js";
import type { Source } from "./source.js";
import { type BringStore, LONGEST_TEXT } from "./state.js";

const NUMBERS = /^[\d\s,;[\]]*$/;

export class ModelPanel {
  readonly element: HTMLElement;
  readonly #store: BringStore;
  readonly #helper: Helper;
  readonly #ran: (source: Source) => void;
  readonly #label = h("label", { for: "model-text" });
  readonly #field = h("textarea", { id: "model-text", rows: 3, class: "model-text" });
  readonly #work = new LongWork({
    name: "Run it",
    look: "button primary",
    run: (signal, say) => this.#run(signal, say),
  });
  readonly #next = h("table", { class: "plain-table", hidden: true });
  #model: Model | undefined;

  constructor(store: BringStore, helper: Helper, ran: (source: Source) => void) {
    this.#store = store;
    this.#helper = helper;
    this.#ran = ran;
    this.element = h(
      "div",
      { class: "model-panel", hidden: true },
      h("div", { class: "field" }, this.#label, this.#field),
      this.#work.line(),
      this.#next,
    );
    // Enter begins a line, as in any text.
    this.#field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || this.#work.isRunning) return;
      event.preventDefault();
      this.#work.button.click();
    });
  }

  /** undefined: there is none that could run. */
  show(model: Model | undefined): void {
    this.#model = model;
    this.element.hidden = model === undefined;
    this.#next.hidden = true;
    this.#work.say("");
    if (model === undefined) return;
    const takesText = model.tokenizer !== undefined;
    this.#label.textContent = takesText
      ? `Text for ${model.name}`
      : `Numbers of tokens for ${model.name}, 0 to ${whole(model.vocabulary - 1)}`;
    this.#field.placeholder = takesText ? "" : "5, 3, 12";
    this.#field.dir = takesText ? "auto" : "ltr";
    const text = this.#field.value || this.#store.state.text;
    this.#field.value = takesText || NUMBERS.test(text) ? text : "";
  }

  async run(): Promise<void> {
    if (this.#model !== undefined && !this.#work.isRunning) await this.#work.press();
  }

  async #run(signal: AbortSignal, say: (text: string) => void): Promise<string> {
    const [model, text] = [this.#model, this.#field.value];
    if (model === undefined) return "";
    this.#next.hidden = true;
    this.#store.change({ text: text.length <= LONGEST_TEXT ? text : "" });
    const start = performance.now();
    try {
      const pass = await this.#helper.run(model, text, signal, say);
      this.#predict(model, pass.next);
      this.#ran(passSource(model, pass));
      const seconds = Math.max(0.1, (performance.now() - start) / 1000);
      return `Done in ${exact(seconds, 1)} s: ${pass.words.length} tokens, ${whole(model.layers * model.heads)} heads to look at below.`;
    } catch (error) {
      if (error instanceof FileTrouble) return error.message;
      throw error;
    }
  }

  #predict({ name }: Model, next: readonly Prediction[]): void {
    this.#next.hidden = next.length === 0;
    this.#next.replaceChildren(
      h("caption", {}, `What ${name} takes for the next token`),
      h("tbody", {}, ...next.map(({ word, share }) => line(h("bdi", {}, word), [percent(share)]))),
    );
  }
}
