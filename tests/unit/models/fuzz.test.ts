// Files of strangers, spoilt in their values: a model loads and works, or is refused with a HeedError. Nothing else.

import { afterAll, expect, test } from "vitest";
import { createHeed, HeedError } from "../../../web/src/index.js";
import { saveSafetensors } from "../../../web/src/layers/index.js";
import { loadModel } from "../../../web/src/models/index.js";
import { Random } from "../../support/random.js";
import { BYTES, folderOf, json } from "../../support/small-model.js";

const SEED = 7;
const ROUNDS = 240;

const engine = await createHeed({ threads: 1 });
afterAll(() => engine.dispose());
/** With this in its memory, an engine stays as it is where models are disposed of. */
engine.zeros([2 ** 22]);

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const VALUES: readonly [Json, ...Json[]] = [
  null,
  true,
  0,
  -1,
  1,
  2,
  0.5,
  3,
  2 ** 20,
  2 ** 31,
  2 ** 53,
  1e300,
  "",
  "x",
  "../x",
  "__proto__",
  [],
  [[]],
  {},
  { a: 1 },
  ["x", 1],
];

/** Some value within it replaced, taken away or put twice. */
function spoilt(random: Random, value: Json): Json {
  if (typeof value !== "object" || value === null || random.chance(0.15)) return random.pick(VALUES);
  if (Array.isArray(value)) {
    if (value.length === 0) return random.pick(VALUES);
    const at = random.whole(0, value.length - 1);
    if (random.chance(0.2)) return value.filter((_, one) => one !== at);
    return value.map((inner: Json, one) => (one === at ? spoilt(random, inner) : inner));
  }
  const entries = Object.entries(value);
  if (entries.length === 0 || random.chance(0.05)) return { ...value, extra: random.pick(VALUES) };
  const [name, inner] = entries[random.whole(0, entries.length - 1)] ?? ["", null];
  if (random.chance(0.15)) return Object.fromEntries(entries.filter(([one]) => one !== name));
  return { ...value, [name]: spoilt(random, inner) };
}

const { added_tokens, ...tokenizer } = BYTES;
const COMMON: Readonly<Record<string, Json>> = {
  "tokenizer.json": JSON.parse(JSON.stringify({ added_tokens, ...tokenizer })),
  "tokenizer_config.json": {
    eos_token: { content: "</s>" },
    bos_token: "<s>",
    chat_template: [{ name: "default", template: "x" }],
  },
  "generation_config.json": { eos_token_id: [257, 3], bos_token_id: 256 },
  "sentence_bert_config.json": { max_seq_length: 32, do_lower_case: false },
  "modules.json": [
    { idx: 0, path: "", type: "sentence_transformers.models.Transformer" },
    { idx: 1, path: "1_Pooling", type: "sentence_transformers.models.Pooling" },
    { idx: 2, path: "2_Normalize", type: "sentence_transformers.models.Normalize" },
  ],
  "1_Pooling/config.json": {
    word_embedding_dimension: 12,
    pooling_mode_mean_tokens: true,
    pooling_mode_cls_token: false,
  },
};

const ADAPTER = {
  config: {
    peft_type: "LORA",
    r: 1,
    lora_alpha: 2,
    target_modules: ["q_proj"],
    bias: "none",
    alpha_pattern: { q_proj: 3 },
    use_dora: false,
  },
  tensors: saveSafetensors({
    "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight": { data: new Float32Array(12), shape: [1, 12] },
    "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight": { data: new Float32Array(24), shape: [24, 1] },
  }),
};

const MODELS = (["llama", "bert", "gpt2"] as const).map((name) => {
  const { config, files } = folderOf(name);
  return {
    name,
    config: JSON.parse(JSON.stringify(config)) as Json,
    weights: files["model.safetensors"] ?? new Uint8Array(),
  };
});

test("spoilt configurations load or are refused", async () => {
  const random = new Random(SEED);
  const outcomes = new Set<string>();
  let fine = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const model = MODELS[round % 3];
    if (model === undefined) throw new Error("there are three");
    const all: Record<string, Json> = { "config.json": model.config, ...COMMON };
    const names = Object.keys(all);
    // Most that can go wrong is in the first.
    const name = random.chance(0.4) ? "config.json" : (names[random.whole(0, names.length - 1)] ?? "");
    all[name] = spoilt(random, all[name] ?? null);
    const isOfAdapter = model.name === "llama" && random.chance(0.2);
    try {
      const written = Object.entries(all).map(([file, value]) => [file, json(value)] as const);
      const lm = await loadModel({ ...Object.fromEntries(written), "model.safetensors": model.weights }, { engine });
      try {
        if (isOfAdapter) {
          const config = json(spoilt(random, ADAPTER.config));
          await lm.loadAdapter(
            { "adapter_config.json": config, "adapter_model.safetensors": ADAPTER.tensors },
            { name: "a" },
          );
          await lm.model.forward([1], { adapter: "a" });
        }
        if (model.name === "bert") await lm.embed(["ab"]);
        else for await (const _ of lm.generate("ab", { maxTokens: 2 }));
        fine += 1;
      } finally {
        lm.dispose();
      }
    } catch (error) {
      if (!(error instanceof HeedError)) throw new Error(`round ${round}, ${name}: ${String(error)}`, { cause: error });
      outcomes.add(error.message.replaceAll(/\d+|".*?"/g, "#").slice(0, 60));
    }
  }
  // Both happen, and for many reasons.
  expect(fine).toBeGreaterThan(ROUNDS / 5);
  expect(fine).toBeLessThan(ROUNDS);
  expect(outcomes.size).toBeGreaterThan(20);
  const { model } = await loadModel(folderOf("llama").files, { engine });
  expect((await model.forward([1])).logits?.data.every(Number.isFinite)).toBe(true);
});
