// ONNX's FlexAttention cases said in heed's words: their score_mod is a graph, read here as an expression.

import { fromF16, toF16 } from "../../web/src/base/f16.js";
import { add, constant, type Expr, greaterEqual, type ScoreModArguments, select } from "../../web/src/expr/index.js";
import type { AttentionOptions, HalfTensorLike, TensorLike } from "../../web/src/index.js";
import { bufferOf, type Set as CaseSet, type CaseTensor, type OnnxCase } from "./onnx.js";

interface GraphNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

interface Graph {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly initializers: readonly { readonly name: string; readonly values: readonly (number | string)[] }[];
  readonly nodes: readonly GraphNode[];
}

interface FlexCase extends OnnxCase {
  readonly graph_attributes?: { readonly score_mod?: Graph };
}

export const flexCases = ({ index }: CaseSet): readonly FlexCase[] =>
  index.cases.filter((one) => one.op === "FlexAttention");

export interface FlexCall {
  readonly tensors: readonly [TensorLike | HalfTensorLike, TensorLike | HalfTensorLike, TensorLike | HalfTensorLike];
  readonly options: AttentionOptions;
  readonly output: TensorLike;
}

export function flexCallOf({ attributes, inputs, outputs, graph_attributes }: FlexCase, set: CaseSet): FlexCall {
  const [query, key, value] = inputs.map((tensor) => {
    const floats = floatsOf(tensor, set);
    if (tensor?.dtype !== "float16") return floats;
    return { data: toF16(floats.data), shape: floats.shape, dtype: "f16" as const };
  });
  if (query === undefined || key === undefined || value === undefined) throw new Error("a case lacks a tensor");
  const graph = graph_attributes?.score_mod;
  return {
    tensors: [query, key, value],
    options: {
      ...(attributes["scale"] === undefined ? {} : { scale: Number(attributes["scale"]) }),
      ...(graph === undefined ? {} : { scoreMod: (leaves) => expressionOf(graph, leaves) }),
    },
    output: floatsOf(outputs[0], set),
  };
}

/** A value on the way: an expression, numbers, or what stands for the shape of the scores and for the counting along an axis. */
type Value = Expr | readonly number[] | { readonly is: "shape" } | { readonly is: "size" } | { readonly is: "range" };

function expressionOf(graph: Graph, { score, q, k }: ScoreModArguments): Expr {
  const values = new Map<string, Value>([[graph.inputs[0] ?? "", score]]);
  for (const { name, values: numbers } of graph.initializers) values.set(name, numbers.map(Number));
  const named = (name: string): Value => values.get(name) ?? [];
  const exprOf = (name: string): Expr => {
    const value = named(name);
    if ("op" in value) return value;
    if (!("is" in value) && value.length === 1 && value[0] !== undefined) return constant(value[0]);
    throw new Error(`${name} is no expression`);
  };
  for (const { op, inputs, outputs } of graph.nodes) {
    const [a = "", b = "", c = ""] = inputs;
    const made = (): Value => {
      switch (op) {
        case "Add":
          return add(exprOf(a), exprOf(b));
        case "GreaterOrEqual":
          return greaterEqual(exprOf(a), exprOf(b));
        case "Where":
          return select(exprOf(a), exprOf(b), exprOf(c));
        case "Shape":
          return { is: "shape" };
        case "Gather":
          return { is: "size" };
        case "Range":
          return { is: "range" };
        case "Reshape": {
          // Counts along the axis that is left open.
          const shape = named(b);
          const axis = Array.isArray(shape) ? shape.indexOf(-1) : -1;
          if (axis === 2) return q;
          if (axis === 3) return k;
          throw new Error("a range along no axis");
        }
        default:
          throw new Error(`no operator ${op}`);
      }
    };
    values.set(outputs[0] ?? "", made());
  }
  return exprOf(graph.outputs[0] ?? "");
}

function floatsOf(tensor: CaseTensor | null | undefined, set: CaseSet): TensorLike {
  if (!tensor) throw new Error("a case lacks a tensor");
  const buffer = bufferOf(tensor, set);
  if (tensor.dtype === "float64") return { data: Float32Array.from(new Float64Array(buffer)), shape: tensor.shape };
  if (tensor.dtype === "float16") return { data: fromF16(new Uint16Array(buffer)), shape: tensor.shape };
  return { data: new Float32Array(buffer), shape: tensor.shape };
}
