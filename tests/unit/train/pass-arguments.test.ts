// Arguments of a pass as callers get them wrong, promise them, or change them meanwhile. An unhandled rejection fails the run.

import { setImmediate } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
// Slopes that learn are an expression, which its compiler makes.
import "../../../web/src/expr/index.js";
import { createHeed, type Tensor } from "../../../web/src/index.js";
import { Embedding, Layer, LayerNorm, Linear, type ParameterRule } from "../../../web/src/layers/index.js";
import { evaluate, gradients, type Pass, Sequential } from "../../../web/src/train/index.js";
import { Random } from "../../support/random.js";

const engine = await createHeed({ backend: "wasm", threads: 1 });
afterAll(() => engine.dispose());

const random = new Random(71);
const draw = (...shape: number[]) => ({ data: random.floats(shape.reduce((a, b) => a * b, 1)), shape });
const numbers = (...data: number[]) => ({ data: Float32Array.from(data), shape: [data.length] });

const model = new Linear({ inFeatures: 1, outFeatures: 1, engine }).init();
const [q, k, v] = [draw(1, 2, 3, 4), draw(1, 2, 5, 4), draw(1, 2, 5, 4)];

class Own extends Layer {
  readonly own;

  constructor(rule: ParameterRule, name = "own") {
    super("Own", engine);
    this.part("inner", new Linear({ inFeatures: 1, outFeatures: 1, engine }));
    this.parameter("taken", { shape: [1] });
    this.own = this.parameter(name, rule);
  }
}

/** The output of a function of a pass, as it is read. */
async function made(act: (pass: Pass) => Promise<Tensor>): Promise<readonly number[]> {
  const { y } = await evaluate(model, async (pass) => ({ loss: await pass.sum(1), y: await act(pass) }));
  return [...y.data];
}

describe("promises that reject", () => {
  type Act = (pass: Pass, failing: Promise<Tensor>) => Promise<unknown>;

  test.each<[string, Act]>([
    ["bias", (pass, bias) => pass.attention(q, k, v, { bias })],
    ["temperature", (pass, temperature) => pass.attention(q, k, v, { temperature })],
    ["score.w", (pass, w) => pass.attention(q, k, v, { score: { type: "general", w } })],
    ["decay", (pass, decay) => pass.linearAttention(q, k, v, { rule: "gated", decay } as never)],
    ["state", (pass, state) => pass.linearAttention(q, k, v, { rule: "linear", state } as never)],
    ["an input", (pass, one) => pass.apply({ inputs: [one], forward: () => q, backward: () => [] })],
  ])("tell why: %s", async (_, act) => {
    const run = evaluate(model, async (pass) => {
      await act(pass, Promise.reject(new Error("mine")));
      return { loss: await pass.sum(1) };
    });
    await expect(run).rejects.toThrow("mine");
    await setImmediate();
  });

  test.each<[string, Act]>([
    ["bias", (pass, bias) => pass.attention(q, k, v, { bias, causl: true } as never)],
    ["query", (pass, query) => pass.attention(query, k, v, { causl: true } as never)],
    ["x", (pass, x) => pass.sum(x, { axs: 0 } as never)],
    ["tensors", (pass, x) => pass.concat([x, x], { axs: 0 } as never)],
    ["inputs", (pass, x) => pass.apply({ inputs: [x], forwrd: 0 } as never)],
    ["indices", (pass, x) => pass.gather(x, [0.5])],
  ])("have handlers beside what is refused: %s", async (_, act) => {
    const run = evaluate(model, async (pass) => {
      await act(pass, Promise.reject(new Error("mine")));
      return { loss: await pass.sum(1) };
    });
    await expect(run).rejects.toMatchObject({ code: "option" });
    await setImmediate();
  });
});

test("what a pass returns may be promised", async () => {
  const own = new Own({ shape: [2], init: "ones" }).init();
  const { loss, twice } = await gradients(own, async (pass) => ({
    loss: pass.sum(pass.mul(own.own, 3)),
    twice: pass.mul(own.own, 2),
  }));
  expect([loss, ...twice.data]).toEqual([6, 2, 2]);
  expect([...((await own.readGradients()).get("own")?.data ?? [])]).toEqual([3, 3]);
  const failed = gradients(own, async (pass) => ({ loss: pass.sum(own.own), other: pass.sum(own.own, { axis: 7 }) }));
  await expect(failed).rejects.toThrow("Pass.sum: axis must be below 1");
  own.dispose();
});

