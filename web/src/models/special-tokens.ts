// What files say of special tokens: which ones end a text, and how templates write them.

import { isRecord } from "../base/read-values.js";
import type { Json } from "./read-json.js";

export interface SpecialTokens {
  readonly bos: string | undefined;
  readonly eos: string | undefined;
  /** The ids of tokens with which a text ends. */
  readonly ends: ReadonlySet<number>;
}

/** Ids, one or several, in each of the files; those of tokens by `idOf`. */
export function specialTokens(
  files: readonly (Json | null)[],
  tokenizerConfig: Json | null,
  idOf: (token: string) => number | undefined,
): SpecialTokens {
  const ids = files.flatMap((file) => [file?.["eos_token_id"]].flat());
  const [bos, eos] = ["bos_token", "eos_token"].map((name) => textOf(tokenizerConfig?.[name]));
  const named = eos === undefined ? undefined : idOf(eos);
  const ends = [...ids, named].filter((id): id is number => Number.isSafeInteger(id) && Number(id) >= 0);
  return { bos, eos, ends: new Set(ends) };
}

/** A token is a text, or an object with one. */
function textOf(token: unknown): string | undefined {
  const content = isRecord(token) ? token["content"] : token;
  return typeof content === "string" ? content : undefined;
}
