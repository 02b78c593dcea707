// Labels of texts, or of the words in them, by the head of a model that was trained for it.

import type { Tensor } from "../api/tensor.js";
import { HeedError } from "../base/errors.js";
import { readRecord, readSignal, throwIfAborted } from "../base/read-values.js";
import { Pooling } from "../layers/pooling.js";
import type { ClassifierHead } from "./classifier-head.js";
import { hiddenOf, readAdapterName } from "./hidden-of.js";
import { type Span, spansOf } from "./label-spans.js";
import type { ModelParts } from "./parts.js";
import { batchesOf, encodeTexts, readTexts } from "./text-batches.js";

export interface ClassifyOptions {
  /** One of the adapters that were loaded. */
  readonly adapter?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A label of a text, with its probability. */
export interface Label {
  readonly label: string;
  readonly score: number;
}

/** Of each text its labels, the likeliest first, or, where the head reads tokens, the spans that have labels. */
export async function classify(
  where: string,
  parts: ModelParts,
  texts: unknown,
  options: unknown,
): Promise<(Label | Span)[][]> {
  const given = readRecord(where, "options", options, ["adapter", "signal"]);
  const signal = readSignal(where, given["signal"]);
  throwIfAborted(where, signal);
  const adapter = readAdapterName(where, given["adapter"]);
  const { config } = parts;
  const head = parts.adapters.headOf(where, adapter) ?? parts.head;
  if (head === null) {
    throw new HeedError(
      "unsupported",
      `${where}: the model must have a head, classifier or score, got none in its files`,
    );
  }
  const inputs = readTexts(where, texts);
  const encodings = encodeTexts(where, parts, inputs);
  const results: (Label | Span)[][] = inputs.map(() => []);
  const isSeparate = config["problem_type"] === "multi_label_classification" || head.labels.length === 1;
  const isRaw = config["problem_type"] === "regression";
  const scoresOf = (logits: Float32Array): Float32Array =>
    isRaw ? logits : isSeparate ? logits.map(sigmoid) : softmax(logits);
  for (const batch of batchesOf(encodings)) {
    const logits = await logitsOf(where, parts, head, batch, { signal, adapter });
    const { length: count } = head.labels;
    const rows = logits.length / count / batch.texts.length;
    for (const [at, text] of batch.texts.entries()) {
      const scores = Array.from({ length: rows }, (_, row) => {
        const from = (at * rows + row) * count;
        return scoresOf(logits.slice(from, from + count));
      });
      const input = inputs[text] ?? "";
      const [whole] = typeof input === "string" ? [input] : input;
      const encoding = encodings[text];
      results[text] =
        head.input === "tokens" ? spansOf(whole, encoding, scores, head.labels) : sorted(head.labels, scores[0]);
    }
  }
  return results;
}

/** [B, labels], or [B, L, labels] of tokens. */
async function logitsOf(
  where: string,
  parts: ModelParts,
  head: ClassifierHead,
  batch: Parameters<typeof hiddenOf>[2],
  options: Parameters<typeof hiddenOf>[3],
): Promise<Float32Array> {
  const made = await hiddenOf(where, parts, batch, options);
  const { engine } = parts;
  const { signal } = options;
  const own: Tensor[] = [];
  try {
    const pool = async (kind: "cls" | "last"): Promise<Tensor> => {
      const pooled = await new Pooling({ kind, engine }).forward(made.hidden, { keep: true });
      own.push(pooled);
      return pooled;
    };
    const { input } = head;
    const read =
      input === "tokens"
        ? made.hidden
        : input === "pooled" && made.pooled !== undefined
          ? made.pooled
          : await pool(input === "last" ? "last" : "cls");
    return (await head.forward(read, signal ? { signal } : {})).data;
  } finally {
    made.dispose();
    for (const tensor of own) tensor.dispose();
  }
}

const sorted = (labels: readonly string[], scores: Float32Array = new Float32Array()): Label[] =>
  labels.map((label, at) => ({ label, score: scores[at] ?? 0 })).sort((a, b) => b.score - a.score);

const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));

function softmax(logits: Float32Array): Float32Array {
  const largest = Math.max(...logits);
  const powers = logits.map((logit) => Math.exp(logit - largest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}
