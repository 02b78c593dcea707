// This device: what is there, and a race that the reader starts, with a report to copy.

import type { Engine } from "../../src/engine/engine.js";
import { copyFrom } from "../../src/ui/copy.js";
import { button, h } from "../../src/ui/dom.js";
import { LongWork } from "../../src/ui/long-work.js";
import { whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { heads, line, tableFrame } from "../../src/ui/table.js";
import { HEADS, type Result, ROUNDS, race, WIDTH } from "./race.js";
import { type Device, FIGURES, figuresOf, reportOf, statusOf } from "./report.js";
import { type BringStore, RACED } from "./state.js";

export class DevicePicture {
  readonly #store: BringStore;
  readonly #engine: Engine;
  readonly element: HTMLElement;
  readonly #tokens;
  readonly #status = h("dl", { class: "figures" });
  readonly #work = new LongWork({
    name: "Start the race",
    look: "button primary",
    run: (signal, say) => this.#race(signal, say),
  });
  readonly #copy = button("Copy the report", () => void copyFrom(this.#copy, this.#done?.report ?? ""));
  readonly #rows = h("tbody");
  readonly #table;
  #done: { readonly tokens: number; readonly results: readonly Result[]; readonly report: string } | undefined;

  constructor(store: BringStore, engine: Engine) {
    this.#store = store;
    this.#engine = engine;
    this.#copy.disabled = true;
    this.#tokens = slider("Tokens", RACED, (raced) => store.change({ raced }));
    this.#table = tableFrame(
      "The race",
      h("table", { class: "plain-table device-race" }, heads("", ...FIGURES), this.#rows),
    );
    this.#table.hidden = true;
    const { element, say } = picture({
      name: "device",
      title: "This device",
      body: [
        this.#status,
        h("div", { class: "controls-options" }, this.#tokens.element),
        this.#work.line(this.#copy),
        this.#table,
      ],
      data: () => ({ device: this.#device(), ...this.#done }),
    });
    this.element = element;
    say(
      `The same call in each way that runs here: ${HEADS} heads of width ${WIDTH}, random numbers, medians of ${ROUNDS} rounds. Errors are against double precision. To compare heed with other libraries in one page, run npm run bench -- web in its repository.`,
    );
    this.#showStatus("…");
  }

  /** The engine is there, or there is none. */
  begin(): void {
    this.#showStatus();
  }

  show(raced: number): void {
    this.#tokens.show(raced, whole(raced));
  }

  #device(): Device {
    return {
      agent: navigator.userAgent,
      cores: navigator.hardwareConcurrency,
      isolated: crossOriginIsolated,
      capabilities: this.#engine.heed?.capabilities,
    };
  }

  #showStatus(absent?: string): void {
    const lines = statusOf(this.#device(), absent);
    this.#status.replaceChildren(...lines.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
  }

  async #race(signal: AbortSignal, say: (text: string) => void): Promise<string> {
    this.#copy.disabled = true;
    const tokens = this.#store.state.raced;
    const results = await race(tokens, navigator.hardwareConcurrency, signal, (said, so) => {
      say(said);
      this.#draw(so, tokens);
    });
    this.#draw(results, tokens);
    this.#done = { tokens, results, report: reportOf(this.#device(), tokens, results, new Date().toISOString()) };
    this.#copy.disabled = false;
    return `Timed at ${whole(tokens)} tokens.`;
  }

  #draw(results: readonly Result[], tokens: number): void {
    this.#table.hidden = results.length === 0;
    this.#rows.replaceChildren(
      ...results.map((result) => {
        const { name, note } = result;
        if (note === "") return line(name, figuresOf(result, tokens, results));
        const why = h("td", { colspan: FIGURES.length }, `not here: ${note}`);
        return h("tr", { class: "absent" }, h("th", { scope: "row" }, name), why);
      }),
    );
  }
}
