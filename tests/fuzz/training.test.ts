// Training of random stacks of layers: gradients against the slopes of their definitions in double precision, optimizers against their
// formulas, and the same bits on every kind of worker of a variant.

import { afterAll, expect, test } from "vitest";
import type { Heed } from "../../web/src/index.js";
import { LayerNorm, Linear, MLP, RMSNorm } from "../../web/src/layers/index.js";
import {
  Adam,
  AdamW,
  gradients,
  meanSquaredError,
  type Optimizer,
  Sequential,
  Sgd,
} from "../../web/src/train/index.js";
import { type Drawn, PATIENCE, tried } from "../support/drawn.js";
import { openKinds } from "../support/engines.js";
import { fromSlope, moved } from "../support/slopes.js";

const engines = await openKinds();
afterAll(() => {
  for (const { heed } of engines) heed.dispose();
});

type Rows = readonly (readonly number[])[];
/** A parameter by its name in a layer. */
type Numbers = (name: string) => Float64Array;

interface Part {
  readonly name: string;
  readonly make: (engine: Heed) => Linear | LayerNorm | RMSNorm | MLP;
  readonly value: (x: Rows, of: Numbers) => Rows;
}

const ACTIVATIONS = {
  silu: (x: number) => x / (1 + Math.exp(-x)),
  "gelu-tanh": (x: number) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
} as const;

const EPSILON = 1e-3;

function affine(x: Rows, weight: Float64Array, bias: Float64Array | null): Rows {
  return x.map((row) =>
    Array.from({ length: weight.length / row.length }, (_, o) =>
      row.reduce((sum, a, i) => sum + a * (weight[o * row.length + i] ?? 0), bias?.[o] ?? 0),
    ),
  );
}

function norm(x: Rows, isCentred: boolean, weight: Float64Array, bias: Float64Array | null): Rows {
  return x.map((row) => {
    const mean = isCentred ? row.reduce((sum, a) => sum + a, 0) / row.length : 0;
    const square = row.reduce((sum, a) => sum + (a - mean) ** 2, 0) / row.length;
    return row.map((a, i) => ((a - mean) / Math.sqrt(square + EPSILON)) * (weight[i] ?? 0) + (bias?.[i] ?? 0));
  });
}

/** A layer that takes `dim` numbers, and how many it gives. */
function partOf(random: Drawn, dim: number): readonly [Part, number] {
  const kind = random.pick(["linear", "mlp", "gated", "layer norm", "rms norm"]);
  const bias = random.chance(0.5);
  if (kind === "linear") {
    const outFeatures = random.whole(1, 9);
    const make = (engine: Heed) => new Linear({ inFeatures: dim, outFeatures, bias, engine });
    const value = (x: Rows, of: Numbers) => affine(x, of("weight"), bias ? of("bias") : null);
    return [{ name: `${kind} ${dim} ${outFeatures} ${bias}`, make, value }, outFeatures];
  }
  if (kind === "layer norm" || kind === "rms norm") {
    const isCentred = kind === "layer norm";
    const shape = [dim];
    const make = (engine: Heed) =>
      isCentred ? new LayerNorm({ shape, epsilon: EPSILON, engine }) : new RMSNorm({ shape, epsilon: EPSILON, engine });
    const value = (x: Rows, of: Numbers) => norm(x, isCentred, of("weight"), isCentred ? of("bias") : null);
    return [{ name: `${kind} ${dim}`, make, value }, dim];
  }
  const [hidden, name] = [random.whole(1, 9), random.pick(["silu", "gelu-tanh"] as const)];
  const activation = kind === "gated" ? "swiglu" : name;
  const act = ACTIVATIONS[kind === "gated" ? "silu" : name];
  const make = (engine: Heed) => new MLP({ dim, hidden, activation, bias, engine });
  const value = (x: Rows, of: Numbers) => {
    const by = (part: string, rows: Rows): Rows => affine(rows, of(`${part}.weight`), bias ? of(`${part}.bias`) : null);
    const up = by("up_proj", x);
    if (kind === "mlp")
      return by(
        "down_proj",
        up.map((row) => row.map(act)),
      );
    const gate = by("gate_proj", x);
    return by(
      "down_proj",
      gate.map((row, at) => row.map((a, i) => act(a) * (up[at]?.[i] ?? 0))),
    );
  };
  return [{ name: `${activation} ${dim} ${hidden} ${bias}`, make, value }, dim];
}

interface Rule {
  readonly make: (model: Sequential) => Optimizer;
  /** The new number, and what is kept, from the number, its gradient and what was kept. */
  readonly step: (p: number, g: number, kept: readonly number[], t: number) => readonly [number, ...number[]];
}

function ruleOf(random: Drawn): Rule {
  const [learningRate, weightDecay] = [random.pick([0.1, 1e-3, 1]), random.pick([0, 0.1])];
  const kind = random.pick(["sgd", "adam", "adamw"]);
  if (kind === "sgd") {
    const momentum = random.pick([0, 0.9, 0.5]);
    const nesterov = momentum > 0 && random.chance(0.5);
    return {
      make: (model) => new Sgd(model, { learningRate, weightDecay, momentum, nesterov }),
      step: (p, given, [v], _) => {
        const g = given + weightDecay * p;
        const velocity = v === undefined ? g : momentum * v + g;
        return [p - learningRate * (nesterov ? g + momentum * velocity : velocity), velocity];
      },
    };
  }
  const [beta1, beta2, epsilon] = [random.pick([0.9, 0]), random.pick([0.999, 0.5]), random.pick([1e-8, 1e-3])];
  const options = { learningRate, weightDecay, betas: [beta1, beta2] as const, epsilon };
  const isDecoupled = kind === "adamw";
  return {
    make: (model) => (isDecoupled ? new AdamW(model, options) : new Adam(model, options)),
    step: (p, given, [m = 0, s = 0], t) => {
      const g = isDecoupled ? given : given + weightDecay * p;
      const decayed = isDecoupled ? p * (1 - learningRate * weightDecay) : p;
      const [mean, square] = [beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g * g];
      const root = Math.sqrt(square / (1 - beta2 ** t)) + epsilon;
      return [decayed - (learningRate * (mean / (1 - beta1 ** t))) / root, mean, square];
    },
  };
}

