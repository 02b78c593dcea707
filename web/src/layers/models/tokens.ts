// Token ids as models take them: of one text, of several, or with a shape.

import { checkRoom } from "../../api/operands.js";
import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { isRecord } from "../../base/read-values.js";
import { type IndexInput, type Indices, readIndices } from "../embedding.js";
import type { TokenMask } from "../token-mask.js";

/** The ids of one text, a list with those of several, which may differ in length, or { data, shape } of [B, L] or [L]. */
export type TokenInput = IndexInput | readonly IndexInput[];

export interface Tokens {
  /** [B, L], where texts that are shorter than the longest end with zeros. */
  readonly indices: Indices;
  /** Of the texts without those zeros; null: there are none. */
  readonly padding: TokenMask | null;
}

const FORMS = "a list of them for each text, or { data, shape } of [B, L] or [L]";

export function readTokens(where: string, name: string, value: unknown): Tokens {
  if (!Array.isArray(value) || !isRecord(value[0])) {
    const indices = readIndices(where, name, value, FORMS);
    return { indices: asBatch(where, name, indices), padding: null };
  }
  const texts: Int32Array[] = [];
  const { length: count } = value;
  for (let at = 0; at < count; at++) {
    const { data, shape } = readIndices(where, `${name}[${at}]`, value[at]);
    if (shape.length !== 1 || data.length === 0) throw wrongShape(where, `${name}[${at}]`, "[L]", shape);
    texts.push(data);
  }
  const length = texts.reduce((most, text) => Math.max(most, text.length), 0);
  checkRoom(where, name, [count, length]);
  const data = new Int32Array(count * length);
  const counts = new Uint8Array(count * length);
  for (const [at, text] of texts.entries()) {
    data.set(text, at * length);
    counts.fill(1, at * length, at * length + text.length);
  }
  const padding = counts.includes(0) ? { data: counts, shape: [count, 1, 1, length] as const } : null;
  return { indices: { data, shape: [count, length] }, padding };
}

/** [B, L], or [L] as a batch of one. */
function asBatch(where: string, name: string, { data, shape }: Indices): Indices {
  const both = shape.length === 1 ? [1, ...shape] : shape;
  if (both.length === 2 && both.every((size) => size > 0)) return { data, shape: both };
  throw wrongShape(where, name, "[B, L] or [L]", shape);
}

function wrongShape(where: string, name: string, wanted: string, got: readonly number[]): HeedError {
  return new HeedError("shape", `${where}: ${name} must be ${wanted}, at least one of each, got ${showShape(got)}`);
}
