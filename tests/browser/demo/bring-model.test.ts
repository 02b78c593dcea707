// Room 12 in real Chromium: models brought as their files, run on a text, every weight held against PyTorch's and heed's own layers.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import {
  BertModel,
  LlamaModel,
  loadTokenizer,
  type ModelConfig,
  type ParameterTensor,
} from "../../../web/src/layers/index.js";
import { loadModel } from "../../../web/src/models/index.js";
import { type PackedCase, readFixture, unpackAll, worstDifference } from "../../support/fixtures.js";
import {
  enlarged,
  fileOf,
  jsonFile,
  madeByTransformers,
  madeTokenizer,
  type NamedFile,
  type SmallModel,
  safetensorsFile,
  slowModel,
} from "../../support/model-files.js";
import { inSight, message, npyOf, PAGE } from "./bringing.js";
import { demoInChromium } from "./chromium.js";
import { compare, total } from "./numbers.js";
import { hashOf, readMatrix, readNumber, settled } from "./page.js";
import { jsonOf } from "./saved.js";
import { TIME_FOR_TRIES, tasksOver } from "./tasks.js";

const { open } = demoInChromium();
/** The error of f32 after two layers, each a chain of about ten sums. */
const DEPTH = 24;

const status = (page: Page) => page.locator(".model-panel .race [role=status]");
const answered = (page: Page) => page.locator('[data-picture="answer"] .odds-said');

/** Chosen together. */
async function choose(page: Page, files: readonly NamedFile[] | string, input = "#arrays"): Promise<void> {
  const bringing = page.locator(".bringing");
  if ((await bringing.getAttribute("open")) === null) await bringing.locator("summary").click();
  await page.locator(input).setInputFiles(typeof files === "string" ? files : [...files]);
}

/** Files of a model, of which the room says so. */
async function bring(page: Page, says: string | RegExp, ...files: readonly NamedFile[]): Promise<void> {
  await choose(page, files);
  await status(page).filter({ hasText: says }).waitFor();
  await settled(page);
}

/** Arrays, likewise. */
async function bringArrays(page: Page, says: string, ...files: readonly NamedFile[]): Promise<void> {
  await choose(page, files);
  await message(page).filter({ hasText: says }).waitFor();
  await settled(page);
}

async function run(page: Page, text: string, says: string): Promise<void> {
  await page.locator("#model-text").fill(text);
  await page.getByRole("button", { name: "Run it" }).click();
  await status(page).filter({ hasText: says }).waitFor();
  await settled(page);
}

/** The answer in bars: the word, and the figures of the whole model and, where heads are off, without them. */
async function oddsOf(page: Page): Promise<readonly { readonly word: string; readonly figures: readonly number[] }[]> {
  const lines = await page.locator(".odds li").all();
  return await Promise.all(
    lines.map(async (line) => ({
      word: (await line.locator("bdi").textContent()) ?? "",
      figures: ((await line.locator("span").textContent()) ?? "")
        .split("→")
        .map((text) => readNumber(text.replace("%", ""))),
    })),
  );
}

/** In percent with one decimal. */
function compareOdds(shown: number, logits: ArrayLike<number>, id: number): void {
  const powers = Array.from(logits, Math.exp);
  expect(Math.abs(shown - (100 * (powers[id] ?? Number.NaN)) / total(powers))).toBeLessThan(0.05 + 1e-3);
}

interface Heads {
  readonly heads: readonly {
    readonly layer: number;
    readonly head: number;
    readonly rows: number;
    readonly cols: number;
    readonly max: readonly number[];
  }[];
}

/** Every head at a glance, which is every cell where there are few. */
async function everyHead(page: Page) {
  const picture = page.locator('[data-picture="model"]');
  await picture.scrollIntoViewIfNeeded();
  await picture.locator('[role="status"]', { hasText: "From all rows of each head." }).waitFor();
  const { heads } = await jsonOf<Heads>(page, "model");
  return heads.map(({ layer, head, rows, cols, max }) => ({
    layer,
    head,
    weights: { data: Float32Array.from(max), shape: [rows, cols] },
  }));
}

