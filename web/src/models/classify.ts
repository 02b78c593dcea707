// Labels of texts, or of the words in them, by the head of a model that was trained for it.

import type { ArrayTensor, Tensor } from "../api/tensor.js";
import { HeedError } from "../base/errors.js";
import { readRecord, readSignal, throwIfAborted } from "../base/read-values.js";
import type { ModelConfig } from "../layers/models/config.js";
import { Pooling } from "../layers/pooling.js";
import { type ClassifierHead, labelsOf } from "./classifier-head.js";
import { ownLabels } from "./families.js";
import { type HiddenOptions, hiddenOf, readAdapterName } from "./hidden-of.js";
import { type Span, spansOf } from "./label-spans.js";
import type { ModelParts } from "./parts.js";
import { batchesOf, encodeTexts, readTexts, type TextBatch } from "./text-batches.js";

/** The options of `classify`. */
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
  const own = ownLabels(config);
  if (head === null && own === null) {
    throw new HeedError(
      "unsupported",
      `${where}: the model must have a head, classifier or score, got none in its files`,
    );
  }
  const inputs = readTexts(where, texts);
  const encodings = encodeTexts(where, parts, inputs);
  const results: (Label | Span)[][] = inputs.map(() => []);
  for (const batch of batchesOf(encodings)) {
    const options = { signal, adapter };
    const { data, shape } =
      head === null
        ? await ownLogits(where, parts, batch, options)
        : await logitsOf(where, parts, head, batch, options);
    const count = shape.at(-1) ?? 0;
    const labels = head?.labels ?? labelsOf(config, count);
    const scoresOf = rule(config, count);
    const rows = data.length / count / batch.texts.length;
    for (const [at, text] of batch.texts.entries()) {
      const scores = Array.from({ length: rows }, (_, row) => {
        const from = (at * rows + row) * count;
        return scoresOf(data.slice(from, from + count));
      });
      const input = inputs[text] ?? "";
      const [whole] = typeof input === "string" ? [input] : input;
      const isOfTokens = head === null ? own === "tokens" : head.input === "tokens";
      results[text] = isOfTokens ? spansOf(whole, encodings[text], scores, labels) : sorted(labels, scores[0]);
    }
  }
  return results;
}

/** From logits to probabilities: together one, or each for itself. */
function rule(config: ModelConfig, count: number): (logits: Float32Array) => Float32Array {
  const problem = config["problem_type"];
  if (problem === "regression") return (logits) => logits;
  if (problem === "multi_label_classification" || count === 1) return (logits) => logits.map(sigmoid);
  return softmax;
}

/** Of the head that is a part of the model. */
async function ownLogits(
  where: string,
  { model }: ModelParts,
  { tokens, tokenTypes }: TextBatch,
  { signal, adapter }: HiddenOptions,
): Promise<ArrayTensor> {
  const options = { ...(signal && { signal }), ...(adapter === undefined ? {} : { adapter }) };
  const { logits } = await model.forward(tokens, { logits: true, ...options, ...(tokenTypes && { tokenTypes }) });
  if (logits !== undefined) return logits;
  throw new HeedError("unsupported", `${where}: the model gives no logits`);
}

/** [B, labels], or [B, L, labels] of tokens. */
async function logitsOf(
  where: string,
  parts: ModelParts,
  head: ClassifierHead,
  batch: TextBatch,
  options: HiddenOptions,
): Promise<ArrayTensor> {
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
    return await head.forward(read, signal ? { signal } : {});
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
