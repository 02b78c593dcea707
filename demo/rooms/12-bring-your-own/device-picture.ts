// This device: what is there, and a race that the reader starts, with a report to copy.

import type { Heed } from "heed";
import { copyFrom } from "../../src/ui/copy.js";
import { h } from "../../src/ui/dom.js";
import { LongWork } from "../../src/ui/long-work.js";
import { exact, magnitude, whole } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { HEADS, operationsOf, type Result, ROUNDS, race, WIDTH } from "./race.js";
import { type Device, reportOf, statusOf, statusToCome } from "./report.js";
import { type BringStore, RACED } from "./state.js";

export class DevicePicture {
  readonly #store: BringStore;
  readonly #picture: Picture;
  readonly #tokens;
  readonly #status = h("dl", { class: "figures" });
  readonly #work = new LongWork({
    name: "Start the race",
    look: "button primary",
    run: (signal, say) => this.#race(signal, say),
  });
  readonly #copy = h("button", { type: "button", class: "button", disabled: true }, "Copy the report");
  readonly #rows = h("tbody");
  readonly #table;
  #heed: Heed | undefined;
  #done: { readonly tokens: number; readonly results: readonly Result[]; readonly report: string } | undefined;

  constructor(store: BringStore) {
    this.#store = store;
    this.#tokens = slider("Tokens", RACED, (raced) => store.change({ raced }));
    this.#copy.addEventListener("click", () => void copyFrom(this.#copy, this.#done?.report ?? ""));
    const head = ["", "ms", "× plain", "GFLOP/s", "error", ""].map((name) =>
      name === "" ? h("td") : h("th", { scope: "col" }, name),
    );
    this.#table = h(
      "div",
      { class: "table-frame", tabindex: 0, role: "region", "aria-label": "The race", hidden: true },
      h("table", { class: "plain-table device-race" }, h("thead", {}, h("tr", {}, ...head)), this.#rows),
    );
    this.#picture = picture({
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
    this.#picture.say(
      `The same call in each way that runs here: ${HEADS} heads of width ${WIDTH}, random numbers, medians of ${ROUNDS} rounds in turns, awaited from the page. Errors are the largest of some rows against double precision. No other library runs here, as this page loads nothing from elsewhere: npm run bench -- web, in heed’s repository, sets heed beside its peers in one page.`,
    );
    this.#showStatus(statusToCome(this.#device()));
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  open(heed: Heed | undefined): void {
    this.#heed = heed;
    this.#showStatus(statusOf(this.#device()));
  }

  show(raced: number): void {
    this.#tokens.show(raced, whole(raced));
  }

  #device(): Device {
    return {
      agent: navigator.userAgent,
      cores: navigator.hardwareConcurrency,
      isolated: crossOriginIsolated,
      capabilities: this.#heed?.capabilities,
    };
  }

  #showStatus(lines: ReturnType<typeof statusOf>): void {
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
    const [base] = results;
    const most = Math.max(...results.map(({ milliseconds }) => milliseconds ?? 0));
    this.#rows.replaceChildren(
      ...results.map(({ name, milliseconds, error, note }) => {
        const label = h("th", { scope: "row" }, name);
        if (note !== "") return h("tr", { class: "absent" }, label, h("td", { colspan: 5 }, `not here: ${note}`));
        if (milliseconds === undefined) return h("tr", {}, label, h("td", {}, "…"));
        const bar = h("span");
        bar.style.setProperty("width", `${((100 * milliseconds) / most).toFixed(1)}%`);
        const times = base?.milliseconds === undefined ? "" : exact(base.milliseconds / milliseconds, 1);
        return h(
          "tr",
          {},
          label,
          h("td", {}, milliseconds.toFixed(milliseconds < 10 ? 2 : 0)),
          h("td", {}, times),
          h("td", {}, exact(operationsOf(tokens) / milliseconds / 1e6, 1)),
          h("td", {}, magnitude(error ?? Number.NaN)),
          h("td", { class: "lap-bar", "aria-hidden": "true" }, h("span", { class: "meter" }, bar)),
        );
      }),
    );
  }
}
