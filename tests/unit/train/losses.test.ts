// Losses of the operations of a pass: against PyTorch's values, against central differences of their definitions in double precision, and a
// contrastive run step by step.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed, type Tensor, type TensorInput } from "../../../web/src/index.js";
import { Layer, Linear } from "../../../web/src/layers/index.js";
import {
  AdamW,
  contrastive,
  cosine,
  crossEntropy,
  focal,
  gradients,
  klDivergence,
  type Pass,
  train,
} from "../../../web/src/train/index.js";
import { readFixture, unpackAll } from "../../support/fixtures.js";

const engine = await createHeed({ backend: "wasm" });
afterAll(() => engine.dispose());
const model = new Linear({ inFeatures: 1, outFeatures: 1, engine }).init();

interface Case {
  readonly inputs: Parameters<typeof unpackAll>[0];
  readonly gradients: Parameters<typeof unpackAll>[0];
  readonly loss: number;
  readonly options: Readonly<Record<string, never>>;
  readonly targets?: readonly number[];
}

interface Run {
  readonly parameters: Parameters<typeof unpackAll>[0];
  readonly x: never;
  readonly y: never;
  readonly losses: readonly number[];
  readonly symmetric: boolean;
}

const fixture = readFixture("losses.json") as unknown as Readonly<Record<string, readonly Case[]>> & {
  readonly runs: readonly Run[];
};

type Rows = readonly (readonly number[])[];
const rowsOf = (numbers: ArrayLike<number>, length: number): Rows =>
  Array.from({ length: numbers.length / length }, (_, row) =>
    Array.from(numbers).slice(row * length, (row + 1) * length),
  );
const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, one, at) => sum + one * (b[at] ?? 0), 0);
const cosineOf = (a: readonly number[], b: readonly number[]): number => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
const logsOf = (row: readonly number[]): readonly number[] => {
  const sum = row.reduce((total, one) => total + Math.exp(one), 0);
  return row.map((one) => one - Math.log(sum));
};
const mean = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0) / all.length;
const matching = (logits: Rows): number => mean(logits.map((row, at) => -(logsOf(row)[at] ?? 0)));

/** In double precision, from numbers one behind the other. */
type Reference = (a: ArrayLike<number>, b: ArrayLike<number>, one: Case, lengths: readonly number[]) => number;

const REFERENCES: Readonly<Record<string, Reference>> = {
  contrastive(a, b, { options: { temperature, symmetric } }, [length = 0]) {
    const [queries, keys] = [rowsOf(a, length), rowsOf(b, length)];
    const logits = queries.map((query) => keys.map((key) => cosineOf(query, key) / Number(temperature)));
    const back = keys.map((_, key) => logits.map((row) => row[key] ?? 0));
    return symmetric ? (matching(logits) + matching(back)) / 2 : matching(logits);
  },
  cosine(a, b, { options: { targets, margin } }, [length = 0]) {
    const keys = rowsOf(b, length);
    const signs: readonly number[] | undefined = targets;
    return mean(
      rowsOf(a, length).map((row, at) => {
        const like = cosineOf(row, keys[at] ?? []);
        return (signs?.[at] ?? 1) > 0 ? 1 - like : Math.max(0, like - Number(margin));
      }),
    );
  },
  klDivergence(a, b, { options: { temperature } }, [length = 0]) {
    const cooled = (numbers: ArrayLike<number>): Rows =>
      rowsOf(numbers, length).map((row) => logsOf(row.map((one) => one / Number(temperature))));
    const own = cooled(a);
    const rows = cooled(b).map((row, at) =>
      row.reduce((sum, log, key) => sum + Math.exp(log) * (log - (own[at]?.[key] ?? 0)), 0),
    );
    return mean(rows) * Number(temperature) ** 2;
  },
  crossEntropy: (a, _, one, [length = 0]) => ofClasses(a, one, length),
  focal: (a, _, one, [length = 0]) => ofClasses(a, one, length),
};

function ofClasses(a: ArrayLike<number>, { options, targets = [] }: Case, length: number): number {
  const { weights, gamma = 0, labelSmoothing: share = 0 } = options;
  const of = (label: number): number => (weights as readonly number[] | undefined)?.[label] ?? 1;
  let [sum, total] = [0, 0];
  for (const [at, row] of rowsOf(a, length).entries()) {
    const target = targets[at] ?? -100;
    if (target < 0) continue;
    const logs = logsOf(row);
    const own = logs[target] ?? 0;
    const smooth = logs.reduce((all, log, label) => all - (of(label) * log) / length, 0);
    sum += (1 - share) * of(target) * (1 - Math.exp(own)) ** gamma * -own + share * smooth;
    total += of(target);
  }
  return sum / total;
}

