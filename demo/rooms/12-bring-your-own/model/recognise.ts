// What model it is by its pieces, in words, and what is still to come.

import type { ModelConfig } from "heed/layers";
import { whole } from "../../../src/ui/numbers.js";
import { counted, FileTrouble } from "../arrays.js";
import { FAMILIES, type Family, familyOfConfig, familyOfNames, isUsed } from "./families.js";
import { type ModelPieces, missingFiles, type NamedShape } from "./pieces.js";

/** Two gigabytes in single precision, and as much again where the kernels compute. */
const MOST_PARAMETERS = 2 ** 29;
/** A vocabulary is a little larger than its tokenizer's, for the sake of even sizes. */
const SPARE_TOKENS = 1 / 8;

/** All that a pass needs. */
export interface Model {
  readonly family: string;
  readonly name: string;
  readonly isCausal: boolean;
  readonly config: ModelConfig;
  readonly layers: number;
  readonly heads: number;
  readonly positions: number;
  readonly vocabulary: number;
  readonly files: readonly File[];
  readonly tokenizer: File | undefined;
}

export interface Recognised {
  readonly said: string;
  /** undefined: something is still missing. */
  readonly model: Model | undefined;
}

/** Throws FileTrouble where pieces do not fit each other. */
export function recognise(pieces: ModelPieces): Recognised {
  const { config, tokenizer } = pieces;
  const tensors = [...pieces.parameters.values()].flatMap((one) => one.tensors);
  const family = familyIn(config, tensors);
  if (family === undefined)
    return { said: "A piece of a model. Now drop its config.json and its model.safetensors.", model: undefined };
  const sizes = config === undefined ? undefined : sizesOf(family, config);
  const used = tensors.filter(({ name }) => isUsed(family, name));
  const numbers = used.reduce((sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1), 0);
  assertRoom(family, numbers);
  const has = [
    ...(sizes === undefined ? [] : [`${sizes.layers} layers × ${sizes.heads} heads`]),
    ...(numbers === 0 ? [] : [`${many(numbers)} numbers`]),
    ...(sizes === undefined ? [] : [`texts up to ${whole(sizes.positions)} tokens`]),
  ].join(", ");
  const missing = missingFiles(pieces);
  const toCome = [
    ...(config === undefined ? ["its config.json"] : []),
    ...(tensors.length === 0 && missing.length === 0 ? ["its model.safetensors"] : []),
    ...(missing.length > 0 ? [filesToCome(missing)] : []),
  ];
  const said = `${family.name}: ${has}.`;
  if (config === undefined || sizes === undefined || toCome.length > 0) {
    return { said: `${said} Now drop ${listed(toCome)}.`, model: undefined };
  }
  assertLayers(family, sizes.layers, tensors);
  const warning = tokenizer === undefined ? "" : tokenizerWarning(family, tokenizer.tokens, sizes.vocabulary);
  const next =
    tokenizer === undefined ? " Now drop its tokenizer.json, or give numbers of tokens instead of a text." : warning;
  const files = [...pieces.parameters.values()].map(({ file }) => file);
  const { type, name, isCausal } = family;
  return {
    said: `${said}${next}`,
    model: { family: type, name, isCausal, config, ...sizes, files, tokenizer: tokenizer?.file },
  };
}

function familyIn(config: ModelConfig | undefined, tensors: readonly NamedShape[]): Family | undefined {
  const byNames = familyOfNames(tensors.map(({ name }) => name));
  if (config === undefined) return byNames;
  const byConfig = familyOfConfig(config);
  if (byConfig === undefined) {
    const type = config["model_type"];
    const types = FAMILIES.map((family) => family.type).join(", ");
    if (typeof type === "string") {
      throw new FileTrouble(`config.json is of a model of the type “${type}”. Those that run here are ${types}.`);
    }
    if (byNames === undefined) {
      throw new FileTrouble(
        `config.json has no model_type, by which it would be known. Those that run here are ${types}.`,
      );
    }
    return byNames;
  }
  if (byNames !== undefined && byNames !== byConfig) {
    throw new FileTrouble(
      `config.json is of ${byConfig.name}, and the parameters have the names of ${byNames.name}: drop the config.json of ${byNames.name}, or the parameters of ${byConfig.name}.`,
    );
  }
  return byConfig;
}

function sizesOf(family: Family, config: ModelConfig) {
  const read = (name: string, absent?: number): number => {
    const value = config[name] ?? absent;
    if (typeof value === "number" && Number.isInteger(value) && value > 0) return value;
    throw new FileTrouble(
      `config.json of ${family.name} must say ${name}, a whole number; it says ${shownValue(value)}.`,
    );
  };
  const { layers, heads, positions } = family.sizes;
  return {
    layers: read(layers),
    heads: read(heads),
    positions: read(positions, 2048),
    vocabulary: read("vocab_size"),
  };
}

function assertRoom({ name }: Family, numbers: number): void {
  if (numbers <= MOST_PARAMETERS) return;
  const gigabytes = Math.ceil((numbers * 8) / 2 ** 30);
  throw new FileTrouble(
    `This ${name} has ${many(numbers)} numbers, which would take ${gigabytes} GB of memory here. This page takes models of up to ${many(MOST_PARAMETERS)}.`,
  );
}

/** What is missing, heed says when it loads them; what is more, nobody would miss. */
function assertLayers(family: Family, layers: number, tensors: readonly NamedShape[]): void {
  const deepest = Math.max(-1, ...tensors.map(({ name }) => Number(family.layer.exec(name)?.[1] ?? -1)));
  if (deepest < layers) return;
  throw new FileTrouble(
    `config.json says ${counted(layers, "layer")}, and the parameters are of ${deepest + 1}: they are not of one model.`,
  );
}

function tokenizerWarning({ name }: Family, tokens: number, vocabulary: number): string {
  const both = `tokenizer.json has ${whole(tokens)} tokens, and this ${name} knows ${whole(vocabulary)}`;
  if (tokens > vocabulary) throw new FileTrouble(`${both}: it is another model’s. Drop the one of this model.`);
  return tokens < vocabulary * (1 - SPARE_TOKENS)
    ? ` It has its tokenizer, but ${both}: it may be another model’s.`
    : "";
}

function filesToCome(missing: readonly string[]): string {
  const [first = ""] = missing;
  if (first === "") return `the other ${missing.length === 1 ? "part" : `${missing.length} parts`} of its parameters`;
  return missing.length === 1 ? first : `${first} and ${missing.length - 1} more that its index names`;
}

function listed(parts: readonly string[]): string {
  return parts.join(", ").replace(/, (?=[^,]*$)/, " and ");
}

/** 124 million */
function many(count: number): string {
  const millions = count / 1e6;
  return millions < 1 ? whole(count) : `${millions < 10 ? millions.toFixed(1) : whole(millions)} million`;
}

function shownValue(value: unknown): string {
  return value === undefined ? "nothing of it" : (JSON.stringify(value) ?? String(value)).slice(0, 40);
}
