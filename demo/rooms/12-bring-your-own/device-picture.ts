// This device: what is there, and how long one call takes in each way in which heed runs here, in turns.

import type { Capabilities, CreateOptions, Heed } from "heed";
import { counted, messageOf } from "../../src/brought/arrays.js";
import type { Engine } from "../../src/engine/engine.js";
import { fastest, randoms } from "../../src/engine/fastest.js";
import { boundSlider, LongWork } from "../../src/ui/controls.js";
import { fact, h, heads, line, tableFrame } from "../../src/ui/dom.js";
import { exact, whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { type BringStore, TIMED } from "./state.js";

const [HEADS, WIDTH, ROUNDS] = [4, 64, 5];
const ABOUT = `One call of ${HEADS} heads of width ${WIDTH}, random numbers, the best of ${ROUNDS} rounds. To compare heed with other libraries in one page, run npm run bench -- web in its repository.`;

export function devicePicture(store: BringStore, engine: Engine) {
  let found: object = {};
  const status = h("dl", { class: "figures" });
  const tokens = boundSlider(store, "timed", "Tokens", TIMED, { said: whole });
  const rows = h("tbody");
  const table = tableFrame(
    "Times",
    h("table", { class: "plain-table device-times" }, heads("", "ms", "GFLOP/s"), rows),
  );
  table.hidden = true;
  const work = new LongWork({
    name: "Time it here",
    look: "button primary",
    run: async (signal, say) => {
      const { timed } = store.state;
      found = await timesOf(timed, signal, (said, times) => {
        say(said);
        table.hidden = false;
        rows.replaceChildren(...times.map(([name, time]) => lineOf(name, time, timed)));
      });
      return `Timed at ${whole(timed)} tokens.`;
    },
  });
  const { element, say } = picture({
    name: "device",
    title: "This device",
    body: [status, h("div", { class: "controls-options" }, tokens), work.line(), table],
    data: () => ({ agent: navigator.userAgent, ...statusOf(engine.heed?.capabilities), times: found }),
  });
  const showStatus = (absent?: string): void => {
    const facts = Object.entries(statusOf(engine.heed?.capabilities, absent));
    status.replaceChildren(...facts.map(([name, value]) => fact(name, value)));
  };
  say(ABOUT);
  showStatus("…");
  /** `begin`: the engine is there, or there is none. */
  return { element, begin: () => showStatus() };
}

/** Milliseconds; why it does not run here; undefined: not yet. */
type Time = number | string | undefined;

function lineOf(name: string, time: Time, tokens: number): HTMLElement {
  if (typeof time === "string") return line(name, [`not here: ${time}`, ""], "absent");
  if (time === undefined) return line(name, ["…", "…"]);
  // The multiplications and additions of both products.
  const operations = 4 * HEADS * tokens * tokens * WIDTH;
  return line(name, [time.toFixed(time < 10 ? 2 : 0), exact(operations / time / 1e6, 1)]);
}

type Progress = (said: string, times: readonly (readonly [name: string, time: Time])[]) => void;

async function timesOf(tokens: number, signal: AbortSignal, tell: Progress): Promise<object> {
  const { createHeed } = await import("heed");
  const make = randoms();
  const tensor = () => make(1, HEADS, tokens, WIDTH);
  const [q, k, v] = [tensor(), tensor(), tensor()];
  const opened = new Map<string, Heed | string>();
  try {
    for (const [name, options] of waysOf(navigator.hardwareConcurrency)) {
      tell(`Starting: ${name}.`, []);
      opened.set(name, await createHeed(options).catch(messageOf));
      signal.throwIfAborted();
    }
    const calls = Array.from(opened).flatMap(([name, heed]) =>
      typeof heed === "string" ? [] : [[name, () => heed.attention(q, k, v, { signal })] as const],
    );
    const timeOf = (best?: ReadonlyMap<string, number>) =>
      Array.from(opened, ([name, heed]) => [name, typeof heed === "string" ? heed : best?.get(name)] as const);
    // The first round is not counted: what is compiled late is compiled then.
    await fastest(calls, 1, (said) => tell(`Warming up. ${said}`, timeOf()));
    const best = await fastest(calls, ROUNDS, (said, best) => tell(said, timeOf(best)));
    tell("", timeOf(best));
    return Object.fromEntries(timeOf(best));
  } finally {
    for (const heed of opened.values()) if (typeof heed !== "string") heed.dispose();
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
  return {
    Cores: String(cores),
    "Isolated page": yes(crossOriginIsolated),
    SIMD: yes(found?.simd),
    "Relaxed SIMD": yes(found?.relaxedSimd),
    "Shared memory": yes(found?.sharedMemory),
    "Chosen by itself": found ? `${found.backend}, ${found.variant}, ${found.threads} of ${cores}` : absent,
  };
}