const LOSSES: Readonly<Record<string, (a: Tensor, b: TensorInput, one: Case, pass: Pass) => Promise<Tensor>>> = {
  contrastive: (a, b, { options }, pass) => contrastive(a, b, { ...options, pass }),
  cosine: (a, b, { options }, pass) => cosine(a, b, { ...options, pass }),
  klDivergence: (a, b, { options }, pass) => klDivergence(a, b, { ...options, pass }),
  crossEntropy: (a, _, { options, targets = [] }, pass) => crossEntropy(a, [...targets], { ...options, pass }),
  focal: (a, _, { options, targets = [] }, pass) => focal(a, [...targets], { ...options, pass }),
};

const ALL = Object.keys(LOSSES).flatMap((name) =>
  (fixture[name] ?? []).map((one, at) => [`${name} ${at} ${JSON.stringify(one.options)}`, name, one] as const),
);

test.each(ALL)("%s is PyTorch's, with its gradients", async (_, name, one) => {
  const inputs = unpackAll(one.inputs);
  const wanted = unpackAll(one.gradients);
  const [a, b] = [inputs.get("a"), inputs.get("b")];
  if (a === undefined) throw new Error("a case has a");
  const { loss, inputGradients } = await gradients(model, async (pass) => {
    const query = await pass.input(a);
    const key = b && (wanted.has("b") ? await pass.input(b) : b);
    return { loss: LOSSES[name]?.(query, key ?? a, one, pass) };
  });
  // Some tens of roundings of numbers of about 1, divided by temperatures down to 0.07.
  expect(Math.abs(loss - one.loss)).toBeLessThan(2 ** -19 * Math.max(1, Math.abs(one.loss)));
  for (const [at, input] of ["a", "b"].entries()) {
    const slopes = wanted.get(input)?.data;
    if (slopes === undefined) continue;
    const got = inputGradients[at]?.data ?? new Float32Array();
    const bound = 2 ** -18 * Math.max(1, ...slopes.map(Math.abs));
    for (const [place, slope] of slopes.entries()) {
      expect(Math.abs((got[place] ?? Number.NaN) - slope), `${input} at ${place}`).toBeLessThan(bound);
    }
    const doubles = { a: Float64Array.from(a.data), b: Float64Array.from(b?.data ?? []) };
    const numbers = input === "a" ? doubles.a : doubles.b;
    const value = (): number => REFERENCES[name]?.(doubles.a, doubles.b, one, a.shape.slice(-1)) ?? Number.NaN;
    expect(value()).toBeCloseTo(one.loss, 6);
    for (const [place, middle] of numbers.entries()) {
      const shifted = (by: number): number => {
        numbers[place] = middle + by;
        const made = value();
        numbers[place] = middle;
        return made;
      };
      const h = 1e-4;
      const slope = (8 * (shifted(h) - shifted(-h)) - (shifted(2 * h) - shifted(-2 * h))) / (12 * h);
      expect(Math.abs((got[place] ?? Number.NaN) - slope), `difference of ${input} at ${place}`).toBeLessThan(bound);
    }
  }
});

/** Two encoders of pairs. */
class Pairs extends Layer {
  readonly encoders = [0, 1].map((at) => this.part(`${at}`, new Linear({ inFeatures: 8, outFeatures: 6, engine })));
  readonly temperature = this.parameter("temperature", { shape: [1] });

  constructor() {
    super("Pairs", engine);
  }
}

test.each(fixture.runs.map((one) => [one.symmetric ? "symmetric" : "plain", one] as const))(
  "a contrastive run, %s, has PyTorch's losses for 20 steps",
  async (_, { parameters, losses, symmetric, ...data }) => {
    const pairs = new Pairs();
    const loaded = new Map(unpackAll(parameters));
    loaded.set("temperature", { data: Float32Array.of(0.2), shape: [1] });
    pairs.load(loaded);
    const both = unpackAll(data as never);
    const got: number[] = [];
    await train(pairs, {
      optimizer: new AdamW(pairs, { learningRate: 0.02 }),
      steps: losses.length,
      batch: () => both,
      loss: async ({ encoders, temperature }, batch, pass) => {
        const [a, b] = ["x", "y"].map((name, at) => encoders[at]?.forward(batch.get(name) as TensorInput, { pass }));
        return contrastive(a as Promise<Tensor>, b as Promise<Tensor>, { pass, temperature, symmetric });
      },
      onStep: ({ loss }) => got.push(loss),
    });
    for (const [step, loss] of losses.entries())
      expect(Math.abs((got[step] ?? 9) - loss), `step ${step}`).toBeLessThan(2e-4);
    expect(losses.at(-1)).toBeLessThan((losses[0] ?? 0) / 2);
  },
);

