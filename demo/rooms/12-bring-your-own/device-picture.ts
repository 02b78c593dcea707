// This device: what is there, and a race that the reader starts, with a report to copy.

import type { Engine } from "../../src/engine/engine.js";
import { copyFrom } from "../../src/ui/code.js";
import { boundSlider, LongWork } from "../../src/ui/controls.js";
import { button, fact, h, heads, line, tableFrame } from "../../src/ui/dom.js";
import { whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { ABOUT, deviceOf, FIGURES, figuresOf, type Result, race, reportOf, statusOf } from "./race.js";
import { type BringStore, RACED } from "./state.js";

export function devicePicture(store: BringStore, engine: Engine) {
  let done: { readonly tokens: number; readonly results: readonly Result[]; readonly report: string } | undefined;
  const status = h("dl", { class: "figures" });
  const tokens = boundSlider(store, "raced", "Tokens", RACED, { said: whole });
  const copy = button("Copy the report", () => void copyFrom(copy, done?.report ?? ""));
  copy.disabled = true;
  const rows = h("tbody");
  const table = tableFrame("The race", h("table", { class: "plain-table device-race" }, heads("", ...FIGURES), rows));
  table.hidden = true;
  const work = new LongWork({
    name: "Start the race",
    look: "button primary",
    run: async (signal, say) => {
      copy.disabled = true;
      const { raced } = store.state;
      const results = await race(raced, signal, (said, so) => {
        say(said);
        draw(so, raced);
      });
      draw(results, raced);
      done = { tokens: raced, results, report: reportOf(device(), raced, results, new Date().toISOString()) };
      copy.disabled = false;
      return `Timed at ${whole(raced)} tokens.`;
    },
  });
  const { element, say } = picture({
    name: "device",
    title: "This device",
    body: [status, h("div", { class: "controls-options" }, tokens), work.line(copy), table],
    data: () => ({ device: device(), ...done }),
  });

  const device = () => deviceOf(engine.heed?.capabilities);
  const showStatus = (absent?: string): void =>
    status.replaceChildren(...statusOf(device(), absent).map(([name, value]) => fact(name, value)));
  const draw = (results: readonly Result[], raced: number): void => {
    table.hidden = results.length === 0;
    const lines = results.map((result) => {
      if (result.note === "") return line(result.name, figuresOf(result, raced, results));
      const why = h("td", { colspan: FIGURES.length }, `not here: ${result.note}`);
      return h("tr", { class: "absent" }, h("th", { scope: "row" }, result.name), why);
    });
    rows.replaceChildren(...lines);
  };

  const others = "To compare heed with other libraries in one page, run npm run bench -- web in its repository.";
  say(`The same call in each way that runs here: ${ABOUT}. Errors are against double precision. ${others}`);
  showStatus("…");
  /** `begin`: the engine is there, or there is none. */
  return { element, begin: () => showStatus() };
}
