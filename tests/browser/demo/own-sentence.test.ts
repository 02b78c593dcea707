// One's own sentence on the front page, read by a model of MiniLM's shape; a word of it changed; and the link that carries the answer.

import { readFileSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page, Route } from "playwright";
import { beforeAll, describe, expect, test } from "vitest";
import { minilmFiles } from "../../../demo/minilm.js";
import { changed, changesOf } from "../../../demo/rooms/00-front/changes.js";
import { findOf } from "../../../demo/rooms/00-front/detectors.js";
import { joined, type Reading } from "../../../demo/rooms/00-front/reading.js";
import { sharedRow } from "../../../demo/rooms/00-front/shared-row.js";
import { normal } from "../../../demo/src/model/random.js";
import { wordsIn } from "../../../demo/src/model/tokens.js";
import { BertModel, loadTokenizer, type ParameterTensor } from "../../../web/src/layers/index.js";
import {
  jsonFile,
  madeByTransformers,
  madeTokenizer,
  type NamedFile,
  safetensorsFile,
} from "../../support/model-files.js";
import { drop } from "./bringing.js";
import { axeFindings, demoInChromium } from "./chromium.js";

const { open, site } = demoInChromium();

const FRONT = "index.html";
const TEXT = "they say the newest world isn't lower because it is lost";
const CHANGED = TEXT.replace("lost", "unwell");
const [LAYERS, HEADS, WIDTH] = [6, 12, 48];
const FOLDER = "models/all-MiniLM-L6-v2";

const made = madeTokenizer("bert");

/** The parameters of a small BERT in more and wider layers, whose numbers are random. */
async function shapedLikeMiniLM() {
  const small = madeByTransformers("bert");
  const tokenizer = await loadTokenizer(made);
  const sizes = { vocab_size: tokenizer.vocabularySize, max_position_embeddings: 64, intermediate_size: 96 };
  const config = {
    ...small.config,
    ...sizes,
    hidden_size: WIDTH,
    num_hidden_layers: LAYERS,
    num_attention_heads: HEADS,
  };
  const wider = new Map([
    [12, WIDTH],
    [20, 96],
  ]);
  const next = normal(7);
  const like = (name: string, shape: readonly number[]): ParameterTensor => {
    const [rows = 0, ...others] = shape.map((size) => wider.get(size) ?? size);
    const first = /word_embeddings/.test(name) ? sizes.vocab_size : /position/.test(name) ? 64 : rows;
    const all = [first, ...others];
    const isNorm = /LayerNorm\.weight$/.test(name);
    const data = Float32Array.from({ length: all.reduce((a, b) => a * b, 1) }, () => (isNorm ? 1 : next() * 0.4));
    return { data, shape: all };
  };
  const names = [...small.parameters].flatMap(([name, { shape }]) => {
    if (name.includes("layer.1.")) return [];
    const layers = name.includes("layer.0.") ? Array.from({ length: LAYERS }, (_, layer) => `layer.${layer}.`) : [""];
    return layers.map((layer) => [name.replace("layer.0.", layer), shape] as const);
  });
  return { config, tokenizer, parameters: new Map(names.map(([name, shape]) => [name, like(name, shape)])) };
}

let files: readonly NamedFile[] = [];
/** By sentence, layer and head: of each word, and of the start mark before them, the weights on all of these. In double precision. */
let wanted: (text: string, layer: number, head: number) => Promise<readonly (readonly number[])[]>;

beforeAll(async () => {
  const { config, tokenizer, parameters } = await shapedLikeMiniLM();
  files = [
    jsonFile("config.json", config),
    jsonFile("tokenizer.json", made),
    await safetensorsFile("model.safetensors", parameters),
  ];
  const model = new BertModel(config).load(parameters);
  wanted = async (text, layer, head) => {
    const { ids, offsets } = tokenizer.encode(text);
    const { attentions = [] } = await model.forward(ids, { attentions: true });
    const weights = attentions[layer - 1]?.data ?? [];
    const ends = Array.from(text.matchAll(/\S+/g), ({ 0: word, index }) => index + word.length);
    // The end mark is left out.
    const groups = [[0], ...ends.map((): number[] => [])];
    offsets.slice(1, -1).forEach(([, end], token) => {
      groups[1 + ends.findIndex((last) => end <= last)]?.push(token + 1);
    });
    const at = (query: number, key: number): number =>
      weights[((head - 1) * ids.length + query) * ids.length + key] ?? 0;
    const total = (all: readonly number[], of: (one: number) => number) => all.reduce((sum, one) => sum + of(one), 0);
    return groups.map((queries) =>
      groups.map((keys) => total(queries, (query) => total(keys, (key) => at(query, key))) / queries.length),
    );
  };
});

