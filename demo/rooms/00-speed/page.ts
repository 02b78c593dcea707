// How fast this device is, and an address that says so to others.

import type { Capabilities } from "heed";
import { messageOf } from "../../src/brought/arrays.js";
import { Store } from "../../src/model/store.js";
import { startFrame } from "../../src/page/frame.js";
import { copyFrom } from "../../src/ui/code.js";
import { LongWork } from "../../src/ui/controls.js";
import { button, find, h, heads, line, tableFrame } from "../../src/ui/dom.js";
import { exact } from "../../src/ui/numbers.js";
import { pause } from "../../src/ui/pieces.js";
import { groupsOf, type Measure } from "./measures.js";
import { RESULT, type Times } from "./result.js";
import "../../style/document.css";
import "../../style/speed.css";

const [ROUNDS, WARMING] = [7, 2];

const WORKERS = { "shared-memory": "shared memory", "private-memory": "memories of their own", none: "the page" };

startFrame();

const version = find("#downloads", HTMLElement).dataset["version"] ?? "";
const GROUPS = groupsOf(navigator.hardwareConcurrency);
const sent = new Store(RESULT);
/** Milliseconds, or why it does not run here. */
const here = new Map<Measure, Times | string>();
let found: Capabilities | undefined;

const device = h("p");
const told = h("p", { class: "speed-sent" });
const rows = h("div");
const share = button("Copy an address with these figures", () => void copyFrom(share, ownAddress()), "button");
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
find("#speed", HTMLElement).append(device, told, work.line(share), rows);
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
    await lookAtEngine();
    for (let round = -WARMING; round < ROUNDS; round++) {
      say(round < 0 ? `${title}: warming up.` : `${title}: round ${round + 1} of ${ROUNDS}.`);
      for (const [measure, { run }] of opened) {
        signal.throwIfAborted();
        const start = performance.now();
        await run();
        if (round < 0) continue;
        const all = [...(samples.get(measure) ?? []), performance.now() - start].sort((a, b) => a - b);
        samples.set(measure, all);
        here.set(measure, { median: all[all.length >> 1] ?? 0, least: all[0] ?? 0, most: all.at(-1) ?? 0 });
      }
      show();
    }
  } finally {
    for (const { end } of opened.values()) end();
  }
}

/** What heed chooses here. */
async function lookAtEngine(): Promise<void> {
  if (found !== undefined) return;
  const { createHeed } = await import("heed");
  const heed = await createHeed();
  found = heed.capabilities;
  heed.dispose();
}

function ownAddress(): string {
  const figures = Object.fromEntries(
    Array.from(here).flatMap(([{ key }, times]) => (typeof times === "string" ? [] : [[key, times]])),
  );
  const on = `${new Date().toISOString().slice(0, 10)}, ${deviceSaid()}`;
  return new URL(RESULT.toHash({ on, figures }), location.href.split("#")[0]).href;
}

function deviceSaid(): string {
  const { variant, worker, threads } = found ?? {};
  const engine =
    found && `${variant === "relaxed" ? "relaxed SIMD" : "SIMD"}, ${WORKERS[worker ?? "none"]} x ${threads}`;
  const parts = [
    `heed ${version}: ${browserOf(navigator.userAgent)}`,
    `${navigator.hardwareConcurrency} cores`,
    `isolated: ${crossOriginIsolated ? "yes" : "no"}`,
    ...(engine === undefined ? [] : [engine]),
  ];
  return parts.join(", ");
}

function browserOf(agent: string): string {
  // Each calls itself by the names of those before it as well.
  const names = {
    Edge: /Edg\w*\/(\d+)/,
    Opera: /OPR\/(\d+)/,
    Firefox: /F(?:irefox|xiOS)\/(\d+)/,
    Chrome: /(?:Chr\w+|CriOS)\/(\d+)/,
  };
  const all = Object.entries({ ...names, Safari: /Version\/(\d+)/ });
  const [name = "a browser", major = ""] =
    all.map(([name, pattern]) => [name, pattern.exec(agent)?.[1]]).find(([, version]) => version !== undefined) ?? [];
  const [system = ""] = /Android/.exec(agent) ?? /Windows|iPhone|iPad|Mac OS X|Linux|CrOS/.exec(agent) ?? [];
  return `${name} ${major}, ${system}`;
}

function show(): void {
  device.textContent = `This device: ${deviceSaid()}.`;
  const { on, figures } = sent.state;
  told.hidden = Object.keys(figures).length === 0;
  told.textContent = `Recorded by the sender of this address, ${on}. Time this device to see yours beside it.`;
  if (here.size === 0 && told.hidden) return;
  rows.replaceChildren(...GROUPS.map(({ title, measures }) => tableOf(title, measures)));
}

function tableOf(title: string, measures: readonly Measure[]): HTMLElement {
  const columns = ["", "this device", "", ...(told.hidden ? [] : ["recorded", ""])];
  const lines = measures.map((measure) => {
    const times = here.get(measure);
    const cells = typeof times === "string" ? [`not here: ${times}`, ""] : cellsOf(measure, times);
    if (times === undefined && work.isRunning) cells[0] = "…";
    const theirs = told.hidden ? [] : cellsOf(measure, sent.state.figures[measure.key]);
    return line(measure.name, [...cells, ...theirs], typeof times === "string" ? "absent" : undefined);
  });
  const parts = [h("caption", {}, title), heads(...columns), h("tbody", {}, ...lines)];
  return tableFrame(title, h("table", { class: "plain-table" }, ...parts));
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
