// Attention as a TFLite model: the query scaled, a product, the mask where there is one, softmax, and the other product.

import type { Problem } from "../peer.js";
import { encodeFlatBuffer, type Table } from "./encode.js";

/** Numbers of tflite's schema. */
const SCHEMA_VERSION = 3;
const OPERATORS = { ADD: 0, MUL: 18, SOFTMAX: 25, BATCH_MATMUL: 126 };
const OPTIONS = { ADD: 11, MUL: 21, SOFTMAX: 9, BATCH_MATMUL: 101 };
const NAMES = ["MUL", "BATCH_MATMUL", "ADD", "SOFTMAX"] as const;

/** Query heads that share keys are rows of one product. The inputs are called query, key, value and mask. */
export function encodeAttention({ heads, kvHeads, queries, keys, dim, causal }: Problem): Uint8Array {
  const rows = queries * (heads / kvHeads);
  const tensors: Table[] = [];
  /** A tensor and its buffer, of the same number: its index. */
  const tensor = (name: string, shape: readonly number[]): number =>
    tensors.push([{ ints: shape }, null, { int: tensors.length }, { text: name }]) - 1;
  const operators: Table[] = [];
  const operator = (
    name: (typeof NAMES)[number],
    inputs: readonly number[],
    output: number,
    options: Table,
  ): number => {
    const [code, kind] = [{ int: NAMES.indexOf(name) }, { byte: OPTIONS[name] }];
    operators.push([code, { ints: inputs }, { ints: [output] }, kind, { table: options }]);
    return output;
  };

  // The first buffer stands for none, and an input has none.
  const query = tensor("query", [1, kvHeads, rows, dim]);
  const scale = tensor("scale", []);
  const key = tensor("key", [1, kvHeads, keys, dim]);
  const value = tensor("value", [1, kvHeads, keys, dim]);
  const mask = causal ? tensor("mask", [1, 1, queries, keys]) : null;
  const scores = [1, kvHeads, rows, keys];
  const scaled = operator("MUL", [query, scale], tensor("scaled", [1, kvHeads, rows, dim]), []);
  const raw = operator("BATCH_MATMUL", [scaled, key], tensor("scores", scores), [null, { byte: 1 }]);
  const masked = mask === null ? raw : operator("ADD", [raw, mask], tensor("masked", scores), []);
  const weights = operator("SOFTMAX", [masked], tensor("weights", scores), [{ float: 1 }]);
  const output = operator("BATCH_MATMUL", [weights, value], tensor("output", [1, kvHeads, rows, dim]), []);

  const inputs = [query, key, value, ...(mask === null ? [] : [mask])];
  const factor = new Uint8Array(Float32Array.of(1 / Math.sqrt(dim)).buffer);
  const buffers = tensors.map((_, index): Table => (index === scale ? [{ data: factor }] : []));
  const codes = NAMES.map(
    (name): Table => [{ byte: Math.min(OPERATORS[name], 127) }, null, { int: 1 }, { int: OPERATORS[name] }],
  );
  const graph: Table = [
    { tables: tensors },
    { ints: inputs },
    { ints: [output] },
    { tables: operators },
    { text: "attention" },
  ];
  const model: Table = [
    { int: SCHEMA_VERSION },
    { tables: codes },
    { tables: [graph] },
    { text: "heed's bench" },
    { tables: buffers },
  ];
  return encodeFlatBuffer(model, "TFL3");
}