/** A head in its view, in two decimals. */
async function look(page: Page, layer: number, head: number, wanted: ParameterTensor): Promise<void> {
  await page.getByRole("slider", { name: "Layer" }).fill(String(layer + 1));
  await page.getByRole("slider", { name: "Head" }).fill(String(head + 1));
  compare(await readMatrix(page, "A"), wanted.data);
}

const headOf = (of: Pick<ParameterTensor, "data"> | undefined, head: number, tokens: number): ParameterTensor => ({
  data: (of?.data ?? new Float32Array(0)).slice(head * tokens * tokens, (head + 1) * tokens * tokens),
  shape: [tokens, tokens],
});

describe.each([
  ["gpt2", 3],
  ["llama", 6],
] as const)("%s", (name, heads) => {
  test("without a tokenizer: every weight and what comes next are PyTorch's", async () => {
    const { config, parameters, ids, outputs } = madeByTransformers(name);
    const page = await open(PAGE);
    await bring(page, "Now drop its config.json", await safetensorsFile("model.safetensors", parameters));
    await bring(page, "Give numbers of tokens.", jsonFile("config.json", config), jsonFile("vocab.json", { a: 1 }));
    await page.getByLabel(`Numbers of tokens for ${name}, 0 to 15`).waitFor();
    await run(page, ids.join(", "), "Done in");
    const wanted = (layer: number, head: number): ParameterTensor => headOf(outputs.get(`attention${layer}`), head, 7);
    const shown = await everyHead(page);
    expect(shown).toHaveLength(2 * heads);
    for (const { layer, head, weights } of shown) {
      expect(worstDifference(weights, wanted(layer, head), DEPTH)).toBeLessThan(1);
    }
    await look(page, 1, 2, wanted(1, 2));
    const logits = Array.from(outputs.get("logits")?.data.slice(6 * 16, 7 * 16) ?? []);
    const odds = await oddsOf(page);
    expect(odds[0]?.word).toBe(`#${logits.indexOf(Math.max(...logits))}`);
    expect(odds).toHaveLength(8);
    for (const { word, figures } of odds) compareOdds(figures[0] ?? Number.NaN, logits, Number(word.slice(1)));
    expect(await page.locator(".agreement").textContent()).toContain(`as ${name} computed them`);
  });
});

/** What projects the heads of a layer, without what it takes of one of them. */
function withoutHead({ parameters, config }: SmallModel, name: string, head: number): Map<string, ParameterTensor> {
  const found = parameters.get(name) ?? { data: new Float32Array(0), shape: [] };
  const [, width = 0] = found.shape;
  const own = width / Number(config["num_attention_heads"]);
  const data = Float32Array.from(found.data, (value, at) => (Math.floor((at % width) / own) === head ? 0 : value));
  return new Map([...parameters, [name, { ...found, data }]]);
}

