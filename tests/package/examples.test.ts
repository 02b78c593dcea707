// The pages of examples/, with the packed package: as they are where they need no bundler, and built by Vite.

import { existsSync, readFileSync, realpathSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright";
import { afterAll, describe, expect, test } from "vitest";
import { loadModel } from "../../web/src/models/index.js";
import { folderOf } from "../support/small-model.js";
import { Consumer } from "./support/consumer.js";
import { ISOLATION, serve } from "./support/server.js";
import { openChromium } from "./support/visit.js";

const browser = await openChromium();
afterAll(() => browser.close());

/** What a page shows; it must not complain of anything. `built`: the folder that is served. */
async function look<T>(consumer: Consumer, built: string, read: (page: Page) => Promise<T>): Promise<T> {
  const site = await serve({ "/": consumer.path(built) }, ISOLATION);
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("pageerror", ({ message }) => complaints.push(message));
  try {
    await page.goto(site.address);
    return await read(page);
  } catch (error) {
    throw new Error(`${String(error)}\n${complaints.join("\n")}`);
  } finally {
    await page.close();
    site.close();
    expect(complaints).toEqual([]);
  }
}

const outputOf = async (page: Page): Promise<string | null> => {
  await page.waitForFunction(() => document.querySelector("output")?.textContent !== "…");
  return page.textContent("output");
};

test.each([
  ["page", "a page learns to count", "6"],
  // Of 1 to 1000.
  ["worker", "a worker computes a mean by attention", "500.5"],
])("examples/%s: %s", async (folder, _what, shown) => {
  const consumer = await Consumer.make(`example-${folder}`, `../../../examples/${folder}`);
  expect(await look(consumer, ".", outputOf)).toBe(shown);
});

test("examples/react: a component shows weights, and those of another sentence", async () => {
  const consumer = await Consumer.make("example-react", "../../../examples/react");
  await consumer.tool("vite/bin/vite.js", "build");
  const rows = async (page: Page, count: number): Promise<number[][]> => {
    await page.waitForFunction((cells) => {
      const shown = [...document.querySelectorAll("td")].map(({ textContent }) => textContent);
      return shown.length === cells && shown.every((text) => text !== "");
    }, count ** 2);
    return page.$$eval("tr", (all) =>
      all.map((row) => [...row.querySelectorAll("td")].map(({ textContent }) => Number(textContent))),
    );
  };
  const [first, second] = await look(consumer, "dist", async (page) => {
    const before = await rows(page, 3);
    await page.fill("input", "abc def");
    return [before, await rows(page, 2)];
  });
  for (const row of [...(first ?? []), ...(second ?? [])]) {
    expect(row.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 1);
  }
  // Three letters in common against none: exp(3 / sqrt(26)) to 1.
  const own = 1 / (1 + Math.exp(-3 / Math.sqrt(26)));
  expect(second?.[0]?.[0]).toBeCloseTo(own, 2);
  expect(second?.[0]?.[1]).toBeCloseTo(1 - own, 2);
});

/** Models of other people, where they are at hand: the folder all-MiniLM-L6-v2, and chat.gguf, a small model that follows instructions. */
const REAL = process.env["HEED_MODELS"] ?? "";
/** What there are no files for is no test here: one that is skipped fails the run. */
const testIf = (isThere: boolean) => (isThere ? test : (): void => {});
/** Browsers open no links to folders. */
const real = (name: string): string => realpathSync(join(REAL, name));
const hasReal = (name: string): boolean => REAL !== "" && existsSync(join(REAL, name));
const TIME = 120_000;

/** Writes ChatML, as @huggingface/jinja would by the template of many models. */
const JINJA = `export class Template {
  render({ messages }) {
    const turns = messages.map(({ role, content }) => \`<|im_start|>\${role}\\n\${content}<|im_end|>\\n\`);
    return \`\${turns.join("")}<|im_start|>assistant\\n\`;
  }
}`;

async function exampleWith(folder: string, model: "bert" | "llama"): Promise<Consumer> {
  const consumer = await Consumer.make(`example-${folder}-${model}`, `../../../examples/${folder}`);
  await mkdir(consumer.path("model"));
  for (const [name, bytes] of Object.entries(folderOf(model).files)) {
    await writeFile(consumer.path("model", name), bytes);
  }
  await mkdir(consumer.path("node_modules/@huggingface/jinja/dist"), { recursive: true });
  await writeFile(consumer.path("node_modules/@huggingface/jinja/dist/index.js"), JINJA);
  return consumer;
}

/** Opens a model's files; `says`: what the page then says. */
async function openModel(page: Page, files: string | string[], says = /^ready$/): Promise<void> {
  page.setDefaultTimeout(TIME);
  await page.locator("#files").setInputFiles(files);
  await page.locator("#status", { hasText: says }).waitFor();
}

interface Found {
  readonly text: string;
  readonly score: number;
}

/** What is found, the nearest first. */
const found = (page: Page): Promise<Found[]> =>
  page.$$eval("#found li", (items) =>
    items.map((item) => ({ text: item.textContent ?? "", score: item.querySelector("meter")?.value ?? Number.NaN })),
  );

describe("examples/search", () => {
  test("finds a note by its own text", { timeout: TIME }, async () => {
    const consumer = await exampleWith("search", "bert");
    await look(consumer, ".", async (page) => {
      await openModel(page, consumer.path("model"));
      await page.locator("#found li").nth(6).waitFor();
      const note = "Tomatoes want sun, and water in the morning.";
      await page.locator("#query").fill(note);
      const first = page.locator("#found li").first();
      await first.filter({ hasText: note }).waitFor();
      const scores = (await found(page)).map(({ score }) => score);
      expect(scores[0]).toBeCloseTo(1, 6);
      expect([...scores].sort((a, b) => b - a)).toEqual(scores);
      // What is no model is said.
      await openModel(page, consumer.path("node_modules/@huggingface"), /config\.json/);
    });
  });

  testIf(hasReal("all-MiniLM-L6-v2"))("finds a note by its meaning", { timeout: TIME }, async () => {
    const consumer = await Consumer.make("example-search-real", "../../../examples/search");
    await look(consumer, ".", async (page) => {
      await openModel(page, real("all-MiniLM-L6-v2"));
      await page.locator("#found li").first().filter({ hasText: "cello" }).waitFor();
    });
  });
});

describe("examples/chat", () => {
  /** The weights that light up the words, and the text of each. */
  const lit = (page: Page): Promise<{ text: string; weight: number; isAnswer: boolean }[]> =>
    page.$$eval("#words span", (spans) =>
      spans.map((span) => ({
        text: span.textContent ?? "",
        weight: Number((span as HTMLElement).style.getPropertyValue("--weight")),
        isAnswer: span.className === "answer",
      })),
    );

  test("a word of an answer shows what it attended to, by keyboard", { timeout: TIME }, async () => {
    const consumer = await exampleWith("chat", "llama");
    const files = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"];
    await look(consumer, ".", async (page) => {
      await openModel(
        page,
        files.map((file) => consumer.path("model", file)),
      );
      await page.locator("#said").fill("Hi");
      await page.keyboard.press("Enter");
      await page.locator("#status", { hasText: /^\d+ tokens$/ }).waitFor();
      const all = await lit(page);
      const prompt = all.filter(({ isAnswer }) => !isAnswer).map(({ text }) => text);
      expect(prompt.join("")).toBe("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
      expect(all.length).toBeGreaterThan(prompt.length);
      await page.locator("#words .answer").first().focus();
      const weights = (await lit(page)).map(({ weight }) => weight);
      // It attends to the prompt, and to nothing that came later.
      const total = (some: readonly number[]): number => some.reduce((sum, one) => sum + one, 0);
      expect(total(weights.slice(0, prompt.length))).toBeCloseTo(1, 5);
      expect(total(weights.slice(prompt.length))).toBe(0);
    });
  });

  testIf(hasReal("chat.gguf"))("answers", { timeout: TIME }, async () => {
    const consumer = await exampleWith("chat", "bert");
    await look(consumer, ".", async (page) => {
      await openModel(page, real("chat.gguf"));
      await page.locator("#said").fill("What is the capital of France?");
      await page.keyboard.press("Enter");
      await page.locator("#status", { hasText: /^\d+ tokens$/ }).waitFor();
      const answer = (await lit(page)).filter(({ isAnswer }) => isAnswer).map(({ text }) => text);
      expect(answer.join("")).toContain("Paris");
    });
  });
});

describe("examples/fine-tune", () => {
  const LABELS = ["bug", "wish", "thanks"];
  const TEXT = "Nothing happens when I click the button.";

  async function learnt(page: Page) {
    await page.getByRole("button", { name: "Learn" }).click();
    await page.locator("#saved a").nth(1).waitFor();
    const files: Record<string, Uint8Array> = {};
    for (const link of await page.locator("#saved a").all()) {
      const download = page.waitForEvent("download");
      await link.click();
      const file = await download;
      files[file.suggestedFilename()] = new Uint8Array(readFileSync(await file.path()));
    }
    return files;
  }

  test("the adapter that it hands out does elsewhere what the page does", { timeout: TIME }, async () => {
    const consumer = await exampleWith("fine-tune", "bert");
    await look(consumer, ".", async (page) => {
      await openModel(page, consumer.path("model"));
      await page.locator("#found li").nth(2).waitFor();
      const before = await found(page);
      const files = await learnt(page);
      await expect.poll(() => found(page)).not.toEqual(before);
      const lm = await loadModel(folderOf("bert").files);
      await lm.loadAdapter(files, { name: "learnt" });
      const labels = await lm.embed(LABELS);
      const { data } = await lm.embed(TEXT, { adapter: "learnt" });
      for (const { text, score } of await found(page)) {
        const row = labels.data.subarray(LABELS.indexOf(text) * data.length);
        const cosine = data.reduce((sum, x, at) => sum + x * (row[at] ?? Number.NaN), 0);
        // A meter shows nothing below 0.
        expect(score).toBeCloseTo(Math.max(0, cosine), 4);
      }
      lm.dispose();
    });
  });

  testIf(hasReal("all-MiniLM-L6-v2"))("learns labels from a few examples", { timeout: TIME }, async () => {
    const consumer = await Consumer.make("example-fine-tune-real", "../../../examples/fine-tune");
    await look(consumer, ".", async (page) => {
      await openModel(page, real("all-MiniLM-L6-v2"));
      await learnt(page);
      await page.locator("#found li").first().filter({ hasText: "bug" }).waitFor();
      await page.locator("#text").fill("You are wonderful people.");
      await page.locator("#found li").first().filter({ hasText: "thanks" }).waitFor();
    });
  });
});
