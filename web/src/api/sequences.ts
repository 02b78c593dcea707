// Reads cuSeqlensQ and cuSeqlensK, which say where packed sequences start, and checks them against the shapes and each other.

import type { Dims4, PackedSequences } from "../backends/backend.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { numbersOf } from "../base/typed-array.js";

/** The unchecked options. */
export interface GivenSequences {
  readonly cuSeqlensQ: unknown;
  readonly cuSeqlensK: unknown;
  readonly qLengths: unknown;
  readonly kvLengths: unknown;
}

/** `scores` is [batch, query heads, query length, key length]. Null where nothing is packed. */
export function readSequences(where: string, given: GivenSequences, scores: Dims4): PackedSequences | null {
  const { cuSeqlensQ, cuSeqlensK = cuSeqlensQ } = given;
  const [batch, , queries, keys] = scores;
  const fail = (rule: string): never => {
    throw new HeedError("option", `${where}: ${rule}`);
  };
  if (cuSeqlensQ === undefined) return cuSeqlensK === undefined ? null : fail("cuSeqlensK needs cuSeqlensQ");
  if (batch !== 1) fail(`cuSeqlensQ needs a batch of one, got ${batch}`);
  if (given.qLengths !== undefined || given.kvLengths !== undefined) {
    fail("cuSeqlensQ and qLengths or kvLengths exclude each other");
  }
  if (given.cuSeqlensK === undefined && queries !== keys) {
    fail(`cuSeqlensK must be given where there are not as many keys as queries, got ${queries} and ${keys}`);
  }
  const queryStarts = readStarts(where, "cuSeqlensQ", cuSeqlensQ, queries);
  const keyStarts = readStarts(where, "cuSeqlensK", cuSeqlensK, keys);
  if (queryStarts.length !== keyStarts.length) {
    fail(
      `cuSeqlensQ and cuSeqlensK must name as many sequences, got ${queryStarts.length - 1} and ${keyStarts.length - 1}`,
    );
  }
  return { queryStarts, keyStarts };
}

/** Whole numbers from 0 to `total` that do not decrease. */
function readStarts(where: string, name: string, value: unknown, total: number): Int32Array<ArrayBuffer> {
  const starts = numbersOf(value);
  const inOrder = starts?.every((start, n) => Number.isInteger(start) && start >= (starts[n - 1] ?? 0)) ?? false;
  if (starts === null || !inOrder || starts[0] !== 0 || starts[starts.length - 1] !== total) {
    throw new HeedError(
      "option",
      `${where}: ${name} must hold whole numbers from 0 to ${total}, both included, that do not decrease, got ${showValue(value)}`,
    );
  }
  return Int32Array.from(starts);
}
