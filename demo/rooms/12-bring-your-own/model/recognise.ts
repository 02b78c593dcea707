// The models that run here: what model it is by the pieces that were brought, in words, and what is still to come.

import type { ModelConfig } from "heed/layers";
import { whole } from "../../../src/ui/numbers.js";
import { type Arrays, counted, type NamedArray, refuse } from "../arrays.js";

const SIZES = { layers: "num_hidden_layers", heads: "num_attention_heads", positions: "max_position_embeddings" };

/** By their types as config.json spells them; a file is known by any of some names. */
export const FAMILIES = [
  {
    type: "gpt2",
    name: "GPT-2",
    known: /^(?:transformer\.)?(?:w[tp]e|ln_f|h\.\d+\.(?:attn\.c_|mlp\.c_|ln_[12]))/,
    sizes: { layers: "n_layer", heads: "n_head", positions: "n_positions" },
  },
  {
    type: "bert",
    name: "BERT",
    known: /^(?:bert\.)?(?:embeddings\.word_embeddings|encoder\.layer\.\d+\.(?:attention|intermediate|output))/,
    sizes: SIZES,
  },
  {
    type: "llama",
    name: "Llama",
    known: /^(?:model\.)?(?:embed_tokens|layers\.\d+\.(?:self_attn\.[qkvo]_proj|mlp\.(?:gate|up|down)_proj))/,
    sizes: SIZES,
  },
];

type Family = (typeof FAMILIES)[number];

/** "GPT-2, BERT and Llama" */
export const listed = (parts: readonly string[]): string => parts.join(", ").replace(/, (?=[^,]*$)/, " and ");

/** Numbers of a model, rather than what it computes. */
export const isParameter = (name: string): boolean => /(?:^|\.)(?:weight|bias|gamma|beta)$/.test(name);

export function familyOfNames(named: readonly { readonly name: string }[]): Family | undefined {
  return FAMILIES.find(({ known }) => named.some(({ name }) => known.test(name)));
}

/** What a pass takes of a file: neither GPT-2's masks nor BERT's heads for training. */
export const isUsed = (name: string): boolean => isParameter(name) && !/\.attn\.bias$|^cls\./.test(name);

type NamedShape = Pick<NamedArray, "name" | "shape">;

/** What a file may be: arrays to be looked at, or a piece of a model. */
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
interface ModelPieces {
  /** By the name of the file. */
  readonly parameters: ReadonlyMap<string, { readonly file: File; readonly tensors: readonly NamedShape[] }>;
  readonly config?: ModelConfig;
  readonly tokenizer?: { readonly file: File; readonly tokens: number };
  /** Files that the index names. */
  readonly wanted: readonly string[];
}

export const NO_PIECES: ModelPieces = { parameters: new Map(), wanted: [] };

const SHARD = /^(.*)-\d+-of-(\d+)(?: \(\d+\))?\.safetensors$/i;

/** A piece takes the place of one of its kind; files of parameters stand beside each other where they are parts of one. */
export function withPiece(pieces: ModelPieces, { file, piece }: BroughtFile): ModelPieces {
  if (piece.kind === "config") return { ...pieces, config: piece.config };
  if (piece.kind === "tokenizer") return { ...pieces, tokenizer: { file, tokens: piece.tokens } };
  if (piece.kind === "index") return { ...pieces, wanted: piece.files };
  return piece.kind === "parameters" ? withParameters(pieces, file, piece.tensors) : pieces;
}

function withParameters(before: ModelPieces, file: File, tensors: readonly NamedShape[]): ModelPieces {
  const known = tensorsOf(before);
  // Those of another kind of model begin a new one.
  const pieces = known.length === 0 || familyOfNames(known) === familyOfNames(tensors) ? before : NO_PIECES;
  const isNamed = pieces.wanted.includes(file.name);
  const series = seriesOf(file.name);
  const others = [...pieces.parameters].filter(([name]) => isNamed || (series !== "" && seriesOf(name) === series));
  const parameters = new Map([...others, [file.name, { file, tensors }]]);
  return { ...pieces, wanted: isNamed ? pieces.wanted : [], parameters };
}

const tensorsOf = ({ parameters }: ModelPieces) => [...parameters.values()].flatMap(({ tensors }) => tensors);

/** Of all files of one model the same; empty where it is in one file. */
const seriesOf = (name: string): string => (SHARD.exec(name) ?? []).slice(1).join(" ");

/** Two gigabytes in single precision, and as much again where the kernels compute. */
const MOST_PARAMETERS = 2 ** 29;
/** A vocabulary is a little larger than its tokenizer's, for the sake of even sizes. */
const SPARE_TOKENS = 1 / 8;

/** All that a pass needs. */
export type Model = NonNullable<ReturnType<typeof recognise>["model"]>;

