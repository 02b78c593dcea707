// Trains a model, or two that race: in turns, so that both losses fall before one's eyes. Loaded when somebody trains.

import { type Look, train } from "../../../examples/train/one-look.js";
import { type Moment as AnyMoment, type Run, withLoss } from "../../src/ui/training.js";
import { nameOf, type Part, type Task } from "./state.js";
import { EVERY, type Moment, STEPS } from "./training.js";

/** The same seed gives the same numbers. */
const SEED = 1;

interface Race {
  readonly task: Task;
  readonly word: string;
  readonly without: readonly Part[];
  /** What the other one is trained without; undefined: there is none. */
  readonly rival: readonly Part[] | undefined;
}

export async function race(
  { heed, signal }: Run<string>,
  { task, word, without, rival }: Race,
  seen: (moment: Moment) => void,
): Promise<void> {
  const turns = takingTurns();
  const last: Partial<Record<"own" | "rival", Look & AnyMoment>> = {};
  async function run(who: keyof typeof last, parts: readonly Part[]): Promise<void> {
    const { onLook, onStep } = withLoss<Look>((moment) => {
      last[who] = moment;
      const { own, rival: other } = last;
      if (own === undefined || (rival !== undefined && own.step !== other?.step)) return;
      seen({
        ...own,
        ...(rival && other && { rival: { name: nameOf(rival), answer: other.answer, loss: other.loss } }),
      });
    });
    const looked = (look: Look): Promise<void> => {
      onLook(look);
      return turns.pass();
    };
    const given = { task, word, seed: SEED, steps: STEPS[task] + 1, every: EVERY[task], engine: heed, signal };
    try {
      const { model } = await train({ ...given, without: parts, onLook: looked, onStep });
      await model.dispose();
    } finally {
      turns.end();
    }
  }
  if (rival === undefined) turns.end();
  const runs = [run("own", without), ...(rival === undefined ? [] : [run("rival", rival)])];
  const ended = await Promise.allSettled(runs);
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}

/** For two: whoever passes waits until the other passes, or has ended. */
function takingTurns() {
  let waiting: (() => void) | undefined;
  let isAlone = false;
  return {
    pass: () =>
      new Promise<void>((go) => {
        const other = waiting;
        waiting = go;
        if (isAlone) go();
        else other?.();
      }),
    end: () => {
      isAlone = true;
      waiting?.();
    },
  };
}