test("a head is switched off by the keyboard: the odds are those of a model without it, and come back", async () => {
  const llama = madeByTransformers("llama");
  const { config, parameters, ids } = llama;
  const file = await safetensorsFile("model.safetensors", parameters);
  const page = await open(PAGE);
  await bring(page, "Give numbers", jsonFile("config.json", config), file);
  await run(page, ids.join(" "), "Done in");
  const whole = await oddsOf(page);
  const tile = page.locator("heed-heads button").nth(6 + 4);
  await tile.focus();
  await page.keyboard.press("Enter");
  await page.locator('heed-heads [aria-pressed="true"][aria-label^="Layer 2, head 5"]').waitFor();
  // The focus stays at it.
  await page.keyboard.press("Enter");
  await answered(page).filter({ hasText: "Before, and without layer 2 head 5. The odds move by" }).waitFor();
  const changed = withoutHead(llama, "model.layers.1.self_attn.o_proj.weight", 4);
  const { logits } = await new LlamaModel(config).load(changed).forward(ids, { last: true });
  const odds = await oddsOf(page);
  expect(odds.length).toBeGreaterThanOrEqual(8);
  for (const { word, figures } of odds) {
    expect(figures).toHaveLength(2);
    compareOdds(figures[1] ?? Number.NaN, logits.data, Number(word.slice(1)));
  }
  expect(odds.some(({ figures: [before = 0, after = 0] }) => Math.abs(after - before) > 0.5)).toBe(true);
  expect(await hashOf(page)).toContain("off=10");
  // Another visit, with another text.
  const again = await open(`${PAGE}${await hashOf(page)}`);
  await bring(again, "Done in", jsonFile("config.json", config), file);
  await answered(again).filter({ hasText: "without layer 2 head 5" }).waitFor();
  expect(await oddsOf(again)).toEqual(odds);
  await page.getByRole("button", { name: "Switch all on" }).press("Enter");
  await answered(page).filter({ hasText: /^$/ }).waitFor({ state: "attached" });
  expect(await oddsOf(page)).toEqual(whole);
});

interface GgufCase {
  readonly file: string;
}

test("a GGUF file is read with progress in bytes, as it is stored, and says its bytes", async () => {
  const { file } = readFixture("gguf.json")["mixed"] as GgufCase;
  const bytes = Buffer.from(file, "base64");
  const ids = [3, 1, 4, 1, 5];
  const page = await open(PAGE);
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    const panel = document.querySelector(".model-panel");
    const bar = panel?.querySelector("progress");
    if (!panel || !bar) throw new Error("there is one");
    new MutationObserver(() => {
      if (!bar.hidden) seen.push(`${bar.value} ${panel.querySelector("[role=status]")?.textContent}`);
    }).observe(panel, { subtree: true, attributes: true, childList: true });
  });
  await bring(page, "Give numbers", fileOf("Tiny.Q4.gguf", bytes));
  const seen = await page.evaluate(() => (window as unknown as { readonly seen: readonly string[] }).seen);
  expect(seen.at(-1)).toMatch(/^1 Reading Tiny\.Q4\.gguf: (\S+ \w+) of \1 …$/);
  await run(page, ids.join(" "), "Done in");
  const lm = await loadModel(bytes, { weights: "as stored" });
  const about = (await page.locator(".model-about").textContent()) ?? "";
  expect(about).toContain("Tiny.Q4, llama: 1 layers × 4 heads");
  for (const format of Object.keys(lm.model.describe().formats)) expect(about).toContain(`as ${format}`);
  const { logits } = await lm.model.forward(ids, { last: true });
  for (const { word, figures } of await oddsOf(page)) {
    compareOdds(figures[0] ?? Number.NaN, logits?.data ?? [], Number(word.slice(1)));
  }
  lm.dispose();
});

/** A tokenizer of whole words. */
const WORDS = "[PAD] [UNK] [MASK] the animal was too tired to cross a street who is it wide".split(" ");
const wordTokenizer = {
  added_tokens: [{ id: 2, content: "[MASK]", special: true, normalized: false }],
  model: { type: "WordLevel", vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])), unk_token: "[UNK]" },
  pre_tokenizer: { type: "Whitespace" },
};

