// Trains both networks, with attention and without, and hands over how both read a text on the way. Loaded when somebody
// trains.

import { accuracy, type Look, train } from "../../../examples/train/dates.js";
import { inTurns, type Run } from "../../src/ui/training.js";
import { readable } from "./reading.js";
import { EVERY, KINDS, type Kind, LESSONS, type Learnt, type Moment } from "./training.js";

type Network = Awaited<ReturnType<typeof train>>;
export type Pair = Readonly<Record<Kind, Network>>;

export async function trainPair(
  { heed, text, signal }: Run<string> & { readonly text: string },
  seen: (moment: Moment) => void,
): Promise<Pair> {
  const given = { ...LESSONS, text: readable(text), every: EVERY, engine: heed, signal };
  const [dot, none] = await inTurns<Look, Network>(
    KINDS.map((attention) => (watch) => train({ ...given, attention, ...watch })),
    ([dot, none]) => {
      if (dot && none) seen({ ...dot, text, other: none });
    },
  );
  if (dot === undefined || none === undefined) throw new Error("Both networks were trained.");
  return { dot, none };
}

/** What both get right of dates that are new to them, in texts of these lengths. */
export async function examine(pair: Pair, lengths: readonly number[], signal: AbortSignal): Promise<Learnt> {
  const examined = async (kind: Kind): Promise<readonly number[]> => {
    const dates: number[] = [];
    for (const filler of lengths) {
      signal.throwIfAborted();
      dates.push(await accuracy(pair[kind], { count: 128, filler }));
    }
    return dates;
  };
  return { dot: await examined("dot"), none: await examined("none") };
}
