// heed/reference: attention in double precision by its formulae, for tests. It is slow and shares no code with the engine.

import { at, type Dims, fromHeads, type Heads, toHeads } from "./heads.js";
import { normalize } from "./normalizers.js";
import type { ReferenceResultTensor, ReferenceTensor } from "./numbers.js";
import { type PlainOptions, plainOptions, type ReferenceOptions } from "./options.js";
import { defaultScale, scoreFunction } from "./scores.js";

export type { ReferenceExpr, ReferenceLeaf } from "./expressions.js";
export { type LinearReferenceOptions, linearAttention } from "./linear-attention.js";
export type { ReferenceNormalizer } from "./normalizers.js";
export type { ReferenceHalves, ReferenceNumbers, ReferenceResultTensor, ReferenceTensor } from "./numbers.js";
export type { ReferenceMask, ReferenceMaskInput, ReferenceMod, ReferenceOptions } from "./options.js";
export { type RopeReferenceOptions, rope } from "./rope.js";
export type { ReferenceScore } from "./scores.js";

/** What the reference's `attention` gives, in double precision. */
export interface ReferenceResult {
  readonly output: ReferenceResultTensor;
  readonly weights: ReferenceResultTensor;
  /** The mean over the query heads, [B, L, S] or [L, S]. */
  readonly meanWeights: ReferenceResultTensor;
  /** That of a softmax over the same keys, whatever the normalizer. */
  readonly lse: ReferenceResultTensor;
  /** The scores at every stage. */
  readonly scores: {
    readonly raw: ReferenceResultTensor;
    readonly capped: ReferenceResultTensor;
    readonly masked: ReferenceResultTensor;
  };
  /** NaN where weights are negative. */
  readonly entropy: ReferenceResultTensor;
}

/**
 * normalize(cap(scale * score(Q, K) / temperature) + alibi + bias, over the keys that are not masked) V, with all intermediate results.
 * Shapes and layouts are those of `heed.attention`. Throws a RangeError for shapes that do not fit, and checks little else.
 */