test("BERT guesses a masked word; without one, it tells how far the tokens move", async () => {
  const { config, parameters } = readFixture("models.json")["maskedWords"] as PackedCase & {
    readonly config: ModelConfig;
  };
  const bert: SmallModel = { config, parameters: unpackAll(parameters) };
  const name = "bert.encoder.layer.0.attention.output.dense.weight";
  const dense = [...bert.parameters.keys()].find((one) => name.endsWith(one)) ?? name;
  const [model, changed] = [bert.parameters, withoutHead(bert, dense, 1)].map((all) => new BertModel(config).load(all));
  const page = await open(`${PAGE}#from=own&off=1`);
  const files = [jsonFile("config.json", config), jsonFile("tokenizer.json", wordTokenizer)];
  await bring(page, /./, ...files, await safetensorsFile("model.safetensors", bert.parameters));
  await run(page, "the animal was too [MASK]", "Done in");
  await answered(page).filter({ hasText: "without layer 1 head 2. The odds move by" }).waitFor();
  await page.getByText("The masked word:").waitFor();
  const row = async (of: BertModel | undefined) =>
    (await of?.forward([3, 4, 5, 6, 2], { logits: true }))?.logits?.data.slice(4 * 16) ?? [];
  const [before, after] = [await row(model), await row(changed)];
  for (const { word, figures } of await oddsOf(page)) {
    const id = WORDS.indexOf(word);
    compareOdds(figures[0] ?? Number.NaN, before, id);
    compareOdds(figures[1] ?? Number.NaN, after, id);
  }
  await run(page, "the animal was tired", "Done in");
  await answered(page).filter({ hasText: "the mean of all keeps a cosine of" }).waitFor();
  const states = async (of: BertModel | undefined) => (await of?.forward([3, 4, 5, 7]))?.hidden.data ?? [];
  const [were, are] = [await states(model), await states(changed)];
  const odds = await oddsOf(page);
  expect(odds.map(({ word }) => word)).toEqual(["the", "animal", "was", "tired"]);
  odds.forEach(({ figures: [moved = Number.NaN] }, token) => {
    const numbers = Array.from({ length: 12 }, (_, at) => token * 12 + at);
    const length = Math.hypot(...numbers.map((at) => were[at] ?? Number.NaN));
    const wanted = Math.hypot(...numbers.map((at) => (are[at] ?? 0) - (were[at] ?? 0))) / length;
    expect(Math.abs(moved - 100 * wanted)).toBeLessThan(0.05 + 1e-3);
  });
});

test("a folder is opened with all that lies in it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "heed-folder-"));
  await mkdir(join(folder, "1_Pooling"));
  const pooling = jsonFile("1_Pooling/config.json", { pooling_mode_mean_tokens: true });
  for (const { name, buffer } of [...(await bertFiles(128)), pooling]) await writeFile(join(folder, name), buffer);
  const page = await open(PAGE);
  await choose(page, folder, "#folder");
  await status(page).filter({ hasText: "Done in" }).waitFor();
  expect(await page.locator(".model-about").textContent()).toContain(`${basename(folder)}, bert: 2 layers × 3 heads`);
  expect(await everyHead(page)).toHaveLength(6);
  await rm(folder, { recursive: true });
});

test("what heed does not load it refuses in its words", async () => {
  const { parameters } = madeByTransformers("bert");
  const file = await safetensorsFile("model.safetensors", parameters);
  const page = await open(PAGE);
  await bring(
    page,
    /config\.model_type must be one of .*, got "t5"/,
    jsonFile("config.json", { model_type: "t5" }),
    file,
  );
  await bring(page, /tiny\.gguf|GGUF/, fileOf("tiny.gguf", new Uint8Array(64)));
});

/** A BERT with a tokenizer and a text that it reads. */
async function bertFiles(positions = 32): Promise<readonly NamedFile[]> {
  const made = madeTokenizer("bert");
  const { config, parameters } = enlarged("bert", (await loadTokenizer(made)).vocabularySize, positions);
  const file = await safetensorsFile("model.safetensors", parameters);
  return [jsonFile("config.json", config), jsonFile("tokenizer.json", made), file];
}

test("a model that lacks parameters says which, and runs when they are there", async () => {
  const { config, parameters, ids } = madeByTransformers("gpt2");
  const lacking = new Map([...parameters].filter(([name]) => !name.includes("h.1.mlp.c_fc.weight")));
  const page = await open(PAGE);
  const files = (from: typeof parameters) => safetensorsFile("model.safetensors", from);
  await bring(page, "h.1.mlp.c_fc.weight", jsonFile("config.json", config), await files(lacking));
  await bring(page, "Give numbers of tokens", await files(parameters));
  await run(page, ids.join(", "), "Done in");
});

