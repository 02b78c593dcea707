// The graph of a BERT as it is exported for transformers.js: plain operators, which onnxruntime fuses where it can.

import type { ParameterTensor } from "heed/layers";
import type { ModelShape } from "../model-shapes.js";
import { GraphBuilder, type Matrix, type OnnxFormat } from "./builder.js";
import type { Model, Size } from "./encode.js";

const FLOAT = 1;
const EPSILON = 1e-12;
const LOWEST = -3.4028234663852886e38;
/** The sizes of a call. */
const OF_CALL = ["batch_size", "sequence_length"] as const;

export function bertGraph(
  shape: ModelShape,
  parameters: ReadonlyMap<string, ParameterTensor>,
  format: OnnxFormat,
): Model<Size> {
  const { layers, dim, heads } = shape;
  const graph = new GraphBuilder(format);
  const at = (name: string): Matrix => matrixOf(parameters, name);
  const linear = (x: string, name: string): string => graph.linear(x, at(`${name}.weight`), at(`${name}.bias`));
  const norm = (x: string, name: string): string => {
    const [weight, bias] = [at(`${name}.weight`), at(`${name}.bias`)].map(({ data }) => graph.constant(data, dim));
    return graph.op("LayerNormalization", [x, weight ?? "", bias ?? ""], {
      axis: { int: 2 },
      epsilon: { float: EPSILON },
    });
  };

  const words = graph.gather(at("embeddings.word_embeddings.weight"), "input_ids");
  const types = graph.gather(at("embeddings.token_type_embeddings.weight"), "token_type_ids");
  const table = at("embeddings.position_embeddings.weight");
  const length = graph.op("Slice", [graph.op("Shape", ["input_ids"]), graph.integers(1), graph.integers(2)]);
  const positions = graph.op("Slice", [graph.constant(table.data, ...table.shape), graph.integers(0), length]);
  let x = norm(graph.op("Add", [graph.op("Add", [words, types]), positions]), "embeddings.LayerNorm");

  const isKept = graph.op("Cast", ["attention_mask"], { to: { int: FLOAT } });
  const isMasked = graph.op("Sub", [graph.constant(Float32Array.of(1)), isKept]);
  const lowest = graph.op("Mul", [isMasked, graph.constant(Float32Array.of(LOWEST))]);
  const mask = graph.op("Unsqueeze", [lowest, graph.integers(1, 2)]);
  const split = graph.integers(0, 0, heads, dim / heads);
  const joined = graph.integers(0, 0, dim);
  const scale = graph.constant(Float32Array.of(1 / Math.sqrt(dim / heads)));
  const headsOf = (x: string, ...perm: readonly number[]): string =>
    graph.op("Transpose", [graph.op("Reshape", [x, split])], { perm: { ints: perm } });

  for (let layer = 0; layer < layers; layer++) {
    const block = `encoder.layer.${layer}`;
    const query = headsOf(linear(x, `${block}.attention.self.query`), 0, 2, 1, 3);
    const key = headsOf(linear(x, `${block}.attention.self.key`), 0, 2, 3, 1);
    const value = headsOf(linear(x, `${block}.attention.self.value`), 0, 2, 1, 3);
    const scores = graph.op("Add", [graph.op("Mul", [graph.op("MatMul", [query, key]), scale]), mask]);
    const context = graph.op("MatMul", [graph.op("Softmax", [scores], { axis: { int: 3 } }), value]);
    const together = graph.op("Transpose", [context], { perm: { ints: [0, 2, 1, 3] } });
    const attended = linear(graph.op("Reshape", [together, joined]), `${block}.attention.output.dense`);
    x = norm(graph.op("Add", [attended, x]), `${block}.attention.output.LayerNorm`);
    const inner = graph.op("Gelu", [linear(x, `${block}.intermediate.dense`)], {}, "com.microsoft");
    x = norm(graph.op("Add", [linear(inner, `${block}.output.dense`), x]), `${block}.output.LayerNorm`);
  }
  graph.ops("Identity", [x], ["last_hidden_state"]);
  const input = (name: string) => ({ name, data: new BigInt64Array(), shape: OF_CALL });
  return graph.model(["input_ids", "attention_mask", "token_type_ids"].map(input), [
    { name: "last_hidden_state", shape: [...OF_CALL, dim] },
  ]);
}

export function matrixOf(parameters: ReadonlyMap<string, ParameterTensor>, name: string): Matrix {
  const found = parameters.get(name);
  if (!(found?.data instanceof Float32Array)) throw new Error(`the model has no ${name} in f32`);
  return { data: found.data, shape: found.shape };
}
