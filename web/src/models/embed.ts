// Texts as vectors: the mean of a text's hidden states, or one of them.

import type { ArrayTensor } from "../api/tensor.js";
import { HeedError } from "../base/errors.js";
import { readBoolean, readChoice, readCount, readRecord, readSignal, throwIfAborted } from "../base/read-values.js";
import { Pooling } from "../layers/pooling.js";
import { hiddenOf, readAdapterName } from "./hidden-of.js";
import type { ModelParts } from "./parts.js";
import { batchesOf, encodeTexts, readTexts } from "./text-batches.js";

export interface EmbedOptions {
  /** "mean" of all tokens, the first one ("cls"), or the last. Default that of the model's files; else the mean, or the last of causal models. */
  readonly pooling?: "mean" | "cls" | "last" | undefined;
  /** Makes vectors of length 1. Default what the model's files say; else true. */
  readonly normalize?: boolean | undefined;
  /** Keeps the first numbers of each vector, for models that are trained so. Default all. */
  readonly dimensions?: number | undefined;
  /** One of the adapters that were loaded. */
  readonly adapter?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function embed(where: string, parts: ModelParts, texts: unknown, options: unknown): Promise<ArrayTensor> {
  const given = readRecord(where, "options", options, ["pooling", "normalize", "dimensions", "adapter", "signal"]);
  const signal = readSignal(where, given["signal"]);
  throwIfAborted(where, signal);
  const { sentence, family, engine } = parts;
  if (sentence.unknown !== undefined && given["pooling"] === undefined) {
    throw new HeedError(
      "unsupported",
      `${where}: the model's files ask for ${sentence.unknown}, which heed does not compute`,
    );
  }
  const absent = sentence.pooling ?? (family.isCausal ? "last" : "mean");
  const kind = readChoice(where, "pooling", given["pooling"], ["mean", "cls", "last"], absent);
  const isNormal = readBoolean(where, "normalize", given["normalize"], sentence.normalize ?? true);
  const wanted = readCount(where, "dimensions", given["dimensions"], null);
  const adapter = readAdapterName(where, given["adapter"]);
  const encodings = encodeTexts(where, parts, readTexts(where, texts));
  const pooling = new Pooling({ kind, engine });
  let vectors = new Float32Array(0);
  let dimensions = wanted ?? 0;
  for (const batch of batchesOf(encodings)) {
    const made = await hiddenOf(where, parts, batch, { signal, adapter });
    try {
      const { data, shape } = await pooling.forward(made.hidden, signal ? { signal } : {});
      const [, width = 0] = shape;
      dimensions = wanted ?? width;
      if (dimensions > width) {
        throw new HeedError("option", `${where}: dimensions must be at most ${width}, got ${dimensions}`);
      }
      if (vectors.length === 0) vectors = new Float32Array(encodings.length * dimensions);
      for (const [row, text] of batch.texts.entries()) {
        const vector = data.subarray(row * width, row * width + dimensions);
        vectors.set(isNormal ? normalized(vector) : vector, text * dimensions);
      }
    } finally {
      made.dispose();
    }
  }
  return { data: vectors, shape: [encodings.length, dimensions], dtype: "f32" };
}

/** Of length 1, unless it is zero. */
function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
  return length === 0 ? vector : vector.map((number) => number / length);
}
