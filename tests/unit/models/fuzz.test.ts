// Files of strangers, spoilt in their values: a model loads and works, or is refused with a HeedError. Nothing else.

import { readdirSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { createHeed, HeedError } from "../../../web/src/index.js";
import { saveSafetensors } from "../../../web/src/layers/index.js";
import { renderChat } from "../../../web/src/layers/text/index.js";
import { type JinjaModule, loadModel } from "../../../web/src/models/index.js";
import { errorOf } from "../../support/cases.js";
import { caseOf } from "../../support/families.js";
import { Random } from "../../support/random.js";
import { roundsOf, timeFor } from "../../support/rounds.js";
import { BYTES, folderOf, json } from "../../support/small-model.js";

const SEED = 7;
const ROUNDS = roundsOf(120, 0.02);
const OF_CONFIGURATIONS = roundsOf(1500);
const OF_TEMPLATES = roundsOf(20_000);

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

test(
  `${OF_CONFIGURATIONS} spoilt configurations are refused, or ask for weights`,
  async () => {
    const random = new Random(SEED);
    const outcomes = new Set<string>();
    let fine = 0;
    const names = readdirSync(new URL("../../fixtures/families", import.meta.url));
    const configs = names.map((name) => JSON.parse(JSON.stringify(caseOf(name.replace(".json", "")).config)) as Json);
    for (let round = 0; round < OF_CONFIGURATIONS; round++) {
      let config = spoilt(random, configs[round % configs.length] ?? null);
      while (random.chance(0.3)) config = spoilt(random, config);
      const started = performance.now();
      const error = await errorOf(() => loadModel({ "config.json": json(config) }, { engine }));
      if (!(error instanceof HeedError)) throw new Error(`round ${round}: ${String(error)}`, { cause: error });
      expect(performance.now() - started, `round ${round}`).toBeLessThan(10_000);
      if (error.message.includes("must have model.safetensors")) fine += 1;
      outcomes.add(error.message.replaceAll(/\d+|".*?"/g, "#").slice(0, 60));
    }
    expect(fine).toBeGreaterThan(OF_CONFIGURATIONS / 10);
    expect(fine).toBeLessThan(OF_CONFIGURATIONS);
    expect(outcomes.size).toBeGreaterThan(20);
  },
  timeFor(OF_CONFIGURATIONS, 20),
);

const TEMPLATES = [
  "{% for message in messages %}<|{{ message.role }}|>\n{{ message['content'] | trim }}</s>\n{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}",
  "{%- if messages[0]['role'] == 'system' %}{%- set system = messages[0]['content'] %}{%- set rest = messages[1:] %}{%- else %}{%- set system = 'None' %}{%- set rest = messages %}{%- endif %}{{ bos_token }}{{ system }}{% for m in rest %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}{{ loop.last }}{{ m.content }}{{ eos_token }}{% endfor %}",
  "{% macro turn(m, n) %}[{{ n + 1 }}] {{ m.role | upper }}: {{ m.content | replace('a', 'b') }}{% endmacro %}{% set ns = namespace(total=0) %}{% for m in messages %}{% set ns.total = ns.total + m.content | length %}{{ turn(m, loop.index) }}{% endfor %}{{ ns.total }}{% for i in range(3) %}{{ i }}{% endfor %}{{ tools | tojson(indent=2) if tools is defined else '' }}",
];

/** The module @huggingface/jinja is not among heed's own packages: its address is given for the long run. */
const JINJA = process.env["HEED_JINJA"];

/** Without the module it is no test: one that is skipped fails the run. */
const testOfTemplates = JINJA === undefined ? (): void => {} : test;
testOfTemplates(
  `${OF_TEMPLATES} spoilt templates are rendered or refused`,
  async () => {
    const random = new Random(SEED);
    const messages = ["system", "user", "assistant"].map((role) => ({ role, content: `A ${role} says what it says` }));
    const jinja = (await import(/* @vite-ignore */ JINJA ?? "")) as JinjaModule;
    let fine = 0;
    for (let round = 0; round < OF_TEMPLATES; round++) {
      let template = spoiltText(random, TEMPLATES[round % TEMPLATES.length] ?? "");
      while (random.chance(0.5)) template = spoiltText(random, template);
      const variables = { bos_token: "<s>", eos_token: "</s>" };
      // In a worker all the same, now and then: to start one takes long.
      const source = round % 500 === 0 ? JINJA : jinja;
      const started = performance.now();
      try {
        const text = await renderChat(template, messages, { jinja: source, variables });
        expect(typeof text).toBe("string");
        fine += 1;
      } catch (error) {
        if (!(error instanceof HeedError)) throw new Error(`round ${round}: ${String(error)}`, { cause: error });
      }
      expect(performance.now() - started, `round ${round}: ${template}`).toBeLessThan(10_000);
    }
    expect(fine).toBeGreaterThan(OF_TEMPLATES / 50);
    expect(fine).toBeLessThan(OF_TEMPLATES);
  },
  timeFor(OF_TEMPLATES, 20),
);

/** A text with a part of it taken away, put twice, or replaced. */
function spoiltText(random: Random, text: string): string {
  const at = random.whole(0, Math.max(text.length - 1, 0));
  const end = Math.min(at + random.whole(1, 12), text.length);
  const from = random.whole(0, Math.max(text.length - 1, 0));
  const splinter = random.pick([
    "{%",
    "%}",
    "{{",
    "}}",
    "|",
    "(",
    ")",
    "-",
    "'",
    "[",
    "]",
    "0",
    "1e9",
    "messages",
    "loop",
    "not",
    "\ud800",
  ]);
  const middle = random.pick([
    "",
    splinter,
    text.slice(from, from + random.whole(1, 40)),
    text.slice(at, end).repeat(2),
  ]);
  return text.slice(0, at) + middle + text.slice(end);
}

test(
  "spoilt files load or are refused, and the engine works on",
  async () => {
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
        if (!(error instanceof HeedError))
          throw new Error(`round ${round}, ${name}: ${String(error)}`, { cause: error });
        outcomes.add(error.message.replaceAll(/\d+|".*?"/g, "#").slice(0, 60));
      }
    }
    // Both happen, and for many reasons.
    expect(fine).toBeGreaterThan(ROUNDS / 5);
    expect(fine).toBeLessThan(ROUNDS);
    expect(outcomes.size).toBeGreaterThan(12);
    const { model } = await loadModel(folderOf("llama").files, { engine });
    expect((await model.forward([1])).logits?.data.every(Number.isFinite)).toBe(true);
  },
  timeFor(ROUNDS, 1000),
);
