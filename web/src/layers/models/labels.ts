// Which head a config.json says that its file has.

import type { ConfigReader } from "./config.js";

/** A head for classes: of texts, or of their tokens. */
export interface Labels {
  readonly of: "texts" | "tokens";
  readonly count: number;
}

/** What a class of transformers has labels of, by its name; null: of nothing. */
export function labelledBy(name: unknown): Labels["of"] | null {
  const [, kind] = /For(Sequence|Token)Classification$/.exec(String(name)) ?? [];
  return kind === undefined ? null : kind === "Token" ? "tokens" : "texts";
}

/** By `architectures`; null: a head for words, or none. */
export function readLabels(read: ConfigReader, kinds: readonly Labels["of"][] = ["texts", "tokens"]): Labels | null {
  const [name = ""] = read.each("architectures", 1, (value) => (typeof value === "string" ? value : "")) ?? [];
  const of = labelledBy(name);
  if (of === null) return null;
  if (!kinds.includes(of)) throw read.unsupported("architectures", "not be a classifier of tokens");
  return { of, count: read.count("num_labels", read.part("id2label")?.size() ?? 2) };
}
