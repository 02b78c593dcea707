// Reads the model of a tokenizer.

import { readBpe } from "./bpe.js";
import type { Component } from "./component.js";
import type { Model } from "./model.js";
import { readUnigram } from "./unigram.js";
import { readWordLevel, readWordPiece } from "./word-piece.js";

export function readModel(component: Component): Model {
  const type = component.type === "" ? guess(component) : component.type;
  if (type === "BPE") return readBpe(component);
  if (type === "WordPiece") return readWordPiece(component);
  if (type === "WordLevel") return readWordLevel(component);
  if (type === "Unigram") return readUnigram(component);
  throw component.unsupported();
}

/** For older files, which have no type. */
function guess(component: Component): string {
  if (component.get("merges") !== undefined) return "BPE";
  if (Array.isArray(component.get("vocab"))) return "Unigram";
  return component.get("max_input_chars_per_word") === undefined ? "" : "WordPiece";
}
