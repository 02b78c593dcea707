// The range of keys that causal, window, lengths and sequences leave to each query. Pure.

import type { AttentionProblem } from "../backend.js";

/** Three numbers for each batch entry and query: the first key that it sees, the end of those, its position among the keys. */
export const RANGE_STRIDE = 3;

/** A number beyond any position, whose sum with one does not overflow. */
const OPEN = 2 ** 31 - 1;

interface Surroundings {
  readonly firstQuery: number;
  readonly endQuery: number;
  readonly firstKey: number;
  readonly endKey: number;
  /** Among the offsets. */
  readonly index: number;
}

/** Whether some query may see fewer than all keys, or needs its position. If not, there is no table. */
export function hasRanges({ causal, structure, mask, bias, key }: AttentionProblem): boolean {
  const { windowLeft, windowRight, qOffsets, qLengths, kvLengths, sequences, alibiSlopes } = structure;
  const rules = [windowLeft, windowRight, qOffsets, qLengths, kvLengths, sequences, alibiSlopes];
  const limit = Math.min(keyLimit(mask, key.shape[2]), keyLimit(bias, key.shape[2]));
  return causal !== "none" || rules.some((rule) => rule !== null) || limit < key.shape[2];
}

export function rowRanges(problem: AttentionProblem): Int32Array<ArrayBuffer> {
  const [batch, , queries] = problem.query.shape;
  const keys = problem.key.shape[2];
  const limit = Math.min(keyLimit(problem.mask, keys), keyLimit(problem.bias, keys));
  const { windowLeft, windowRight } = problem.structure;
  const left = windowLeft ?? OPEN;
  const right = problem.causal === "none" ? (windowRight ?? OPEN) : 0;
  const ranges = new Int32Array(batch * queries * RANGE_STRIDE);
  let word = 0;
  for (let b = 0; b < batch; b++) {
    let sequence = 0;
    for (let i = 0; i < queries; i++, word += RANGE_STRIDE) {
      const starts = problem.structure.sequences?.queryStarts;
      while (starts !== undefined && (starts[sequence + 1] ?? queries) <= i) sequence += 1;
      const around = surroundings(problem, b, sequence);
      const position = positionOf(problem, around, i);
      const end =
        i < around.endQuery ? clamp(position + right + 1, around.firstKey, Math.min(limit, around.endKey)) : 0;
      ranges[word] = i < around.endQuery ? clamp(position - left, around.firstKey, end) : 0;
      ranges[word + 1] = end;
      ranges[word + 2] = position;
    }
  }
  return ranges;
}

/** Keys beyond a last axis that is shorter than the keys, and not 1, are masked. */
function keyLimit(operand: AttentionProblem["mask"], keys: number): number {
  if (operand === null || operand.strides[3] === 0) return keys;
  return Math.min(operand.shape[3], keys);
}

function surroundings({ structure, query, key }: AttentionProblem, batch: number, sequence: number): Surroundings {
  const { sequences, qLengths, kvLengths } = structure;
  if (sequences !== null) {
    return {
      firstQuery: sequences.queryStarts[sequence] ?? 0,
      endQuery: sequences.queryStarts[sequence + 1] ?? 0,
      firstKey: sequences.keyStarts[sequence] ?? 0,
      endKey: sequences.keyStarts[sequence + 1] ?? 0,
      index: sequence,
    };
  }
  const [endQuery, endKey] = [qLengths?.[batch] ?? query.shape[2], kvLengths?.[batch] ?? key.shape[2]];
  return { firstQuery: 0, endQuery, firstKey: 0, endKey, index: batch };
}

function positionOf({ causal, structure }: AttentionProblem, around: Surroundings, query: number): number {
  const upperLeft = query - around.firstQuery + around.firstKey;
  if (structure.qOffsets !== null) return upperLeft + (structure.qOffsets[around.index] ?? 0);
  return causal === "upper-left" ? upperLeft : query - around.endQuery + around.endKey;
}

/** `low` where the bounds cross. */
function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(value, high));
}