test("BERT with its tokenizer: every weight is that of heed's layers, words stand beside them, the address keeps the text", async () => {
  const made = madeTokenizer("bert");
  const tokenizer = await loadTokenizer(made);
  const text = "the lowest 中文 שלום";
  const { ids } = tokenizer.encode(text);
  const { config, parameters } = enlarged("bert", tokenizer.vocabularySize, 128);
  const model = new BertModel(config).load(parameters);
  const { attentions = [] } = await model.forward(ids, { attentions: true });
  const files = [
    jsonFile("config.json", config),
    jsonFile("tokenizer (1).json", made),
    await safetensorsFile("bert.safetensors", parameters),
  ];
  const page = await open(PAGE);
  await bring(page, "Done in", ...files);
  await page.getByLabel("Text for bert").waitFor();
  await run(page, text, "Done in");
  expect(await oddsOf(page)).toEqual([]);
  const shown = await everyHead(page);
  expect(shown).toHaveLength(6);
  for (const { layer, head, weights } of shown) {
    expect(worstDifference(weights, headOf(attentions[layer], head, ids.length), DEPTH)).toBeLessThan(1);
  }
  await page.getByRole("slider", { name: "Layer" }).fill("2");
  await page.getByRole("slider", { name: "Head" }).fill("3");
  for (const key of ["ArrowLeft", "ArrowUp"]) {
    for (let press = 0; press < ids.length; press++) await page.locator(".map-stage").press(key);
  }
  expect(await page.locator(".map-stage").getAttribute("aria-label")).toContain("key 1 [CLS]");
  expect(await page.locator(".readout-subject").textContent()).toContain("k1 [CLS]");
  expect(await page.locator('heed-matrix[data-name="A"] thead th').first().textContent()).toBe("[CLS]");
  // What is looked at stays the same in another visit, once the files are there again.
  const again = await open(`${PAGE}${await hashOf(page)}`);
  await message(again).filter({ hasText: "Until you bring some" }).waitFor();
  await expect.poll(() => inSight(status(again))).toBe(true);
  expect(await again.getByLabel("Text for the model").inputValue()).toBe(text);
  // Which reads it by itself.
  await bring(again, "Done in", ...files);
  expect(await again.getByRole("slider", { name: "Layer" }).inputValue()).toBe("2");
  expect(await again.getByRole("slider", { name: "Head" }).inputValue()).toBe("3");
});

test("a text that does not fit is refused in words where it was given", async () => {
  const { config, parameters } = madeByTransformers("gpt2");
  const page = await open(PAGE);
  const files = [jsonFile("config.json", config), await safetensorsFile("model.safetensors", parameters)];
  await bring(page, "Give numbers", ...files);
  await run(page, "1 2 3 4 5 6 7 8 9 10 11 12 13", "a text must have at most 12 tokens");
  await run(page, "1 16", "must be below 16");
  await run(page, "one", "“one” is no number of a token");
  await run(page, " ", "Give numbers of tokens.");
  expect(await hashOf(page)).not.toContain("from=own");
  const large = slowModel(2, 8, 8000);
  await choose(page, [
    jsonFile("config.json", large.config),
    await safetensorsFile("model.safetensors", large.parameters),
  ]);
  await page.locator(".model-about", { hasText: "Texts up to 8,000 tokens." }).waitFor();
  await run(page, "1 ".repeat(4000), "this page keeps those of 2,896 tokens");
  await run(page, `1 2 3${" ".repeat(4000)}`, "The address keeps no text of more than 4,000 letters.");
});

