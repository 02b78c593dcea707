// The numbers of a call that every shader reads: one uniform struct, written from a record and declared from the same list. Pure.

import { packAttention } from "../../operations/attention.js";
import type { AttentionProblem } from "../backend.js";
import { ATTENTION_CALL, MASK_OPTIONS, SCORE_OPTIONS, WEIGHT_OPTIONS } from "../wasm/generated/attention-call.js";
import type { Constants } from "./shaders/compose.js";

/** Strides and offsets count elements. A name that ends in `_at` says where something starts in the tables or the results, in 32-bit words. */
const OWN_FIELDS = {
  heads: "u32",
  /** Heads of K as the kernels read it. These are more than the KV heads where a projection of K goes by query head. */
  key_heads: "u32",
  /** Query heads that read the same keys, and so share tiles. */
  pack: "u32",
  /** Query heads for each KV head. */
  group: "u32",
  queries: "u32",
  keys: "u32",
  head_dim: "u32",
  value_dim: "u32",
  q_b: "u32",
  q_h: "u32",
  q_i: "u32",
  k_b: "u32",
  k_h: "u32",
  k_j: "u32",
  v_b: "u32",
  v_h: "u32",
  v_j: "u32",
  mask_b: "u32",
  mask_h: "u32",
  mask_i: "u32",
  mask_j: "u32",
  bias_b: "u32",
  bias_h: "u32",
  bias_i: "u32",
  bias_j: "u32",
  out_b: "u32",
  out_h: "u32",
  out_i: "u32",
  ranges_at: "u32",
  tiles_at: "u32",
  /** Constants of score functions: a number or a vector for each head. */
  constants_at: "u32",
  constants_h: "u32",
  /** The numbers that expressions read. */
  mods_at: "u32",
  row_tiles: "u32",
  chunks: "u32",
  splits: "u32",
  split_keys: "u32",
  rows: "u32",
  partial_width: "u32",
  groups: "u32",
  groups_x: "u32",
  lse_at: "u32",
  entropy_at: "u32",
  weights_at: "u32",
  scores_at: "u32",
  weights_from: "u32",
  weights_to: "u32",
  pairs_from: "u32",
  pairs_rows: "u32",
  pairs: "u32",
  scale: "f32",
  drop_last: "u32",
  drop_seed: "u32",
  drop_keep: "f32",
} as const;

/** The words of a packed call from a group of options to another, by the names that shaders give them. */
function optionsBetween(first: number, end: number): readonly (readonly [name: string, word: number])[] {
  return Object.entries(ATTENTION_CALL)
    .filter(([, word]) => word >= first && word < end)
    .map(([name, word]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), word]);
}

const OF_SCORES = optionsBetween(SCORE_OPTIONS, WEIGHT_OPTIONS);
const OPTIONS = optionsBetween(SCORE_OPTIONS, MASK_OPTIONS);

/** Options as their bits lie in a packed call. An array starts at a place in the tables, which is not 0. */
export type Options = Readonly<Record<string, number>>;

export type Params = Options & Readonly<Record<keyof typeof OWN_FIELDS, number>>;

const FIELDS = [...Object.entries(OWN_FIELDS), ...OPTIONS.map(([name]) => [name, "u32"] as const)];

/** The size of a uniform struct is a multiple of 16 bytes. */
export const PARAM_BYTES = Math.ceil((FIELDS.length * 4) / 16) * 16;

export const PARAMS_STRUCT = `struct Params {\n${FIELDS.map(([name, type]) => `  ${name}: ${type},`).join("\n")}\n}`;

/** The options as a packed call has them; `place` puts an array into the tables and says where. */
export function optionParams(
  problem: AttentionProblem,
  place: (array: Int32Array | Float32Array | Float64Array) => number,
): Options {
  const call = new DataView(new ArrayBuffer(ATTENTION_CALL.words * 4));
  const isOption = (word: number): boolean => word >= SCORE_OPTIONS && word < MASK_OPTIONS;
  packAttention(problem, {
    float: (word, value) => call.setFloat32(word * 4, value, true),
    integer: (word, value) => call.setUint32(word * 4, Number(value), true),
    numbers: (word, array) => {
      if (array !== null && isOption(word)) call.setUint32(word * 4, place(array), true);
    },
    dtype: ignore,
    input: ignore,
    output: ignore,
    table: ignore,
  });
  return Object.fromEntries(OPTIONS.map(([name, word]) => [name, call.getUint32(word * 4, true)]));
}

function ignore(): void {}

/** The score options that are given, as overrides of scores.wgsl. */
export function scoreSteps(options: Options): Constants {
  return Object.fromEntries(OF_SCORES.map(([name]) => [name.toUpperCase(), options[name] !== 0]));
}

export function packParams(params: Params): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(PARAM_BYTES / 4);
  const floats = new Float32Array(words.buffer);
  for (const [index, [name, type]] of FIELDS.entries()) {
    const target = type === "f32" ? floats : words;
    target[index] = params[name] ?? 0;
  }
  return words;
}