const said = (page: Page) => () => page.locator("#own-said").innerText();
const head = (page: Page, layer: number, number: number) =>
  page.locator(".strip").getByRole("button", { name: new RegExp(`^Layer ${layer}, head ${number}(?!\\d)`) });

const opens = (page: Page) => page.getByText("Read it with MiniLM: open its files…");
const status = (page: Page) => page.locator(".offer [role=status]");

/** Presses the one offer, and opens the files. */
async function read(page: Page): Promise<void> {
  await opens(page).waitFor();
  await page.locator("#minilm-files").setInputFiles([...files]);
  await page.locator(".offer [role=status]", { hasText: "reads along." }).waitFor();
  await expect.poll(() => page.locator(".strip button").count()).toBe(LAYERS * HEADS);
}

/** Of a word that is drawn: what it gets, in percent, and the difference in points. */
async function figures(page: Page): Promise<ReadonlyMap<string, readonly number[]>> {
  const parts = await page.locator("#own .asked-word, #own .asked-start > span").evaluateAll((all) =>
    all.map((one) => {
      const small = one.querySelector("small");
      return [
        one.firstChild?.textContent ?? "",
        small?.firstChild?.textContent ?? "",
        small?.querySelector("i")?.textContent ?? "",
      ];
    }),
  );
  const number = (text = ""): number => Number(text.replace("−", "-").replace(/[^\d-]/g, ""));
  return new Map(parts.map(([word = "", weight, points]) => [word, [number(weight), number(points)]]));
}

/** In whole percent, where it is shown. */
function compare(
  shown: ReadonlyMap<string, readonly number[]>,
  words: readonly string[],
  row: readonly number[],
): void {
  words.forEach((word, place) => {
    const weight = 100 * (row[place] ?? Number.NaN);
    if (weight > 3.1) expect(Math.abs((shown.get(word)?.[0] ?? Number.NaN) - weight)).toBeLessThan(0.501);
  });
}

