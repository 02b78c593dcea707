// The tables of a call by row, tile and head, in one array that shaders read. Pure.

import type { AttentionProblem, Operand } from "../backend.js";
import { type Options, optionParams } from "./params.js";
import { hasRanges, RANGE_STRIDE, rowRanges } from "./row-ranges.js";

export interface Tables {
  readonly data: Uint32Array<ArrayBuffer>;
  readonly rangesAt: number;
  readonly tilesAt: number;
  readonly constantsAt: number;
  /** Words from one head's constants to the next; 0: all have the same. */
  readonly constantsHead: number;
  readonly modsAt: number;
  /** The call's options, of which arrays are here. */
  readonly options: Options;
}

/** A tile has `rows` query rows; `pack` query heads share their keys and fill tiles together. */
export function makeTables(problem: AttentionProblem, pack: number, rows: number): Tables {
  // Nothing lies at 0, which is the place of an array that is not given.
  const sections: Uint32Array[] = [new Uint32Array(1)];
  let end = 1;
  const add = (section: Uint32Array): number => {
    sections.push(section);
    end += section.length;
    return end - section.length;
  };
  const ranges = hasRanges(problem) ? rowRanges(problem) : new Int32Array(0);
  const constants = scoreConstants(problem);
  const at = {
    rangesAt: add(bitsOf(ranges)),
    tilesAt: add(bitsOf(tileRanges(ranges, problem, pack, rows))),
    constantsAt: add(bitsOf(constants.numbers)),
    constantsHead: constants.head,
    modsAt: add(bitsOf(problem.programs?.tables ?? new Float32Array(0))),
    options: optionParams(problem, (array) => add(bitsOf(Float32Array.from(array, finite)))),
  };
  const data = new Uint32Array(end);
  let start = 0;
  for (const section of sections) {
    data.set(section, start);
    start += section.length;
  }
  return { data, ...at };
}

/** Shaders know no infinity, so a sink of -Infinity becomes their lowest number. */
function finite(number: number): number {
  return Math.max(number, -3e38);
}

/** For each batch entry and tile, the keys that some row of it sees. */
function tileRanges(
  ranges: Int32Array,
  { query }: AttentionProblem,
  pack: number,
  rows: number,
): Int32Array<ArrayBuffer> {
  const [batch, , queries] = query.shape;
  if (ranges.length === 0) return new Int32Array(0);
  const tiles = Math.ceil((pack * queries) / rows);
  const found = new Int32Array(batch * tiles * 2);
  for (let b = 0; b < batch; b++) {
    for (let tile = 0; tile < tiles; tile++) {
      const first = Math.floor((tile * rows) / pack);
      const last = Math.min(Math.floor((tile * rows + rows - 1) / pack), queries - 1);
      let [begin, end] = [2 ** 31 - 1, 0];
      for (let i = first; i <= last; i++) {
        const at = (b * queries + i) * RANGE_STRIDE;
        const [from = 0, to = 0] = ranges.subarray(at, at + 2);
        if (from < to) [begin, end] = [Math.min(begin, from), Math.max(end, to)];
      }
      found.set([Math.min(begin, end), end], (b * tiles + tile) * 2);
    }
  }
  return found;
}

/** Constants of a score function: a number a head, or the weights of the additive score, padded to vectors of four. */
function scoreConstants({ score }: AttentionProblem): { numbers: Float32Array; head: number } {
  if (score.kind === "rbf") {
    const widths = numbersOf(score.bandwidth);
    return { numbers: widths.map((width) => -0.5 / width ** 2), head: widths.length > 1 ? 1 : 0 };
  }
  if (score.kind !== "additive") return { numbers: new Float32Array(0), head: 0 };
  const { hidden } = score;
  const heads = score.v?.shape[1] ?? 1;
  const stride = Math.ceil(hidden / 4) * 4;
  const numbers = new Float32Array(heads * stride);
  const weights = score.v === null ? new Float32Array(hidden).fill(1) : numbersOf(score.v);
  for (let h = 0; h < heads; h++) numbers.set(weights.subarray(h * hidden, (h + 1) * hidden), h * stride);
  return { numbers, head: heads > 1 ? stride : 0 };
}

/** The numbers of a parameter. Parameters that live in an engine run on wasm, so this one is an array. */
export function numbersOf(operand: Operand | null): Float32Array {
  if (operand?.source.kind === "array" && operand.source.array instanceof Float32Array) return operand.source.array;
  throw new TypeError("a parameter of a score function that is no array reached the GPU");
}

function bitsOf(numbers: Int32Array | Float32Array): Uint32Array {
  return new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length);
}
