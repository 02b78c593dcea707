// Parts of the API room: suggestions, descriptions, layouts as strides, and jobs as blocks.

import { describe, expect, test } from "vitest";
import { binaryText } from "../../scripts/make/binary-text.js";
import { denseView, perHeadShape, userShape, viewOf } from "../../web/src/api/layout.js";
import { ATTENTION_OPTIONS } from "../../web/src/api/options.js";
import { decodeText } from "../../web/src/backends/wasm/binary.js";
import { showShape, showValue } from "../../web/src/base/describe.js";
import { didYouMean } from "../../web/src/base/suggest.js";
import { HeedError } from "../../web/src/index.js";
import { ELSEWHERE } from "../../web/src/layers/elsewhere.js";

describe("did you mean", () => {
  const names = ATTENTION_OPTIONS;
  test.each([
    ["casual", "causal"],
    ["is_causal", "causal"],
    ["isCausal", "causal"],
    ["attn_mask", "mask"],
    ["masks", "mask"],
    ["softmax_scale", "scale"],
    ["Scale", "scale"],
    ["kvheads", "kvHeads"],
    ["num_heads", "heads"],
    ["temprature", "temperature"],
    ["returns", "return"],
    ["windowSize", "window"],
    ["q_num_heads", "heads"],
    ["num_kv_heads", "kvHeads"],
    ["head_sink", "sinks"],
    ["return_lse", "return"],
  ])("%s: %s", (given, wanted) => expect(didYouMean(given, names)).toBe(`, did you mean "${wanted}"?`));

  test("names of Hugging Face's models", () => {
    expect(didYouMean("output_attentions", ["mask", "attentions", "logits"])).toBe(', did you mean "attentions"?');
    expect(didYouMean("attention_mask", ["mask", "attentions", "logits"])).toBe(', did you mean "mask"?');
  });

  test.each([
    [
      ["learningRate", "betas", "epsilon", "weightDecay"],
      { lr: 0, eps: 2, weight_decay: 3, b1: 1, wd: 3, learning_rate: 0 },
    ],
    [["learningRate", "momentum", "nesterov", "weightDecay"], { lr: 0, decay: 3 }],
    [
      ["peak", "warmup", "total", "floor"],
      { lr: 0, max_lr: 0, learningRate: 0, eta_min: 3, T_max: 2, num_warmup_steps: 1 },
    ],
    [
      ["optimizer", "steps", "start", "batch", "loss", "schedule", "clip", "accumulate", "checkpointing", "onStep"],
      { epochs: 1, dataloader: 3, criterion: 4, lr_scheduler: 5, max_grad_norm: 6, gradient_accumulation_steps: 7 },
    ],
    [["rank", "alpha", "targets", "seed"], { r: 0, lora_alpha: 1, target_modules: 2 }],
    [["pass", "ignoreIndex", "labelSmoothing"], { ignore_index: 1, label_smoothing: 2 }],
    [["inFeatures", "outFeatures", "bias"], { in_features: 0, out_features: 1, units: 1, use_bias: 2 }],
    [["count", "dim", "engine"], { num_embeddings: 0, embedding_dim: 1, vocab_size: 0, d_model: 1 }],
    [["shape", "epsilon", "weight", "bias"], { normalized_shape: 0, eps: 1, elementwise_affine: 2 }],
    [
      ["embedDim", "heads", "kvHeads", "headDim", "valueDim", "keyDim", "valueInputDim"],
      { embed_dim: 0, num_heads: 1, nhead: 1, d_model: 0, kdim: 5, vdim: 6, num_key_value_heads: 2 },
    ],
    [
      ["dim", "heads", "hidden", "activation", "normFirst", "norm", "epsilon", "layers"],
      { d_model: 0, nhead: 1, dim_feedforward: 2, norm_first: 4, layer_norm_eps: 6, num_layers: 7, hidden_act: 3 },
    ],
    [["inputSize", "hiddenSize", "bias", "reverse"], { input_size: 0, hidden_size: 1, units: 1, bidirectional: 3 }],
    [["attentions", "last", "caches", "mask"], { output_attentions: 0, past_key_values: 2, attention_mask: 3 }],
  ] as const)("of %s, the names that others have", (own, theirs) => {
    for (const [name, at] of Object.entries(theirs)) {
      expect(didYouMean(name, own, ELSEWHERE), name).toBe(`, did you mean "${own[at as number]}"?`);
    }
  });

  test("says nothing where nothing is near, and survives long names", () => {
    expect(didYouMean("colour", names)).toBe("");
    expect(didYouMean("x".repeat(100_000), names)).toBe("");
  });
});

