// The GPT-2 that learners train: the same parameters, batches and rule for everybody.

import { normalNumbers, uniform } from "./inputs.js";
import type { Model } from "./peer.js";

export const HEAD_DIM = 32;
export const CONTEXT = 64;
export const BATCH = 16;
export const VOCABULARY = 256;
export const TOKENS = BATCH * CONTEXT;
export const EPSILON = 1e-5;
/** Of AdamW, which decays all parameters alike, after the norm of all gradients is clipped at 1. */
export const RULE = { learningRate: 3e-4, betas: [0.9, 0.95] as const, epsilon: 1e-8, weightDecay: 0.1 };

export interface Parameter {
  /** As GPT-2 was published. */
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** In the order of the forward pass. Linear layers are [inputs, outputs]. */
export function parametersOf({ dim, layers }: Model): readonly Parameter[] {
  let seed = 10;
  const filled = (name: string, length: number, number: number): Parameter => ({
    name,
    shape: [length],
    data: new Float32Array(length).fill(number),
  });
  const normal = (name: string, shape: readonly [number, number], deviation = 0.02): Parameter => ({
    name,
    shape,
    data: normalNumbers(shape[0] * shape[1], seed++).map((number) => deviation * number),
  });
  const norm = (name: string) => [filled(`${name}.weight`, dim, 1), filled(`${name}.bias`, dim, 0)];
  const linear = (name: string, inputs: number, outputs: number, deviation?: number) => [
    normal(`${name}.weight`, [inputs, outputs], deviation),
    filled(`${name}.bias`, outputs, 0),
  ];
  const residual = 0.02 / Math.sqrt(2 * layers);
  const blocks = Array.from({ length: layers }, (_, layer) => [
    ...norm(`h.${layer}.ln_1`),
    ...linear(`h.${layer}.attn.c_attn`, dim, 3 * dim),
    ...linear(`h.${layer}.attn.c_proj`, dim, dim, residual),
    ...norm(`h.${layer}.ln_2`),
    ...linear(`h.${layer}.mlp.c_fc`, dim, 4 * dim),
    ...linear(`h.${layer}.mlp.c_proj`, 4 * dim, dim, residual),
  ]);
  return [
    normal("wte.weight", [VOCABULARY, dim]),
    normal("wpe.weight", [CONTEXT, dim]),
    ...blocks.flat(),
    ...norm("ln_f"),
  ];
}

/** Each token is one of eight that may follow the one before it. */
export function batchOf(step: number): { tokens: Int32Array<ArrayBuffer>; targets: Int32Array<ArrayBuffer> } {
  const next = uniform(step);
  const tokens = new Int32Array(TOKENS);
  const targets = new Int32Array(TOKENS);
  let token = 0;
  for (let at = 0; at < TOKENS; at++) {
    if (at % CONTEXT === 0) token = Math.floor(VOCABULARY * next());
    tokens[at] = token;
    token = (3 * token + Math.floor(8 * next())) % VOCABULARY;
    targets[at] = token;
  }
  return { tokens, targets };
}
