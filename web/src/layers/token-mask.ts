// A mask of the tokens of a batch, [B, L], for all heads and queries.

import { readMask } from "../api/operands.js";
import { type ArrayTensor, Tensor } from "../api/tensor.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isRecord } from "../base/read-values.js";
import { isUint8Array } from "../base/typed-array.js";

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
  const { source } = readMask(where, "mask", { data: mask, shape: [batch, length] });
  if (source.kind !== "array" || !(source.array instanceof Uint8Array)) throw new TypeError("a mask was read");
  return { data: source.array.slice(), shape: [batch, 1, 1, length] };
}

/** The mask of a call that was given one, or has padding after some texts, or both. It begins with `past` tokens that came before. Null: no mask. */
export function maskOf(where: string, { mask, padding, batch, length, past = 0 }: MaskedCall): TokenMask | null {
  if (mask === undefined) return padding;
  const given = readTokenMask(where, mask, batch, past + length);
  const entries = padding === null ? [] : entriesOf(padding);
  for (const [at, entry] of entriesOf(given).entries()) {
    for (const [token, counts] of entries[at]?.entries() ?? []) if (counts === 0) entry[past + token] = 0;
  }
  return given;
}

export interface MaskedCall {
  readonly mask: unknown;
  readonly padding: TokenMask | null;
  readonly batch: number;
  readonly length: number;
  readonly past?: number;
}

/** By the results of models, or by the arrays of these: which of their places are tokens. */
const MASKS = new WeakMap<object, TokenMask>();

/** Notes which places of a result [B, L, ...] are tokens, so that pooling leaves out the others. */
export function noteMask(result: Tensor | ArrayTensor, mask: TokenMask | null): void {
  if (mask !== null) MASKS.set(result instanceof Tensor ? result : result.data, mask);
}

/** What was noted of a tensor of this shape, or of its array. */
export function notedMask(x: unknown, [batch = 0, length = 0]: readonly number[]): TokenMask | null {
  const key = x instanceof Tensor || !isRecord(x) ? x : x["data"];
  const mask = isRecord(key) ? MASKS.get(key) : undefined;
  return mask?.shape[0] === batch && mask.shape[3] === length ? mask : null;
}

/** The mask of each batch entry. */
export function entriesOf({ data, shape: [batch, , , length] }: TokenMask): readonly Uint8Array[] {
  return Array.from({ length: batch }, (_, entry) => data.subarray(entry * length, (entry + 1) * length));
}