test("descriptions of strange values never throw", () => {
  const bare: unknown = Object.create(null);
  const values = [undefined, null, 7n, Symbol("x"), () => 1, "text".repeat(100), new Float32Array(3), [1, [2]], bare];
  for (const value of values) expect(showValue(value).length).toBeLessThan(80);
  expect(showShape([1, "2", Number.NaN])).toBe('[1, "2", NaN]');
});

test("a HeedError is an Error with name, code and cause", () => {
  const error = new HeedError("memory", "no room", { cause: 7 });
  expect(error).toBeInstanceOf(Error);
  expect([error.name, error.code, error.message, error.cause]).toEqual(["HeedError", "memory", "no room", 7]);
});

describe("layouts", () => {
  test.each([
    ["bhnd", [2, 3, 4, 5], 1, [2, 3, 4, 5], [60, 20, 5, 1]],
    ["bhnd", [3, 4, 5], 1, [1, 3, 4, 5], [60, 20, 5, 1]],
    ["bhnd", [4, 5], 1, [1, 1, 4, 5], [20, 20, 5, 1]],
    ["bnhd", [2, 4, 3, 5], 1, [2, 3, 4, 5], [60, 5, 15, 1]],
    ["bnhd", [4, 3, 5], 1, [1, 3, 4, 5], [60, 5, 15, 1]],
    ["bnhd", [4, 5], 1, [1, 1, 4, 5], [20, 20, 5, 1]],
    ["packed", [2, 4, 15], 3, [2, 3, 4, 5], [60, 5, 15, 1]],
    ["bhnd", [0, 3, 2147483647, 5], 1, [0, 3, 2147483647, 5], [0, 0, 0, 1]],
  ] as const)("%s %j of %i heads", (layout, shape, heads, wanted, strides) => {
    const view = viewOf("test", "query", shape, layout, heads);
    expect(view).toEqual({ shape: wanted, strides });
    expect(userShape(view.shape, shape.length, layout)).toEqual(shape);
  });

  test("per-head results are heads first in every layout", () => {
    expect(perHeadShape([2, 3, 4, 6], 4, "bnhd")).toEqual([2, 3, 4, 6]);
    expect(perHeadShape([2, 3, 4, 6], 3, "packed")).toEqual([2, 3, 4, 6]);
    expect(perHeadShape([1, 3, 4, 6], 3, "bhnd")).toEqual([3, 4, 6]);
    expect(perHeadShape([1, 1, 4], 2, "bhnd")).toEqual([4]);
  });

  test("a dense view visits every element once", () => {
    for (const order of ["bhnd", "bnhd"] as const) {
      const { shape, strides } = denseView(order, [2, 3, 4, 5]);
      const seen = new Set<number>();
      for (let i = 0; i < 120; i++) {
        const at = [Math.floor(i / 60), Math.floor(i / 20) % 3, Math.floor(i / 5) % 4, i % 5];
        seen.add(at.reduce((total, index, axis) => total + index * (strides[axis] ?? 0), 0));
      }
      expect([seen.size, Math.max(...seen), shape.length]).toEqual([120, 119, 4]);
    }
  });
});

test("a binary's text decodes to the bytes it came from, and needs no escapes between double quotes", () => {
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 7) % 256);
  const text = binaryText(bytes);
  expect(decodeText(text)).toEqual(bytes);
  expect(text).toMatch(/^[%-[a-z]+$/);
  expect(decodeText("%")).toEqual(Uint8Array.of(0));
  expect(decodeText("xi")).toEqual(Uint8Array.of(127));
  expect(decodeText("zi")).toEqual(Uint8Array.of(255));
  expect(decodeText("")).toEqual(new Uint8Array(0));
});
