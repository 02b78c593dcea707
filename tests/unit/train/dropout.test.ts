// Dropout of models, by the fields of their configurations: in a pass of gradients alone, from its seed.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed, type Heed } from "../../../web/src/index.js";
import {
  BertModel,
  DistilBertModel,
  GPT2Model,
  LlamaModel,
  type ModelConfig,
  TransformerBlock,
} from "../../../web/src/layers/index.js";
import { AdamW, crossEntropy, evaluate, gradients, type Pass, train } from "../../../web/src/train/index.js";
import { openKind } from "../../support/engines.js";

const engine = await createHeed({ backend: "wasm" });
afterAll(() => engine.dispose());

const TOKENS = { data: Array.from({ length: 48 }, (_, at) => (at * 7 + 3) % 11), shape: [2, 24] };
const TARGETS = TOKENS.data.map((token) => (token + 1) % 11);
const SIZES = { vocab_size: 11, hidden_size: 16, intermediate_size: 24, num_hidden_layers: 2, num_attention_heads: 2 };
const GPT2 = { model_type: "gpt2", vocab_size: 11, n_embd: 16, n_layer: 2, n_head: 2, n_positions: 32 };

const gpt2 = (more: ModelConfig, on: Heed = engine) =>
  new GPT2Model({ ...GPT2, ...more }, { engine: on }).init({ seed: 1 });
const ALL = { embd_pdrop: 0.1, resid_pdrop: 0.2, attn_pdrop: 0.3 };

const act = (model: GPT2Model) => async (pass: Pass) => {
  const { logits } = await model.forward(TOKENS, { pass });
  return { loss: await crossEntropy(logits, TARGETS, { pass }) };
};

/** The share of numbers that are 0. Of n numbers it is apart from p by less than 4 sqrt(p (1 - p) / n) but once in 10,000 draws. */
function expectShare(data: Float32Array, of: (at: number) => boolean, p: number): void {
  const counted = [...data.keys()].filter(of);
  const zeros = counted.filter((at) => data[at] === 0).length;
  expect(Math.abs(zeros / counted.length - p)).toBeLessThan(4 * Math.sqrt((p * (1 - p)) / counted.length));
}

describe("GPT-2", () => {
  const see = async (more: ModelConfig) => {
    const model = gpt2(more);
    const plain = await model.forward(TOKENS, { hiddenStates: true, attentions: true });
    const seen = await gradients(
      model,
      async (pass) => {
        const { logits, hiddenStates, attentions } = await model.forward(TOKENS, {
          pass,
          hiddenStates: true,
          attentions: true,
        });
        const [first = logits, second = logits] = hiddenStates ?? [];
        const [weights = logits] = attentions ?? [];
        return { loss: await crossEntropy(logits, TARGETS, { pass }), first, second, weights };
      },
      { seed: 5 },
    );
    model.dispose();
    return { plain, seen };
  };

  test("drops embeddings", async () => {
    const { plain, seen } = await see({ embd_pdrop: 0.25 });
    const [state] = plain.hiddenStates ?? [];
    const { data } = seen.first;
    expectShare(data, () => true, 0.25);
    for (const [at, one] of data.entries()) if (one !== 0) expect(one).toBeCloseTo((state?.data[at] ?? 0) / 0.75, 5);
  });

  test("drops weights of attention, in each block others", async () => {
    const { plain, seen } = await see({ attn_pdrop: 0.25 });
    const [weights] = plain.attentions ?? [];
    const { data } = seen.weights;
    expectShare(data, (at) => weights?.data[at] !== 0, 0.25);
    for (const [at, one] of data.entries()) if (one !== 0) expect(one).toBeCloseTo((weights?.data[at] ?? 0) / 0.75, 5);
  });

  test("drops what attention and the feed-forward network add", async () => {
    const { seen } = await see({ resid_pdrop: 0.9 });
    const [first, second] = [seen.first.data, seen.second.data];
    // What both drop stays as it was.
    expectShare(
      second.map((one, at) => one - (first[at] ?? 0)),
      () => true,
      0.81,
    );
  });

  test("drops nothing where nothing learns, and without fields", async () => {
    const [still, dropping] = [gpt2({}), gpt2(ALL)];
    const { loss } = await evaluate(still, act(still));
    expect((await evaluate(dropping, act(dropping))).loss).toBe(loss);
    expect((await dropping.forward(TOKENS)).logits).toEqual((await still.forward(TOKENS)).logits);
    expect((await gradients(still, act(still))).loss).toBe(loss);
    expect((await gradients(dropping, act(dropping))).loss).not.toBe(loss);
  });

  test("drops other places in each call, and the same ones by the same seed", async () => {
    const run = async (model: GPT2Model, seed?: number) => (await gradients(model, act(model), { seed })).loss;
    const [one, other] = [gpt2(ALL), gpt2(ALL)];
    const [first, second] = [await run(one), await run(one)];
    expect(second).not.toBe(first);
    expect([await run(other), await run(other), await run(other, 0)]).toEqual([first, second, first]);
    await expect(run(one, -1)).rejects.toThrow("gradients: seed must be a whole number, 0 or more");
  });

  test("learns the same bits with any number of threads, with checkpointing, and where a run goes on", async () => {
    const trained = async (threads: number | null, options: object, halt?: number) => {
      const kind = { variant: "relaxed", worker: threads === null ? null : "shared-memory" } as const;
      using on = await openKind(kind, threads === null ? {} : { threads });
      const model = gpt2(ALL, on);
      const optimizer = new AdamW(model);
      const loss = async (_: GPT2Model, _part: string, pass: Pass) => (await act(model)(pass)).loss;
      const run = (more: object) =>
        train(model, {
          ...{ optimizer, accumulate: 2, seed: 3, batch: () => "x", loss },
          ...(options as object),
          steps: 4,
          ...more,
        });
      if (halt !== undefined) await run({ steps: halt });
      await run({ start: halt ?? 0 });
      return await model.readParameters();
    };
    const all = await trained(null, {});
    expect(await trained(1, {})).toEqual(all);
    expect(await trained(3, { checkpointing: true })).toEqual(all);
    expect(await trained(null, {}, 2)).toEqual(all);
  });
});

