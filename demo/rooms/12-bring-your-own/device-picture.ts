// This device: what is there, and how long one call takes in each way in which heed runs here, in turns.

import type { Capabilities, CreateOptions } from "heed";
import { counted, messageOf } from "../../src/brought/arrays.js";
import type { Engine } from "../../src/engine/engine.js";
import { normal } from "../../src/model/random.js";
import { boundSlider, LongWork } from "../../src/ui/controls.js";
import { fact, h, heads, line, tableFrame } from "../../src/ui/dom.js";
import { exact, whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { type BringStore, TIMED } from "./state.js";

const [HEADS, WIDTH, ROUNDS] = [4, 64, 5];
const FIGURES = ["ms", "GFLOP/s"] as const;
const ABOUT = `One call of ${HEADS} heads of width ${WIDTH}, random numbers, medians of ${ROUNDS} rounds. To compare heed with other libraries in one page, run npm run bench -- web in its repository.`;

interface Lane {
  readonly name: string;
  /** Why it does not run here; empty: it does. */
  readonly note: string;
  readonly run: () => Promise<unknown>;
  readonly times: number[];
}

export function devicePicture(store: BringStore, engine: Engine) {
  let lanes: readonly Lane[] = [];
  const status = h("dl", { class: "figures" });
  const tokens = boundSlider(store, "timed", "Tokens", TIMED, { said: whole });
  const rows = h("tbody");
  const table = tableFrame("Times", h("table", { class: "plain-table device-times" }, heads("", ...FIGURES), rows));
  table.hidden = true;
  const work = new LongWork({
    name: "Time it here",
    look: "button primary",
    run: async (signal, say) => {
      const { timed } = store.state;
      await timeAll(timed, signal, (said, so) => {
        say(said);
        lanes = so;
        table.hidden = false;
        rows.replaceChildren(...lanes.map((lane) => lineOf(lane, timed)));
      });
      return `Timed at ${whole(timed)} tokens.`;
    },
  });
  const { element, say } = picture({
    name: "device",
    title: "This device",
    body: [status, h("div", { class: "controls-options" }, tokens), work.line(), table],
    data: () => ({
      device: { agent: navigator.userAgent, ...Object.fromEntries(statusOf(engine.heed?.capabilities)) },
      times: lanes.map(({ name, note, times }) => ({ name, note, milliseconds: medianOf(times) })),
    }),
  });
  const showStatus = (absent?: string): void =>
    status.replaceChildren(...statusOf(engine.heed?.capabilities, absent).map(([name, value]) => fact(name, value)));
  say(ABOUT);
  showStatus("…");
  /** `begin`: the engine is there, or there is none. */
  return { element, begin: () => showStatus() };
}

function lineOf({ name, note, times }: Lane, tokens: number): HTMLElement {
  const median = medianOf(times);
  if (note !== "") return line(name, [`not here: ${note}`, ""], "absent");
  if (median === undefined) return line(name, ["…", "…"]);
  // The multiplications and additions of both products.
  const operations = 4 * HEADS * tokens * tokens * WIDTH;
  return line(name, [median.toFixed(median < 10 ? 2 : 0), exact(operations / median / 1e6, 1)]);
}

const medianOf = (times: readonly number[]): number | undefined => [...times].sort((a, b) => a - b)[times.length >> 1];

async function timeAll(tokens: number, signal: AbortSignal, tell: (said: string, lanes: readonly Lane[]) => void) {
  const { createHeed } = await import("heed");
  const next = normal(12);
  const shape = [1, HEADS, tokens, WIDTH];
  // Some rows again and again, which keeps the page free.
  const rows = Float32Array.from({ length: 64 * WIDTH }, next);
  const tensor = () => {
    const data = new Float32Array(HEADS * tokens * WIDTH);
    for (let at = 0; at < data.length; at += rows.length) data.set(rows, at);
    return { data, shape };
  };
  const [q, k, v] = [tensor(), tensor(), tensor()];
  const [lanes, disposals]: [Lane[], (() => void)[]] = [[], []];
  try {
    for (const [name, options] of waysOf(navigator.hardwareConcurrency)) {
      tell(`Starting: ${name}.`, lanes);
      signal.throwIfAborted();
      try {
        const heed = await createHeed(options);
        disposals.push(() => heed.dispose());
        lanes.push({ name, note: "", times: [], run: () => heed.attention(q, k, v, { signal }) });
      } catch (error) {
        lanes.push({ name, note: messageOf(error), times: [], run: async () => {} });
      }
    }
    // Before the first round each once, which is not counted: what is compiled late is compiled then.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const { name, note, run, times } of lanes) {
        if (note !== "") continue;
        tell(round === 0 ? `Warming up: ${name}.` : `Round ${round} of ${ROUNDS}: ${name}.`, lanes);
        const start = performance.now();
        await run();
        signal.throwIfAborted();
        if (round > 0) times.push(performance.now() - start);
      }
    }
    tell("", lanes);
  } finally {
    for (const dispose of disposals) dispose();
  }
}

function waysOf(cores: number): readonly (readonly [name: string, options: CreateOptions])[] {
  const threads = cores > 1 ? [1, Math.min(8, cores)] : [1];
  const wasm = threads.flatMap((count): [string, CreateOptions][] => [
    [`SIMD, ${counted(count, "thread")}`, { backend: "wasm", variant: "simd", threads: count }],
    [`relaxed SIMD, ${counted(count, "thread")}`, { backend: "wasm", variant: "relaxed", threads: count }],
  ]);
  return [...wasm, ["WebGPU", { backend: "webgpu" }]];
}

/** What is there, by name. `absent`: in the place of what the kernels would tell. */
function statusOf(found: Capabilities | undefined, absent = "kernels did not start") {
  const cores = navigator.hardwareConcurrency;
  const yes = (is: boolean | undefined): string => (is === undefined ? absent : is ? "yes" : "no");
  return Object.entries({
    Cores: String(cores),
    "Isolated page": yes(crossOriginIsolated),
    SIMD: yes(found?.simd),
    "Relaxed SIMD": yes(found?.relaxedSimd),
    "Shared memory": yes(found?.sharedMemory),
    "Chosen by itself": found ? `${found.backend}, ${found.variant}, ${found.threads} of ${cores}` : absent,
  });
}
