// ONNX's LinearAttention, RotaryEmbedding and TensorScatter cases said in heed's words.

import type { LinearOptions, RopeOptions, TensorLike } from "../../web/src/index.js";
import { bufferOf, type Set as CaseSet, type CaseTensor, type OnnxCase } from "./onnx.js";

export interface LinearCase {
  readonly tensors: readonly [TensorLike, TensorLike, TensorLike];
  readonly options: LinearOptions;
  readonly output: TensorLike;
  readonly state: TensorLike;
}

export function linearCaseOf({ attributes, inputs, outputs }: OnnxCase, set: CaseSet): LinearCase {
  const [query, key, value, state, decay, beta] = inputs;
  const given = (name: string, tensor: CaseTensor | null | undefined): object =>
    tensor ? { [name]: floatsOf(tensor, set) } : {};
  const scale = Number(attributes["scale"] ?? 0);
  return {
    tensors: [floatsOf(query, set), floatsOf(key, set), floatsOf(value, set)],
    options: {
      rule: ruleOf(String(attributes["update_rule"] ?? "gated_delta")),
      layout: "packed",
      heads: Number(attributes["q_num_heads"]),
      kvHeads: Number(attributes["kv_num_heads"]),
      ...(scale === 0 ? {} : { scale }),
      ...given("state", state),
      ...given("decay", decay),
      ...given("beta", beta),
    },
    output: floatsOf(outputs[0], set),
    state: floatsOf(outputs[1], set),
  };
}

export function ropeCaseOf(
  { attributes, inputs, outputs }: OnnxCase,
  set: CaseSet,
): { x: TensorLike; options: RopeOptions; output: TensorLike } {
  const [x, cos, sin, ids] = inputs;
  const rotaryDim = Number(attributes["rotary_embedding_dim"] ?? 0);
  return {
    x: floatsOf(x, set),
    options: {
      interleaved: attributes["interleaved"] === 1,
      cos: floatsOf(cos, set),
      sin: floatsOf(sin, set),
      ...(rotaryDim === 0 ? {} : { rotaryDim }),
      ...(ids ? { positions: Array.from(new BigInt64Array(bufferOf(ids, set)), Number) } : {}),
      ...(x?.shape.length === 3 ? { layout: "packed" as const, heads: Number(attributes["num_heads"]) } : {}),
    },
    output: floatsOf(outputs[0], set),
  };
}

export interface ScatterCase {
  readonly past: TensorLike;
  readonly update: TensorLike;
  /** Where the update goes, of each batch entry. */
  readonly indices: readonly number[];
  readonly present: TensorLike;
}

export function scatterCaseOf({ inputs, outputs }: OnnxCase, set: CaseSet): ScatterCase {
  const [past, update, indices] = inputs;
  if (!indices) throw new Error("no indices");
  return {
    past: floatsOf(past, set),
    update: floatsOf(update, set),
    indices: Array.from(new BigInt64Array(bufferOf(indices, set)), Number),
    present: floatsOf(outputs[0], set),
  };
}

function ruleOf(name: string): LinearOptions["rule"] {
  const rules = { linear: "linear", gated: "gated", delta: "delta", gated_delta: "gated-delta" } as const;
  const rule = Object.entries(rules).find(([onnx]) => onnx === name)?.[1];
  if (rule === undefined) throw new Error(`no rule ${name}`);
  return rule;
}

export function floatsOf(tensor: CaseTensor | null | undefined, set: CaseSet): TensorLike {
  if (tensor?.dtype !== "float32") throw new Error(`wanted floats, got ${tensor?.dtype}`);
  return { data: new Float32Array(bufferOf(tensor, set)), shape: tensor.shape };
}
