// The graphs of attention for onnxruntime-web: one for each of its three fused operators, and one of plain operators.

import { causalBias, headsInside, repeatHeads } from "../inputs.js";
import type { Inputs, Problem } from "../peer.js";
import type { GraphNode, Model, Operand } from "./encode.js";

interface Graph {
  readonly layout: "bhnd" | "bnhd";
  model(problem: Problem, inputs: Inputs): Model;
}

const CONTRIB = "com.microsoft";

/** ONNX's own operator, as of opset 23. */
const attention: Graph = {
  layout: "bhnd",
  model({ heads, kvHeads, queries, keys, dim, causal }, { query, key, value }) {
    return {
      inputs: [
        { name: "query", data: query, shape: [1, heads, queries, dim] },
        { name: "key", data: key, shape: [1, kvHeads, keys, dim] },
        { name: "value", data: value, shape: [1, kvHeads, keys, dim] },
      ],
      constants: [],
      nodes: [
        {
          op: "Attention",
          domain: "",
          inputs: ["query", "key", "value"],
          outputs: ["output"],
          attributes: { is_causal: { int: causal ? 1 : 0 } },
        },
      ],
      outputs: [{ name: "output", shape: [1, heads, queries, dim] }],
    };
  },
};

/** The graph without a fused operator: two matrix products and a softmax. FusedMatMul saves the transposition and the scaling. */
const unfused: Graph = {
  layout: "bhnd",
  model({ heads, kvHeads, queries, keys, dim, causal }, { query, key, value }) {
    if (causal && heads !== kvHeads) throw new Error("the plain graph has no causal grouped heads");
    // Query heads that share K are rows of one matrix product.
    const rows = queries * (heads / kvHeads);
    const mask: Operand[] = causal ? [{ name: "mask", data: causalBias(queries, keys), shape: [queries, keys] }] : [];
    const masking: GraphNode = {
      op: "Add",
      domain: "",
      inputs: ["scores", "mask"],
      outputs: ["masked"],
      attributes: {},
    };
    return {
      inputs: [
        { name: "query", data: query, shape: [1, kvHeads, rows, dim] },
        { name: "key", data: key, shape: [1, kvHeads, keys, dim] },
        { name: "value", data: value, shape: [1, kvHeads, keys, dim] },
      ],
      constants: mask,
      nodes: [
        {
          op: "FusedMatMul",
          domain: CONTRIB,
          inputs: ["query", "key"],
          outputs: ["scores"],
          attributes: { transB: { int: 1 }, alpha: { float: 1 / Math.sqrt(dim) } },
        },
        ...(causal ? [masking] : []),
        {
          op: "Softmax",
          domain: "",
          inputs: [causal ? "masked" : "scores"],
          outputs: ["weights"],
          attributes: { axis: { int: 3 } },
        },
        { op: "MatMul", domain: "", inputs: ["weights", "value"], outputs: ["output"], attributes: {} },
      ],
      outputs: [{ name: "output", shape: [1, kvHeads, rows, dim] }],
    };
  },
};

/** MultiHeadAttention has no grouped heads: K and V are repeated beforehand, untimed. */
const multiHead: Graph = {
  layout: "bnhd",
  model({ heads, kvHeads, queries, keys, dim, causal }, { query, key, value }) {
    const times = heads / kvHeads;
    const packed = (numbers: Float32Array, length: number) => headsInside(numbers, heads, length, dim);
    return {
      inputs: [
        { name: "query", data: packed(query, queries), shape: [1, queries, heads * dim] },
        { name: "key", data: packed(repeatHeads(key, kvHeads, times), keys), shape: [1, keys, heads * dim] },
        { name: "value", data: packed(repeatHeads(value, kvHeads, times), keys), shape: [1, keys, heads * dim] },
      ],
      constants: [],
      nodes: [
        {
          op: "MultiHeadAttention",
          domain: CONTRIB,
          inputs: ["query", "key", "value"],
          outputs: ["output"],
          attributes: { num_heads: { int: heads }, unidirectional: { int: causal ? 1 : 0 } },
        },
      ],
      outputs: [{ name: "output", shape: [1, queries, heads * dim] }],
    };
  },
};

/** GroupQueryAttention takes as many new keys as queries. The others are its past, which it copies into the present at each call. */
const groupQuery: Graph = {
  layout: "bnhd",
  model({ heads, kvHeads, queries, keys, dim, causal }, { query, key, value }) {
    if (queries !== keys && queries !== 1) throw new Error("GroupQueryAttention has no cross attention");
    const past = keys - queries;
    const part = (numbers: Float32Array, from: number, to: number) => {
      const size = (to - from) * dim;
      const taken = new Float32Array(kvHeads * size);
      for (let g = 0; g < kvHeads; g++) {
        const start = (g * keys + from) * dim;
        taken.set(numbers.subarray(start, start + size), g * size);
      }
      return taken;
    };
    const fresh = (numbers: Float32Array) => headsInside(part(numbers, past, keys), kvHeads, queries, dim);
    const pasts: Operand[] =
      past === 0
        ? []
        : [
            { name: "past_key", data: part(key, 0, past), shape: [1, kvHeads, past, dim] },
            { name: "past_value", data: part(value, 0, past), shape: [1, kvHeads, past, dim] },
          ];
    return {
      inputs: [
        { name: "query", data: headsInside(query, heads, queries, dim), shape: [1, queries, heads * dim] },
        { name: "key", data: fresh(key), shape: [1, queries, kvHeads * dim] },
        { name: "value", data: fresh(value), shape: [1, queries, kvHeads * dim] },
        ...pasts,
      ],
      constants: [
        { name: "last_key", data: Int32Array.of(keys - 1), shape: [1] },
        { name: "key_count", data: Int32Array.of(keys), shape: [] },
      ],
      nodes: [
        {
          op: "GroupQueryAttention",
          domain: CONTRIB,
          inputs: ["query", "key", "value", past ? "past_key" : "", past ? "past_value" : "", "last_key", "key_count"],
          outputs: ["output", "present_key", "present_value"],
          // A single query sees every key, causal or not.
          attributes: {
            num_heads: { int: heads },
            kv_num_heads: { int: kvHeads },
            causal: { int: causal || queries === 1 ? 1 : 0 },
          },
        },
      ],
      outputs: [{ name: "output", shape: [1, queries, heads * dim] }],
    };
  },
};

export const GRAPHS = { attention, mha: multiHead, gqa: groupQuery, unfused } as const;

export const isGraphName = (name: string): name is keyof typeof GRAPHS => Object.hasOwn(GRAPHS, name);
