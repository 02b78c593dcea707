// The graph of a Llama as it is exported for transformers.js, with caches of keys and values as inputs and outputs.

import type { ParameterTensor } from "heed/layers";
import type { ModelShape } from "../model-shapes.js";
import { matrixOf } from "./bert.js";
import { GraphBuilder, type OnnxFormat } from "./builder.js";
import type { Model, Size } from "./encode.js";

const INT32 = 6;
const EPSILON = 1e-5;
const BASE = 10000;
const CONTRIB = "com.microsoft";

export function llamaGraph(
  shape: ModelShape,
  parameters: ReadonlyMap<string, ParameterTensor>,
  format: OnnxFormat,
  positions: number,
): Model<Size> {
  const { layers, dim, heads, kvHeads, words } = shape;
  const headDim = dim / heads;
  const graph = new GraphBuilder(format);
  const at = (name: string) => matrixOf(parameters, `${name}.weight`);
  const linear = (x: string, name: string): string => graph.linear(x, at(name));
  const norm = (x: string, name: string): string =>
    graph.op("SimplifiedLayerNormalization", [x, graph.constant(at(name).data, dim)], {
      axis: { int: 2 },
      epsilon: { float: EPSILON },
    });

  const int32 = (x: string): string => graph.op("Cast", [x], { to: { int: INT32 } });
  const counts = graph.op("ReduceSum", ["attention_mask", graph.integers(1)], { keepdims: { int: 0 } });
  const last = int32(graph.op("Sub", [counts, graph.integers(1)]));
  const sizes = graph.op("Shape", ["attention_mask"]);
  const total = int32(graph.op("Gather", [sizes, graph.constant(BigInt64Array.of(1n))]));
  const [cos, sin] = [Math.cos, Math.sin].map((of) =>
    graph.constant(rotations(of, positions, headDim), positions, headDim / 2),
  );
  const table = at("model.embed_tokens");
  let x = graph.gather(table, "input_ids");
  for (let layer = 0; layer < layers; layer++) {
    const block = `model.layers.${layer}`;
    const y = norm(x, `${block}.input_layernorm`);
    const [query = "", key = "", value = ""] = ["q", "k", "v"].map((part) =>
      linear(y, `${block}.self_attn.${part}_proj`),
    );
    const [attended = ""] = graph.ops(
      "GroupQueryAttention",
      [query, key, value, ...pair("past_key_values", layer), last, total, cos ?? "", sin ?? ""],
      [`attention${layer}`, ...pair("present", layer)],
      { num_heads: { int: heads }, kv_num_heads: { int: kvHeads }, do_rotary: { int: 1 } },
      CONTRIB,
    );
    x = graph.op("Add", [x, linear(attended, `${block}.self_attn.o_proj`)]);
    const z = norm(x, `${block}.post_attention_layernorm`);
    const gate = linear(z, `${block}.mlp.gate_proj`);
    const gated = graph.op("Mul", [gate, graph.op("Sigmoid", [gate])]);
    const inner = graph.op("Mul", [gated, linear(z, `${block}.mlp.up_proj`)]);
    x = graph.op("Add", [x, linear(inner, `${block}.mlp.down_proj`)]);
  }
  // Only the logits that are asked for.
  const from = graph.op("Unsqueeze", [graph.op("Neg", ["num_logits_to_keep"]), graph.integers(0)]);
  const kept = graph.op("Slice", [norm(x, "model.norm"), from, graph.integers(2 ** 31), graph.integers(1)]);
  graph.ops("Identity", [graph.linear(kept, table)], ["logits"]);

  const whole = (name: string, ...sizes: readonly Size[]) => ({ name, data: new BigInt64Array(), shape: sizes });
  const [texts, tokens] = ["batch_size", "sequence_length"] as const;
  const [past, all] = ["past_sequence_length", "total_sequence_length"] as const;
  const caches = (name: string, length: string) =>
    Array.from({ length: layers }, (_, layer) => pair(name, layer))
      .flat()
      .map((each) => ({ name: each, data: new Float32Array(), shape: [texts, kvHeads, length, headDim] }));
  return graph.model(
    [
      whole("input_ids", texts, tokens),
      whole("attention_mask", texts, all),
      whole("num_logits_to_keep"),
      ...caches("past_key_values", past),
    ],
    [{ name: "logits", shape: [texts, "kept", words] }, ...caches("present", all)],
  );
}

const pair = (name: string, layer: number): readonly string[] => [`${name}.${layer}.key`, `${name}.${layer}.value`];

function rotations(of: (angle: number) => number, positions: number, headDim: number): Float32Array {
  const half = headDim / 2;
  return Float32Array.from({ length: positions * half }, (_, at) =>
    of(Math.floor(at / half) * BASE ** (-(2 * (at % half)) / headDim)),
  );
}
