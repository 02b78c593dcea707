// What checkpoints, losses and schedules refuse, with the rule and what arrived; and that losses read their targets at once.

import { describe, expect, test } from "vitest";
import { createHeed, type Heed, type Tensor } from "../../../web/src/index.js";
import {
  Encoder,
  type Layer,
  Linear,
  loadSafetensors,
  readSafetensorsHeader,
  saveSafetensors,
} from "../../../web/src/layers/index.js";
import {
  Adam,
  AdamW,
  binaryCrossEntropy,
  constant,
  crossEntropy,
  gradients,
  linear,
  loadCheckpoint,
  lora,
  meanSquaredError,
  type Pass,
  Sgd,
  saveCheckpoint,
  warmupCosine,
} from "../../../web/src/train/index.js";

type Optimizer = Adam | Sgd;

const refusal = (code: string, message: string | RegExp) => ({
  name: "HeedError",
  code,
  message: typeof message === "string" ? message : expect.stringMatching(message),
});

describe("loadCheckpoint", () => {
  const x = { data: Float32Array.from({ length: 8 }, (_, at) => Math.sin(at)), shape: [2, 4] };
  const lossOf = (model: Linear | Encoder) => async (pass: Pass) => {
    const output =
      model instanceof Linear ? await model.forward(x, { pass }) : (await model.forward(x, { pass })).output;
    return { loss: await meanSquaredError(output, { data: new Float32Array(8), shape: [2, 4] }, { pass }) };
  };
  const layer = (engine: Heed): Linear => new Linear({ inFeatures: 4, outFeatures: 4, engine }).init({ seed: 1 });

  /** The file of a model after one step. */
  async function fileOf<M extends Linear | Encoder>(model: M, optimizerOf: (model: M) => Optimizer) {
    const optimizer = optimizerOf(model);
    await gradients(model, lossOf(model));
    await optimizer.step();
    return saveCheckpoint(model, optimizer);
  }

  type Tensors = Map<string, { data: Float32Array; shape: readonly number[] }>;

  /** The file with other tensors, or with other notes: a text, or what to assign to them. */
  async function changed(
    file: Uint8Array<ArrayBuffer>,
    notes: string | object,
    change: (tensors: Tensors) => void = () => {},
  ) {
    const tensors = (await loadSafetensors(file)) as Tensors;
    change(tensors);
    const old = (await readSafetensorsHeader(file)).metadata.get("checkpoint") ?? "";
    const checkpoint = typeof notes === "string" ? notes : JSON.stringify({ ...JSON.parse(old), ...notes });
    return saveSafetensors(tensors, { checkpoint });
  }

  /** Neither the model nor the optimizer changes where a file is refused. */
  async function refuses(
    file: Uint8Array<ArrayBuffer>,
    model: Layer,
    optimizer: Optimizer,
    code: string,
    message: string | RegExp,
  ) {
    const [before, { steps }] = [await model.readParameters(), optimizer];
    await expect(loadCheckpoint(file, model, optimizer)).rejects.toMatchObject(refusal(code, message));
    expect(await model.readParameters()).toEqual(before);
    expect(optimizer.steps).toBe(steps);
  }

  test("a file with more layers than the model", async () => {
    using engine = await createHeed({ backend: "wasm" });
    const encoder = (layers: number) => new Encoder({ layers, dim: 4, heads: 2, engine }).init({ seed: 1 });
    const file = await fileOf(encoder(2), (model) => new AdamW(model));
    const small = encoder(1);
    const message =
      /^loadCheckpoint: the file must have only tensors of the model and the optimizer, got (optimizer\.means\.)?layers\.1\.\S+$/;
    await refuses(file, small, new AdamW(small), "load", message);
    const strange = await changed(file, {}, (tensors) =>
      tensors.set("optimizer.thirds.x", { data: new Float32Array(1), shape: [1] }),
    );
    const same = encoder(2);
    await refuses(strange, same, new AdamW(same), "load", /got optimizer\.thirds\.x$/);
  });

  test("a file of another kind of optimizer, and no file of before kinds were noted", async () => {
    using engine = await createHeed({ backend: "wasm" });
    const file = await fileOf(layer(engine), (model) => new AdamW(model));
    const model = layer(engine);
    const rule = "loadCheckpoint: the file must be of the optimizer's kind,";
    await refuses(file, model, new Adam(model), "load", `${rule} Adam, got "AdamW"`);
    const other = await fileOf(layer(engine), (model) => new Adam(model));
    await refuses(other, model, new AdamW(model), "load", `${rule} AdamW, got "Adam"`);
    const plain = await fileOf(layer(engine), (model) => new Sgd(model, { learningRate: 0.1 }));
    await refuses(plain, model, new AdamW(model), "load", `${rule} AdamW, got "Sgd"`);
    const before = await changed(file, { optimizer: undefined, alphas: undefined });
    expect(await loadCheckpoint(before, model, new Adam(model))).toEqual({ step: 1 });
  });

  test("a file with a part of what the optimizer keeps, or with tensors of another size", async () => {
    using engine = await createHeed({ backend: "wasm" });
    const file = await fileOf(layer(engine), (model) => new AdamW(model));
    const model = layer(engine);
    const half = await changed(file, {}, (tensors) => tensors.delete("optimizer.squares.weight"));
    const missing = "loadCheckpoint: parameter optimizer.squares.weight is missing among the 5 that were given";
    await refuses(half, model, new AdamW(model), "option", missing);
    const short = await changed(file, {}, (tensors) =>
      tensors.set("optimizer.squares.weight", { data: new Float32Array(8), shape: [2, 4] }),
    );
    const shapes = "loadCheckpoint: parameter optimizer.squares.weight must be [4, 4], got [2, 4]";
    await refuses(short, model, new AdamW(model), "shape", shapes);
  });

  test("notes that saveCheckpoint does not write", async () => {
    using engine = await createHeed({ backend: "wasm" });
    const file = await fileOf(layer(engine), (model) => new AdamW(model));
    const model = layer(engine);
    const optimizer = new AdamW(model);
    const refuse = async (notes: string | object, code: string, message: string | RegExp) =>
      refuses(await changed(file, notes), model, optimizer, code, message);
    for (const [text, got] of [
      ["null", "null"],
      ["5", "5"],
      ["[]", "[]"],
      ["not JSON", '"not JSON"'],
    ] as const) {
      const message = `loadCheckpoint: notes of the file must be an object, as saveCheckpoint writes them, got ${got}`;
      await refuse(text, "load", message);
    }
    await refuse("{}", "option", "loadCheckpoint: step of the file must be given");
    const whole = (name: string, got: string) =>
      new RegExp(`^loadCheckpoint: ${name} of the file must be a whole number, 0 or more, up to \\d+, got ${got}$`);
    await refuse({ step: "x" }, "option", whole("step", '"x"'));
    await refuse({ step: null }, "option", whole("step", "null"));
    await refuse({ steps: -1 }, "option", whole("steps", "-1"));
    await refuse({ steps: 0.5 }, "option", whole("steps", "0.5"));
    await refuse({ stepsOf: { weight: -1, bias: 1 } }, "option", whole("stepsOf weight", "-1"));
    await refuse({ stepsOf: 3 }, "load", /^loadCheckpoint: stepsOf of the file must be an object/);
    await refuse({ tied: "weight" }, "load", /^loadCheckpoint: tied of the file must be an object/);
    await refuse({ tied: { weight: "bias" } }, "load", /tied weight of the file must be an array of names, got "bias"/);
    await refuse({ alphas: 1 }, "load", /^loadCheckpoint: alphas of the file must be an object/);
    expect(await loadCheckpoint(file, model, optimizer)).toEqual({ step: 1 });
  });

  test("a file of adapters with another alpha", async () => {
    using engine = await createHeed({ backend: "wasm" });
    const adapted = (alpha: number): Linear => {
      const model = layer(engine);
      lora(model, { rank: 1, alpha, targets: [/^$/] });
      return model;
    };
    const file = await fileOf(adapted(8), (model) => new AdamW(model));
    const [model, same] = [adapted(1), adapted(8)];
    const message = "loadCheckpoint: the model must have an adapter lora_A of alpha 8, as in the file, got 1";
    await refuses(file, model, new AdamW(model), "load", message);
    expect(await loadCheckpoint(file, same, new AdamW(same))).toEqual({ step: 1 });
  });
});

