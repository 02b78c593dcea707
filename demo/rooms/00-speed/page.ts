// How fast this device is, and an address that says so to others.

import type { Capabilities } from "heed";
import { messageOf } from "../../src/brought/arrays.js";
import { startFrame } from "../../src/page/frame.js";
import { copyFrom } from "../../src/ui/code.js";
import { LongWork } from "../../src/ui/controls.js";
import { button, fact, find, h, heads, line, tableFrame } from "../../src/ui/dom.js";
import { exact } from "../../src/ui/numbers.js";
import { pause } from "../../src/ui/pieces.js";
import { groupsOf, type Measure } from "./measures.js";
import { addressOf, type Figures, hasFigures, openSent, type Result, type Times } from "./result.js";
import "../../style/document.css";
import "../../style/speed.css";

const [ROUNDS, WARMING] = [7, 2];

const WORKERS = { "shared-memory": "shared memory", "private-memory": "memories of their own", none: "the page" };

startFrame();

const version = find("#downloads", HTMLElement).dataset["version"] ?? "";
const GROUPS = groupsOf(navigator.hardwareConcurrency);
const sent = openSent();
/** Milliseconds, or why it does not run here. */
const here = new Map<Measure, Times | string>();
let found: Capabilities | undefined;

const facts = h("dl", { class: "figures" });
const told = h("p", { class: "speed-sent" });
const rows = h("div");
const share = button("Copy an address with these figures", () => void copyFrom(share, addressOf(own())), "button");
share.hidden = true;
const work = new LongWork({
  name: "Time this device",
  look: "button primary",
  run: async (signal, say) => {
    share.hidden = true;
    here.clear();
    try {
      for (const { title, measures } of GROUPS) await timed(title, measures, signal, say);
    } finally {
      // What was not reached is not awaited any more.
      queueMicrotask(show);
    }
    share.hidden = false;
    return "Timed.";
  },
});
find("#speed", HTMLElement).append(facts, told, work.line(share), rows);
sent.listen(show);
show();

/** Those of a group in turns, so that what else the device does hits all alike. */
async function timed(title: string, measures: readonly Measure[], signal: AbortSignal, say: (text: string) => void) {
  const opened = new Map<Measure, Awaited<ReturnType<Measure["open"]>>>();
  const samples = new Map<Measure, number[]>();
  try {
    for (const measure of measures) {
      say(`${title}: ${measure.name}.`);
      await pause();
      signal.throwIfAborted();
      await measure.open().then(
        (ready) => opened.set(measure, ready),
        (error) => here.set(measure, messageOf(error)),
      );
    }
    await about();
    for (let round = -WARMING; round < ROUNDS; round++) {
      say(round < 0 ? `${title}: warming up.` : `${title}: round ${round + 1} of ${ROUNDS}.`);
      for (const [measure, { run }] of opened) {
        signal.throwIfAborted();
        const start = performance.now();
        await run();
        if (round < 0) continue;
        const all = samples.get(measure) ?? [];
        all.push(performance.now() - start);
        samples.set(measure, all);
        here.set(measure, timesOf(all));
      }
      show();
    }
  } finally {
    for (const { end } of opened.values()) end();
  }
}

function timesOf(samples: readonly number[]): Times {
  const sorted = [...samples].sort((a, b) => a - b);
  return { median: sorted[sorted.length >> 1] ?? 0, least: sorted[0] ?? 0, most: sorted.at(-1) ?? 0 };
}

/** What heed chooses here. */
async function about(): Promise<void> {
  if (found !== undefined) return;
  const { createHeed } = await import("heed");
  const heed = await createHeed();
  found = heed.capabilities;
  heed.dispose();
}

function own(): Result {
  const figures: Figures = Object.fromEntries(
    Array.from(here).flatMap(([{ key }, times]) => (typeof times === "string" ? [] : [[key, times]])),
  );
  const date = new Date().toISOString().slice(0, 10);
  return { ...deviceOf(found), version, date, figures };
}

function deviceOf(engine: Capabilities | undefined): Omit<Result, "figures" | "version" | "date"> {
  return {
    browser: browserOf(navigator.userAgent),
    cores: navigator.hardwareConcurrency,
    isolated: crossOriginIsolated ? "yes" : "no",
    engine:
      engine === undefined
        ? ""
        : `${engine.variant === "relaxed" ? "relaxed SIMD" : "SIMD"}, ${WORKERS[engine.worker ?? "none"]} x ${engine.threads}`,
  };
}

function browserOf(agent: string): string {
  const [, name = "", major = ""] =
    /\b(Firefox|FxiOS|EdgA?|EdgiOS|OPR|SamsungBrowser)\/(\d+)/.exec(agent) ??
    /(Chrome|CriOS)\/(\d+)/.exec(agent) ??
    /(Version)\/(\d+)/.exec(agent) ??
    [];
  const names: Readonly<Record<string, string>> = {
    FxiOS: "Firefox",
    Edg: "Edge",
    EdgA: "Edge",
    EdgiOS: "Edge",
    OPR: "Opera",
    CriOS: "Chrome",
    Version: "Safari",
  };
  const [system = ""] = /Android/.exec(agent) ?? /Windows|iPhone|iPad|Mac OS X|Linux|CrOS/.exec(agent) ?? [];
  return `${names[name] ?? (name || "a browser")} ${major}, ${system}`;
}

function show(): void {
  const device = deviceOf(found);
  facts.replaceChildren(
    fact("Browser", device.browser),
    fact("Cores", String(device.cores)),
    fact("Isolated page", device.isolated, device.isolated === "yes" ? "" : "threads share no memory"),
    fact("heed chooses", device.engine === "" ? "not looked at yet" : device.engine),
    fact("heed", version),
  );
  const { state } = sent;
  told.hidden = !hasFigures(state);
  const { browser, cores, isolated, engine } = state;
  told.textContent = `Recorded by the sender of this address, ${state.date}, heed ${state.version}: ${browser}, ${cores} cores, isolated: ${isolated}, ${engine}. Time this device to see yours beside it.`;
  if (here.size === 0 && told.hidden) return;
  rows.replaceChildren(...GROUPS.map(({ title, measures }) => tableOf(title, measures)));
}

function tableOf(title: string, measures: readonly Measure[]): HTMLElement {
  const isSent = hasFigures(sent.state);
  const columns = ["", "this device", "", ...(isSent ? ["recorded", ""] : [])];
  const lines = measures.map((measure) => {
    const times = here.get(measure);
    const cells =
      typeof times === "string"
        ? [`not here: ${times}`, ""]
        : times === undefined && work.isRunning
          ? ["…", ""]
          : cellsOf(measure, times);
    const theirs = isSent ? cellsOf(measure, sent.state.figures[measure.key]) : [];
    return line(measure.name, [...cells, ...theirs], typeof times === "string" ? "absent" : undefined);
  });
  const table = h(
    "table",
    { class: "plain-table" },
    h("caption", {}, title),
    heads(...columns),
    h("tbody", {}, ...lines),
  );
  return tableFrame(title, table);
}

function cellsOf({ rate }: Measure, times: Times | undefined): (Node | string)[] {
  if (times === undefined) return ["", ""];
  const { median, least, most } = times;
  const spread = h("small", {}, ` ${ms(least)} to ${ms(most)}`);
  return [h("span", {}, `${ms(median)} ms`, spread), rate(median)];
}

function ms(value: number): string {
  return exact(value, value < 1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0);
}
