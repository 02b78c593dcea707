// Trains the network without attention, then the one with it, and hands over how both read a text on the way. Loaded when somebody
// trains, or sends a gradient back.

import type { Heed } from "heed";
import { type Look, reach, rightOf, train, untrained } from "../../../examples/train/dates.js";
import { type Run, withLoss } from "../../src/ui/training.js";
import { readable } from "./reading.js";
import { EVERY, type Given, type Kind, type Learnt, type Moment, STEPS } from "./training.js";

/** The same seed gives the same numbers. */
const SEED = 1;

type Network = Awaited<ReturnType<typeof train>>;
export type Pair = Readonly<Record<Kind, Network>>;

export function freshPair(engine: Heed): Pair {
  const make = (attention: Kind): Network => untrained({ attention, seed: SEED, engine });
  return { dot: make("dot"), none: make("none") };
}

/** One after the other: steps of both at once would need the memory of both. */
export async function trainPair(
  { heed, kind, text, signal }: Run<Given> & { readonly text: string },
  seen: (moment: Moment) => void,
  say: (text: string) => void,
): Promise<Pair> {
  const given = { teacher: kind === "right", text: readable(text), seed: SEED, steps: STEPS + 1, every: EVERY };
  const run = (attention: Kind, looked: (look: Look & { readonly loss: number }) => void): Promise<Network> =>
    train({ attention, ...given, engine: heed, signal, ...withLoss<Look>(looked) });
  const others: Moment["other"][] = [];
  const none = await run("none", ({ step, date, loss }) => {
    others.push({ date, loss });
    say(`Without attention first: step ${step} of ${STEPS}`);
  });
  const dot = await run("dot", (look) => {
    const other = others[look.step / EVERY];
    if (other !== undefined) seen({ ...look, text, other });
  });
  return { dot, none };
}

/** On dates that are new to both: what they get right of short texts, character by character, and of longer ones as a whole. */
export async function examine(pair: Pair, lengths: readonly number[], signal: AbortSignal): Promise<Learnt> {
  const examined = async (kind: Kind) => {
    const { characters } = await rightOf(pair[kind], { count: 128 });
    const dates: number[] = [];
    for (const filler of lengths) {
      signal.throwIfAborted();
      dates.push((await rightOf(pair[kind], { count: 128, filler })).dates);
    }
    return { characters, dates };
  };
  return { dot: await examined("dot"), none: await examined("none") };
}

export async function reachOf(pair: Pair, text: string): Promise<Readonly<Record<Kind, readonly number[]>>> {
  const { date } = await pair.dot.answer(text);
  return { dot: await reach(pair.dot, text, date), none: await reach(pair.none, text, date) };
}
