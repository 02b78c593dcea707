// A mask of the tokens of a batch, [B, L], for all heads and queries.

import { showValue } from "../api/describe.js";
import { HeedError } from "../api/errors.js";
import { readMask } from "../api/operands.js";
import { isUint8Array } from "../api/typed-array.js";

/** The mask as attention takes it. */
export interface TokenMask {
  readonly data: Uint8Array;
  readonly shape: readonly [number, 1, 1, number];
}

/** `where` names the function in messages. */
export function readTokenMask(where: string, mask: unknown, batch: number, length: number): TokenMask {
  if (!isUint8Array(mask) && !Array.isArray(mask)) {
    throw new HeedError("dtype", `${where}: mask must be a Uint8Array or boolean[] of [B, L], got ${showValue(mask)}`);
  }
  readMask(where, "mask", { data: mask, shape: [batch, length] });
  return { data: Uint8Array.from<number | boolean>(mask, Number), shape: [batch, 1, 1, length] };
}

/** The mask of each batch entry. */
export function entriesOf({ data, shape: [batch, , , length] }: TokenMask): readonly Uint8Array[] {
  return Array.from({ length: batch }, (_, entry) => data.subarray(entry * length, (entry + 1) * length));
}
