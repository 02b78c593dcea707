// What takes long, beside the page's own thread: files are read by what they are, arrays in npy, JSON or safetensors, or a piece of a model;
// and models that were brought are run.

import { loadSafetensors, loadTokenizer, readSafetensorsHeader } from "heed/layers";
import { bytes, whole } from "../../src/ui/numbers.js";
import { arraysOf, FileTrouble, isRecord, messageOf, type NamedArray, parseJson, refuse, surveyOf } from "./arrays.js";
import { FAMILIES, familyOfNames, isParameter, listed, type Model, type Piece } from "./model/recognise.js";
import { type Pass, run } from "./model/run.js";
import { readNpy } from "./npy.js";

export type Task =
  | { readonly kind: "read"; readonly file: File }
  | { readonly kind: "run"; readonly model: Model; readonly asked: string };

export type OutcomeOf<T extends Task> = T extends { readonly kind: "read" } ? Piece : Pass;

export type Told<Outcome> =
  | { readonly said: string }
  | { readonly outcome: Outcome }
  /** `isFile`: in words for the reader; else what broke. */
  | { readonly why: string; readonly isFile: boolean };

/** Of arrays: parameters of a model are counted, not weighed. JSON takes many times its size while it is read. */
const LARGEST = { array: 1e9, json: 256e6 };

/** Beside the pieces of a model where it is published. */
const SPARE =
  /^(?:generation_config|tokenizer_config|special_tokens_map|added_tokens|vocab|preprocessor_config)\b.*\.json$|^(?:merges|vocab)\b.*\.txt$/i;

const READERS: Readonly<Record<string, (file: File, stem: string) => Promise<Piece>>> = {
  npy: async (file, stem) => {
    assertSize(file, LARGEST.array);
    return { kind: "arrays", arrays: [readNpy(stem, await file.arrayBuffer())], words: [] };
  },
  json: async (file, stem) => {
    assertSize(file, LARGEST.json);
    const value = parseJson(stem, await file.text());
    if (isRecord(value)) {
      const { weight_map: files, model, model_type: type, architectures } = value;
      if (isRecord(files)) return { kind: "index", files: [...new Set(Object.values(files).map(String))] };
      if (isRecord(model) && "vocab" in model) {
        return { kind: "tokenizer", tokens: (await loadTokenizer(value)).vocabularySize };
      }
      if (typeof type === "string" || architectures !== undefined) return { kind: "config", config: value };
    }
    return { kind: "arrays", ...arraysOf(stem, value) };
  },
  safetensors: async (file) => {
    const header = await readSafetensorsHeader(file);
    const tensors = Array.from(header.tensors, ([name, { shape }]) => ({ name, shape }));
    if (familyOfNames(tensors) !== undefined) return { kind: "parameters", tensors };
    const parameters = tensors.filter(({ name }) => isParameter(name));
    if (parameters.length > tensors.length / 2) {
      const holds = `holds ${whole(parameters.length)} parameters, “${parameters[0]?.name}” for one`;
      const taken = `Taken are models of the shape of ${listed(FAMILIES.map(({ name }) => name))}, or arrays.`;
      const lacks = "of no model that is known here, and no queries, keys or weights";
      refuse(`“${file.name}” ${holds}, ${lacks}. ${taken}`);
    }
    assertSize(file, LARGEST.array);
    const arrays = Array.from(await loadSafetensors(file)).flatMap(([name, { data, shape }]): NamedArray[] =>
      data instanceof Float32Array ? [{ name, shape, data }] : [],
    );
    if (arrays.length === 0) refuse(`“${file.name}” holds no floating-point tensors.`);
    return { kind: "arrays", arrays, words: [] };
  },
};

/** Refuses what cannot be read. */
async function readFile(file: File): Promise<Piece> {
  const [, stem = file.name, ending = ""] = /^(.*)\.([^.]+)$/.exec(file.name) ?? [];
  if (SPARE.test(file.name)) return { kind: "spare" };
  const read = READERS[ending.toLowerCase()] ?? refuse(`“${file.name}” is none of npy, json and safetensors.`);
  try {
    return await read(file, stem);
  } catch (error) {
    throw error instanceof FileTrouble ? error : new FileTrouble(`“${file.name}”: ${messageOf(error)}.`);
  }
}

function assertSize(file: File, most: number): void {
  if (file.size <= most) return;
  refuse(`“${file.name}” is too large: ${bytes(file.size)}, and this page takes ${bytes(most)}.`);
}

async function outcomeOf(task: Task, say: (text: string) => void): Promise<readonly [Piece | Pass, Transferable[]]> {
  if (task.kind === "run") {
    const pass = await run(task.model, task.asked, say);
    return [pass, pass.weights.flatMap(({ buffer }) => (buffer instanceof ArrayBuffer ? [buffer] : []))];
  }
  const piece = await readFile(task.file);
  if (piece.kind !== "arrays") return [piece, []];
  // Here, where it keeps nobody waiting.
  const arrays = piece.arrays.map((array) => ({ ...array, survey: surveyOf(array) }));
  return [{ ...piece, arrays }, arrays.map(({ data }) => data.buffer)];
}

addEventListener("message", async ({ data: task, ports: [port] }: MessageEvent<Task>) => {
  const tell = (told: Told<Piece | Pass>, transfer: Transferable[] = []): void => port?.postMessage(told, transfer);
  try {
    const [outcome, transfer] = await outcomeOf(task, (said) => tell({ said }));
    tell({ outcome }, transfer);
  } catch (error) {
    tell({ why: messageOf(error), isFile: error instanceof FileTrouble });
  }
});
