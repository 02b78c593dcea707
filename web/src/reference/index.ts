// heed/reference: attention in double precision, straight from its formulae, for tests. Slow, and shares no code with the engine.

/** A dense row-major array and its shape, as `heed` takes them; double precision is welcome. */
export interface ReferenceTensor {
  readonly data: Float32Array | Float64Array;
  readonly shape: readonly number[];
}

export interface ReferenceMask {
  readonly data: Uint8Array | readonly boolean[];
  readonly shape: readonly number[];
}

/** The options of `heed.attention` that this version computes, with the same meaning. */
export interface ReferenceOptions {
  readonly scale?: number | undefined;
  readonly temperature?: number | undefined;
  readonly score?: "scaled-dot" | "dot" | undefined;
  readonly causal?: boolean | "lower-right" | "upper-left" | undefined;
  readonly mask?: ReferenceMask | undefined;
  readonly bias?: ReferenceTensor | undefined;
  readonly layout?: "bhnd" | "bnhd" | "packed" | undefined;
  readonly heads?: number | undefined;
  readonly kvHeads?: number | undefined;
}

export interface ReferenceResultTensor {
  readonly data: Float64Array;
  readonly shape: readonly number[];
}

export interface ReferenceResult {
  readonly output: ReferenceResultTensor;
  readonly weights: ReferenceResultTensor;
  readonly lse: ReferenceResultTensor;
}

/**
 * softmax(scale * Q K^T / temperature + bias, over the keys that mask and causal leave) V, with weights and lse. Shapes and
 * layouts as in `heed.attention`. Throws a RangeError for shapes that do not fit; checks little else.
 */
export function attention(
  query: ReferenceTensor,
  key: ReferenceTensor,
  value: ReferenceTensor,
  options: ReferenceOptions = {},
): ReferenceResult {
  const { layout = "bhnd", heads, kvHeads = heads } = options;
  const q = toHeads(query, layout, heads);
  const k = toHeads(key, layout, kvHeads);
  const v = toHeads(value, layout, kvHeads);
  const [batch, queryHeads, queryLength, headDim] = q.shape;
  const [, keyHeads, keyLength] = k.shape;
  const valueDim = v.shape[3];
  if (queryHeads % keyHeads !== 0) throw new RangeError("query heads must be a multiple of key heads");

  const scale = (options.scale ?? (options.score === "dot" ? 1 : 1 / Math.sqrt(headDim))) / (options.temperature ?? 1);
  const output = new Float64Array(batch * queryHeads * queryLength * valueDim);
  const weights = new Float64Array(batch * queryHeads * queryLength * keyLength);
  const lse = new Float64Array(batch * queryHeads * queryLength);

  let row = 0;
  for (let b = 0; b < batch; b++) {
    for (let h = 0; h < queryHeads; h++) {
      const g = Math.floor(h / (queryHeads / keyHeads));
      for (let i = 0; i < queryLength; i++, row++) {
        const scores: number[] = [];
        for (let j = 0; j < keyLength; j++) {
          const attends =
            isCausallyVisible(options.causal, i, j, queryLength, keyLength) &&
            maskAt(options.mask, b, h, i, j, keyLength);
          scores.push(
            attends ? scale * dot(q, k, [b, h, i], [b, g, j]) + biasAt(options.bias, b, h, i, j, keyLength) : -Infinity,
          );
        }
        const { probabilities, logSum } = softmax(scores);
        weights.set(probabilities, row * keyLength);
        lse[row] = logSum;
        for (let e = 0; e < valueDim; e++) {
          let sum = 0;
          for (const [j, p] of probabilities.entries()) {
            // A masked value is not read into the sum: it may be NaN.
            if (p > 0) sum += p * at(v, [b, g, j, e]);
          }
          output[row * valueDim + e] = sum;
        }
      }
    }
  }
  const perHead = [batch, queryHeads, queryLength];
  const drop = layout === "packed" ? 0 : 4 - query.shape.length;
  return {
    output: fromHeads(output, [batch, queryHeads, queryLength, valueDim], layout, query.shape.length),
    weights: { data: weights, shape: [...perHead, keyLength].slice(drop) },
    lse: { data: lse, shape: perHead.slice(drop) },
  };
}