describe("attention", () => {
  const temperatures = async (isWithQuery: boolean): Promise<readonly number[]> => {
    const { inputGradients } = await gradients(model, async (pass) => {
      const temperature = await pass.input(numbers(1.7));
      const query = isWithQuery ? await pass.input(q) : q;
      const { output } = await pass.attention(query, k, v, { temperature });
      return { loss: await pass.sum(pass.mul(output, output)) };
    });
    return [...(inputGradients[0]?.data ?? [])];
  };

  test("has a temperature that learns where queries do not", async () => {
    expect(await temperatures(false)).toEqual(await temperatures(true));
  });

  test("takes a temperature as an array of one number", async () => {
    const outputOf = (temperature: number | { data: Float32Array; shape: number[] }) =>
      made(async (pass) => (await pass.attention(q, k, v, { temperature })).output);
    expect(await outputOf(numbers(1.7))).toEqual(await outputOf(Math.fround(1.7)));
    await expect(outputOf(numbers(1, 2))).rejects.toThrow("Pass.attention: temperature must be one number, got [2]");
  });

  test("reads its options before it returns", async () => {
    const bias = draw(3, 5);
    const sinks = Float32Array.of(0.5, -0.5);
    const outputOf = (isChanged: boolean) =>
      made(async (pass) => {
        const options = { bias: { ...bias, data: bias.data.slice() }, sinks: sinks.slice(), causal: false };
        const result = pass.attention(q, k, v, options);
        if (isChanged) {
          options.bias.data.fill(9);
          options.sinks.fill(9);
          options.causal = true;
        }
        return (await result).output;
      });
    expect(await outputOf(true)).toEqual(await outputOf(false));
  });

  test("refuses a cache, and slopes that are not one number for each head", async () => {
    const run = (options: (pass: Pass) => object) =>
      made(async (pass) => (await pass.attention(q, k, v, options(pass))).output as Tensor);
    await expect(run(() => ({ cache: {} }))).rejects.toThrow('Pass.attention: options has no option "cache"');
    const rule = "Pass.attention: alibiSlopes must hold a number of at most 1e30 for each of 2 query heads";
    for (const [slopes, got] of [
      [numbers(1, 2, 3), "[3]"],
      [numbers(1), "[1]"],
      [numbers(1, Number.NaN), "one that is not"],
    ] as const) {
      await expect(run((pass) => ({ alibiSlopes: pass.input(slopes) }))).rejects.toThrow(`${rule}, got ${got}`);
    }
  });

  test.each([3, 0.5])("adds slopes that learn to a score of %f", async (constant) => {
    const outputOf = (slopes: (pass: Pass) => readonly number[] | Promise<Tensor>) =>
      made(async (pass) => {
        const scoreMod = () => constant;
        return (await pass.attention(q, k, v, { alibiSlopes: slopes(pass), scoreMod })).output;
      });
    const [got, wanted] = [await outputOf((pass) => pass.input(numbers(0.5, 0.25))), await outputOf(() => [0.5, 0.25])];
    // Exponents of at most 8, which are rounded otherwise.
    for (const [at, one] of got.entries()) expect(one).toBeCloseTo(wanted[at] ?? Number.NaN, 5);
  });
});

test("axes and positions are read before calls return", async () => {
  const x = draw(2, 3, 4);
  const of = (isChanged: boolean) =>
    made(async (pass) => {
      const [axis, positions] = [
        [0, 1],
        [3, 1, 7],
      ];
      const [sum, turned] = [pass.sum(x, { axis }), pass.rope(x, { positions })];
      if (isChanged) for (const array of [axis, positions]) array.fill(1);
      return pass.concat([sum, pass.reshape(turned, [-1])]);
    });
  expect(await of(true)).toEqual(await of(false));
});

test("a condition may be a number, a parameter, or a promise", async () => {
  const own = new Own({ shape: [2], init: () => Float32Array.of(0, 1) }).init();
  const { y } = await evaluate(own, async (pass) => {
    const condition = pass.where(1, own.own, 0);
    return { loss: pass.sum(1), y: pass.where(condition, 5, pass.where(own.own, 6, 7)) };
  });
  expect([...y.data]).toEqual([7, 5]);
  own.dispose();
});

test("numbers that are equally large share the gradient, also of many in a few rows", async () => {
  const { inputGradients } = await gradients(model, async (pass) => {
    const x = await pass.input({ data: new Float32Array(128).fill(2), shape: [128, 1] });
    return { loss: await pass.sum(pass.max(pass.mul(x, numbers(1)), { axis: 0 })) };
  });
  expect(inputGradients[0]?.data).toEqual(new Float32Array(128).fill(1 / 128));
  const some = new Float32Array(128);
  for (const at of [0, 1, 64]) some[at] = 5;
  const few = await gradients(model, async (pass) => ({
    loss: pass.max(await pass.input({ data: some, shape: [128] })),
  }));
  expect([0, 1, 64].map((at) => few.inputGradients[0]?.data[at])).toEqual(Array(3).fill(Math.fround(1 / 3)));
});

