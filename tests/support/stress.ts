// Fresh engines, one after another, and on each many calls begun in one task, some aborted, some on an engine that is disposed of
// meanwhile. Every call ends, with the numbers that it has alone or with the error that it was made to have.

import { type Heed, HeedError } from "../../web/src/index.js";
import { CALLS, NAMES, type Name, type Numbers, type Scene } from "./mixed-calls.js";
import { Random } from "./random.js";

/** How long a call may take on a machine that is busy with other things. */
const PATIENCE_MS = 60_000;

/** So many seconds where the environment asks for more than a test's moment. */
const SECONDS = Number(import.meta.env["VITE_STRESS_SECONDS"] ?? 0);

/** How long a test of these calls may take, in milliseconds. */
export const STRESS_TIMEOUT = SECONDS * 1000 + 2 * PATIENCE_MS;

const soon = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function inTime<T>(call: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("it does not end")), PATIENCE_MS);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function sceneOn(heed: Heed, signal: AbortSignal): Promise<Scene> {
  return { heed, signal, cache: await heed.createCache({ kvHeads: 1, headDim: 4, maxLength: 1000 }) };
}

async function alone(open: () => Promise<Heed>): Promise<ReadonlyMap<Name, Numbers>> {
  const numbers = new Map<Name, Numbers>();
  for (const name of NAMES) {
    using heed = await open();
    numbers.set(name, await CALLS[name](await sceneOn(heed, new AbortController().signal)));
  }
  return numbers;
}

/** Resolves to how many calls were made, by their ends. Throws for the first that is wrong, or does not end. */
export async function stress(open: () => Promise<Heed>, seed: number, engines = 12): Promise<Record<string, number>> {
  const random = new Random(seed);
  const expected = await alone(open);
  const counts: Record<string, number> = { right: 0, aborted: 0, disposed: 0 };
  const end = performance.now() + SECONDS * 1000;
  for (let engine = 0; engine < engines || performance.now() < end; engine++) {
    using heed = await open();
    const isDisposed = random.chance(0.2);
    const controllers = new Map<AbortController, number>();
    const scene = await sceneOn(heed, new AbortController().signal);
    const names = Array.from({ length: random.whole(4, 24) }, () => random.pick(NAMES));
    const calls = names.map(async (name) => {
      const controller = new AbortController();
      const aborts = random.chance(0.2);
      if (aborts) controllers.set(controller, random.whole(0, 20));
      const told = `seed ${seed}, engine ${engine} (${isDisposed ? "disposed of" : "kept"}): ${name} of ${names.join()}`;
      try {
        const numbers = await inTime(CALLS[name]({ ...scene, signal: controller.signal }));
        if (numbers?.join() !== expected.get(name)?.join()) throw new Error(`${told} gives ${numbers?.join()}`);
        counts["right"] = (counts["right"] ?? 0) + 1;
      } catch (error) {
        const isExpected =
          error instanceof HeedError &&
          ((aborts && error.code === "aborted") || (isDisposed && error.code === "disposed"));
        if (!isExpected) throw new Error(told, { cause: error });
        counts[error.code] = (counts[error.code] ?? 0) + 1;
      }
    });
    for (const [controller, after] of controllers) void soon(after).then(() => controller.abort());
    if (isDisposed) void soon(random.whole(0, 30)).then(() => heed.dispose());
    await Promise.all(calls);
  }
  return counts;
}