describe("losses", () => {
  const SHAPE = [4, 3];
  const X = { data: Float32Array.from({ length: 12 }, (_, at) => Math.sin(at)), shape: SHAPE };

  /** The loss of a layer's results, whose pass another engine's tensors may join. */
  async function lossOf(engine: Heed, act: (output: Tensor, pass: Pass) => Promise<Tensor>): Promise<number> {
    const model = new Linear({ inFeatures: 3, outFeatures: 3, engine }).init({ seed: 1 });
    return (await gradients(model, async (pass) => ({ loss: await act(await model.forward(X, { pass }), pass) }))).loss;
  }

  test("ignoreIndex is a whole number of 32 bits", async () => {
    using engine = await createHeed({ backend: "wasm" });
    const loss = (ignoreIndex: number) =>
      lossOf(engine, (output, pass) => crossEntropy(output, [0, 1, 2, 0], { pass, ignoreIndex }));
    for (const wrong of [2 ** 40, 2 ** 31, -(2 ** 31) - 1, 0.5, Number.NaN]) {
      const rule = "must be a whole number, -2147483648 or more, up to 2147483647";
      await expect(loss(wrong)).rejects.toMatchObject(
        refusal("option", `crossEntropy: ignoreIndex ${rule}, got ${wrong}`),
      );
    }
    expect(await loss(2 ** 31 - 1)).toBe(await loss(-(2 ** 31)));
  });

  test("targets have as many elements as their shape says", async () => {
    using engine = await createHeed({ backend: "wasm" });
    const loss = (shape: readonly number[]) =>
      lossOf(engine, (output, pass) => crossEntropy(output, { data: [0, 1, 2, 0], shape }, { pass }));
    const rule = "crossEntropy: targets of shape [7] must have 7 elements, got 4";
    await expect(loss([7])).rejects.toMatchObject(refusal("shape", rule));
    await expect(loss([-4])).rejects.toMatchObject(refusal("shape", /^crossEntropy: targets\.shape must be/));
    expect(await loss([2, 2])).toBe(await loss([4]));
  });

  test("targets are read before the call returns", async () => {
    using engine = await createHeed({ backend: "wasm" });
    const loss = (isChanged: boolean, act: (output: Tensor, pass: Pass) => [Promise<Tensor>, () => void]) =>
      lossOf(engine, (output, pass) => {
        const [result, change] = act(output, pass);
        if (isChanged) change();
        return result;
      });
    const classes = (output: Tensor, pass: Pass): [Promise<Tensor>, () => void] => {
      const targets = Int32Array.of(0, 1, 2, 0);
      return [crossEntropy(output, targets, { pass }), () => targets.fill(1)];
    };
    const elements =
      (act: typeof meanSquaredError) =>
      (output: Tensor, pass: Pass): [Promise<Tensor>, () => void] => {
        const data = new Float32Array(12);
        return [act(output, { data, shape: SHAPE }, { pass }), () => data.fill(1)];
      };
    for (const act of [classes, elements(meanSquaredError), elements(binaryCrossEntropy)]) {
      expect(await loss(true, act)).toBe(await loss(false, act));
    }
  });
});

test.each(Object.entries({ constant, linear, warmupCosine }))(
  "%s takes a step from 0 and a schedule with its peak",
  (name, schedule) => {
    const rule = { peak: 1, total: 10 };
    const refuse = (step: unknown, given: unknown, message: string | RegExp) =>
      expect(() => schedule(step as number, given as typeof rule)).toThrow(
        expect.objectContaining(refusal("option", message)),
      );
    for (const [step, got] of [
      [-1, "-1"],
      [0.5, "0.5"],
      ["0", '"0"'],
      [Number.NaN, "NaN"],
    ] as const) {
      refuse(step, rule, new RegExp(`^${name}: step must be a whole number, 0 or more, up to \\d+, got ${got}$`));
    }
    refuse(undefined, rule, `${name}: step must be given`);
    refuse(0, undefined, `${name}: peak must be given`);
    refuse(0, {}, `${name}: peak must be given`);
    refuse(0, 3, `${name}: schedule must be an object, got 3`);
    refuse(0, { peek: 1, total: 10 }, new RegExp(`^${name}: schedule has no option "peek"`));
    refuse(0, { peak: "1", total: 10 }, `${name}: peak must be a finite number, got "1"`);
    expect(schedule(0, rule)).toBe(1);
  },
);
