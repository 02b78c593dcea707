// How far models in narrow weights are from themselves in f32, beside onnxruntime's dynamic quantization of the same weights, for the same
// texts: logits of a Llama, embeddings of a MiniLM. From published files, or with random weights.

import type { Heed } from "heed";
import type { ParameterTensor } from "heed/layers";
import type { LoadedModel } from "heed/models";
import type { InferenceSession } from "onnxruntime-web/wasm";
import { type GgufFormat, llamaFile } from "../gguf/llama.js";
import { configOf, type ModelShape, modelShape, parametersOf, Weights } from "../model-shapes.js";
import { bertGraph } from "../onnx/bert.js";
import { encodeModel, type Model, type Size } from "../onnx/encode.js";
import { llamaGraph } from "../onnx/llama.js";
import type { Peer, Setup } from "../peer.js";
import { notesOf, tokenizerOf } from "../text-files.js";

const FORMATS = ["f16", "int8", "int4"] as const;
/** Texts and tokens of the Llama: 1,000 logits. */
const [TEXTS, LENGTH] = [8, 125];
/** Texts of the MiniLM, and tokens of each. */
const [MOST_TEXTS, MOST_TOKENS] = [100, 256];

type MiniLmFiles = Readonly<Record<"config.json" | "model.safetensors" | "tokenizer.json", Blob>>;

/** What a text gives: logits row after row, or an embedding. */
type Results = readonly Float32Array[];

export interface Quality {
  readonly who: string;
  readonly [figure: string]: number | string;
}

export async function open({ threads, options }: Setup): Promise<Peer> {
  const { name = "", size, files } = options;
  const shape = modelShape(name, size === "small");
  const { createHeed } = await import("heed");
  const engine = await createHeed({ backend: "wasm", threads });
  const found = shape.model === "bert" ? await embeddings(engine, shape, files) : await logits(engine, shape, files);
  engine.dispose();
  const [exact = []] = found.map(([, results]) => results);
  const compare = shape.model === "bert" ? comparedEmbeddings : comparedLogits;
  const figures: Quality[] = found.slice(1).map(([who, results]) => ({ who, ...compare(exact, results) }));
  return {
    about: { figures },
    layout: "bnhd",
    prepare: () => Promise.reject(new Error("its figures are in `about`")),
    run: () => Promise.reject(new Error("its figures are in `about`")),
    release: async () => {},
  };
}

async function embeddings(engine: Heed, shape: ModelShape, files: string | undefined) {
  const source = await (files === undefined ? madeFiles(shape) : fetchedFiles(files));
  const texts = files === undefined ? notesOf(shape) : await proseLines();
  const { loadModel } = await import("heed/models");
  const found: [who: string, results: Results][] = [];
  for (const weights of ["f32", ...FORMATS] as const) {
    const lm = await loadModel(source, { engine, weights });
    const {
      data,
      shape: [, dim = 0],
    } = await lm.embed(texts);
    found.push([`heed ${weights}`, texts.map((_, at) => data.subarray(at * dim, (at + 1) * dim))]);
    lm.dispose();
  }
  const { loadSafetensors, loadTokenizer } = await import("heed/layers");
  const tokenizer = await loadTokenizer(source["tokenizer.json"]);
  const parameters = await loadSafetensors(source["model.safetensors"]);
  for (const format of ["f32", "q8"] as const) {
    const session = await sessionOf(bertGraph(shape, parameters as Map<string, ParameterTensor>, format));
    const results: Float32Array[] = [];
    for (const text of texts) {
      const ids = [...tokenizer.encode(text).ids.slice(0, MOST_TOKENS)];
      const all = (number: number) => ids.map(() => number);
      const { last_hidden_state: hidden } = await session.run(
        await feedsOf({ input_ids: ids, attention_mask: all(1), token_type_ids: all(0) }),
      );
      results.push(meanOf(hidden?.data as Float32Array, shape.dim));
    }
    found.push([`onnxruntime ${format}`, results]);
    await session.release();
  }
  return found;
}

async function logits(engine: Heed, shape: ModelShape, file: string | undefined) {
  const { quantize, loadSafetensors } = await import("heed/layers");
  const { loadModel } = await import("heed/models");
  const source = file === undefined ? llamaFile(shape, "f16" satisfies GgufFormat, quantize) : await blobOf(file);
  const found: [who: string, results: Results][] = [];
  let texts: number[][] = [];
  let parameters = new Map<string, ParameterTensor>();
  for (const weights of ["f32", ...FORMATS] as const) {
    const lm = await loadModel(source, { engine, weights });
    if (texts.length === 0) {
      texts = await tokensOf(lm, shape, file !== undefined);
      const saved = (await lm.save()).get("model.safetensors");
      if (saved === undefined) throw new Error("no tensors were saved");
      parameters = (await loadSafetensors(new Blob([saved as BlobPart]))) as Map<string, ParameterTensor>;
    }
    const results = [];
    for (const tokens of texts) results.push((await lm.model.forward(tokens)).logits?.data as Float32Array);
    found.push([`heed ${weights}`, results]);
    lm.dispose();
  }
  const session = await sessionOf(llamaGraph(shape, parameters, "q8", 2 * LENGTH));
  const { Tensor } = await import("onnxruntime-web/wasm");
  const { layers, dim, heads, kvHeads } = shape;
  const empty = new Tensor("float32", new Float32Array(), [1, kvHeads, 0, dim / heads]);
  const pasts = Array.from({ length: layers }, (_, layer) =>
    ["key", "value"].map((part) => [`past_key_values.${layer}.${part}`, empty] as const),
  ).flat();
  const results: Float32Array[] = [];
  for (const tokens of texts) {
    const feeds = await feedsOf({ input_ids: tokens, attention_mask: tokens.map(() => 1) });
    const all = new Tensor("int64", BigInt64Array.of(0n), []);
    const { logits: made } = await session.run({ ...feeds, num_logits_to_keep: all, ...Object.fromEntries(pasts) });
    results.push(made?.data as Float32Array);
  }
  return [...found, ["onnxruntime q8", results]] as const;
}

