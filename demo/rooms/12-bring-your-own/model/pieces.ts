// What a file may be: arrays to be looked at, or a piece of a model.

import type { ModelConfig } from "heed/layers";
import type { Arrays } from "../arrays.js";
import { familyOfNames } from "./families.js";

export interface NamedShape {
  readonly name: string;
  readonly shape: readonly number[];
}

export type Piece =
  | ({ readonly kind: "arrays" } & Arrays)
  | { readonly kind: "parameters"; readonly tensors: readonly NamedShape[] }
  | { readonly kind: "config"; readonly config: ModelConfig }
  | { readonly kind: "tokenizer"; readonly tokens: number }
  | { readonly kind: "index"; readonly files: readonly string[] }
  /** Of a model, and not needed to run it. */
  | { readonly kind: "spare" };

export interface BroughtFile {
  readonly file: File;
  readonly piece: Piece;
}

/** The pieces of one model, as far as they are there. */
export interface ModelPieces {
  /** By the name of the file. */
  readonly parameters: ReadonlyMap<string, { readonly file: File; readonly tensors: readonly NamedShape[] }>;
  readonly config: ModelConfig | undefined;
  readonly tokenizer: { readonly file: File; readonly tokens: number } | undefined;
  /** Files that the index names. */
  readonly wanted: readonly string[];
}

export const NO_PIECES: ModelPieces = { parameters: new Map(), config: undefined, tokenizer: undefined, wanted: [] };

const SHARD = /^(.*)-\d+-of-(\d+)(?: \(\d+\))?\.safetensors$/i;

/** A piece takes the place of one of its kind; files of parameters stand beside each other where they are parts of one. */
export function withPiece(pieces: ModelPieces, { file, piece }: BroughtFile): ModelPieces {
  switch (piece.kind) {
    case "config":
      return { ...pieces, config: piece.config };
    case "tokenizer":
      return { ...pieces, tokenizer: { file, tokens: piece.tokens } };
    case "index":
      return { ...pieces, wanted: piece.files };
    case "parameters":
      return withParameters(pieces, file, piece.tensors);
    default:
      return pieces;
  }
}

function withParameters(before: ModelPieces, file: File, tensors: readonly NamedShape[]): ModelPieces {
  const known = [...before.parameters.values()].flatMap((one) => one.tensors);
  // Those of another kind of model begin a new one.
  const pieces = known.length === 0 || familyAmong(known) === familyAmong(tensors) ? before : NO_PIECES;
  const isNamed = pieces.wanted.includes(file.name);
  const series = seriesOf(file.name);
  const others = [...pieces.parameters].filter(([name]) => isNamed || (series !== "" && seriesOf(name) === series));
  return {
    ...pieces,
    wanted: isNamed ? pieces.wanted : [],
    parameters: new Map([...others, [file.name, { file, tensors }]]),
  };
}

function familyAmong(tensors: readonly NamedShape[]) {
  return familyOfNames(tensors.map(({ name }) => name));
}

/** Of all files of one model the same; empty where it is in one file. */
function seriesOf(name: string): string {
  const [, stem = "", count = ""] = SHARD.exec(name) ?? [];
  return count === "" ? "" : `${stem} ${count}`;
}

/** Names of files that are still to come: by the index, or how many by the names of the others. */
export function missingFiles({ parameters, wanted }: ModelPieces): readonly string[] {
  const named = wanted.filter((name) => !parameters.has(name));
  if (named.length > 0) return named;
  const [first] = parameters.keys();
  const [, , count = "0"] = SHARD.exec(first ?? "") ?? [];
  return Array.from({ length: Math.max(0, Number(count) - parameters.size) }, () => "");
}
