// The types of tensors in GGUF files: those that heed takes as they are stored, those that it requantizes, and the names of the others.

import { fromF16 } from "../../base/f16.js";
import { widenBf16 } from "../io/dtypes.js";
import type { Blocks } from "./blocks/blocks.js";
import { Q4_0 } from "./blocks/q4-0.js";
import { Q4_1 } from "./blocks/q4-1.js";
import { Q4_K } from "./blocks/q4-k.js";
import { Q5_0 } from "./blocks/q5-0.js";
import { Q5_1 } from "./blocks/q5-1.js";
import { Q5_K } from "./blocks/q5-k.js";
import { Q6_K } from "./blocks/q6-k.js";
import { Q8_0 } from "./blocks/q8-0.js";

/** The formats of weights as heed names them: Q8_0 is int8, Q4_0 int4, Q4_1 int4-min. */
export type WeightFormat = "f32" | "f16" | "bf16" | "int8" | "int4" | "int4-min" | "q4-k";

export interface TensorType extends Blocks {
  /** GGML's name. */
  readonly name: string;
  /** Null for a type that becomes int8. */
  readonly format: WeightFormat | null;
}

const type = (name: string, format: WeightFormat | null, blocks: Blocks): TensorType => ({ name, format, ...blocks });

const F32: Blocks = {
  numbers: 1,
  bytes: 4,
  dequantize: ({ buffer, byteOffset, length }) => new Float32Array(buffer, byteOffset, length / 4),
};

const ofTwoBytes = (widen: (bits: Uint16Array) => Float32Array<ArrayBuffer>): Blocks => ({
  numbers: 1,
  bytes: 2,
  dequantize: ({ buffer, byteOffset, length }) => widen(new Uint16Array(buffer, byteOffset, length / 2)),
});

/** By GGML's number. */
export const TENSOR_TYPES: ReadonlyMap<number, TensorType> = new Map([
  [0, type("F32", "f32", F32)],
  [1, type("F16", "f16", ofTwoBytes(fromF16))],
  [2, type("Q4_0", "int4", Q4_0)],
  [3, type("Q4_1", "int4-min", Q4_1)],
  [6, type("Q5_0", null, Q5_0)],
  [7, type("Q5_1", null, Q5_1)],
  [8, type("Q8_0", "int8", Q8_0)],
  [12, type("Q4_K", "q4-k", Q4_K)],
  [13, type("Q5_K", null, Q5_K)],
  [14, type("Q6_K", null, Q6_K)],
  [30, type("BF16", "bf16", ofTwoBytes(widenBf16))],
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
