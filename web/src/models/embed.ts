// Texts as vectors: the mean of a text's hidden states, or one of them.

import type { ArrayTensor, Tensor } from "../api/tensor.js";
import { HeedError } from "../base/errors.js";
import { readBoolean, readChoice, readCount, readRecord, readSignal, throwIfAborted } from "../base/read-values.js";
import { Pooling } from "../layers/pooling.js";
import { hiddenOf, readAdapterName } from "./hidden-of.js";
import { hiddenSizeOf } from "./hidden-size.js";
import type { ModelParts } from "./parts.js";
import { encodeTexts, packsOf, readTexts } from "./text-batches.js";

/** The options of `embed`. */
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
  const kept = { keep: true, ...(signal && { signal }) } as const;
  const pooling = new Pooling({ kind, engine });
  const dense = parts.dense.map(
    (layer): Step =>
      (x) =>
        layer.forward(x, kept),
  );
  const width = sentence.dense.at(-1)?.outFeatures ?? hiddenSizeOf(parts.model);
  const dimensions = wanted ?? width;
  if (dimensions > width) {
    throw new HeedError("option", `${where}: dimensions must be at most ${width}, got ${dimensions}`);
  }
  const vectors = new Float32Array(encodings.length * dimensions);
  for (const batch of packsOf(encodings)) {
    const pool: Step = (x) => pooling.forward(x, { ...kept, cuSeqlens: batch.cuSeqlens });
    const made = await hiddenOf(where, parts, batch, { signal, adapter });
    try {
      const data = await vectorsOf(made.hidden, [pool, ...dense]);
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

type Step = (x: Tensor) => Promise<Tensor>;

/** What steps make of a tensor, one after another. */
async function vectorsOf(hidden: Tensor, steps: readonly Step[]): Promise<Float32Array> {
  const made: Tensor[] = [];
  try {
    for (const step of steps) made.push(await step(made.at(-1) ?? hidden));
    return await (made.at(-1) ?? hidden).read();
  } finally {
    for (const tensor of made) tensor.dispose();
  }
}

/** Of length 1, unless it is zero. */
function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
  return length === 0 ? vector : vector.map((number) => number / length);
}
