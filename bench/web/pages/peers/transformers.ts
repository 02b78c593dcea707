// transformers.js on models with random weights: their files are written here, as ONNX, and handed over in place of its cache of files. It
// makes a pass, notes as vectors, a prompt's first token, or tokens.

import type { PretrainedOptions } from "@huggingface/transformers";
import { configOf, idsOf, type ModelShape, modelShape, parametersOf, Weights } from "../model-shapes.js";
import { bertGraph } from "../onnx/bert.js";
import type { OnnxFormat } from "../onnx/builder.js";
import { encodeModel } from "../onnx/encode.js";
import { llamaGraph } from "../onnx/llama.js";
import type { Peer, Setup } from "../peer.js";
import { notesOf, tokenizerOf } from "../text-files.js";
import { RUN } from "./wllama.js";

type Transformers = typeof import("@huggingface/transformers");

const RUNTIME = "/peers/@huggingface/transformers/node_modules/onnxruntime-web/dist/";
/** The name by which files are asked for. */
const HERE = "made-here";
/** Notes of a call. */
const BATCH = 32;

/** What a page does again and again. */
interface Work {
  run(): Promise<unknown>;
  dispose(): Promise<unknown>;
}

export async function open({ threads, options }: Setup): Promise<Peer> {
  const { name = "", size, task } = options;
  const format = options.format === "q8" ? "q8" : "f32";
  const tjs = await import("@huggingface/transformers");
  const shape = modelShape(name, size === "small");
  const { env } = tjs;
  env.backends.onnx.wasm.numThreads = threads;
  env.backends.onnx.wasm.wasmPaths = new URL(RUNTIME, location.href).href;
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.useCustomCache = true;
  let work: Work | null = null;

  return {
    about: { version: env.version, threads },
    layout: "bnhd",

    async prepare() {
      env.customCache = cacheOf(filesOf(shape, format));
      const chosen: PretrainedOptions = { device: "wasm", dtype: format === "q8" ? "q8" : "fp32" };
      if (shape.model === "llama") work = await talking(tjs, shape, chosen);
      else work = await (task === "embed" ? embedding : passing)(tjs, shape, chosen);
    },

    async run() {
      if (work === null) throw new Error("nothing was prepared");
      await work.run();
      return new Float32Array();
    },

    async release() {
      await work?.dispose();
      work = null;
    },
  };
}

function filesOf(shape: ModelShape, format: OnnxFormat): ReadonlyMap<string, BodyInit> {
  const parameters = parametersOf(shape, new Weights(shape));
  const isLlama = shape.model === "llama";
  const graph = isLlama ? llamaGraph(shape, parameters, format, POSITIONS) : bertGraph(shape, parameters, format);
  return new Map<string, BodyInit>([
    ["config.json", JSON.stringify(configOf(shape))],
    [`onnx/model${format === "q8" ? "_quantized" : ""}.onnx`, encodeModel(graph, true)],
    ...(isLlama ? [] : Object.entries(tokenizerOf(shape))),
  ]);
}

/** Of the rotations of a Llama. */
const POSITIONS = 512;

/** What transformers.js asks for files before it fetches them. */
function cacheOf(files: ReadonlyMap<string, BodyInit>) {
  return {
    async match(address: string): Promise<Response | undefined> {
      const found = [...files].find(([name]) => address.endsWith(`/${name}`));
      return found && new Response(found[1]);
    },
    async put(): Promise<void> {},
  };
}

const int64 = ({ Tensor }: Transformers, numbers: readonly number[], shape: readonly number[]) =>
  new Tensor("int64", BigInt64Array.from(numbers, BigInt), shape);

async function passing(tjs: Transformers, shape: ModelShape, options: PretrainedOptions): Promise<Work> {
  const { batch, tokens } = shape;
  const model = await tjs.AutoModel.from_pretrained(HERE, options);
  const ids = [...idsOf(shape)];
  const all = (number: number) =>
    int64(
      tjs,
      ids.map(() => number),
      [batch, tokens],
    );
  const feeds = { input_ids: int64(tjs, ids, [batch, tokens]), attention_mask: all(1), token_type_ids: all(0) };
  return {
    async run() {
      const { last_hidden_state: hidden } = await model(feeds);
      if (!(hidden?.data instanceof Float32Array)) throw new Error("no hidden state");
    },
    dispose: () => model.dispose(),
  };
}

async function embedding(tjs: Transformers, shape: ModelShape, options: PretrainedOptions): Promise<Work> {
  const extract = await tjs.pipeline("feature-extraction", HERE, options);
  const notes = notesOf(shape);
  return {
    async run() {
      for (let from = 0; from < notes.length; from += BATCH)
        await extract(notes.slice(from, from + BATCH), { pooling: "mean", normalize: true });
    },
    dispose: () => extract.dispose(),
  };
}

async function talking(tjs: Transformers, shape: ModelShape, options: PretrainedOptions): Promise<Work> {
  const model = await tjs.AutoModelForCausalLM.from_pretrained(HERE, options);
  const isPrefill = shape.past === 0;
  // A prompt would be read at each call, so tokens follow one token.
  const prompt = idsOf(shape);
  const length = prompt.length;
  const feeds = {
    inputs: int64(tjs, [...prompt], [1, length]),
    attention_mask: int64(tjs, new Array<number>(length).fill(1), [1, length]),
  };
  return {
    run: () => model.generate({ ...feeds, max_new_tokens: isPrefill ? 1 : RUN, do_sample: false }),
    dispose: () => model.dispose(),
  };
}
