// wllama, which is llama.cpp's server in WebAssembly, on a Llama whose GGUF file is written here. A call reads a prompt or gives some tokens.

import type { Wllama } from "@wllama/wllama";
import { type GgufFormat, llamaFile, textOf } from "../gguf/llama.js";
import { modelShape } from "../model-shapes.js";
import type { Peer, Setup } from "../peer.js";

/** Tokens of a call that goes on from a prompt which is in the cache already. */
export const RUN = 16;

export async function open({ threads, options }: Setup): Promise<Peer> {
  const { name = "", size, format } = options;
  const [wllama, { quantize }] = await Promise.all([import("@wllama/wllama"), import("heed/layers")]);
  const shape = modelShape(name, size === "small");
  let engine: Wllama | null = null;
  let calls = 0;

  return {
    about: { version: wllama.Wllama.getLibllamaVersion(), threads },
    layout: "bnhd",

    async prepare() {
      engine = new wllama.Wllama(
        { default: "/peers/@wllama/wllama/esm/wasm/wllama.wasm" },
        { logger: wllama.LoggerWithoutDebug, suppressNativeLog: true },
      );
      engine.setCompat(null);
      const file = llamaFile(shape, format as GgufFormat, quantize);
      const length = 2 * (shape.past + shape.tokens);
      await engine.loadModel([file], {
        n_threads: threads,
        n_ctx: length,
        n_batch: length,
        n_gpu_layers: 0,
        n_parallel: 1,
      });
      if (engine.getNumThreads() !== threads) throw new Error(`it has ${engine.getNumThreads()} threads`);
    },

    async run() {
      if (engine === null) throw new Error("no model was loaded");
      const isPrefill = shape.past === 0;
      const { timings } = await engine.createCompletion({
        // A prompt that differs from its second token on is read anew.
        prompt: isPrefill ? textOf(shape, shape.tokens, ++calls) : textOf(shape, shape.past),
        max_tokens: isPrefill ? 1 : RUN,
        temperature: 0,
        top_k: 1,
        ignore_eos: true,
      });
      const given = isPrefill ? timings?.prompt_n : timings?.predicted_n;
      if (given === undefined || given < (isPrefill ? shape.tokens - 1 : RUN))
        throw new Error(`wllama computed other tokens: ${JSON.stringify(timings)}`);
      return new Float32Array();
    },

    async release() {
      await engine?.exit();
      engine = null;
    },
  };
}