type Dims = readonly [number, number, number, number];

/** A tensor in [batch, heads, length, dim]. */
interface Heads {
  readonly data: ArrayLike<number>;
  readonly shape: Dims;
}

/** p_j = exp(s_j) / sum exp(s), and log sum exp(s); a row of -Infinity gives zeros and -Infinity. */
function softmax(scores: readonly number[]): { probabilities: Float64Array; logSum: number } {
  const max = scores.reduce((most, score) => (score > most || Number.isNaN(score) ? score : most), -Infinity);
  if (max === -Infinity) return { probabilities: new Float64Array(scores.length), logSum: -Infinity };
  const exponentials = Float64Array.from(scores, (score) => Math.exp(score - max));
  const sum = exponentials.reduce((total, term) => total + term, 0);
  return { probabilities: exponentials.map((term) => term / sum), logSum: max + Math.log(sum) };
}

function isCausallyVisible(causal: ReferenceOptions["causal"], i: number, j: number, l: number, s: number): boolean {
  if (causal === undefined || causal === false) return true;
  return causal === "upper-left" ? j <= i : j <= i + (s - l);
}

function maskAt(mask: ReferenceMask | undefined, b: number, h: number, i: number, j: number, keys: number): boolean {
  if (mask === undefined) return true;
  const index = broadcastIndex(mask.shape, [b, h, i, j], keys);
  return index !== null && Boolean(mask.data[index]);
}

function biasAt(bias: ReferenceTensor | undefined, b: number, h: number, i: number, j: number, keys: number): number {
  if (bias === undefined) return 0;
  const index = broadcastIndex(bias.shape, [b, h, i, j], keys);
  return index === null ? -Infinity : (bias.data[index] ?? Number.NaN);
}

/** Where [b, h, i, j] lies in an array that broadcasts from the right; null beyond a last axis shorter than the keys. */
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

function dot(
  q: Heads,
  k: Heads,
  qRow: readonly [number, number, number],
  kRow: readonly [number, number, number],
): number {
  let sum = 0;
  for (let d = 0; d < q.shape[3]; d++) sum += at(q, [...qRow, d]) * at(k, [...kRow, d]);
  return sum;
}

function at({ data, shape }: Heads, [b, h, l, d]: Dims): number {
  return data[((b * shape[1] + h) * shape[2] + l) * shape[3] + d] ?? Number.NaN;
}

/** Copies any layout into [batch, heads, length, dim]. */
function toHeads(tensor: ReferenceTensor, layout: string, heads: number | undefined): Heads {
  const { data, shape } = tensor;
  const [a = 0, b = 0, c = 0, d = 0] = shape;
  if (layout === "packed") {
    if (heads === undefined || shape.length !== 3) throw new RangeError("packed needs rank 3 and heads");
    return swapped(data, [a, b, heads, c / heads]);
  }
  if (shape.length === 2) return { data, shape: [1, 1, a, b] };
  const full: Dims = shape.length === 3 ? [1, a, b, c] : [a, b, c, d];
  return layout === "bnhd" ? swapped(data, full) : { data, shape: full };
}

/** [batch, heads, length, dim] -> the caller's layout and rank. */
function fromHeads(data: Float64Array, shape: Dims, layout: string, rank: number): ReferenceResultTensor {
  const [b, h, l, d] = shape;
  if (layout === "packed") return { data: swapped(data, shape).data, shape: [b, l, h * d] };
  if (layout === "bhnd" || rank === 2) return { data, shape: shape.slice(4 - rank) };
  return { data: swapped(data, shape).data, shape: [b, l, h, d].slice(4 - rank) };
}

/** Exchanges the two middle axes. */
function swapped(data: ArrayLike<number>, [a, b, c, d]: Dims): { data: Float64Array; shape: Dims } {
  const result = new Float64Array(a * b * c * d);
  let target = 0;
  for (let i = 0; i < a; i++) {
    for (let k = 0; k < c; k++) {
      for (let j = 0; j < b; j++) {
        for (let l = 0; l < d; l++) result[target++] = data[((i * b + j) * c + k) * d + l] ?? Number.NaN;
      }
    }
  }
  return { data: result, shape: [a, c, b, d] };
}
