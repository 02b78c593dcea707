// Linear attention by its definition: token by token, with a state matrix.

import { at, type Dims, fromHeads, type Heads, toHeads } from "./heads.js";
import { numbersOf, type ReferenceResultTensor, type ReferenceTensor } from "./numbers.js";

/** The options of `heed.linearAttention`, with the same meaning. */
export interface LinearReferenceOptions {
  readonly rule: "linear" | "gated" | "delta" | "gated-delta" | "elu";
  readonly decay?: ReferenceTensor | undefined;
  readonly beta?: ReferenceTensor | undefined;
  readonly state?: ReferenceTensor | undefined;
  readonly scale?: number | undefined;
  readonly causal?: boolean | undefined;
  readonly layout?: "bhnd" | "bnhd" | "packed" | undefined;
  readonly heads?: number | undefined;
  readonly kvHeads?: number | undefined;
}

/** Throws a RangeError for heads that do not fit; checks little else. */
export function linearAttention(
  query: ReferenceTensor,
  key: ReferenceTensor,
  value: ReferenceTensor,
  options: LinearReferenceOptions,
): { readonly output: ReferenceResultTensor; readonly state: ReferenceResultTensor } {
  const { rule, layout = "bhnd", heads, kvHeads = heads, causal = rule !== "elu" } = options;
  const q = toHeads(query, layout, heads);
  const k = toHeads(key, layout, layout === "packed" ? (key.shape[2] ?? 0) / q.shape[3] : undefined);
  const v = toHeads(value, layout, kvHeads);
  const [batch, queryHeads, queries, dim] = q.shape;
  const [, keyHeads, keys] = k.shape;
  const [, groups, , valueDim] = v.shape;
  if (groups % keyHeads !== 0) throw new RangeError("value heads must be a multiple of key heads");
  if (queryHeads % groups !== 0 && groups % queryHeads !== 0) {
    throw new RangeError("query heads must be a multiple or a divisor of value heads");
  }
  const outputs = Math.max(queryHeads, groups);
  const width = valueDim + (rule === "elu" ? 1 : 0);
  const scale = options.scale ?? 1 / Math.sqrt(dim);
  const decay = perToken(options.decay, key, groups, layout);
  const beta = perToken(options.beta, key, groups, layout);
  const feature = (x: number): number => (rule !== "elu" ? x : x > 0 ? x + 1 : Math.exp(x));

  const output = new Float64Array(batch * outputs * queries * valueDim);
  const states = new Float64Array(batch * groups * dim * width);
  if (options.state !== undefined) states.set(numbersOf(options.state));
  for (let b = 0; b < batch; b++) {
    for (let g = 0; g < groups; g++) {
      const keyHead = Math.floor((g * keyHeads) / groups);
      const state = states.subarray((b * groups + g) * dim * width, (b * groups + g + 1) * dim * width);
      const known = (number: (d: number) => number, e: number): number => {
        let sum = 0;
        for (let d = 0; d < dim; d++) sum += number(d) * (state[d * width + e] ?? 0);
        return sum;
      };
      const write = (t: number): void => {
        for (let d = 0; d < dim && decay !== null; d++) {
          const left = Math.exp(at(decay, [b, g, t, decay.shape[3] === 1 ? 0 : d]));
          for (let e = 0; e < width; e++) state[d * width + e] = left * (state[d * width + e] ?? 0);
        }
        const strength = beta === null ? 1 : at(beta, [b, beta.shape[1] === 1 ? 0 : g, t, 0]);
        const isDelta = rule === "delta" || rule === "gated-delta";
        const written = Array.from({ length: width }, (_, e) => {
          const own = e < valueDim ? at(v, [b, g, t, e]) : 1;
          return isDelta ? strength * (own - known((d) => at(k, [b, keyHead, t, d]), e)) : own;
        });
        for (let d = 0; d < dim; d++) {
          const number = feature(at(k, [b, keyHead, t, d]));
          for (const [e, own] of written.entries()) state[d * width + e] = (state[d * width + e] ?? 0) + number * own;
        }
      };
      const read = (t: number): void => {
        for (let h = g * (outputs / groups); h < (g + 1) * (outputs / groups); h++) {
          const number = (d: number): number => feature(at(q, [b, Math.floor((h * queryHeads) / outputs), t, d]));
          const sum = rule === "elu" ? known(number, valueDim) : 1;
          const factor = rule !== "elu" ? scale : sum === 0 ? 0 : 1 / sum;
          const row = ((b * outputs + h) * queries + t) * valueDim;
          for (let e = 0; e < valueDim; e++) output[row + e] = factor * known(number, e);
        }
      };
      for (let t = 0; t < keys; t++) {
        write(t);
        if (causal) read(t);
      }
      for (let t = 0; t < queries && !causal; t++) read(t);
    }
  }
  const rank = query.shape.length;
  const stateShape: Dims = [batch, groups, dim, width];
  return {
    output: fromHeads(output, [batch, outputs, queries, valueDim], layout, rank),
    state: { data: states, shape: rank === 4 || layout === "packed" ? stateShape : stateShape.slice(4 - rank) },
  };
}

/** [batch, heads, length, 1 or dim], from a tensor shaped as the key, with or without a last axis. */
function perToken(
  given: ReferenceTensor | undefined,
  key: ReferenceTensor,
  groups: number,
  layout: string,
): Heads | null {
  if (given === undefined) return null;
  const { shape } = given;
  if (layout !== "packed") {
    return toHeads({ ...given, shape: shape.length === key.shape.length ? shape : [...shape, 1] }, layout, undefined);
  }
  const [batch = 0, length = 0, numbers = 0] = shape;
  return toHeads({ ...given, shape: [batch, length, numbers] }, layout, Math.min(numbers, groups));
}
