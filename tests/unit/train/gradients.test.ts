// Gradients of layers and models against PyTorch's autograd in double precision, on every kind of engine.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed, type Tensor } from "../../../web/src/index.js";
import {
  BertModel,
  Embedding,
  GRU,
  type Layer,
  LayerNorm,
  Linear,
  MLP,
  type MLPActivation,
  type ModelConfig,
  MultiHeadAttention,
  type ParameterTensor,
  RMSNorm,
  TransformerBlock,
} from "../../../web/src/layers/index.js";
import { crossEntropy, gradients, meanSquaredError, type Pass } from "../../../web/src/train/index.js";
import { FEW_KINDS, openKind } from "../../support/engines.js";
import { readFixture, unpackAll, worstDifference } from "../../support/fixtures.js";

type Packed = Parameters<typeof unpackAll>[0];

interface GradientCase {
  readonly parameters: Packed;
  readonly inputs: Packed;
  readonly loss: number;
  readonly gradients: Packed;
  readonly inputGradients: Packed;
}

const fixture = readFixture("training.json");

/** The sums of a backward pass, each as deep as those of the forward pass. */
const DEPTH = 16;

/** A mean over the numbers of an output makes its gradients as much smaller. `most`: the size of others that theirs are sums of. */
function expectNear(got: ParameterTensor | undefined, wanted: ParameterTensor, name: string, most = 0): void {
  const size = Math.max(...wanted.data.map(Math.abs), most / 16);
  const scaled = ({ data, shape }: ParameterTensor) => ({ data: data.map((number) => number / size), shape });
  expect(worstDifference(got && scaled(got), scaled(wanted), DEPTH), name).toBeLessThan(1);
}

/** Compares all gradients of a pass whose loss is the mean square of its output. */
async function check(
  model: Layer,
  { parameters, inputs, loss: wanted, gradients: ofParameters, inputGradients: ofInputs }: GradientCase,
  forward: (inputs: ReadonlyMap<string, Tensor>, pass: Pass) => Promise<unknown>,
): Promise<void> {
  model.load(unpackAll(parameters));
  const { loss, inputGradients } = await gradients(model, async (pass) => {
    const brought = new Map<string, Tensor>();
    for (const [name, input] of unpackAll(inputs)) brought.set(name, await pass.input(input));
    const output = (await forward(brought, pass)) as Tensor;
    const zeros = new Float32Array(output.shape.reduce((total, size) => total * size, 1));
    return { loss: await meanSquaredError(output, { data: zeros, shape: output.shape }, { pass }) };
  });
  expect(Math.abs(loss - wanted) / wanted).toBeLessThan(1e-5);
  const got = await model.readGradients();
  // Gradients have PyTorch's names, as parameters have, so a second layer is loaded with them.
  const renamed = copyOf(model).load(unpackAll(ofParameters)).parameters();
  const most = Math.max(...[...renamed.values()].flatMap(({ data }) => [...data].map(Math.abs)));
  for (const [name, gradient] of renamed) expectNear(got.get(name), gradient, name, most);
  expect([...got.keys()].sort()).toEqual([...renamed.keys()].sort());
  for (const [at, [name, gradient]] of [...unpackAll(ofInputs)].entries()) {
    expectNear(inputGradients[at], gradient, name);
  }
  model.dispose();
}

const made = new WeakMap<Layer, () => Layer>();

function make<L extends Layer>(how: () => L): L {
  const model = how();
  made.set(model, how);
  return model;
}

function copyOf(model: Layer): Layer {
  const how = made.get(model);
  if (how === undefined) throw new Error("models are made by make");
  return how();
}