test(
  "gradients and steps of any stack are those of the definitions, with the same bits on every kind of worker",
  async () => {
    await tried("training", 8, async (random) => {
      const first = random.whole(1, 9);
      const parts: Part[] = [];
      let dim = first;
      for (let count = random.whole(1, 4); count > 0; count--) {
        const [part, next] = partOf(random, dim);
        parts.push(part);
        dim = next;
      }
      const rows = random.whole(1, 5);
      const x = { data: random.floats(rows * first), shape: [rows, first] };
      const target = { data: random.floats(rows * dim), shape: [rows, dim] };
      const [rule, seed] = [ruleOf(random), random.whole(0, 1000)];
      const told = parts.map(({ name }) => name).join(", ");
      const split = (data: ArrayLike<number>, width: number): Rows =>
        Array.from({ length: rows }, (_, row) => Array.from(data).slice(row * width, (row + 1) * width));
      const loss = (parameters: ReadonlyMap<string, Float64Array>): number => {
        const of =
          (layer: number): Numbers =>
          (name) =>
            parameters.get(`${layer}.${name}`) ?? raise(`${layer}.${name}`);
        const made = parts.reduce((rows, { value }, at) => value(rows, of(at)), split(x.data, first)).flat();
        return made.reduce((sum, y, at) => sum + (y - (target.data[at] ?? 0)) ** 2, 0) / made.length;
      };
      const bits = new Map<string, unknown>();
      const run = async (name: string, variant: string, model: Sequential, optimizer: Optimizer): Promise<void> => {
        const kept = new Map<string, number[][]>();
        const history: unknown[] = [];
        for (let step = 1; step <= 2; step++) {
          const before = await wide(model.readParameters());
          const made = await gradients(model, async (pass) => ({
            loss: await meanSquaredError(await model.forward(x, { pass }), target, { pass }),
          }));
          const slopes = await wide(model.readGradients());
          if (!bits.has(variant)) {
            const exact = loss(before);
            // Some tens of operations, each of sums of at most nine numbers of the order of the largest, in 2^24 parts.
            const most = [...slopes.values()]
              .flatMap((all) => [...all])
              .reduce((most, g) => Math.max(most, Math.abs(g)), 1);
            const bound = 2 ** -12 * Math.max(most, exact);
            expect(Math.abs(made.loss - exact), told).toBeLessThan(bound);
            for (const [parameter, numbers] of before) {
              for (let at = 0; at < numbers.length; at += 1 + Math.floor(numbers.length / 4)) {
                const shifted = (shift: number): number =>
                  loss(new Map(before).set(parameter, moved(numbers, at, shift)));
                const got = slopes.get(parameter)?.[at] ?? Number.NaN;
                expect(fromSlope(got, shifted, bound), `${parameter} at ${at}: ${told}`).toBeLessThan(bound);
              }
            }
          }
          await optimizer.step();
          const after = await wide(model.readParameters());
          for (const [parameter, numbers] of before) {
            const states = kept.get(parameter) ?? Array.from(numbers, () => []);
            kept.set(parameter, states);
            for (const [at, number] of numbers.entries()) {
              const g = slopes.get(parameter)?.[at] ?? Number.NaN;
              const [wanted, ...state] = rule.step(number, g, states[at] ?? [], step);
              const error = Math.abs((after.get(parameter)?.[at] ?? Number.NaN) - wanted);
              // A dozen roundings of the number, of the change, and of the gradient, of which weight decay may leave little.
              const slack = 2 ** -20 * (Math.abs(g) + Math.abs(number));
              const [more = 0, less = 0] = [slack, -slack].map(
                (by) => rule.step(number, g + by, states[at] ?? [], step)[0],
              );
              states[at] = state;
              const bound =
                2 ** -20 * (Math.abs(number) + Math.abs(wanted - number)) + Math.abs(more - less) + 2 ** -100;
              expect(error, `${name}, step ${step}, ${parameter} at ${at}: ${told}`).toBeLessThanOrEqual(bound);
            }
          }
          history.push(made.loss, [...slopes], [...after]);
        }
        if (!bits.has(variant)) bits.set(variant, history);
        else expect(history, `${name}: ${told}`).toEqual(bits.get(variant));
      };
      for (const { name, variant, heed } of engines) {
        const layers = parts.map(({ make }) => make(heed));
        const model = new Sequential(layers, { engine: heed }).init({ seed });
        const optimizer = rule.make(model);
        try {
          await run(name, variant, model, optimizer);
        } finally {
          optimizer.dispose();
          model.dispose();
        }
        expect(heed.memory().tensors, name).toBe(0);
      }
    });
  },
  PATIENCE,
);

async function wide(read: ReturnType<Sequential["readParameters"]>): Promise<ReadonlyMap<string, Float64Array>> {
  return new Map([...(await read)].map(([name, { data }]) => [name, Float64Array.from(data as Float32Array)]));
}

function raise(name: string): never {
  throw new Error(`there is no ${name}`);
}