/** Refuses pieces that do not fit each other. There is no model where something is still missing. */
export function recognise(pieces: ModelPieces) {
  const { config, tokenizer } = pieces;
  const tensors = tensorsOf(pieces);
  const family = familyIn(config, tensors);
  if (family === undefined) {
    return { said: "A piece of a model. Now drop its config.json and its model.safetensors.", model: undefined };
  }
  const sizes = config === undefined ? undefined : sizesOf(family, config);
  const used = tensors.filter(({ name }) => isUsed(name));
  const numbers = used.reduce((sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1), 0);
  if (numbers > MOST_PARAMETERS) {
    const takes = `which would take ${Math.ceil((numbers * 8) / 2 ** 30)} GB of memory here`;
    const most = `This page takes models of up to ${many(MOST_PARAMETERS)}`;
    refuse(`This ${family.name} has ${many(numbers)} numbers, ${takes}. ${most}.`);
  }
  const has = [
    sizes && `${sizes.layers} layers × ${sizes.heads} heads`,
    numbers > 0 && `${many(numbers)} numbers`,
    sizes && `texts up to ${whole(sizes.positions)} tokens`,
  ];
  const said = `${family.name}: ${has.filter(Boolean).join(", ")}.`;
  const toCome = [...(config === undefined ? ["its config.json"] : []), ...filesToCome(pieces)];
  if (config === undefined || sizes === undefined || toCome.length > 0) {
    return { said: `${said} Now drop ${listed(toCome)}.`, model: undefined };
  }
  assertLayers(sizes.layers, tensors);
  const next =
    tokenizer === undefined
      ? " Now drop its tokenizer.json, or give numbers of tokens instead of a text."
      : tokenizerWarning(family, tokenizer.tokens, sizes.vocabulary);
  const files = [...pieces.parameters.values()].map(({ file }) => file);
  const model = { family: family.type, name: family.name, config, ...sizes, files, tokenizer: tokenizer?.file };
  return { said: `${said}${next}`, model };
}

function familyIn(config: ModelConfig | undefined, tensors: readonly NamedShape[]): Family | undefined {
  const byNames = familyOfNames(tensors);
  const type = config?.["model_type"];
  const byConfig = FAMILIES.find((family) => family.type === type);
  if (config !== undefined && byConfig === undefined) {
    const known = `Those that run here are ${FAMILIES.map((family) => family.type).join(", ")}.`;
    if (typeof type === "string") refuse(`config.json is of a model of the type “${type}”. ${known}`);
    if (byNames === undefined) refuse(`config.json has no model_type, by which it would be known. ${known}`);
  }
  if (byConfig !== undefined && byNames !== undefined && byNames !== byConfig) {
    const [one, other] = [byConfig.name, byNames.name];
    const drop = `drop the config.json of ${other}, or the parameters of ${one}`;
    refuse(`config.json is of ${one}, and the parameters have the names of ${other}: ${drop}.`);
  }
  return byConfig ?? byNames;
}

function sizesOf(family: Family, config: ModelConfig) {
  const read = (name: string, absent?: number): number => {
    const value = config[name] ?? absent;
    if (typeof value === "number" && Number.isInteger(value) && value > 0) return value;
    const says = value === undefined ? "nothing of it" : (JSON.stringify(value) ?? String(value)).slice(0, 40);
    return refuse(`config.json of ${family.name} must say ${name}, a whole number; it says ${says}.`);
  };
  const { layers, heads, positions } = family.sizes;
  return { layers: read(layers), heads: read(heads), positions: read(positions, 2048), vocabulary: read("vocab_size") };
}

/** What is missing, heed says when it loads them; what is more, nobody would miss. */
function assertLayers(layers: number, tensors: readonly NamedShape[]): void {
  const deepest = Math.max(
    -1,
    ...tensors.map(({ name }) => Number(/(?:^|\.)(?:h|layers?)\.(\d+)\./.exec(name)?.[1] ?? -1)),
  );
  if (deepest < layers) return;
  const says = `config.json says ${counted(layers, "layer")}, and the parameters are of ${deepest + 1}`;
  refuse(`${says}: they are not of one model.`);
}

function tokenizerWarning({ name }: Family, tokens: number, vocabulary: number): string {
  const both = `tokenizer.json has ${whole(tokens)} tokens, and this ${name} knows ${whole(vocabulary)}`;
  if (tokens > vocabulary) refuse(`${both}: it is another model’s. Drop the one of this model.`);
  const isFew = tokens < vocabulary * (1 - SPARE_TOKENS);
  return isFew ? ` It has its tokenizer, but ${both}: it may be another model’s.` : "";
}

/** Files of parameters that are missing: by the index, or how many by the names of the others. */
function filesToCome({ parameters, wanted }: ModelPieces): readonly string[] {
  const [first, ...others] = wanted.filter((name) => !parameters.has(name));
  if (first !== undefined) {
    return [others.length === 0 ? first : `${first} and ${others.length} more that its index names`];
  }
  const [own] = parameters.keys();
  if (own === undefined) return ["its model.safetensors"];
  const missing = Number(SHARD.exec(own)?.[2] ?? 0) - parameters.size;
  return missing <= 0 ? [] : [`the other ${missing === 1 ? "part" : `${missing} parts`} of its parameters`];
}

/** 124 million */
function many(count: number): string {
  const millions = count / 1e6;
  return millions < 1 ? whole(count) : `${millions < 10 ? millions.toFixed(1) : whole(millions)} million`;
}
