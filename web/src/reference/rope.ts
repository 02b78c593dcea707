// Rotary position embedding by its definition.

import { fromHeads, toHeads } from "./heads.js";
import type { ReferenceResultTensor, ReferenceTensor } from "./index.js";

/** The options of `heed.rope`, with the same meaning; a scaling is given as the frequencies that it leads to. */
export interface RopeReferenceOptions {
  readonly base?: number | undefined;
  /** One a pair, in place of base. */
  readonly frequencies?: ArrayLike<number> | undefined;
  readonly magnitude?: number | undefined;
  readonly interleaved?: boolean | undefined;
  readonly rotaryDim?: number | undefined;
  readonly positions?: number | ArrayLike<number> | undefined;
  readonly inverse?: boolean | undefined;
  readonly cos?: ReferenceTensor | undefined;
  readonly sin?: ReferenceTensor | undefined;
  readonly layout?: "bhnd" | "bnhd" | "packed" | undefined;
  readonly heads?: number | undefined;
}

export function rope(x: ReferenceTensor, options: RopeReferenceOptions = {}): ReferenceResultTensor {
  const { layout = "bhnd", base = 10000, cos, sin, positions = 0, magnitude = 1 } = options;
  const { data, shape } = toHeads(x, layout, options.heads);
  const [batch, heads, length, dim] = shape;
  const columns = cos?.shape[cos.shape.length - 1] ?? 0;
  const rotaryDim = options.rotaryDim ?? (cos === undefined ? dim : 2 * columns);
  const result = Float64Array.from(data);
  for (let b = 0; b < batch; b++) {
    for (let l = 0; l < length; l++) {
      const position =
        typeof positions === "number"
          ? positions + l
          : (positions[positions.length === length ? l : b * length + l] ?? Number.NaN);
      for (let i = 0; i < rotaryDim / 2; i++) {
        const angle = position * (options.frequencies?.[i] ?? base ** ((-2 * i) / rotaryDim));
        const rows = cos?.shape.length === 3 ? (cos.shape[1] ?? 0) : 0;
        const entry = cos?.shape[0] === 1 ? 0 : b;
        const row = (entry * rows + position) * columns + i;
        const c = magnitude * (cos?.data[row] ?? Math.cos(angle));
        const s = magnitude * (sin?.data[row] ?? Math.sin(angle)) * (options.inverse === true ? -1 : 1);
        for (let h = 0; h < heads; h++) {
          const start = ((b * heads + h) * length + l) * dim;
          const first = start + (options.interleaved === true ? 2 * i : i);
          const second = start + (options.interleaved === true ? 2 * i + 1 : i + rotaryDim / 2);
          const [p, q] = [result[first] ?? 0, result[second] ?? 0];
          result[first] = p * c - q * s;
          result[second] = p * s + q * c;
        }
      }
    }
  }
  return fromHeads(result, shape, layout, x.shape.length);
}
