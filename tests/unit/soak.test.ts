// The load of `npm run soak`, for a moment: it leaves no tensor in the engine, whose memory does not grow once it has seen every size. And what
// the soak calls growth.

import { expect, test } from "vitest";
import { grown } from "../../bench/soak/judge.js";
import { round } from "../../bench/soak/load.js";
import { FEW_KINDS, nameOf, openKind } from "../support/engines.js";

const SEEDS = [1, 2];

test.each(FEW_KINDS.map((kind) => [nameOf(kind), kind] as const))("%s", async (_, kind) => {
  using heed = await openKind(kind, kind.worker === null ? {} : { threads: 2 });
  const rounds = async (): Promise<void> => {
    for (const seed of SEEDS) {
      // Its types are those of the built package.
      await round(heed as never, seed);
      expect(heed.memory()).toMatchObject({ tensors: 0, tensorBytes: 0 });
    }
  };
  // How many calls meet, and so what they take at most, depends on the machine: it may still grow, but not with every round.
  let [before, times] = [0, 0];
  do {
    before = heed.memory().total;
    await rounds();
    times += 1;
  } while (times < 2 || (heed.memory().total > before && times < 6));
  expect(heed.memory().total).toBeLessThanOrEqual(before);
});

test("growth is what the least of a run's last third has above that of the second one", () => {
  const steady = { minutes: 0, heap: 2 ** 24, buffers: 2 ** 22, handles: 3, engine: 2 ** 22, workers: 0, tensors: 0 };
  const run = (change: (at: number) => object) =>
    grown(Array.from({ length: 12 }, (_, at) => ({ ...steady, minutes: at, ...change(at) })));
  expect(run(() => ({}))).toEqual([]);
  // While it warms up, and up and down.
  expect(run((at) => ({ engine: 2 ** 22 + 2 ** 16 * Math.min(at, 4), heap: 2 ** 24 + 2 ** 22 * (at % 2) }))).toEqual(
    [],
  );
  expect(run((at) => ({ handles: at < 8 ? 3 : 4 }))).toEqual(["handles grew from 3 to 4"]);
  expect(run((at) => ({ engine: 2 ** 22 + 2 ** 18 * at }))).toHaveLength(1);
  expect(run((at) => ({ heap: 2 ** 24 + 2 ** 21 * at }))).toHaveLength(1);
});