test.each([
  ["parts of numbers", [0.7]],
  ["NaN", [Number.NaN]],
  ["more than 32 bits", [2 ** 32]],
  ["negative sizes", { data: [0, 1], shape: [-1, -2] }],
  ["parts of sizes", { data: [0, 1], shape: [0.5, 4] }],
  ["none", []],
])("gather refuses %s", async (_, indices) => {
  const run = made((pass) => pass.gather(draw(2, 3), indices as never));
  await expect(run).rejects.toThrow("Pass.gather: indices");
});

test("a parameter without numbers is refused", async () => {
  const own = new Own({ shape: [0] }).init();
  const run = evaluate(own, async (pass) => ({ loss: pass.sum(own.own) }));
  await expect(run).rejects.toThrow("Pass.sum: x must have a number at least, got [0]");
  own.dispose();
});

test.each<[string, unknown, unknown]>([
  ['Own: parameter own.init must be one of "zeros", "ones", got "gaussian"', { shape: [1], init: "gaussian" }, "own"],
  ['Own: parameter own has no option "Init"', { shape: [1], Init: "ones" }, "own"],
  ["Own: parameter own must be an object, got null", null, "own"],
  ["Own: parameter own.shape must be an array", { init: "ones" }, "own"],
  ["Own: the name of a parameter must be a string without dots, not empty, got 5", { shape: [1] }, 5],
  ["Own: the name of a parameter must be a string without dots, not empty", { shape: [1] }, ""],
  ["Own: the name of a parameter must be a string without dots, not empty", { shape: [1] }, "a.b"],
  ['Own: two parameters or parts must not have one name, got "taken"', { shape: [1] }, "taken"],
  ['Own: two parameters or parts must not have one name, got "inner"', { shape: [1] }, "inner"],
])("a layer refuses parameters: %s", (message, rule, name) => {
  expect(() => new Own(rule as never, name as never)).toThrow(message);
  expect(() => new Own(rule as never, name as never)).toThrow(expect.objectContaining({ name: "HeedError" }));
});

describe("functions of the caller", () => {
  const run = (forward: (x: Float32Array) => void, backward: (x: Float32Array) => void) =>
    gradients(model, async (pass) => {
      const y = pass.apply({
        inputs: [await pass.input(numbers(1, 2))],
        forward: ([x]) => {
          forward(x?.data ?? new Float32Array());
          return numbers(1, 1);
        },
        backward: ({ inputs: [x] }) => {
          backward(x?.data ?? new Float32Array());
          return [x?.data];
        },
      });
      return { loss: pass.sum(y) };
    });

  test("have errors that name them", async () => {
    const own = new RangeError("mine");
    const fail = () => {
      throw own;
    };
    await expect(run(fail, () => {})).rejects.toMatchObject({
      code: "option",
      message: expect.stringContaining("Pass.apply: forward failed: "),
      cause: own,
    });
    await expect(run(() => {}, fail)).rejects.toMatchObject({
      code: "option",
      message: expect.stringContaining("Pass.apply: backward failed: "),
      cause: own,
    });
  });

  test("have arrays of their own", async () => {
    const { inputGradients } = await run(
      (x) => x.fill(9),
      () => {},
    );
    expect([...(inputGradients[0]?.data ?? [])]).toEqual([1, 2]);
  });
});

describe("Sequential", () => {
  const make = () =>
    new Sequential(
      [
        new Embedding({ count: 3, dim: 2, engine }),
        new LayerNorm({ shape: 2, engine }),
        new Linear({ inFeatures: 2, outFeatures: 1, engine }),
      ],
      { engine },
    ).init({ seed: 1 });

  test("computes with and without a pass, from indices too, and leaves nothing in the engine", async () => {
    const layers = make();
    const alone = await layers.forward([2, 0]);
    const before = engine.memory().tensors;
    const again = await layers.forward([2, 0], { keep: true });
    expect(await again.read()).toEqual(alone.data);
    again.dispose();
    expect(engine.memory().tensors).toBe(before);
    const { y } = await evaluate(layers, async (pass) => ({ loss: pass.sum(1), y: layers.forward([2, 0], { pass }) }));
    expect(y.data).toEqual(alone.data);
    layers.dispose();
  });

  test("refuses options that it does not have", async () => {
    const layers = make();
    await expect(layers.forward([0], { kep: true } as never)).rejects.toThrow(
      'Sequential: options has no option "kep"',
    );
    await expect(layers.forward([0], { pass: 5 as never })).rejects.toThrow(
      "pass must be the one that gradients gives",
    );
    expect(() => new Sequential([layers], { engin: engine } as never)).toThrow('options has no option "engin"');
    expect(() => new Sequential([layers], null as never)).toThrow("Sequential: options must be an object, got null");
    layers.dispose();
  });
});