describe.each(FEW_KINDS)("gradients, $variant, $worker worker", async (kind) => {
  const engine = await openKind(kind);
  afterAll(() => engine.dispose());

  const only = (layer: { forward(x: Tensor, options: { pass: Pass }): Promise<unknown> }) => {
    return (inputs: ReadonlyMap<string, Tensor>, pass: Pass) => layer.forward(inputs.get("x0") as Tensor, { pass });
  };

  test("a linear layer", async () => {
    const layer = make(() => new Linear({ inFeatures: 5, outFeatures: 7, engine }));
    await check(layer, fixture["linear"] as GradientCase, only(layer));
  });

  test("a linear layer with an addend, which joins two inputs", async () => {
    const { parameters, inputs } = fixture["linear"] as GradientCase;
    const read = unpackAll(inputs).get("x0") as ParameterTensor;
    const layer = new Linear({ inFeatures: 5, outFeatures: 7, engine }).load(unpackAll(parameters));
    const plain = await layer.forward(read);
    const addend = { data: plain.data.map((_, at) => Math.sin(at)), shape: plain.shape };
    const { output, inputGradients } = await gradients(layer, async (pass) => {
      const [x, added] = [await pass.input(read), await pass.input(addend)];
      const output = await layer.forward(x, { pass, addend: added });
      const zeros = { data: new Float32Array(plain.data.length), shape: plain.shape };
      return { loss: await meanSquaredError(output, zeros, { pass }), output };
    });
    const sum = plain.data.map((number, at) => number + (addend.data[at] ?? 0));
    expectNear(output, { data: sum, shape: plain.shape }, "output");
    const slopes = { data: sum.map((number) => (2 * number) / sum.length), shape: plain.shape };
    expectNear(inputGradients[1], slopes, "addend");
    const weight = layer.parameters().get("weight")?.data ?? new Float32Array();
    const ofRead = read.data.map((_, at) => {
      const row = slopes.data.subarray(7 * Math.floor(at / 5), 7 * Math.floor(at / 5) + 7);
      return row.reduce((total, slope, output) => total + slope * (weight[5 * output + (at % 5)] ?? 0), 0);
    });
    expectNear(inputGradients[0], { data: ofRead, shape: read.shape }, "x");
    await expect(layer.forward(read, { addend: read })).rejects.toThrow("Linear: addend must be");
    layer.dispose();
  });

  test("norms", async () => {
    const layer = make(() => new LayerNorm({ shape: 9, engine }));
    await check(layer, fixture["layerNorm"] as GradientCase, only(layer));
    const rms = make(() => new RMSNorm({ shape: 9, engine }));
    await check(rms, fixture["rmsNorm"] as GradientCase, only(rms));
  });

  test.each(["gelu", "gelu-tanh", "silu", "relu", "swiglu"] as const)(
    "a feed-forward network with %s",
    async (activation) => {
      const cases = fixture["mlp"] as Record<MLPActivation, GradientCase>;
      const layer = make(() => new MLP({ dim: 5, hidden: 9, activation, engine }));
      await check(layer, cases[activation], only(layer));
    },
  );

  test("an embedding, rows that come several times included", async () => {
    const wanted = fixture["embedding"] as GradientCase & { readonly indices: readonly (readonly number[])[] };
    const layer = make(() => new Embedding({ count: 6, dim: 5, engine }));
    const indices = { data: wanted.indices.flat(), shape: [2, 3] };
    await check(layer, wanted, (_inputs, pass) => layer.forward(indices, { pass }));
  });

  test("a GRU, through time", async () => {
    const make1 = () => new GRU({ inputSize: 5, hiddenSize: 6, engine });
    const layer = make(make1);
    await check(layer, fixture["gru"] as GradientCase, async (inputs, pass) => {
      return (await layer.forward(inputs.get("x0") as Tensor, { pass })).output;
    });
    const last = make(make1);
    const wanted = fixture["gruLast"] as GradientCase;
    const flat = (tensors: Packed) =>
      Object.fromEntries(
        Object.entries(tensors).map(([name, one]) => [
          name,
          name === "x1" ? { ...one, shape: one.shape.slice(1) } : one,
        ]),
      );
    const cases = { ...wanted, inputs: flat(wanted.inputs), inputGradients: flat(wanted.inputGradients) };
    await check(last, cases, async (inputs, pass) => {
      const state = inputs.get("x1") as Tensor;
      return (await last.forward(inputs.get("x0") as Tensor, { state, pass })).state;
    });
  });

  test("multi-head attention", async () => {
    const layer = make(() => new MultiHeadAttention({ embedDim: 12, heads: 3, engine }));
    await check(layer, fixture["multiHead"] as GradientCase, async (inputs, pass) => {
      const [query, key, value] = ["query", "key", "value"].map((name) => inputs.get(name) as Tensor);
      return (await layer.forward(query as Tensor, key, value, { pass })).output;
    });
  });

  test("transformer blocks, with norms first and last, and with cross attention", async () => {
    const cases = fixture["encoderBlock"] as Record<"first" | "last", GradientCase>;
    for (const normFirst of [true, false]) {
      const block = make(() => new TransformerBlock({ dim: 12, heads: 3, hidden: 20, normFirst, engine }));
      await check(block, cases[normFirst ? "first" : "last"], async (inputs, pass) => {
        return (await block.forward(inputs.get("x0") as Tensor, { pass })).output;
      });
    }
    const options = {
      dim: 12,
      heads: 3,
      hidden: 20,
      normFirst: false,
      activation: "relu",
      cross: true,
      engine,
    } as const;
    const block = make(() => new TransformerBlock(options));
    await check(block, fixture["decoderBlock"] as GradientCase, async (inputs, pass) => {
      const memory = inputs.get("memory") as Tensor;
      return (await block.forward(inputs.get("x0") as Tensor, { memory, self: { causal: true }, pass })).output;
    });
  });

  test("BERT's guesses at masked words, the tied matrix with both sums", async () => {
    const wanted = fixture["maskedWords"] as unknown as Omit<GradientCase, "inputs" | "inputGradients"> & {
      readonly config: ModelConfig;
      readonly tokens: readonly (readonly number[])[];
      readonly mask: readonly (readonly number[])[];
      readonly targets: readonly (readonly number[])[];
    };
    const model = make(() => new BertModel(wanted.config, { engine })).load(unpackAll(wanted.parameters));
    const { loss } = await gradients(model, async (pass) => {
      const mask = Uint8Array.from(wanted.mask.flat());
      const tokens = { data: wanted.tokens.flat(), shape: [2, 7] };
      const { logits } = await model.forward(tokens, { mask, logits: true, pass });
      return { loss: await crossEntropy(logits as Tensor, wanted.targets.flat(), { pass }) };
    });
    expect(Math.abs(loss - wanted.loss) / wanted.loss).toBeLessThan(1e-5);
    const got = await model.readGradients();
    const likeOurs = copyOf(model).load(unpackAll(wanted.gradients)).parameters();
    const most = Math.max(...[...likeOurs.values()].flatMap(({ data }) => [...data].map(Math.abs)));
    for (const [name, gradient] of likeOurs) if (got.has(name)) expectNear(got.get(name), gradient, name, most);
    expect(got.size).toBeGreaterThan(30);
    model.dispose();
  });

  test("cross-entropy, with smoothed labels and targets that do not count", async () => {
    const cases = fixture["crossEntropy"] as Record<
      string,
      { logits: Packed[string]; targets: number[]; loss: number; gradient: Packed[string] }
    >;
    const layer = new Linear({ inFeatures: 7, outFeatures: 7, engine }).init();
    for (const [smoothing, { logits, targets, loss: wanted, gradient }] of Object.entries(cases)) {
      const read = unpackAll({ logits, gradient });
      const { loss, inputGradients } = await gradients(layer, async (pass) => {
        const x = await pass.input(read.get("logits") as ParameterTensor);
        return { loss: await crossEntropy(x, targets, { pass, labelSmoothing: Number(smoothing) }) };
      });
      expect(Math.abs(loss - wanted)).toBeLessThan(1e-6);
      expectNear(inputGradients[0], read.get("gradient") as ParameterTensor, "logits");
    }
    layer.dispose();
  });
});