export function attention(
  query: ReferenceTensor,
  key: ReferenceTensor,
  value: ReferenceTensor,
  given: ReferenceOptions = {},
): ReferenceResult {
  const { layout = "bhnd", heads, kvHeads = heads } = given;
  const q = toHeads(query, layout, heads);
  const k = toHeads(key, layout, kvHeads);
  const v = toHeads(value, layout, kvHeads);
  const [batch, queryHeads, queryLength, headDim] = q.shape;
  const [, keyHeads, keyLength] = k.shape;
  const valueDim = v.shape[3];
  if (queryHeads % keyHeads !== 0) throw new RangeError("query heads must be a multiple of key heads");

  const options = plainOptions(given, [batch, queryHeads, queryLength, keyLength]);
  const scale = (given.scale ?? defaultScale(given.score, headDim)) / (given.temperature ?? 1);
  const scoreOf = scoreFunction(given.score ?? "scaled-dot");
  const output = new Float64Array(batch * queryHeads * queryLength * valueDim);
  const weights = new Float64Array(batch * queryHeads * queryLength * keyLength);
  const lse = new Float64Array(batch * queryHeads * queryLength);
  const entropy = new Float64Array(lse.length);
  const raw = new Float64Array(weights.length);
  const capped = new Float64Array(weights.length);
  const masked = new Float64Array(weights.length);

  const kept = dropoutOf(options.dropout);
  const { scoreMod, maskMod, probMod } = options;
  let row = 0;
  for (let b = 0; b < batch; b++) {
    for (let h = 0; h < queryHeads; h++) {
      const g = Math.floor(h / (queryHeads / keyHeads));
      const keys = rowsOf(k, b, g);
      const values = rowsOf(v, b, g);
      for (let i = 0; i < queryLength; i++, row++) {
        const position = positionOf(options, b, i, queryLength, keyLength);
        const query = rowOf(q, [b, h, i]);
        const scores: number[] = [];
        for (const [j, key] of keys.entries()) {
          const score = scale * scoreOf(h, query, key);
          const cap = options.softcap;
          const bounded = cap === undefined ? score : cap * Math.tanh(score / cap);
          const inputs = { score: bounded, prob: Number.NaN, b, h, q: i, k: j };
          const modified = scoreMod === undefined ? bounded : scoreMod(inputs);
          const alibi = options.alibiSlopes === undefined ? 0 : (options.alibiSlopes[h] ?? 0) * Math.abs(position - j);
          const attends =
            isInStructure(options, b, i, j, position) &&
            isKept(options.blocks, b, h, i, j, keyLength) &&
            (maskMod === undefined || maskMod(inputs) !== 0) &&
            maskAt(options.mask, b, h, i, j, keyLength);
          raw[row * keyLength + j] = score;
          capped[row * keyLength + j] = bounded;
          scores.push(attends ? modified - alibi + biasAt(options.bias, b, h, i, j, keyLength) : -Infinity);
        }
        masked.set(scores, row * keyLength);
        const { probabilities, logSum, isSeen } = normalize(scores, options, options.sinks?.[h] ?? -Infinity);
        entropy[row] = probabilities.reduce((sum, p) => (p === 0 ? sum : sum - p * Math.log(p)), 0);
        const rewritten = probabilities.map((prob, j) =>
          probMod === undefined || !isSeen[j] ? prob : probMod({ score: Number.NaN, prob, b, h, q: i, k: j }),
        );
        const final = rewritten.map((p, j) => p * kept(row, j));
        weights.set(final, row * keyLength);
        lse[row] = logSum;
        const sums = output.subarray(row * valueDim, (row + 1) * valueDim);
        values.forEach((value, j) => {
          const p = final[j] ?? 0;
          // A masked or dropped value is not read into the sum: it may be NaN.
          if (p !== 0) for (let e = 0; e < valueDim; e++) sums[e] = (sums[e] ?? 0) + p * (value[e] ?? Number.NaN);
        });
      }
    }
  }
  const perHead = [batch, queryHeads, queryLength];
  const drop = layout === "packed" ? 0 : 4 - query.shape.length;
  const perKey = (data: Float64Array): ReferenceResultTensor => ({ data, shape: [...perHead, keyLength].slice(drop) });
  return {
    output: fromHeads(output, [batch, queryHeads, queryLength, valueDim], layout, query.shape.length),
    weights: perKey(weights),
    meanWeights: {
      data: meanOverHeads(weights, [batch, queryHeads, queryLength, keyLength]),
      shape: [batch, queryLength, keyLength].slice(Math.min(drop, 1)),
    },
    lse: { data: lse, shape: perHead.slice(drop) },
    scores: { raw: perKey(raw), capped: perKey(capped), masked: perKey(masked) },
    entropy: { data: entropy, shape: perHead.slice(drop) },
  };
}

/** The factor of the weight of key j in a row. Rows count the queries of all heads and batch entries. */
function dropoutOf(dropout: PlainOptions["dropout"]): (row: number, j: number) => number {
  const p = Math.fround(dropout?.p ?? 0);
  if (p === 0) return () => 1;
  const dropped = Math.floor(p * 2 ** 32);
  const ofSeed = mix((dropout?.seed ?? 0) + 0x9e3779b9);
  return (row, j) => (mix(mix(ofSeed ^ row) ^ Math.imul(j, 0x9e3779b9)) >>> 0 < dropped ? 0 : 1 / (1 - p));
}

/** Mixes the bits of a 32-bit number: "lowbias32" of github.com/skeeto/hash-prospector. */
function mix(number: number): number {
  let x = number | 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return x ^ (x >>> 16);
}

