// Room 12 in real Chromium: models brought as their files, run on a text, every weight held against PyTorch's and heed's own layers.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { writeNpy } from "../../../demo/rooms/12-bring-your-own/npy.js";
import { BertModel, loadTokenizer, type ParameterTensor } from "../../../web/src/layers/index.js";
import { worstDifference } from "../../support/fixtures.js";
import {
  enlarged,
  fileOf,
  jsonFile,
  madeByTransformers,
  madeTokenizer,
  type NamedFile,
  safetensorsFile,
  slowModel,
} from "../../support/model-files.js";
import { drop, inSight, message, PAGE } from "./bringing.js";
import { demoInChromium } from "./chromium.js";
import { compare } from "./numbers.js";
import { hashOf, readMatrix, readNumber, settled } from "./page.js";
import { jsonOf } from "./saved.js";
import { TIME_FOR_TRIES, tasksOver } from "./tasks.js";

const { open } = demoInChromium();
/** The error of f32 after two layers, each a chain of about ten sums. */
const DEPTH = 24;

const status = (page: Page) => page.locator(".model-panel [role=status]");

/** Chosen together, as from a folder; waits until the room says so. */
async function bring(page: Page, says: string | RegExp, ...files: readonly NamedFile[]): Promise<void> {
  const bringing = page.locator(".bringing");
  if ((await bringing.getAttribute("open")) === null) await bringing.locator("summary").click();
  await page.locator("#arrays").setInputFiles([...files]);
  await message(page).filter({ hasText: says }).waitFor();
  await settled(page);
}

async function run(page: Page, text: string, says: string): Promise<void> {
  await page.locator("#model-text").fill(text);
  await page.getByRole("button", { name: "Run it" }).click();
  await status(page).filter({ hasText: says }).waitFor();
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
  ["gpt2", "GPT-2", 3, true],
  ["llama", "Llama", 6, false],
] as const)("%s", (name, called, heads, isWhole) => {
  test("without a tokenizer: every weight and what comes next are PyTorch's", async () => {
    const { config, parameters, ids, outputs } = madeByTransformers(name);
    const page = await open(PAGE);
    if (isWhole) {
      await bring(page, `${called}:`, await safetensorsFile("model.safetensors", parameters));
    } else {
      const isFirst = ([key]: readonly [string, unknown]): boolean => !key.includes("layers.1");
      const [one, other] = [[...parameters].filter(isFirst), [...parameters].filter((entry) => !isFirst(entry))];
      await bring(page, "the other part of its parameters", await safetensorsFile("m-00001-of-00002.safetensors", one));
      await bring(page, "Now drop its config.json", await safetensorsFile("m-00002-of-00002.safetensors", other));
    }
    expect(await page.locator(".model-panel").isVisible()).toBe(false);
    await bring(page, "or give numbers of tokens", jsonFile("config.json", config), jsonFile("vocab.json", { a: 1 }));
    await page.getByLabel(`Numbers of tokens for ${called}, 0 to 15`).waitFor();
    await run(page, ids.join(", "), "Done in");
    const wanted = (layer: number, head: number): ParameterTensor => headOf(outputs.get(`attention${layer}`), head, 7);
    const shown = await everyHead(page);
    expect(shown).toHaveLength(2 * heads);
    for (const { layer, head, weights } of shown) {
      expect(worstDifference(weights, wanted(layer, head), DEPTH)).toBeLessThan(1);
    }
    await look(page, 1, 2, wanted(1, 2));
    const logits = Array.from(outputs.get("logits")?.data.slice(6 * 16, 7 * 16) ?? []).map(Math.exp);
    const sum = logits.reduce((total, one) => total + one, 0);
    const best = logits.indexOf(Math.max(...logits));
    const line = page.locator(".model-panel tbody tr").first();
    expect(await line.locator("th").textContent()).toBe(`#${best}`);
    const told = readNumber((await line.locator("td").textContent())?.replace("%", "") ?? "");
    expect(Math.abs(told - (100 * (logits[best] ?? 0)) / sum)).toBeLessThan(0.5 + 1e-3);
    expect(await page.locator(".agreement").textContent()).toContain(`as ${called} computed them`);
  });
});

/** A BERT with a tokenizer and a text that it reads. */
async function bertFiles(positions = 32): Promise<readonly NamedFile[]> {
  const made = madeTokenizer("bert");
  const { config, parameters } = enlarged("bert", (await loadTokenizer(made)).vocabularySize, positions);
  const file = await safetensorsFile("model.safetensors", parameters);
  return [jsonFile("config.json", config), jsonFile("tokenizer.json", made), file];
}