test("gradients of several passes are added, and a frozen parameter has none", async () => {
  using engine = await createHeed({ backend: "wasm" });
  const layer = new Linear({ inFeatures: 3, outFeatures: 2, engine }).init({ seed: 3 });
  const pass = () =>
    gradients(layer, async (pass) => {
      const output = await layer.forward({ data: Float32Array.of(1, 2, 3), shape: [1, 3] }, { pass });
      return {
        loss: await meanSquaredError(output, { data: new Float32Array(2), shape: [1, 2] }, { pass }),
      };
    });
  await pass();
  const once = (await layer.readGradients()).get("weight")?.data ?? new Float32Array();
  await pass();
  const twice = (await layer.readGradients()).get("weight")?.data;
  expect(twice).toEqual(once.map((number) => 2 * number));
  const frozen = new Linear({ inFeatures: 3, outFeatures: 2, engine }).init({ seed: 3 }).freeze(["weight"]);
  await gradients(frozen, async (pass) => {
    const output = await frozen.forward({ data: Float32Array.of(1, 2, 3), shape: [1, 3] }, { pass });
    return {
      loss: await meanSquaredError(output, { data: new Float32Array(2), shape: [1, 2] }, { pass }),
    };
  });
  expect([...(await frozen.readGradients()).keys()]).toEqual(["bias"]);
});
