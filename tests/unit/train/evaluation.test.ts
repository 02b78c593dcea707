// What train does between steps: evaluations, early stops, the best checkpoint; norms by layer, and the noise of gradients.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import { MLP } from "../../../web/src/layers/index.js";
import {
  AdamW,
  type EvaluationOptions,
  gradients,
  loadCheckpoint,
  meanSquaredError,
  type Pass,
  type StepReport,
  train,
} from "../../../web/src/train/index.js";

const engine = await createHeed({ backend: "wasm" });
afterAll(() => engine.dispose());

const make = () => new MLP({ dim: 4, hidden: 6, engine }).init({ seed: 1 });
const batchOf = (at: number) => ({
  data: Float32Array.from({ length: 12 }, (_, place) => Math.sin(3 * at + place)),
  shape: [3, 4],
});
const loss = async (model: MLP, batch: ReturnType<typeof batchOf>, pass: Pass) =>
  meanSquaredError(await model.forward(batch, { pass }), batch, { pass });

/** Values in place of evaluations. */
async function run(values: readonly number[], options: Partial<EvaluationOptions<MLP>>) {
  const model = make();
  const optimizer = new AdamW(model);
  const asked: number[] = [];
  const states = new Map<number, Awaited<ReturnType<MLP["readParameters"]>>>();
  const result = await train(model, {
    ...{ optimizer, steps: 3 * values.length, batch: batchOf, loss },
    evaluation: {
      every: 3,
      run: async (model, step) => {
        asked.push(step);
        states.set(step, await model.readParameters());
        return values[asked.length - 1] ?? Number.NaN;
      },
      ...options,
    },
  });
  return { model, optimizer, asked, states, ...result };
}

describe("evaluation", () => {
  test.each<[string, readonly number[], Partial<EvaluationOptions<MLP>>, number, number]>([
    ["ends where nothing gets better", [5, 4, 4.5, 4, 3, 2], { patience: 2 }, 12, 6],
    ["goes on without patience", [5, 4, 4.5, 4, 3, 2, 7], {}, 21, 18],
    ["takes for better what is by more than minDelta", [5, 4.8, 4.6, 4.4], { patience: 2, minDelta: 0.5 }, 9, 3],
    ["adds small gains up", [5, 4.8, 4.4, 4.3], { patience: 2, minDelta: 0.5 }, 12, 9],
    ["takes the larger where that is better", [1, 2, 3, 2.5, 2], { patience: 2, larger: true }, 15, 9],
    ["takes a number for better than none", [Number.NaN, 7, Number.NaN, Number.NaN], { patience: 2 }, 12, 6],
  ])("%s", async (_, values, options, steps, best) => {
    const made = await run(values, options);
    expect(made.steps).toBe(steps);
    expect(made.asked).toEqual(Array.from({ length: steps / 3 }, (_, at) => 3 * (at + 1)));
    expect([made.best?.step, made.best?.value]).toEqual([best, values[best / 3 - 1]]);
  });

  test("keeps the state of its best step", async () => {
    const { model, optimizer, best, states } = await run([2, 1, 3], {});
    expect(await model.readParameters()).not.toEqual(states.get(6));
    expect(await loadCheckpoint(best?.file ?? new Uint8Array(), model, optimizer)).toEqual({ step: 6 });
    expect(await model.readParameters()).toEqual(states.get(6));
  });

  test("is absent where none was asked for", async () => {
    const model = make();
    const optimizer = new AdamW(model);
    expect(await train(model, { optimizer, steps: 2, batch: batchOf, loss })).toEqual({ steps: 2, best: undefined });
  });

  test.each<[string, object]>([
    ["train: evaluation: every must be given", { run: () => 1 }],
    ["train: evaluation: run must be a function, got undefined", { every: 1 }],
    ["train: evaluation: patience must be a whole number, 1 or more", { every: 1, run: () => 1, patience: 0 }],
    ['train: evaluation has no option "patence"', { every: 1, run: () => 1, patence: 1 }],
    ["train: evaluation.run must return a number, got undefined", { every: 1, run: () => {} }],
  ])("refuses: %s", async (message, evaluation) => {
    const model = make();
    const options = { optimizer: new AdamW(model), steps: 1, batch: batchOf, loss, evaluation: evaluation as never };
    await expect(train(model, options)).rejects.toThrow(message);
  });
});

describe("norms", () => {
  const square = (data: Float32Array): number => data.reduce((sum, one) => sum + one * one, 0);

  /** The gradients of some batches, each with its share, in double precision. */
  async function reference(parts: readonly number[]) {
    const sums = new Map<string, number[]>();
    const squares: number[] = [];
    for (const part of parts) {
      const model = make();
      await gradients(model, async (pass) => ({ loss: await loss(model, batchOf(part), pass) }));
      let own = 0;
      for (const [name, { data }] of await model.readGradients()) {
        own += square(data);
        sums.set(
          name,
          Array.from(data, (one, at) => (sums.get(name)?.[at] ?? 0) + one / parts.length),
        );
      }
      squares.push(own);
    }
    return { sums: new Map([...sums].map(([name, data]) => [name, Float32Array.from(data)])), squares };
  }

  test.each([1, 3])(
    "are of each layer, with %i batches a step, and noise is by the batches' own gradients",
    async (accumulate) => {
      const parts = Array.from({ length: accumulate }, (_, part) => part);
      const { sums, squares } = await reference(parts);
      const model = make();
      const reports: StepReport[] = [];
      await train(model, {
        optimizer: new AdamW(model),
        ...{ steps: 1, accumulate, loss, norms: true, clip: 1e-3 },
        batch: (_, part) => batchOf(part),
        onStep: (report) => reports.push(report),
      });
      const [{ norm, norms, noise } = {} as StepReport] = reports;
      expect([...(norms?.keys() ?? [])]).toEqual(["up_proj", "down_proj"]);
      for (const [path, value] of norms ?? []) {
        const own = [...sums].filter(([name]) => name.startsWith(path));
        expect(value).toBeCloseTo(Math.sqrt(own.reduce((sum, [, data]) => sum + square(data), 0)), 5);
      }
      const large = [...sums.values()].reduce((sum, data) => sum + square(data), 0);
      expect(norm).toBeCloseTo(Math.sqrt(large), 5);
      if (accumulate === 1) expect(noise).toBeUndefined();
      else {
        const [small = 0] = squares;
        const [signal, variance] = [(3 * large - small) / 2, (small - large) / (1 - 1 / 3)];
        expect(noise).toBeCloseTo(variance / signal, 3);
      }
    },
  );

  test("are there where they are asked for", async () => {
    const model = make();
    const reports: StepReport[] = [];
    const optimizer = new AdamW(model);
    await train(model, { optimizer, steps: 1, batch: batchOf, loss, onStep: (report) => reports.push(report) });
    expect(reports[0]).toMatchObject({ norm: undefined, norms: undefined, noise: undefined });
  });
});