describe("words that the tiny model lacks", () => {
  test("offer one press: the reader’s files, whose heads are all there, as PyTorch’s names load them", async () => {
    const page = await open(`${FRONT}#t=${encodeURIComponent(TEXT)}`);
    await expect.poll(said(page)).toContain("The tiny model does not know “they”, “say”");
    const offer = page.locator(".offer");
    expect(await offer.innerText()).toMatch(/Read it with MiniLM: open its files….*This site does not have MiniLM/s);
    expect(await offer.locator("label").evaluate((one) => one.classList.contains("primary"))).toBe(true);
    await read(page);
    // The pronoun asks, and pieces of a word are one.
    await expect.poll(said(page)).toMatch(/: “it” gives /);
    const words = ["start", ...TEXT.split(" ")];
    for (const [layer, number] of [
      [1, 1],
      [4, 12],
      [6, 3],
    ] as const) {
      await head(page, layer, number).click();
      await expect.poll(said(page)).toContain(`Layer ${layer}, head ${number} of bert`);
      const rows = await wanted(TEXT, layer, number);
      compare(await figures(page), words, rows[words.indexOf("it")] ?? []);
    }
    await page.locator("#own").getByRole("button", { name: "world" }).click();
    await expect.poll(said(page)).toContain("“world” gives ");
    compare(await figures(page), words, (await wanted(TEXT, 6, 3))[words.indexOf("world")] ?? []);
    expect(await axeFindings(page, { within: "#own" })).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await axeFindings(page, { within: "#own", colours: true })).toEqual([]);
  });

  test("files may be dropped one after the other; they stay for the next visit, and are forgotten", async () => {
    const page = await open(`${FRONT}#t=they+say`, { alone: true });
    await opens(page).waitFor();
    const [config, tokenizer, weights] = files;
    if (config === undefined || tokenizer === undefined || weights === undefined) throw new Error("there are three");
    await drop(page, config);
    await status(page).filter({ hasText: "Now drop its model.safetensors and its tokenizer.json." }).waitFor();
    await drop(page, weights);
    await status(page).filter({ hasText: "Now drop its tokenizer.json." }).waitFor();
    await drop(page, { ...tokenizer, name: "tokenizer (1).json" });
    await status(page).filter({ hasText: "reads along." }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Read it with MiniLM, kept on this device" }).click();
    await status(page).filter({ hasText: "reads along." }).waitFor();
    await expect.poll(() => page.locator(".strip button").count()).toBe(LAYERS * HEADS);
    await page.getByRole("button", { name: "Forget MiniLM" }).click();
    await status(page).filter({ hasText: "Forgotten." }).waitFor();
    expect(await opens(page).isVisible()).toBe(true);
    expect(await page.evaluate(() => window.caches.keys())).toEqual([]);
  });

  test("a text that is too long for the model is refused in a sentence, and leaves no picture; files in vain leave the offer", async () => {
    const page = await open(`${FRONT}#t=they+say+it`, { alone: true });
    await opens(page).waitFor();
    // While the first is loaded the same comes again.
    for (let times = 0; times < 2; times++) await drop(page, ...files);
    await expect.poll(() => page.locator(".strip button").count()).toBe(LAYERS * HEADS);
    await page.locator("#sentence").fill("it ".repeat(80));
    await expect.poll(said(page)).toMatch(/^BertModel: a text must have at most 64 tokens.*[^.]\.$/);
    expect(await page.locator("#own .asked.answered").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Share what you see" }).isVisible()).toBe(false);
    const [config] = files;
    const { hidden_size: _, ...others } = JSON.parse(String(config?.buffer));
    await drop(page, jsonFile("config.json", others));
    await status(page)
      .filter({ hasText: /hidden_size[^.]*\.$/ })
      .waitFor();
    // The model of before is kept.
    await page.getByRole("button", { name: "Read it with MiniLM, kept on this device" }).click();
    await status(page).filter({ hasText: "reads along." }).waitFor();
  });

  test("a worker that breaks off takes its model along, and leaves the offer", async () => {
    const page = await open(`${FRONT}#t=they+say+it`, { alone: true });
    await read(page);
    // It may have ended before it answers.
    const fails = "setTimeout(() => { throw new Error('out of memory') })";
    await Promise.all(page.workers().map((worker) => worker.evaluate(fails).catch(() => {})));
    await page.locator("#sentence").fill("they say it is lost");
    await status(page).filter({ hasText: "It broke off: " }).waitFor();
    await expect.poll(said(page)).toContain("The tiny model does not know “they”");
    await page.getByRole("button", { name: "Read it with MiniLM, kept on this device" }).click();
    await expect.poll(said(page)).toContain("of bert: “it” gives ");
  });

  test("a model of the site’s own is loaded once it is asked for, and needs no network on the next visit", async () => {
    const folder = join(site().folder, FOLDER);
    await mkdir(folder, { recursive: true });
    // As whoever builds the site has them: in half the size.
    const given = await mkdtemp(join(tmpdir(), "heed-minilm-"));
    for (const { name, buffer } of files) writeFileSync(join(given, name), buffer);
    const narrow = await minilmFiles(given);
    await rm(given, { recursive: true });
    expect([...narrow.keys()].sort()).toEqual(files.map(({ name }) => name).sort());
    const [was = 0, is = 0] = [files[2]?.buffer.length, narrow.get("model.safetensors")?.length];
    expect(is / was).toBeLessThan(0.6);
    for (const [name, bytes] of narrow) writeFileSync(join(folder, name), bytes);
    const index = join(site().folder, FRONT);
    const without = readFileSync(index, "utf8");
    writeFileSync(index, without.replace('data-bytes=""', 'data-bytes="45900000"'));
    try {
      const asked: string[] = [];
      const page = await open(`${FRONT}#t=they+say`, {
        alone: true,
        watch: (one) => one.on("request", (request) => asked.push(request.url())),
      });
      await page.getByRole("button", { name: "Read it with MiniLM, 45.9 MB once" }).waitFor();
      expect(asked.filter((url) => url.includes("models/"))).toEqual([]);
      await page.getByRole("button", { name: "Read it with MiniLM" }).click();
      await page.locator(".offer [role=status]", { hasText: "reads along." }).waitFor();
      await page.route(`**/${FOLDER}/*`, (route) => route.abort());
      await page.reload();
      await page.getByRole("button", { name: "Read it with MiniLM, kept on this device" }).click();
      await page.locator(".offer [role=status]", { hasText: "reads along." }).waitFor();
    } finally {
      writeFileSync(index, without);
      await rm(join(site().folder, "models"), { recursive: true });
    }
  });
});

describe("a word that is changed", () => {
  test("leaves what was hollow, says the difference in points, and leads to the head that changes most", async () => {
    const page = await open(`${FRONT}#t=${encodeURIComponent(TEXT)}`);
    await read(page);
    expect(await page.locator("#own path.hollow[d*=M]").count()).toBe(0);
    await page.locator("#sentence").fill(CHANGED);
    await page.locator("#own-losses", { hasText: "Lost most, in points" }).waitFor();
    const words = ["start", ...CHANGED.split(" ")];
    const it = words.indexOf("it");
    const changes = await Promise.all(
      Array.from({ length: LAYERS * HEADS }, async (_, at) => {
        const [layer, number] = [1 + Math.floor(at / HEADS), 1 + (at % HEADS)];
        const [before = [], now = []] = [
          (await wanted(TEXT, layer, number))[it],
          (await wanted(CHANGED, layer, number))[it],
        ];
        const lost = before.map((weight, place) => weight - (now[place] ?? 0));
        return {
          layer,
          number,
          before,
          now,
          lost: Math.max(...lost.slice(1)),
          moved: lost.slice(1).reduce((a, b) => a + Math.abs(b), 0),
        };
      }),
    );
    const most = changes.reduce((a, b) => (b.moved > a.moved ? b : a));
    await expect.poll(said(page)).toContain(`Layer ${most.layer}, head ${most.number} of`);
    expect(await said(page)()).toMatch(/\d\s% instead of \d+\s%\.|<1\s%/);
    const shown = await figures(page);
    words.forEach((word, place) => {
      const [weight = 0, was = 0] = [most.now[place], most.before[place]];
      if (Math.abs(weight - was) < 0.031) return;
      expect(Math.abs((shown.get(word)?.[1] ?? Number.NaN) - 100 * (weight - was))).toBeLessThan(0.501);
    });
    expect(await page.locator("#own path.hollow[d*=M]").count()).toBeGreaterThan(0);
    const [first] = [...changes].sort((a, b) => b.lost - a.lost);
    const chips = page.locator("#own-losses button");
    expect(await chips.first().innerText()).toMatch(
      new RegExp(`^layer ${first?.layer}, head ${first?.number}: \\S+ −${Math.round(100 * (first?.lost ?? 0))}$`),
    );
    expect(await chips.first().evaluate((chip) => chip.scrollWidth - chip.clientWidth)).toBe(0);
    await chips.nth(1).click();
    expect(await chips.nth(1).evaluate((chip) => chip === document.activeElement)).toBe(true);
    const [place = ""] = (await chips.nth(1).innerText()).split(":");
    await expect.poll(said(page)).toContain(`${place.replace("layer", "Layer")} of`);
    await page.getByRole("button", { name: "Forget the change" }).click();
    await expect.poll(() => page.locator("#own path.hollow[d*=M]").count()).toBe(0);
  });
});

test("a name lights its heads, and shows the one that does it most", async () => {
  const page = await open(`${FRONT}#t=susan+gave+mary+the+ring+.+it+was+the`);
  const names = page.getByRole("group", { name: "What heads do" }).getByRole("button");
  await names.first().waitFor();
  const name = ((await names.first().textContent()) ?? "").replace(/ · .*/, "");
  await names.first().click();
  const lit = page.locator(".strip button:not(.pale)");
  const figures = (await lit.evaluateAll((all) => all.map((one) => one.ariaLabel ?? ""))).map((label) => {
    expect(label).toContain(`: ${name} `);
    return Number.parseInt(/(\d+)\s%$/.exec(label)?.[1] ?? "", 10);
  });
  const shown = await page.locator(".strip button[aria-pressed=true]").getAttribute("aria-label");
  expect(shown).toMatch(new RegExp(`${Math.max(...figures)}\\s%$`));
});

describe("a shared link", () => {
  test("stands beside the button where a page may not copy it", async () => {
    const page = await open(`${FRONT}#t=the+dog+was+tired`, {
      alone: true,
      before: () => {
        Object.defineProperty(navigator, "clipboard", { value: undefined });
      },
    });
    await expect.poll(said(page)).toContain("It goes on with");
    await page.getByRole("button", { name: "Share what you see" }).click();
    const address = page.getByRole("textbox", { name: "The address to share" });
    expect(await address.inputValue()).toContain("#t=the+dog+was+tired&it=");
    expect(await page.evaluate(() => getSelection()?.toString())).toBe(await address.inputValue());
  });

  test("shows the same in a fresh profile, is marked as recorded, and asks for nothing but the page", async () => {
    const page = await open(`${FRONT}#t=${encodeURIComponent(TEXT)}`, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await read(page);
    await head(page, 3, 5).click();
    await expect.poll(said(page)).toContain("Layer 3, head 5");
    await page.locator("#sentence").fill(CHANGED);
    await expect.poll(() => page.locator("#own-losses button").count()).toBeGreaterThan(0);
    const shown = await figures(page);
    const share = await page.getByRole("button", { name: "Share what you see" }).elementHandle();
    // Another sentence, whose answer is not there yet, has no part in it.
    await page.locator("#sentence").evaluate(
      (field, { share, text }) => {
        if (!(field instanceof HTMLTextAreaElement && share instanceof HTMLElement)) throw new Error("not there");
        field.value = text;
        field.dispatchEvent(new Event("input"));
        share.click();
      },
      { share, text: TEXT.replace("lost", "wide") },
    );
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain("&r=");
    const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
    // One letter a weight.
    const rows = ["r", "rw"].map((key) => new URLSearchParams(link.hash.slice(1)).get(key));
    expect(rows.map((row) => row?.length)).toEqual([12, 12]);
    const asked: string[] = [];
    const fresh = await open(`${FRONT}${link.hash}`, {
      alone: true,
      watch: (one) => one.on("request", (request) => asked.push(request.url())),
    });
    await expect.poll(said(fresh)).toMatch(/^Recorded by the sender\. Layer 3, head 5 of bert: “it” gives /);
    await fresh.context().setOffline(true);
    const sent = await figures(fresh);
    for (const [word, [weight = 0, points = 0]] of shown) {
      const [had = 0, by = 0] = sent.get(word) ?? [];
      // Half of a step of 63, and a rounding on either side; a figure below 3 is not shown.
      if (weight > 5) expect(Math.abs(had - weight)).toBeLessThanOrEqual(100 / 126 + 1);
      if (Math.abs(points) > 5) expect(Math.abs(by - points)).toBeLessThanOrEqual(100 / 63 + 1);
    }
    expect(asked.filter((url) => /models|weights|wasm|language|layers|minilm|worker/.test(url))).toEqual([]);
    expect(await fresh.locator("#sentence").inputValue()).toBe(CHANGED);
    expect(await axeFindings(fresh, { within: "#own" })).toEqual([]);
  });

  test("keeps its weights where its sentence has lines, as any system ends them", async () => {
    const page = await open(`${FRONT}#t=the%0D%0Adog&it=2&own=1.1&r=A_A&by=bert`);
    await expect
      .poll(said(page))
      .toMatch(/^Recorded by the sender\. Layer 1, head 1 of bert: “dog” gives the 100\s%\./);
    // Until all that comes with the sentence is there.
    await page.locator("#own-tools button").first().waitFor();
    expect(await said(page)()).toContain("Recorded by the sender.");
  });

  test.each(["r=ABC", "r=ä&it=2", "r=AAAAA&it=99&t=they+say+it", "it=-4&own=9.9"])(
    "that is damaged shows the sentence: %s",
    async (hash) => {
      const page = await open(`${FRONT}#t=the+dog+was+tired&${hash}`);
      await expect.poll(said(page)).toContain("It goes on with");
    },
  );
});

test("an emptied field is kept, and “Back” while its script loads is not undone", async () => {
  const page = await open(FRONT);
  const held = new Promise<Route>((settle) => page.route(/\/own-[^/]*\.js$/, settle, { times: 1 }));
  await page.locator("#begin").click();
  const script = await held;
  await page.goBack();
  await page.getByRole("heading", { name: "Who is it?" }).waitFor();
  await script.continue();
  await page.locator("#own .strip, #own .offer").first().waitFor({ state: "attached" });
  expect(new URL(page.url()).hash).toBe("");
  await page.locator("#begin").click();
  await page.locator("#sentence").fill("");
  await expect.poll(said(page)).toBe("Type a sentence.");
  await page.reload();
  await expect.poll(said(page)).toBe("Type a sentence.");
});

test("heads are one stop of the keyboard, and arrows go along layers and between them", async () => {
  const page = await open(`${FRONT}#t=the+dog+was+tired`);
  await expect.poll(() => page.locator(".strip button").count()).toBe(8);
  expect(await page.locator(".strip button[tabindex='0']").count()).toBe(1);
  await page.locator(".strip button").first().focus();
  for (const key of ["ArrowRight", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  await expect.poll(said(page)).toContain("Layer 2, head 2 of the tiny model");
});

describe("without a page", () => {
  /** One layer of heads over these words. */
  const readingOf = (
    words: readonly string[],
    ...heads: readonly ((query: number, key: number) => number)[]
  ): Reading => {
    const places = words.length + 1;
    const cells = Array.from({ length: places ** 2 }, (_, at) => [Math.floor(at / places), at % places] as const);
    const data = heads.flatMap((weight) => cells.map(([query, key]) => weight(query, key)));
    return { by: "", words, layers: [{ data, shape: [heads.length, places, places] }] };
  };
  const WORDS = "the dog saw the cat because it was wide".split(" ");
  const only = (is: (query: number, key: number) => boolean) => (query: number, key: number) =>
    is(query, key) ? 0.9 : 0.01;

  test.each([
    ["previous word", only((query, key) => key === query - 1)],
    ["next word", only((query, key) => key === query + 1)],
    ["same word", only((query, key) => WORDS[query - 1] === WORDS[key - 1])],
    ["rests on the start", only((_, key) => key === 0)],
    ["“it” → cat", only((query, key) => query === 7 && key === 5)],
    [undefined, () => 0.1],
    // Because "saw" is no noun.
    [undefined, only((query, key) => query === 7 && key === 3)],
  ])("%s is found", (name, weight) => {
    expect(findOf(readingOf(WORDS, weight), { layer: 1, head: 1 })?.name).toBe(name);
  });

  test("pieces are joined: their weights add up, and rows are means", () => {
    const words = wordsIn("un do it");
    // [CLS] u n do it [SEP]
    const offsets = [
      [0, 0],
      [0, 1],
      [1, 2],
      [3, 5],
      [6, 8],
      [0, 0],
    ] as const;
    const weights = Float32Array.from({ length: 36 }, (_, at) => at + 1);
    const [layer] = joined({ offsets, weights: [weights] }, words);
    expect(layer?.shape).toEqual([1, 4, 4]);
    expect(Array.from(layer?.data ?? [])).toEqual([1, 5, 4, 5, 10, 23, 13, 14, 19, 41, 22, 23, 25, 53, 28, 29]);
  });

  test("sentences are the same one while a word or two differ", () => {
    const words = (text: string) => text.split(" ");
    expect(changed(words("a b c d"), words("a x c d"))).toEqual([2]);
    expect(changed(words("a b c d"), words("a x y d"))).toEqual([2, 3]);
    expect(changed(words("a b c d"), words("a x y z"))).toEqual([]);
    expect(changed(words("a b c"), words("a b"))).toEqual([]);
  });

  test("heads are sorted by what they lost on a word", () => {
    const before = readingOf(
      ["a", "b"],
      () => 0.5,
      (_, key) => (key === 2 ? 0.9 : 0.1),
    );
    const now = readingOf(
      ["a", "b"],
      (_, key) => (key === 1 ? 0.2 : 0.5),
      () => 0.1,
    );
    const changes = changesOf(before, now, 1);
    expect(changes.map(({ head, place }) => [head.head, place])).toEqual([
      [2, 2],
      [1, 1],
    ]);
    expect(changes.map(({ lost }) => lost.toFixed(2))).toEqual(["0.80", "0.30"]);
  });

  test("a row takes one letter a weight, and is read to half a step", () => {
    const { read, write } = sharedRow("r");
    const row = [0, 1, 0.5, 0.123, 0.99, 0.008];
    const text = write(row);
    expect(text).toMatch(/^[\w-]{6}$/);
    expect(encodeURIComponent(text)).toBe(text);
    read(text)?.forEach((weight, place) => {
      expect(Math.abs(weight - (row[place] ?? Number.NaN))).toBeLessThanOrEqual(1 / 126 + 1e-12);
    });
    expect(read("a b")).toBeUndefined();
    expect(read("A".repeat(402))).toBeUndefined();
  });
});