describe.each([
  { on: "a desk", width: 1280, height: 800 },
  { on: "a phone", width: 390, height: 844 },
])("the front page's “Ask MiniLM” on $on", ({ width, height }) => {
  const MODEL = "**/models/all-MiniLM-L6-v2/*";
  const ask = async (text: string): Promise<Page> => {
    const page = await open("index.html", { viewport: { width, height } });
    // As servers answer that have a page for whatever they lack.
    await page.route(MODEL, (route) => route.fulfill({ contentType: "text/html", body: "<p>Here is nothing.</p>" }));
    await page.locator("#sentence").fill(text);
    await page.getByRole("link", { name: "Ask MiniLM" }).click();
    await message(page).filter({ hasText: "This site has no config.json of all-MiniLM-L6-v2." }).waitFor();
    return page;
  };
  const text = (page: Page) => page.locator("#model-text");

  test("without the site's files: keeps the sentence, says why in sight, and reads it once the files are dropped", async () => {
    const page = await ask("the lowest");
    await expect.poll(() => inSight(message(page))).toBe(true);
    expect([await inSight(text(page)), await text(page).inputValue()]).toEqual([true, "the lowest"]);
    expect(await page.getByRole("button", { name: "Run it" }).isVisible()).toBe(false);
    // It stays so, whatever else is looked at meanwhile.
    await page.getByRole("slider", { name: "Layer" }).press("Home");
    expect(await message(page).textContent()).toContain("This site has no config.json");
    await page.evaluate(() => scrollTo(0, 0));
    await drop(page, ...(await bertFiles()));
    await status(page)
      .filter({ hasText: /^Done in .* 6 heads to look at\.$/ })
      .waitFor();
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
    expect(await text(page).inputValue()).toBe("the lowest");
    expect(await everyHead(page)).toHaveLength(6);
  });

  test("says in sight what is dropped in vain, and where the text is too long for the model", async () => {
    const page = await ask("the lowest");
    await expect.poll(() => inSight(message(page))).toBe(true);
    const [config, ...others] = await bertFiles(3);
    if (config === undefined) throw new Error("there is one");
    await page.evaluate(() => scrollTo(0, 0));
    await drop(page, config);
    await message(page).filter({ hasText: "Now drop its model.safetensors" }).waitFor();
    await expect.poll(() => inSight(message(page))).toBe(true);
    expect([await inSight(text(page)), await text(page).inputValue()]).toEqual([true, "the lowest"]);
    await drop(page, ...others);
    await status(page).filter({ hasText: "and this BERT reads at most 3." }).waitFor();
    await expect.poll(() => inSight(status(page))).toBe(true);
  });

  test("with the site's files: runs", async () => {
    const files = await bertFiles();
    const page = await ask("the lowest");
    await page.route(MODEL, (route) =>
      route.fulfill({ body: files.find(({ name }) => route.request().url().endsWith(`/${name}`))?.buffer ?? "" }),
    );
    await page.goBack();
    await page.getByRole("link", { name: "Ask MiniLM" }).click();
    await status(page)
      .filter({ hasText: /^Done in .* 6 heads to look at\.$/ })
      .waitFor();
    expect(await text(page).inputValue()).toBe("the lowest");
    expect(await hashOf(page)).not.toContain("ask");
    expect(await page.evaluate(() => scrollY)).toBe(0);
    expect(await everyHead(page)).toHaveLength(6);
  });
});

test("a model that lacks parameters says which, and runs when they are there", async () => {
  const { config, parameters, ids } = madeByTransformers("gpt2");
  const lacking = new Map([...parameters].filter(([name]) => !name.includes("h.1.mlp.c_fc.weight")));
  const page = await open(PAGE);
  const files = (from: typeof parameters) => safetensorsFile("model.safetensors", from);
  await bring(page, "or give numbers of tokens", jsonFile("config.json", config), await files(lacking));
  await run(page, ids.join(", "), "h.1.mlp.c_fc.weight");
  await bring(page, "or give numbers of tokens", await files(parameters));
  await run(page, ids.join(", "), "Done in");
});

