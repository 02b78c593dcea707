// Small models as the files that they are published in: those that transformers made, and others of the same kinds.

import { readFileSync } from "node:fs";
import { normal } from "../../demo/src/model/random.js";
import { type ModelConfig, type ParameterTensor, saveSafetensors } from "../../web/src/layers/index.js";
import { type PackedCase, readFixture, unpackAll } from "./fixtures.js";

export type ModelName = "gpt2" | "bert" | "llama";

export interface SmallModel {
  readonly config: ModelConfig;
  readonly parameters: ReadonlyMap<string, ParameterTensor>;
}

interface ModelCase extends PackedCase {
  readonly config: ModelConfig;
}

const fixture = readFixture("models.json");

/** With the tokens of its first text, and what PyTorch computed of it. */
export function madeByTransformers(name: ModelName) {
  const { config, parameters, inputs, outputs } = fixture[name] as ModelCase & {
    readonly inputs: { readonly input_ids: readonly (readonly number[])[] };
  };
  return { config, parameters: unpackAll(parameters), ids: inputs.input_ids[0] ?? [], outputs: unpackAll(outputs) };
}

/** The same model for another vocabulary and longer texts, whose tables are random. */
export function enlarged(name: ModelName, vocabulary: number, positions: number): SmallModel {
  const { config, parameters } = madeByTransformers(name);
  const next = normal(5);
  const table = (rows: number, width = 0): ParameterTensor => ({
    data: Float32Array.from({ length: rows * width }, () => next() / 2),
    shape: [rows, width],
  });
  const changed = [...parameters].map(([key, value]): [string, ParameterTensor] => {
    if (/(?:wte|embed_tokens|word_embeddings|lm_head)\.weight$/.test(key))
      return [key, table(vocabulary, value.shape[1])];
    return [key, /(?:wpe|position_embeddings)\.weight$/.test(key) ? table(positions, value.shape[1]) : value];
  });
  const sizes = { vocab_size: vocabulary, n_positions: positions, max_position_embeddings: positions };
  return { config: { ...config, ...sizes }, parameters: new Map(changed) };
}

/** A GPT-2 that takes a while: its numbers do not matter. */
export function slowModel(layers: number, width: number, positions: number): SmallModel {
  const next = normal(6);
  const numbers = (...shape: readonly number[]): ParameterTensor => ({
    data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => next() / 16),
    shape,
  });
  const parts: Readonly<Record<string, readonly number[]>> = {
    "ln_1.weight": [width],
    "ln_1.bias": [width],
    "attn.c_attn.weight": [width, 3 * width],
    "attn.c_attn.bias": [3 * width],
    "attn.c_proj.weight": [width, width],
    "attn.c_proj.bias": [width],
    "ln_2.weight": [width],
    "ln_2.bias": [width],
    "mlp.c_fc.weight": [width, 4 * width],
    "mlp.c_fc.bias": [4 * width],
    "mlp.c_proj.weight": [4 * width, width],
    "mlp.c_proj.bias": [width],
  };
  const blocks = Array.from({ length: layers }, (_, layer) =>
    Object.entries(parts).map(([part, shape]): [string, ParameterTensor] => [`h.${layer}.${part}`, numbers(...shape)]),
  );
  return {
    config: { model_type: "gpt2", vocab_size: 16, n_positions: positions, n_embd: width, n_layer: layers, n_head: 4 },
    parameters: new Map([
      ["wte.weight", numbers(16, width)],
      ["wpe.weight", numbers(positions, width)],
      ["ln_f.weight", numbers(width)],
      ["ln_f.bias", numbers(width)],
      ...blocks.flat(),
    ]),
  };
}

export interface NamedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

export function fileOf(name: string, bytes: Uint8Array): NamedFile {
  return { name, mimeType: "application/octet-stream", buffer: Buffer.from(bytes) };
}

export function jsonFile(name: string, value: unknown): NamedFile {
  return fileOf(name, new TextEncoder().encode(JSON.stringify(value)));
}

export async function safetensorsFile(
  name: string,
  parameters: Iterable<readonly [string, ParameterTensor]>,
): Promise<NamedFile> {
  const file = saveSafetensors(Object.fromEntries(parameters));
  return fileOf(name, new Uint8Array(await new Blob([file]).arrayBuffer()));
}

/** One that the library of tokenizers made: tests/fixtures has the script. */
export function madeTokenizer(name: string): Readonly<Record<string, unknown>> {
  const all: readonly { readonly name: string; readonly tokenizer: Readonly<Record<string, unknown>> }[] = JSON.parse(
    readFileSync(new URL("../fixtures/tokenizers.json", import.meta.url), "utf8"),
  );
  const found = all.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no tokenizer ${name}`);
  return found.tokenizer;
}
