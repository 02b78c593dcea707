// What takes long, beside the page's own thread: files are read by what they are, arrays in npy, JSON or safetensors, or a piece of a model;
// and models that were brought are loaded and run.

import { loadSafetensors, readSafetensorsHeader } from "heed/layers";
import { bytes } from "../ui/numbers.js";
import {
  type Arrays,
  arraysOf,
  FileTrouble,
  isParameter,
  isRecord,
  messageOf,
  type NamedArray,
  parseJson,
  refuse,
  surveyOf,
} from "./arrays.js";
import { INDEX } from "./files.js";
import { readNpy } from "./npy.js";
import { type Answer, load, type ModelSummary, type ModelTask, type Pass, run, type Tell, without } from "./run.js";

export type Task =
  | { readonly kind: "read"; readonly file: File }
  | ({ readonly kind: "load" } & ModelTask)
  | { readonly kind: "run"; readonly asked: string }
  | { readonly kind: "without"; readonly heads: readonly number[] };

/** What a file may be: arrays to be looked at, or a piece of a model, and what it is called among the others. */
export type Piece = ({ readonly kind: "arrays" } & Arrays) | { readonly kind: "model"; readonly path: string };

interface Outcomes {
  readonly read: Piece;
  readonly load: ModelSummary;
  readonly run: Pass;
  readonly without: Answer;
}

export type OutcomeOf<T extends Task> = Outcomes[T["kind"]];

export type Told<Outcome> =
  /** `done`: how much of it, of 1. */
  | { readonly said: string; readonly done?: number | undefined }
  | { readonly outcome: Outcome }
  /** `isFile`: in words for the reader; else what broke. */
  | { readonly why: string; readonly isFile: boolean };

/** Of arrays: parameters of a model are counted, not weighed. JSON takes many times its size while it is read. */
const LARGEST = { array: 1e9, json: 256e6 };

/** What is published beside the parameters of a model and says by its name alone what it is. */
const SPARE =
  /^(?:(?:generation|tokenizer|preprocessor|sentence_bert)_config|special_tokens_map|added_tokens|vocab|modules)\b.*\.json$|^(?:merges|vocab)\b.*\.txt$|\.(?:gguf|jinja)$/i;

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
      if (isRecord(files)) return { kind: "model", path: INDEX };
      if (isRecord(model) && "vocab" in model) return { kind: "model", path: "tokenizer.json" };
      if (typeof type === "string" || architectures !== undefined) return { kind: "model", path: "config.json" };
    }
    return { kind: "arrays", ...arraysOf(stem, value) };
  },
  safetensors: async (file) => {
    const header = await readSafetensorsHeader(file);
    const names = [...header.tensors.keys()];
    if (names.filter(isParameter).length > names.length / 2) return { kind: "model", path: file.name };
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
  if (SPARE.test(file.name)) return { kind: "model", path: file.name };
  const read = READERS[ending.toLowerCase()] ?? refuse(`“${file.name}” is none of npy, json, safetensors and gguf.`);
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

async function outcomeOf(task: Task, tell: Tell): Promise<readonly [Outcomes[Task["kind"]], Transferable[]]> {
  if (task.kind === "load") return [await load(task, tell), []];
  if (task.kind === "without") return [await without(task.heads), []];
  if (task.kind === "run") {
    const pass = await run(task.asked, tell);
    return [pass, pass.weights.flatMap(({ buffer }) => (buffer instanceof ArrayBuffer ? [buffer] : []))];
  }
  const piece = await readFile(task.file);
  if (piece.kind !== "arrays") return [piece, []];
  // Here, where it keeps nobody waiting.
  const arrays = piece.arrays.map((array) => ({ ...array, survey: surveyOf(array) }));
  return [{ ...piece, arrays }, arrays.map(({ data }) => data.buffer)];
}

addEventListener("message", async ({ data: task, ports: [port] }: MessageEvent<Task>) => {
  const tell = (told: Told<Outcomes[Task["kind"]]>, transfer: Transferable[] = []): void =>
    port?.postMessage(told, transfer);
  try {
    const [outcome, transfer] = await outcomeOf(task, (said, done) => tell({ said, done }));
    tell({ outcome }, transfer);
  } catch (error) {
    tell({ why: messageOf(error), isFile: error instanceof FileTrouble });
  }
});
