// A model by heed/models, from files that are written here: notes as vectors, a prompt's first token, tokens one by one, or the loading itself.

import type { LoadedModel, ModelCache, ModelSource } from "heed/models";
import { type GgufFormat, llamaFile, textOf } from "../gguf/llama.js";
import { configOf, type ModelShape, modelShape, parametersOf, Weights } from "../model-shapes.js";
import type { Peer, Setup } from "../peer.js";
import { notesOf, tokenizerOf } from "../text-files.js";
import { RUN } from "./wllama.js";

type Weighted = "f32" | "int8" | "as stored";

export async function open({ threads, options }: Setup): Promise<Peer> {
  const { name = "", size, task, format = "f32" } = options;
  const [{ createHeed }, { saveSafetensors, quantize }, { loadModel }] = await Promise.all([
    import("heed"),
    import("heed/layers"),
    import("heed/models"),
  ]);
  const engine = await createHeed({ backend: "wasm", threads });
  const shape = modelShape(name, size === "small");
  const source: ModelSource =
    shape.model === "llama"
      ? llamaFile(shape, format as GgufFormat, quantize)
      : {
          "config.json": new Blob([JSON.stringify(configOf(shape))]),
          "model.safetensors": new Blob([saveSafetensors(parametersOf(shape, new Weights(shape))) as BlobPart]),
          ...Object.fromEntries(Object.entries(tokenizerOf(shape)).map(([file, text]) => [file, new Blob([text])])),
        };
  const weights: Weighted = shape.model === "llama" ? "as stored" : (format as Weighted);
  const load = (): Promise<LoadedModel> => loadModel(source, { engine, weights });
  let run: (() => Promise<unknown>) | null = null;
  let release = (): void => {};

  return {
    about: { ...engine.capabilities, fileBytes: bytesOf(source) },
    layout: "bnhd",

    async prepare() {
      if (task === "load" || task === "begin") {
        run = async () => {
          const lm = await load();
          // Weights are packed by the first pass.
          if (task === "begin") await lm.model.forward([1]);
          lm.dispose();
        };
        return;
      }
      const lm = await load();
      release = () => lm.dispose();
      run = shape.model === "llama" ? await talking(lm, shape) : embedding(lm, shape);
    },

    async run() {
      if (run === null) throw new Error("nothing was prepared");
      await run();
      return new Float32Array();
    },

    async release() {
      release();
      engine.dispose();
    },
  };
}

const bytesOf = (source: ModelSource): number =>
  source instanceof Blob
    ? source.size
    : Object.values(source).reduce((sum: number, file) => sum + (file instanceof Blob ? file.size : 0), 0);

function embedding(lm: LoadedModel, shape: ModelShape): () => Promise<unknown> {
  const notes = notesOf(shape);
  return () => lm.embed(notes);
}

/** As wllama's page: a prompt that is new, or tokens after one which is in the cache. */
async function talking(lm: LoadedModel, shape: ModelShape): Promise<() => Promise<unknown>> {
  let calls = 0;
  const isPrefill = shape.past === 0;
  const cache: ModelCache = await lm.createCache({ maxLength: shape.past + shape.tokens + RUN });
  return async () => {
    const prompt = isPrefill ? textOf(shape, shape.tokens, ++calls) : textOf(shape, shape.past);
    let tokens = 0;
    for await (const piece of lm.generate(prompt, { maxTokens: isPrefill ? 1 : RUN, eos: [], cache }))
      tokens += piece.tokens.length;
    if (tokens !== (isPrefill ? 1 : RUN)) throw new Error(`${tokens} tokens came`);
  };
}
