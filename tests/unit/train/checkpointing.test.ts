// With `checkpointing` blocks are computed again in the backward pass: no bit changes, and memory shrinks.

import { describe, expect, test } from "vitest";
import type { Heed, Tensor } from "../../../web/src/index.js";
import {
  BertModel,
  EncoderDecoder,
  GPT2Model,
  type Layer,
  LlamaModel,
  TransformerBlock,
} from "../../../web/src/layers/index.js";
import {
  AdamW,
  crossEntropy,
  evaluate,
  gradients,
  lora,
  meanSquaredError,
  type Pass,
  train,
} from "../../../web/src/train/index.js";
import { FEW_KINDS, openKind } from "../../support/engines.js";

const DROPOUT = { dropout: { p: 0.3, seed: 11 } };

interface Case {
  readonly name: string;
  readonly make: (engine: Heed) => Layer;
  readonly forward: (model: never, pass: Pass) => Promise<Tensor>;
}

function made<L extends Layer>(
  name: string,
  make: (engine: Heed) => L,
  forward: (model: L, pass: Pass) => Promise<unknown>,
): Case {
  return { name, make: (engine) => make(engine).init({ seed: 3 }), forward: forward as unknown as Case["forward"] };
}

const TOKENS = { data: [1, 5, 2, 7, 3, 3, 0, 4, 9, 9, 6, 2], shape: [2, 6] };
const waves = (...shape: readonly number[]) => {
  return { data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, at) => Math.sin(at)), shape };
};
const SIZES = { vocab_size: 11, hidden_size: 12, intermediate_size: 20, num_hidden_layers: 3, num_attention_heads: 3 };

const CASES: readonly Case[] = [
  made(
    "BERT",
    (engine) => new BertModel({ model_type: "bert", ...SIZES, max_position_embeddings: 8 }, { engine }),
    async (model, pass) => (await model.forward(TOKENS, { logits: true, pass })).logits,
  ),
  made(
    "GPT-2",
    (engine) => {
      const config = { model_type: "gpt2", vocab_size: 11, n_embd: 12, n_layer: 3, n_head: 3, n_positions: 8 };
      return new GPT2Model(config, { engine });
    },
    async (model, pass) => (await model.forward(TOKENS, { pass })).logits,
  ),
  made(
    "GPT-2 with dropout",
    (engine) => {
      const config = { model_type: "gpt2", vocab_size: 11, n_embd: 12, n_layer: 3, n_head: 3, n_positions: 8 };
      return new GPT2Model({ ...config, embd_pdrop: 0.2, resid_pdrop: 0.3, attn_pdrop: 0.4 }, { engine });
    },
    async (model, pass) => (await model.forward(TOKENS, { pass })).logits,
  ),
  made(
    "Llama with adapters",
    (engine) => {
      const model = new LlamaModel({ model_type: "llama", ...SIZES, num_key_value_heads: 1 }, { engine }).init({
        seed: 3,
      });
      lora(model, { rank: 2, targets: ["q_proj", "gate_proj"] });
      return model;
    },
    async (model, pass) => (await model.forward(TOKENS, { pass })).logits,
  ),
  made(
    "an encoder and a decoder, with dropout",
    (engine) => new EncoderDecoder({ dim: 12, heads: 3, encoderLayers: 2, decoderLayers: 2, engine }),
    async (model, pass) => {
      const source = await pass.input(waves(2, 5, 12));
      const options = { encoder: DROPOUT, self: { causal: true, ...DROPOUT }, cross: DROPOUT, pass };
      return (await model.forward(source, waves(2, 4, 12), options)).output;
    },
  ),
  made(
    "a block whose weights are asked for",
    (engine) => new TransformerBlock({ dim: 12, heads: 3, engine }),
    async (model, pass) => (await model.forward(await pass.input(waves(2, 5, 12)), { attentions: true, pass })).output,
  ),
];

describe.each(FEW_KINDS)("$variant, $worker worker", (kind) => {
  test.each(CASES)("$name: the same loss and gradients, bit for bit", async ({ make, forward }) => {
    using engine = await openKind(kind);
    const model = make(engine);
    const run = async (checkpointing: boolean) => {
      const read = await gradients(
        model,
        async (pass) => {
          const output = await forward(model as never, pass);
          const zeros = new Float32Array(output.shape.reduce((a, b) => a * b, 1));
          return { loss: await meanSquaredError(output, { data: zeros, shape: output.shape }, { pass }), output };
        },
        { checkpointing, seed: 9 },
      );
      const all = await model.readGradients();
      await new AdamW(model).clear();
      return { ...read, all };
    };
    const kept = await run(false);
    const { tensors } = engine.memory();
    expect(kept.all.size).toBeGreaterThan(3);
    for (const { data } of kept.all.values()) expect(data.some((number) => number !== 0)).toBe(true);
    expect(await run(true)).toEqual(kept);
    expect(engine.memory().tensors).toBe(tensors);
  });

  test("a model of 8 blocks takes less than half of the memory", async () => {
    const config = { model_type: "gpt2", vocab_size: 32, n_embd: 64, n_layer: 8, n_head: 4, n_positions: 128 };
    const tokens = { data: Array.from({ length: 8 * 128 }, (_, at) => (at * 7 + (at >> 4)) % 32), shape: [8, 128] };
    const grown = async (checkpointing: boolean): Promise<number> => {
      using engine = await openKind(kind, { threads: kind.worker === null ? undefined : 1 });
      const model = new GPT2Model(config, { engine }).init({ seed: 1 });
      const step = (inputs: typeof tokens) =>
        gradients(
          model,
          async (pass) => {
            const { logits } = await model.forward(inputs, { pass });
            return { loss: await crossEntropy(logits, inputs.data, { pass }) };
          },
          { checkpointing },
        );
      await step({ data: [1], shape: [1, 1] });
      const before = engine.memory().total;
      await step(tokens);
      return engine.memory().total - before;
    };
    const [kept, again] = [await grown(false), await grown(true)];
    expect(again).toBeLessThan(kept / 2);
  });
});

test("evaluate and train take it as well, and nothing but true or false", async () => {
  using engine = await openKind({ variant: "relaxed", worker: "shared-memory" });
  const model = new TransformerBlock({ dim: 8, heads: 2, engine }).init({ seed: 2 });
  const lossOf = async (pass: Pass) => {
    const { output } = await model.forward(waves(3, 8), { pass });
    return meanSquaredError(output, waves(3, 8), { pass });
  };
  const act = async (pass: Pass) => ({ loss: await lossOf(pass) });
  const { loss } = await evaluate(model, act);
  expect((await evaluate(model, act, { checkpointing: true })).loss).toBe(loss);
  const told: number[] = [];
  await train(model, {
    optimizer: new AdamW(model),
    steps: 1,
    batch: () => 0,
    loss: (_model, _batch, pass) => lossOf(pass),
    checkpointing: true,
    onStep: (report) => told.push(report.loss),
  });
  expect(told).toEqual([loss]);
  await expect(gradients(model, act, { checkpointing: 1 as never })).rejects.toMatchObject({
    code: "option",
    message: expect.stringMatching(/^gradients: checkpointing must be true or false/),
  });
});