/** The position of query i among the keys: lower-right by the valid lengths, unless an option says otherwise. */
function positionOf(options: PlainOptions, b: number, i: number, queries: number, keys: number): number {
  const { qOffset, cuSeqlensQ, cuSeqlensK = cuSeqlensQ } = options;
  if (cuSeqlensQ !== undefined && cuSeqlensK !== undefined) {
    // A sequence is a call of its own, shifted to its first key.
    const n = sequenceOf(cuSeqlensQ, i);
    const [from, to] = boundsOf(cuSeqlensQ, n);
    const [keyFrom, keyTo] = boundsOf(cuSeqlensK, n);
    const own = typeof qOffset === "object" ? (qOffset[n] ?? 0) : qOffset;
    return keyFrom + positionOf({ causal: options.causal, qOffset: own }, 0, i - from, to - from, keyTo - keyFrom);
  }
  if (qOffset !== undefined) return i + (typeof qOffset === "number" ? qOffset : (qOffset[b] ?? 0));
  if (options.causal === "upper-left") return i;
  return i + (options.kvLengths?.[b] ?? keys) - (options.qLengths?.[b] ?? queries);
}

/** The packed sequence that a query or key is in. */
function sequenceOf(starts: ArrayLike<number>, index: number): number {
  return Array.from(starts).filter((start) => start <= index).length - 1;
}

/** Where a packed sequence starts and ends. */
function boundsOf(starts: ArrayLike<number>, n: number): [number, number] {
  return [starts[n] ?? 0, starts[n + 1] ?? 0];
}

function isInStructure(options: PlainOptions, b: number, i: number, j: number, position: number): boolean {
  const open = (side: number | undefined): number => (side === undefined || side === -1 ? Infinity : side);
  const { cuSeqlensQ, cuSeqlensK = cuSeqlensQ } = options;
  if (cuSeqlensQ !== undefined && cuSeqlensK !== undefined) {
    if (sequenceOf(cuSeqlensQ, i) !== sequenceOf(cuSeqlensK, j)) return false;
  }
  if (i >= (options.qLengths?.[b] ?? Infinity) || j >= (options.kvLengths?.[b] ?? Infinity)) return false;
  if (options.causal !== undefined && options.causal !== false && j > position) return false;
  return j >= position - open(options.window?.[0]) && j <= position + open(options.window?.[1]);
}

function isKept(blocks: PlainOptions["blocks"], b: number, h: number, i: number, j: number, keys: number): boolean {
  if (blocks === undefined) return true;
  const { size, keep } = blocks;
  return maskAt(keep, b, h, Math.floor(i / size[0]), Math.floor(j / size[1]), Math.ceil(keys / size[1]));
}

function meanOverHeads(weights: Float64Array, [batch, heads, queries, keys]: Dims): Float64Array {
  const perHead = queries * keys;
  return Float64Array.from({ length: batch * perHead }, (_, index) => {
    const first = Math.floor(index / perHead) * heads * perHead + (index % perHead);
    let sum = 0;
    for (let h = 0; h < heads; h++) sum += weights[first + h * perHead] ?? Number.NaN;
    return sum / heads;
  });
}

function maskAt(mask: PlainOptions["mask"], b: number, h: number, i: number, j: number, keys: number): boolean {
  if (mask === undefined) return true;
  const index = broadcastIndex(mask.shape, [b, h, i, j], keys);
  return index !== null && Boolean(mask.data[index]);
}

function biasAt(bias: PlainOptions["bias"], b: number, h: number, i: number, j: number, keys: number): number {
  if (bias === undefined) return 0;
  const index = broadcastIndex(bias.shape, [b, h, i, j], keys);
  return index === null ? -Infinity : (bias.data[index] ?? Number.NaN);
}

/** The index of [b, h, i, j] in an array that broadcasts from the right; null beyond a last axis shorter than the keys. */
function broadcastIndex(shape: readonly number[], position: Dims, keys: number): number | null {
  const last = shape[shape.length - 1] ?? 1;
  if (last !== 1 && last !== keys && position[3] >= last) return null;
  let index = 0;
  for (const [axis, size] of shape.entries()) {
    const coordinate = position[axis + 4 - shape.length] ?? 0;
    index = index * size + (size === 1 ? 0 : coordinate);
  }
  return index;
}

const rowsOf = (tensor: Heads, b: number, g: number): number[][] =>
  Array.from({ length: tensor.shape[2] }, (_, j) => rowOf(tensor, [b, g, j]));

function rowOf(tensor: Heads, row: readonly [number, number, number]): number[] {
  return Array.from({ length: tensor.shape[3] }, (_, d) => at(tensor, [...row, d]));
}