test("a pass is stopped while it computes, and another begins", async () => {
  const { config, parameters } = slowModel(6, 128, 1000);
  const page = await open(PAGE);
  await bring(
    page,
    "Give numbers",
    jsonFile("config.json", config),
    await safetensorsFile("model.safetensors", parameters),
  );
  await page.evaluate(() => {
    const said = document.querySelector(".model-panel [role=status]");
    const stop = document.querySelector<HTMLButtonElement>(".model-panel button");
    const watch = new MutationObserver(() => {
      if (!said?.textContent?.includes("through 6 layers")) return;
      watch.disconnect();
      stop?.click();
    });
    if (said !== null) watch.observe(said, { childList: true });
  });
  await run(page, "1 2 3 4 5 ".repeat(180), "Stopped.");
  expect(await hashOf(page)).not.toContain("from=own");
  await run(page, "1 2 3", "Done in");
});

test.each([
  ["llama", "model.layers.0.self_attn.q_proj.weight", "model.layers.0.self_attn.k_proj.weight"],
  ["gpt2", "h.0.attn.c_attn.weight", "h.0.attn.c_proj.weight"],
  ["bert", "bert.encoder.layer.0.attention.self.query.weight", "bert.encoder.layer.0.attention.self.key.weight"],
])("parameters of %s are never taken for queries, keys or weights", async (_, ...names) => {
  const page = await open(PAGE);
  const square: ParameterTensor = { data: new Float32Array(16).fill(0.25), shape: [4, 4] };
  const file = await safetensorsFile(
    "model.safetensors",
    names.map((name) => [name, square] as const),
  );
  await bring(page, "Now drop its config.json", file);
  expect(await hashOf(page)).not.toContain("from=own");
});

test("queries alone wait for their keys, which may come later; negative weights are said to be so", async () => {
  const page = await open(PAGE);
  const npy = (name: string, values: readonly number[]): NamedFile =>
    fileOf(name, npyOf([2, 2], Float32Array.from(values)));
  await bringArrays(page, "“q” is taken for queries: bring the keys that go with them", npy("q.npy", [1, 0, 0, 1]));
  expect(await hashOf(page)).not.toContain("from=own");
  await bringArrays(page, "Taken: 1 layer, 1 head, 2 queries, 2 keys.", npy("k.npy", [1, 0, 0, 1]));
  await bringArrays(page, "Some are negative, −1.5 the least", npy("weights.npy", [0.5, 0.5, 2.5, -1.5]));
  await bringArrays(page, "must be called q and k, or one weights", npy("things.npy", [1, 2, 3, 4]));
});

test("large arrays in Fortran order and f16 are read without a task over 100 ms", {
  timeout: TIME_FOR_TRIES,
}, async () => {
  const page = await open(PAGE);
  // Ones in half precision: the same in any order.
  const header = "{'descr': '<f2', 'fortran_order': True, 'shape': (1, 64, 512, 64), }";
  const bytes = new Uint8Array(10 + header.length + 64 * 512 * 64 * 2);
  bytes.set([0x93, ...new TextEncoder().encode("NUMPY"), 1, 0, header.length, 0]);
  bytes.set(new TextEncoder().encode(header), 10);
  for (let at = 11 + header.length; at < bytes.length; at += 2) bytes[at] = 0x3c;
  // From a folder: Playwright would put files of its own together in the page.
  const folder = await mkdtemp(join(tmpdir(), "heed-arrays-"));
  const paths = ["q.npy", "k.npy"].map((name) => join(folder, name));
  for (const path of paths) await writeFile(path, bytes);
  const { all, over } = await tasksOver(100, {
    page,
    // What was taken is named by the address, which then opens what the summary would close.
    prepare: () => page.locator(".bringing summary").click(),
    act: async () => {
      await page.locator("#arrays").setInputFiles(paths);
      await message(page).filter({ hasText: "Taken: 1 layer, 64 heads, 512 queries, 512 keys." }).waitFor();
      await settled(page);
    },
  });
  await rm(folder, { recursive: true });
  expect(all).toBeGreaterThan(0);
  expect(over).toEqual([]);
});