test("BERT with its tokenizer: every weight is that of heed's layers, words stand beside them, the address keeps the text", async () => {
  const made = madeTokenizer("bert");
  const tokenizer = await loadTokenizer(made);
  const text = "the lowest 中文 שלום";
  const { ids } = tokenizer.encode(text);
  const { config, parameters } = enlarged("bert", tokenizer.vocabularySize, 32);
  const model = new BertModel(config).load(parameters);
  const { attentions = [] } = await model.forward(ids, { attentions: true });
  const files = [
    jsonFile("config.json", config),
    jsonFile("tokenizer (1).json", made),
    await safetensorsFile("bert.safetensors", parameters),
  ];
  const page = await open(PAGE);
  await bring(page, "BERT: 2 layers × 3 heads", ...files);
  await page.getByLabel("Text for BERT").waitFor();
  await run(page, text, "Done in");
  expect(await page.locator(".model-panel table").isVisible()).toBe(false);
  const shown = await everyHead(page);
  expect(shown).toHaveLength(6);
  for (const { layer, head, weights } of shown) {
    expect(worstDifference(weights, headOf(attentions[layer], head, ids.length), DEPTH)).toBeLessThan(1);
  }
  await page.getByRole("slider", { name: "Layer" }).fill("2");
  await page.getByRole("slider", { name: "Head" }).fill("3");
  for (let press = 0; press < ids.length; press++) await page.locator(".map-stage").press("ArrowLeft");
  expect(await page.locator(".map-stage").getAttribute("aria-label")).toContain("key 1 [CLS]");
  expect(await page.locator(".readout-subject").textContent()).toContain("k1 [CLS]");
  expect(await page.locator('heed-matrix[data-name="A"] thead th').first().textContent()).toBe("[CLS]");
  // What is looked at stays the same in another visit, once the files are there again.
  const again = await open(`${PAGE}${await hashOf(page)}`);
  await message(again).filter({ hasText: "Until you bring some" }).waitFor();
  await expect.poll(() => inSight(message(again))).toBe(true);
  expect(await again.getByLabel("Text for the model").inputValue()).toBe(text);
  // Which reads it by itself.
  await bring(again, "BERT: 2 layers × 3 heads", ...files);
  await status(again).filter({ hasText: "Done in" }).waitFor();
  expect(await again.getByRole("slider", { name: "Layer" }).inputValue()).toBe("2");
  expect(await again.getByRole("slider", { name: "Head" }).inputValue()).toBe("3");
});

test("a text that does not fit is refused in words where it was given", async () => {
  const { config, parameters } = madeByTransformers("gpt2");
  const page = await open(PAGE);
  const files = [jsonFile("config.json", config), await safetensorsFile("model.safetensors", parameters)];
  await bring(page, "GPT-2:", ...files);
  await run(page, "1 2 3 4 5 6 7 8 9 10 11 12 13", "The text is 13 tokens long, and this GPT-2 reads at most 12.");
  await run(page, "1 16", "Token 16 is beyond the 16 that this GPT-2 knows, 0 to 15.");
  await run(page, "one", "“one” is no number of a token");
  await run(page, " ", "There is nothing to read");
  expect(await hashOf(page)).not.toContain("from=own");
  const large = slowModel(2, 8, 8000);
  await bring(
    page,
    "texts up to 8,000",
    jsonFile("config.json", large.config),
    await safetensorsFile("model.safetensors", large.parameters),
  );
  await run(page, "1 ".repeat(4000), "this page keeps those of 2,896 tokens");
  await run(page, `1 2 3${" ".repeat(4000)}`, "The address keeps no text of more than 4,000 letters.");
});

test("a pass is stopped while it computes, and another begins", async () => {
  const { config, parameters } = slowModel(6, 128, 1000);
  const page = await open(PAGE);
  await bring(page, "GPT-2:", jsonFile("config.json", config), await safetensorsFile("model.safetensors", parameters));
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
  expect(await page.locator(".brought select").count()).toBe(0);
  expect(await hashOf(page)).not.toContain("from=own");
});

test("parameters of no known model are refused, and said what would be taken", async () => {
  const page = await open(PAGE);
  const square: ParameterTensor = { data: new Float32Array(4), shape: [2, 2] };
  const names = ["shared.weight", "encoder.block.0.layer.0.SelfAttention.q.weight"];
  await bring(
    page,
    /holds 2 parameters, “[\w.]+” for one, of no model that is known here/,
    await safetensorsFile(
      "t5.safetensors",
      names.map((name) => [name, square] as const),
    ),
  );
  expect(await message(page).textContent()).toContain("models of the shape of GPT-2, BERT and Llama, or arrays");
});

test("queries alone wait for their keys, which may come later; negative weights are said to be so", async () => {
  const page = await open(PAGE);
  const npy = async (name: string, values: readonly number[]): Promise<NamedFile> =>
    fileOf(name, new Uint8Array(await writeNpy([2, 2], Float32Array.from(values)).arrayBuffer()));
  await bring(page, "“q” is taken for queries: bring the keys that go with them", await npy("q.npy", [1, 0, 0, 1]));
  expect(await hashOf(page)).not.toContain("from=own");
  await bring(page, "Taken: 1 layer, 1 head, 2 queries, 2 keys.", await npy("k.npy", [1, 0, 0, 1]));
  await bring(page, "Some are negative, −1.5 the least", await npy("weights.npy", [0.5, 0.5, 2.5, -1.5]));
  await bring(page, "Say which are q and k, or which one is the weights", await npy("things.npy", [1, 2, 3, 4]));
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