async function madeFiles(shape: ModelShape): Promise<MiniLmFiles> {
  const { saveSafetensors } = await import("heed/layers");
  return {
    "config.json": new Blob([JSON.stringify(configOf(shape))]),
    "model.safetensors": new Blob([saveSafetensors(parametersOf(shape, new Weights(shape))) as BlobPart]),
    "tokenizer.json": new Blob([tokenizerOf(shape)["tokenizer.json"]]),
  };
}

async function fetchedFiles(folder: string): Promise<MiniLmFiles> {
  const [config, weights, tokenizer] = await Promise.all(
    ["config.json", "model.safetensors", "tokenizer.json"].map((file) => blobOf(`${folder}/${file}`)),
  );
  if (config === undefined || weights === undefined || tokenizer === undefined) throw new Error("a file is missing");
  return { "config.json": config, "model.safetensors": weights, "tokenizer.json": tokenizer };
}

async function blobOf(address: string): Promise<Blob> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response.blob();
}

/** Lines of heed's own guides. */
async function proseLines(): Promise<string[]> {
  const text = await (await blobOf("/docs/training.md")).text();
  return text
    .split("\n")
    .filter((line) => line.length > 40)
    .slice(0, MOST_TEXTS);
}

/** Texts of so many tokens each: of prose for a model that has learnt to read. */
async function tokensOf(lm: LoadedModel, shape: ModelShape, isRead: boolean): Promise<number[][]> {
  const prose = isRead ? await (await blobOf("/docs/training.md")).text() : "";
  // Tokenizers of GGUF files are heed's own.
  const ids = (lm.tokenizer?.encode(prose) as { readonly ids: Int32Array } | undefined)?.ids ?? new Int32Array();
  return Array.from({ length: TEXTS }, (_, text) =>
    isRead
      ? [...ids.subarray(text * LENGTH, (text + 1) * LENGTH)]
      : Array.from({ length: LENGTH }, (__, at) => ((text * LENGTH + at) * 37) % shape.words),
  );
}

async function sessionOf(model: Model<Size>): Promise<InferenceSession> {
  const ort = await import("onnxruntime-web/wasm");
  ort.env.logLevel = "error";
  return ort.InferenceSession.create(encodeModel(model, true), { executionProviders: ["wasm"] });
}

async function feedsOf(rows: Readonly<Record<string, readonly number[]>>) {
  const { Tensor } = await import("onnxruntime-web/wasm");
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [
      name,
      new Tensor("int64", BigInt64Array.from(row, BigInt), [1, row.length]),
    ]),
  );
}

/** The mean of rows, of length 1. */
function meanOf(rows: Float32Array, dim: number): Float32Array {
  const sum = new Float32Array(dim);
  for (const [at, number] of rows.entries()) sum[at % dim] = (sum[at % dim] ?? 0) + number;
  const length = Math.hypot(...sum);
  return sum.map((number) => number / length);
}

function comparedEmbeddings(exact: Results, results: Results) {
  const apart = exact.map((row, at) => 1 - row.reduce((sum, number, i) => sum + number * (results[at]?.[i] ?? 0), 0));
  return { apart: mean(apart), worst: Math.max(...apart) };
}

/** Of the logits of each token: how many nats a narrow model's distribution costs, and how often its likeliest token is another. */
function comparedLogits(exact: Results, results: Results) {
  const rows = exact.flatMap((text, at) => {
    const words = text.length / LENGTH;
    return Array.from({ length: LENGTH }, (_, row) => {
      const [p, q] = [text, results[at]].map((all) => logSoftmax(all?.subarray(row * words, (row + 1) * words)));
      if (p === undefined || q === undefined) throw new Error("no logits");
      return {
        divergence: p.reduce((sum, log, word) => sum + Math.exp(log) * (log - (q[word] ?? 0)), 0),
        isOther: Number(likeliest(p) !== likeliest(q)),
      };
    });
  });
  return { apart: mean(rows.map((row) => row.divergence)), other: mean(rows.map((row) => row.isOther)) };
}

function logSoftmax(logits: Float32Array = new Float32Array()): Float64Array {
  const most = logits.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  return Float64Array.from(logits, (logit) => logit - most - Math.log(sum));
}

const likeliest = (logs: Float64Array): number => logs.indexOf(logs.reduce((a, b) => Math.max(a, b)));
const mean = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
