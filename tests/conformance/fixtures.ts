// What other software computed, kept in tests/fixtures with the scripts that made it.

import { readdirSync, readFileSync } from "node:fs";

export interface Fixture {
  /** A file or a folder of tests/fixtures. */
  readonly name: string;
  /** What its cases are. */
  readonly of: string;
  /** What computed them. */
  readonly by: string;
  /** What is held to them, from tests. */
  readonly test: string;
  readonly engines: "all" | "three" | "default" | "Chromium" | "none";
}

const TORCH = "PyTorch 2.15";
const HUGGING_FACE = `${TORCH}, transformers 5.23 or 5.24`;

export const FIXTURES: readonly Fixture[] = [
  { name: "layers.json", of: "layers", by: TORCH, test: "unit/layers/layers.test.ts", engines: "all" },
  { name: "models.json", of: "models", by: HUGGING_FACE, test: "unit/layers/models.test.ts", engines: "all" },
  {
    name: "families",
    of: "families of models",
    by: HUGGING_FACE,
    test: "unit/layers/families.test.ts",
    engines: "three",
  },
  {
    name: "training.json",
    of: "gradients, steps of training",
    by: HUGGING_FACE,
    test: "unit/train/training.test.ts",
    engines: "all",
  },
  {
    name: "linear.json",
    of: "linear attention's gradients",
    by: TORCH,
    test: "unit/linear-vjp.test.ts",
    engines: "three",
  },
  {
    name: "learnt.json",
    of: "gradients of attention's options",
    by: HUGGING_FACE,
    test: "unit/train/learnt-options.test.ts",
    engines: "three",
  },
  {
    name: "operations.json",
    of: "operations of a pass, and gradients",
    by: TORCH,
    test: "unit/train/operations.test.ts",
    engines: "default",
  },
  { name: "losses.json", of: "losses", by: TORCH, test: "unit/train/losses.test.ts", engines: "default" },
  {
    name: "relative.json",
    of: "relative positions",
    by: HUGGING_FACE,
    test: "unit/train/relative-positions.test.ts",
    engines: "default",
  },
  {
    name: "lora.json",
    of: "fine-tuning with LoRA",
    by: `${HUGGING_FACE}, PEFT 0.21`,
    test: "unit/train/lora.test.ts",
    engines: "three",
  },
  {
    name: "snippets.json",
    of: "PyTorch calls that the demo copies",
    by: TORCH,
    test: "browser/demo/pytorch.test.ts",
    engines: "Chromium",
  },
  {
    name: "sentence.json",
    of: "vectors of sentences",
    by: `${HUGGING_FACE}, sentence-transformers 6.2`,
    test: "unit/models/embed.test.ts",
    engines: "default",
  },
  { name: "tokenizers.json", of: "texts", by: "tokenizers", test: "unit/tokenizers.test.ts", engines: "none" },
  {
    name: "text.json",
    of: "texts, truncations, streams",
    by: "tokenizers, SentencePiece",
    test: "unit/tokenizers.test.ts",
    engines: "none",
  },
  { name: "gguf.json", of: "GGUF files", by: "gguf", test: "unit/gguf.test.ts", engines: "default" },
  { name: "safetensors.json", of: "files", by: "safetensors", test: "unit/safetensors.test.ts", engines: "none" },
];

const FOLDER = new URL("../fixtures/", import.meta.url);

export function countCases({ name }: Fixture): number {
  const files = name.endsWith(".json") ? [name] : readdirSync(new URL(name, FOLDER)).map((file) => `${name}/${file}`);
  return files.reduce((sum, file) => sum + countOf(JSON.parse(readFileSync(new URL(file, FOLDER), "utf8"))), 0);
}

/** Where a case has what was computed. */
const COMPUTED = ["output", "outputs", "gradient", "gradients", "loss", "losses", "expected", "vectors", "ids"];

function countOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  if (COMPUTED.some((name) => Object.hasOwn(value, name))) return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + countOf(inner), 0);
}
