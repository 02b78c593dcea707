// Rotary position embedding by its definition.

import { fromHeads, toHeads } from "./heads.js";
import { numbersOf, type ReferenceNumbers, type ReferenceResultTensor, type ReferenceTensor } from "./numbers.js";

/** The options of `heed.rope`, with the same meaning. */
export interface RopeReferenceOptions {
  readonly base?: number | undefined;
  /** One for each pair, instead of base. */
  readonly frequencies?: ReferenceNumbers | undefined;
  readonly magnitude?: number | undefined;
  /** Throws: give the frequencies and the magnitude that it leads to. */
  readonly scaling?: unknown;
  readonly interleaved?: boolean | undefined;
  readonly rotaryDim?: number | undefined;
  readonly positions?: number | ReferenceNumbers | undefined;
  readonly inverse?: boolean | undefined;
  readonly cos?: ReferenceTensor | undefined;
  readonly sin?: ReferenceTensor | undefined;
  readonly layout?: "bhnd" | "bnhd" | "packed" | undefined;
  readonly heads?: number | undefined;
}

/** The rotary position embedding, by its definition. */
export function rope(x: ReferenceTensor, options: RopeReferenceOptions = {}): ReferenceResultTensor {
  if (options.scaling !== undefined) throw new RangeError("heed/reference: rope takes frequencies in place of scaling");
  const { layout = "bhnd", base = 10000, cos, sin, magnitude = 1 } = options;
  const list = (numbers: ReferenceNumbers | undefined) => numbers && numbersOf(numbers);
  const [frequencies, cosines, sines] = [list(options.frequencies), list(cos), list(sin)];
  const positions = typeof options.positions === "object" ? numbersOf(options.positions) : (options.positions ?? 0);
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
        const angle = position * (frequencies?.[i] ?? base ** ((-2 * i) / rotaryDim));
        const rows = cos?.shape.length === 3 ? (cos.shape[1] ?? 0) : 0;
        const entry = cos?.shape[0] === 1 ? 0 : b;
        const row = (entry * rows + position) * columns + i;
        const c = magnitude * (cosines?.[row] ?? Math.cos(angle));
        const s = magnitude * (sines?.[row] ?? Math.sin(angle)) * (options.inverse === true ? -1 : 1);
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
