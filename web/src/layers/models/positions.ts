// The positions of a batch's tokens: consecutive, or counted without masked tokens.

import type { HeldCache } from "../../api/cache-types.js";
import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import type { Indices } from "../embedding.js";
import type { GivenAttention } from "../multi-head-attention.js";
import type { Packing } from "../packing.js";
import { positionsAfter } from "../stack-caches.js";
import { entriesOf, maskOf } from "../token-mask.js";
import type { Tokens } from "./tokens.js";

export interface TokenPositions {
  /** The position of each token, [L] or [B, L]. */
  readonly positions: Indices;
  /** The options for every layer's attention. */
  readonly self: GivenAttention;
  /** The last token of each batch entry that is not masked. */
  readonly last: readonly number[];
  /** Which tokens of this call count; null: all. */
  readonly counts: Uint8Array | null;
}

/** `mask` covers the tokens that the caches hold, then those of this call. */
export function positionsOf(
  where: string,
  { indices, padding }: Tokens,
  mask: unknown,
  caches: readonly HeldCache[] | null,
): TokenPositions {
  const [batch = 0, length = 0] = indices.shape;
  const past = caches?.[0]?.length ?? 0;
  const lengths = caches?.[0]?.lengths ?? null;
  if (padding !== null && caches !== null && mask === undefined) {
    const rule = "with caches, texts of unequal length must have a mask, as later calls must";
    throw new HeedError("option", `${where}: ${rule}, got none`);
  }
  if (lengths !== null && mask === undefined) {
    const positions = { data: positionsAfter(where, lengths, [batch, length]), shape: [batch, length] };
    return { positions, self: {}, last: Array.from({ length: batch }, () => length - 1), counts: null };
  }
  if (lengths !== null) throw new HeedError("option", `${where}: mask and a cache of each text exclude each other`);
  const whole = maskOf(where, { mask, padding, batch, length, past });
  if (whole === null) {
    const positions = { data: Int32Array.from({ length }, (_, at) => past + at), shape: [length] };
    return { positions, self: {}, last: Array.from({ length: batch }, () => length - 1), counts: null };
  }
  const entries = entriesOf(whole);
  const data = Int32Array.from(entries.flatMap((entry) => counted(entry).slice(past)));
  const start = sharedStart(where, caches);
  const kept = entries.flatMap((entry) => [...entry.subarray(start)]);
  return {
    positions: { data, shape: [batch, length] },
    self: {
      mask: { data: Uint8Array.from(kept), shape: [batch, 1, 1, past + length - start] },
      positions: data,
    },
    last: entries.map((entry) => {
      const at = entry.subarray(past).lastIndexOf(1);
      return at === -1 ? length - 1 : at;
    }),
    counts: Uint8Array.from(entries.flatMap((entry) => [...entry.subarray(past)])),
  };
}

/** Those of packed texts. */
export function packedPositions(packing: Packing): TokenPositions {
  const { positions: data, options } = packing;
  return { positions: { data, shape: [data.length] }, self: options, last: [], counts: null };
}

/** Throws where a text has more tokens than the model has positions, of which the first tokens' is `first`. */
export function checkPositions(where: string, { data }: Indices, count: number, first = 0): void {
  const length = data.reduce((most, position) => Math.max(most, position), -1) + 1 - first;
  const room = count - first;
  if (length <= room) return;
  const rule = `a text must have at most ${room} tokens, because the model has positions for no more`;
  throw new HeedError("option", `${where}: ${rule}, got ${length}: encode it with maxLength: ${room}`);
}

/** For each token, the number of unmasked tokens before it. */
function counted(entry: Uint8Array): number[] {
  let count = 0;
  return Array.from(entry, (counts) => {
    count += counts;
    return Math.max(0, count - 1);
  });
}

/** The first token that the caches still hold. */
function sharedStart(where: string, caches: readonly HeldCache[] | null): number {
  const starts = (caches ?? []).map(({ start }) => start);
  if (new Set(starts).size <= 1) return starts[0] ?? 0;
  throw new HeedError(
    "option",
    `${where}: caches must have the same window where there is a mask, got starts ${showShape(starts)}`,
  );
}