describe("refuses", () => {
  const [x, y] = [
    { data: new Float32Array(6).fill(1), shape: [2, 3] },
    { data: new Float32Array(3).fill(1), shape: [1, 3] },
  ];
  test.each<[string, string, (pass: Pass, logits: Tensor) => Promise<unknown>]>([
    [
      "shape",
      "contrastive: queries must be [N, D] and keys [N, D], or have more rows, got [2, 3] and [1, 3]",
      (pass) => contrastive(x, y, { pass }),
    ],
    [
      "shape",
      "contrastive: queries must be [N, D] and keys [N, D], got [1, 3] and [2, 3]",
      (pass) => contrastive(y, x, { pass, symmetric: true }),
    ],
    [
      "option",
      "contrastive: temperature must be greater than 0, got 0",
      (pass) => contrastive(x, x, { pass, temperature: 0 }),
    ],
    ["shape", "cosine: both must have one shape, got [2, 3] and [1, 3]", (pass) => cosine(x, y, { pass })],
    ["option", "cosine: targets must be 2 numbers, each 1 or -1", (pass) => cosine(x, x, { pass, targets: [1, 0] })],
    [
      "option",
      'klDivergence: options has no option "temprature"',
      (pass) => klDivergence(x, x, { pass, temprature: 1 } as never),
    ],
    [
      "unsupported",
      "klDivergence: the teacher must not depend on what learns",
      (pass, logits) => klDivergence(x, logits, { pass }),
    ],
    ["option", "focal: gamma must be at least 0, got -1", (pass, logits) => focal(logits, [0, 1], { pass, gamma: -1 })],
    [
      "option",
      "crossEntropy: weights must be 3 numbers of at least 0",
      (pass, logits) => crossEntropy(logits, [0, 1], { pass, weights: [1, 2] }),
    ],
    [
      "option",
      "crossEntropy: a target that counts must have a weight above 0, got none",
      (pass, logits) => crossEntropy(logits, [0, 0], { pass, weights: [0, 1, 1] }),
    ],
    ["option", "contrastive: pass must be the one that gradients gives", () => contrastive(x, x, {} as never)],
  ])("%s: %s", async (code, message, act) => {
    const run = gradients(model, async (pass) => {
      const logits = await pass.input(x);
      await act(pass, logits);
      return { loss: pass.sum(logits) };
    });
    await expect(run).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });
});

test("a class that a teacher rules out adds nothing to a divergence", async () => {
  const model = new Linear({ inFeatures: 2, outFeatures: 3, engine }).init() as Linear;
  const x = { data: Float32Array.of(1, 2), shape: [1, 2] };
  const divergence = async (numbers: readonly number[], shape: readonly number[]): Promise<number> => {
    const { loss } = await gradients(model, async (pass) => {
      const own = await model.forward(x, { pass });
      const logits = shape[1] === 3 ? own : await pass.slice(own, { axis: 1, to: 2 });
      return { loss: await klDivergence(logits, { data: Float32Array.from(numbers), shape }, { pass }) };
    });
    return loss;
  };
  const { data: logits } = await model.forward(x);
  const [p, q] = [[0, 1, -Infinity], [...logits]].map((row) => {
    const sum = row.reduce((total, one) => total + Math.exp(one), 0);
    return row.map((one) => Math.exp(one) / sum);
  });
  const wanted = (p ?? []).reduce((sum, one, at) => sum + (one === 0 ? 0 : one * Math.log(one / (q?.[at] ?? 0))), 0);
  expect(await divergence([0, 1, -Infinity], [1, 3])).toBeCloseTo(wanted, 5);
  expect([...(await model.readGradients()).values()].every(({ data }) => data.every(Number.isFinite))).toBe(true);
  model.dispose();
});

test("a loss in both directions leaves nothing behind where the pass ends before it", async () => {
  const model = new Linear({ inFeatures: 4, outFeatures: 4, engine }).init() as Linear;
  const x = { data: Float32Array.from({ length: 12 }, (_, at) => Math.cos(at)), shape: [3, 4] };
  for (let turns = 0; turns < 200; turns += 3) {
    const fails = async (): Promise<never> => {
      for (let turn = 0; turn < turns; turn++) await null;
      throw new Error("mine");
    };
    const ended = gradients(model, async (pass) => {
      const own = await pass.input(x);
      await Promise.all([contrastive(own, x, { pass, symmetric: true }), fails()]);
      return {};
    });
    await expect(ended).rejects.toThrow();
    // What nobody handles ends the test.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  model.dispose();
});
