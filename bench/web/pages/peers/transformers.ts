// transformers.js on models with random weights: their files are written here, as ONNX, and handed over in place of its cache of files.

import type { PretrainedModel, PretrainedOptions } from "@huggingface/transformers";
import { configOf, idsOf, modelShape, parametersOf, Weights } from "../model-shapes.js";
import { bertGraph } from "../onnx/bert.js";
import { encodeModel } from "../onnx/encode.js";
import type { Peer, Setup } from "../peer.js";

const RUNTIME = "/peers/@huggingface/transformers/node_modules/onnxruntime-web/dist/";

export async function open({ threads, options }: Setup): Promise<Peer> {
  const { name = "", size, format } = options;
  const tjs = await import("@huggingface/transformers");
  const shape = modelShape(name, size === "small");
  const { batch, tokens } = shape;
  const { env } = tjs;
  env.backends.onnx.wasm.numThreads = threads;
  env.backends.onnx.wasm.wasmPaths = new URL(RUNTIME, location.href).href;
  env.allowRemoteModels = false;
  let model: PretrainedModel | null = null;
  let feeds = {};

  return {
    about: { version: env.version, threads },
    layout: "bnhd",

    async prepare() {
      const graph = bertGraph(shape, parametersOf(shape, new Weights(shape)), format === "q8" ? "q8" : "f32");
      const files = new Map<string, BodyInit>([
        ["config.json", JSON.stringify(configOf(shape))],
        [`onnx/model${format === "q8" ? "_quantized" : ""}.onnx`, encodeModel(graph, true)],
      ]);
      env.useCustomCache = true;
      env.customCache = cacheOf(files);
      const chosen: PretrainedOptions = { device: "wasm", dtype: format === "q8" ? "q8" : "fp32" };
      model = await tjs.AutoModel.from_pretrained("made-here", chosen);
      const int64 = (numbers: BigInt64Array) => new tjs.Tensor("int64", numbers, [batch, tokens]);
      feeds = {
        input_ids: int64(BigInt64Array.from(idsOf(shape), BigInt)),
        attention_mask: int64(new BigInt64Array(batch * tokens).fill(1n)),
        token_type_ids: int64(new BigInt64Array(batch * tokens)),
      };
    },

    async run() {
      const { last_hidden_state: hidden } = (await model?.(feeds)) ?? {};
      if (!(hidden?.data instanceof Float32Array)) throw new Error("no hidden state");
      return hidden.data;
    },

    async release() {
      await model?.dispose();
      model = null;
    },
  };
}

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
