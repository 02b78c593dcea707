// Trains a model, or two that race. Loaded when somebody trains.

import { type Look, train } from "../../../examples/train/one-look.js";
import { inTurns, type Run } from "../../src/ui/training.js";
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
  const given = { task, word, seed: SEED, steps: STEPS[task] + 1, every: EVERY[task], engine: heed, signal };
  const runners = rival === undefined ? [without] : [without, rival];
  const trained = await inTurns<Look, Awaited<ReturnType<typeof train>>>(
    runners.map((parts) => (watch) => train({ ...given, without: parts, ...watch })),
    ([own, other]) => {
      if (own === undefined) return;
      const beside = rival && other && { name: nameOf(rival), answer: other.answer, loss: other.loss };
      seen({ ...own, ...(beside && { rival: beside }) });
    },
  );
  for (const { model } of trained) await model.dispose();
}
