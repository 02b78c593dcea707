// Which tokens of a batch count: [B, L], for all heads and queries.

import { HeedError } from "../api/errors.js";
import { readMask } from "../api/operands.js";
import { isUint8Array } from "../api/typed-array.js";

/** As attention's option `mask`; refused in the name of who was given it. */
export function readTokenMask(where: string, mask: unknown, batch: number, length: number): object {
  if (!isUint8Array(mask) && !Array.isArray(mask)) {
    throw new HeedError("dtype", `${where}: mask must be a Uint8Array or boolean[] of [B, L]`);
  }
  readMask(where, "mask", { data: mask, shape: [batch, length] });
  return { data: mask, shape: [batch, 1, 1, length] };
}
