// Files by what they are: arrays in npy, JSON or safetensors, or a piece of a model. Runs in the worker.

import { loadSafetensors, loadTokenizer, readSafetensorsHeader } from "heed/layers";
import { whole } from "../../src/ui/numbers.js";
import { FileTrouble, type NamedArray } from "./arrays.js";
import { arraysOf, isRecord, parseJson } from "./json-arrays.js";
import { FAMILY_NAMES, familyOfNames, isParameter } from "./model/families.js";
import type { Piece } from "./model/pieces.js";
import { readNpy } from "./npy.js";

/** JSON takes many times its size while it is read. */
const LARGEST_JSON = 256 * 2 ** 20;
/** Of arrays: parameters of a model are counted, not weighed. */
const LARGEST_FILE = 2 ** 30;

/** Beside the pieces of a model where it is published. */
const SPARE =
  /^(?:generation_config|tokenizer_config|special_tokens_map|added_tokens|vocab|preprocessor_config)\b.*\.json$|^(?:merges|vocab)\b.*\.txt$/i;

/** Throws FileTrouble. */
export async function readFile(file: File): Promise<Piece> {
  const [, stem = file.name, ending = ""] = /^(.*)\.([^.]+)$/.exec(file.name) ?? [];
  if (SPARE.test(file.name)) return { kind: "spare" };
  try {
    switch (ending.toLowerCase()) {
      case "npy":
        assertSize(file, LARGEST_FILE);
        return { kind: "arrays", arrays: [readNpy(stem, await file.arrayBuffer())], words: [] };
      case "json":
        assertSize(file, LARGEST_JSON);
        return await readJsonFile(stem, await file.text());
      case "safetensors":
        return await readSafetensors(file);
      default:
        throw new FileTrouble(`“${file.name}” is none of npy, json and safetensors.`);
    }
  } catch (error) {
    throw error instanceof FileTrouble ? error : new FileTrouble(`“${file.name}”: ${messageOf(error)}.`);
  }
}

function assertSize(file: File, most: number): void {
  if (file.size <= most) return;
  const [has, takes] = [file.size, most].map((bytes) => `${whole(Math.round(bytes / 2 ** 20))} MB`);
  throw new FileTrouble(`“${file.name}” is too large: ${has}, and this page takes ${takes}.`);
}

async function readJsonFile(stem: string, text: string): Promise<Piece> {
  const value = parseJson(stem, text);
  if (isRecord(value)) {
    const { weight_map: files, model, model_type: type, architectures } = value;
    if (isRecord(files)) return { kind: "index", files: [...new Set(Object.values(files).map(String))] };
    if (isRecord(model) && "vocab" in model) {
      return { kind: "tokenizer", tokens: (await loadTokenizer(value)).vocabularySize };
    }
    if (typeof type === "string" || architectures !== undefined) return { kind: "config", config: value };
  }
  return { kind: "arrays", ...arraysOf(stem, value) };
}

async function readSafetensors(file: File): Promise<Piece> {
  const { tensors } = await readSafetensorsHeader(file);
  const names = [...tensors.keys()];
  const parameters = names.filter(isParameter);
  if (familyOfNames(names) !== undefined) {
    return { kind: "parameters", tensors: Array.from(tensors, ([name, { shape }]) => ({ name, shape })) };
  }
  if (parameters.length > names.length / 2) {
    throw new FileTrouble(
      `“${file.name}” holds ${whole(parameters.length)} parameters, “${parameters[0]}” for one, of no model that is known here, and no queries, keys or weights. Taken are models of the shape of ${FAMILY_NAMES}, or arrays.`,
    );
  }
  assertSize(file, LARGEST_FILE);
  const arrays = Array.from(await loadSafetensors(file)).flatMap(([name, { data, shape }]): NamedArray[] =>
    data instanceof Float32Array ? [{ name, shape, data }] : [],
  );
  if (arrays.length === 0) throw new FileTrouble(`“${file.name}” holds no floating-point tensors.`);
  return { kind: "arrays", arrays, words: [] };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
