// The types of tensors in GGUF files: those that heed takes as they are stored, those that it requantizes, and the names of the others.

import type { Blocks } from "../formats/blocks.js";
import type { WeightFormat } from "../formats/format.js";
import { FORMATS } from "../formats/table.js";
import { Q5_0 } from "./blocks/q5-0.js";
import { Q5_1 } from "./blocks/q5-1.js";
import { Q5_K } from "./blocks/q5-k.js";
import { Q6_K } from "./blocks/q6-k.js";

export interface TensorType extends Blocks {
  /** GGML's name. */
  readonly name: string;
  /** Null for a type that becomes int8. */
  readonly format: WeightFormat | null;
}

const asStored = (name: string, format: WeightFormat): TensorType => ({ ...FORMATS[format], name, format });
const requantized = (name: string, blocks: Blocks): TensorType => ({ ...blocks, name, format: null });

/** By GGML's number. */
export const TENSOR_TYPES: ReadonlyMap<number, TensorType> = new Map([
  [0, asStored("F32", "f32")],
  [1, asStored("F16", "f16")],
  [2, asStored("Q4_0", "int4")],
  [3, asStored("Q4_1", "int4-min")],
  [6, requantized("Q5_0", Q5_0)],
  [7, requantized("Q5_1", Q5_1)],
  [8, asStored("Q8_0", "int8")],
  [12, asStored("Q4_K", "q4-k")],
  [13, requantized("Q5_K", Q5_K)],
  [14, requantized("Q6_K", Q6_K)],
  [30, asStored("BF16", "bf16")],
]);

const OTHERS: Readonly<Record<number, string>> = {
  9: "Q8_1",
  10: "Q2_K",
  11: "Q3_K",
  15: "Q8_K",
  16: "IQ2_XXS",
  17: "IQ2_XS",
  18: "IQ3_XXS",
  19: "IQ1_S",
  20: "IQ4_NL",
  21: "IQ3_S",
  22: "IQ2_S",
  23: "IQ4_XS",
  24: "I8",
  25: "I16",
  26: "I32",
  27: "I64",
  28: "F64",
  29: "IQ1_M",
  34: "TQ1_0",
  35: "TQ2_0",
  39: "MXFP4",
  40: "NVFP4",
  41: "Q1_0",
};

export const typeName = (number: number): string => OTHERS[number] ?? `number ${number}`;