test.each<[string, (more: ModelConfig) => BertModel | DistilBertModel | LlamaModel, ModelConfig[]]>([
  [
    "BERT",
    (more) => new BertModel({ model_type: "bert", ...SIZES, max_position_embeddings: 32, ...more }, { engine }),
    [{ hidden_dropout_prob: 0.2 }, { attention_probs_dropout_prob: 0.2 }],
  ],
  [
    "DistilBERT",
    (more) => {
      const sizes = { dim: 16, n_layers: 2, n_heads: 2, hidden_dim: 24, vocab_size: 11, max_position_embeddings: 32 };
      return new DistilBertModel({ model_type: "distilbert", ...sizes, ...more }, { engine });
    },
    [{ dropout: 0.2 }, { attention_dropout: 0.2 }],
  ],
  [
    "Llama",
    (more) => new LlamaModel({ model_type: "llama", ...SIZES, num_key_value_heads: 1, ...more }, { engine }),
    [{ attention_dropout: 0.2 }],
  ],
])("%s drops by its fields, and refuses shares that are none", async (_, make, fields) => {
  for (const field of fields) {
    const model = make(field).init({ seed: 2 });
    const act = async (pass: Pass) => {
      const made = await (model as BertModel).forward(TOKENS, { pass, logits: true } as { pass: Pass });
      return { loss: await crossEntropy(made.logits as never, TARGETS, { pass }) };
    };
    const still = await evaluate(model, act).catch(() => null);
    expect(still).not.toBeNull();
    expect((await gradients(model, act)).loss).not.toBe(still?.loss);
    const [name = ""] = Object.keys(field);
    expect(() => make({ [name]: 1 })).toThrow(`config.${name} must be below 1, got 1`);
    model.dispose();
  }
});

test("the dropout of a call comes before that of the layer", async () => {
  const block = new TransformerBlock({ dim: 8, heads: 2, attentionDropout: 0.5, engine }).init({ seed: 1 });
  const x = { data: Float32Array.from({ length: 64 }, (_, at) => Math.sin(at)), shape: [1, 8, 8] };
  const weightsOf = async (seed: number, self: object) => {
    const run = await gradients(
      block,
      async (pass) => {
        const { output, attentions } = await block.forward(x, { pass, self, attentions: true });
        return { loss: await pass.mean(output), weights: attentions?.self ?? output };
      },
      { seed },
    );
    return run.weights.data;
  };
  const given = { dropout: { p: 0.25, seed: 1 } };
  expect(await weightsOf(1, given)).toEqual(await weightsOf(2, given));
  expect(await weightsOf(1, {})).not.toEqual(await weightsOf(2, {}));
});

test("forwards under way at once drop the places that they would drop one after the other", async () => {
  const sums: number[] = [];
  for (const isTogether of [true, true, true, false]) {
    const model = gpt2(ALL);
    const { loss } = await gradients(
      model,
      async (pass) => {
        const forward = async (tokens: number[]) => (await model.forward(tokens, { pass })).logits;
        const one = forward([1, 2, 3]);
        if (!isTogether) await one;
        const other = forward([4, 5]);
        return { loss: pass.add(pass.sum(one), pass.mul(3, pass.sum(other))) };
      },
      { seed: 1 },
    );
    sums.push(loss);
    model.dispose();
  }
  expect(new Set(sums).size).toBe(1);
});

test("a call that says p: 0 drops nothing, and a share below a place in 2^32 is none", async () => {
  const x = { data: Float32Array.from({ length: 64 }, (_, at) => Math.sin(at)), shape: [1, 4, 16] };
  const outputOf = async (options: object, call: object) => {
    const layer = new TransformerBlock({ dim: 16, heads: 2, engine, ...options }).init({ seed: 2 }) as TransformerBlock;
    const { output } = await gradients(
      layer,
      async (pass) => {
        const { output } = await layer.forward(x, { pass, ...call });
        return { loss: pass.sum(output), output };
      },
      { seed: 3 },
    );
    layer.dispose();
    return output.data;
  };
  const plain = await outputOf({}, {});
  expect(await outputOf({ attentionDropout: 0.5 }, {})).not.toEqual(plain);
  expect(await outputOf({ attentionDropout: 0.5 }, { self: { dropout: { p: 0, seed: 1 } } })).toEqual(plain);
  expect(await outputOf({ dropout: 1e-12 }, {})).toEqual(plain);
  expect(await outputOf({ dropout: [0, 0] }, {})).toEqual(plain);
  expect(await outputOf({ dropout: [0.5, 0] }, {})).not.toEqual(await outputOf({ dropout: [0, 0.5] }, {}));
  expect(() => new TransformerBlock({ dim: 16, heads: 2, dropout: 1 - 1e-9 })).toThrow(/below 1/);
  expect(() => new TransformerBlock({ dim: 16, heads: 2, dropout: [0, 0, 0] as never })).toThrow(/dropout must be/);
});
