// Room 11 in real Chromium: two models under two masks, against the same models run as a whole.

import { readFileSync } from "node:fs";
import { createHeed, type Heed } from "heed";
import { BertModel, type GPT2Model, loadSafetensors, type ParameterMap, sample } from "heed/layers";
import { formatShare } from "heed/viz";
import type { Page } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import recorded from "../../../demo/rooms/11-language/recorded.json";
import { Inside } from "../../../demo/src/language/inside.js";
import { HEADS, LAYERS } from "../../../demo/src/language/words.js";
import { MASK, WORDS } from "../../../examples/train/grammar.js";
import { restore } from "../../../examples/train/language.js";
import { axeFindings, demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import {
  hashOf,
  kernelAnswered,
  longestParagraph,
  readMatrix,
  readNumber,
  readTold,
  reload,
  stopsBefore,
} from "./page.js";
import { TIME_FOR_TRIES, tasksOver } from "./tasks.js";

const { answered, open } = demoInChromium();

type Kind = "masked" | "causal";

const FILES = { masked: "language-masked", causal: "language" } as const;
const SENTENCE = "the dog didn't cross the road because it was busy . it was the road".split(" ");
const BLANK = 9;
const BEFORE = SENTENCE.slice(0, BLANK);

let heed: Heed;
const parameters = new Map<Kind, ParameterMap>();

beforeAll(async () => {
  heed = await createHeed({ backend: "wasm" });
  for (const kind of ["masked", "causal"] as const) {
    const file = readFileSync(new URL(`../../../demo/public/weights/${FILES[kind]}.safetensors`, import.meta.url));
    parameters.set(kind, await loadSafetensors(file));
  }
});
afterAll(() => heed.dispose());

const idsOf = (words: readonly string[]): number[] => words.map((word) => WORDS.indexOf(word));

/** Without the columns of the output projection that a head writes to. */
function ablated(kind: Kind, heads: readonly number[]): ParameterMap {
  const changed = new Map(parameters.get(kind));
  for (const head of heads) {
    const layer = `${kind === "causal" ? "decoder" : "encoder"}.layers.${Math.floor(head / HEADS)}`;
    const name = `${layer}.self_attn.out_proj.weight`;
    const data = Float32Array.from((changed.get(name)?.data ?? []) as Float32Array);
    for (let row = 0; row < 64; row++)
      data.fill(0, row * 64 + 16 * (head % HEADS), row * 64 + 16 * (head % HEADS) + 16);
    changed.set(name, { data, shape: [64, 64] });
  }
  return changed;
}

/** By the model as a whole: logits of one word's place, and all attention weights, layer after layer. */
async function wholeModel(kind: Kind, ids: readonly number[], place: number, off: readonly number[] = []) {
  const { model } = restore(ablated(kind, off), { kind, engine: heed });
  const given = { data: [...ids], shape: [1, ids.length] };
  const { logits, attentions = [] } =
    model instanceof BertModel
      ? await model.forward(given, { logits: true, attentions: true })
      : await (model as GPT2Model).forward(given, { attentions: true });
  model.dispose();
  const row = Array.from(logits?.data.subarray(place * WORDS.length, (place + 1) * WORDS.length) ?? []);
  return { logits: row, weights: attentions.map(({ data }) => Array.from(data)) };
}

function softmax(logits: readonly number[], temperature = 1): number[] {
  const powers = logits.map((logit) => Math.exp((logit - Math.max(...logits)) / temperature));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

const MASKED = idsOf(SENTENCE).map((id, at) => (at === BLANK ? MASK : id));
const CAUSAL = idsOf(BEFORE);
const questionOf = (kind: Kind) =>
  kind === "masked" ? { ids: MASKED, place: BLANK } : { ids: CAUSAL, place: BLANK - 1 };

const gapOf = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Math.max(...Array.from(a, (value, at) => Math.abs(value - (b[at] ?? Number.NaN))));

/** Sums of 256 products at most, in single precision, through two layers; norms keep what they read near 1. */
const BOUND = 256 * 2 ** -24;

describe.each(["masked", "causal"] as const)("the parts of the %s model", (kind) => {
  test.each([[[]], [[0]], [[2, 5]]])("give what the whole model does, without heads %j", async (off) => {
    const { ids, place } = questionOf(kind);
    const whole = await wholeModel(kind, ids, place, off);
    const inside = new Inside(kind, parameters.get(kind) ?? new Map(), heed);
    const { lens, layers } = await inside.read(ids, place, off);
    const largest = Math.max(...whole.logits.map(Math.abs));
    expect(gapOf(whole.logits, lens.at(-1) ?? [])).toBeLessThan(BOUND * largest);
    expect(layers).toHaveLength(LAYERS);
    for (const [layer, { weights }] of layers.entries()) {
      expect(gapOf(whole.weights[layer] ?? [], weights.flat(2))).toBeLessThan(BOUND);
    }
  });
});

test("what is recorded is what the model finds, as scripts/record-language.js rounds it", async () => {
  expect(recorded.question).toEqual({ kind: "masked", ids: MASKED, asked: BLANK, off: [] });
  const inside = new Inside("masked", parameters.get("masked") ?? new Map(), heed);
  const found = await inside.read(MASKED, BLANK);
  const flat = (value: unknown): number[] =>
    typeof value === "number" ? [value] : Object.values(value as object).flatMap(flat);
  const [wanted, stored] = [flat(found), flat(recorded.reading)];
  expect(stored).toHaveLength(wanted.length);
  expect(gapOf(wanted, stored)).toBeLessThan(0.0005 + BOUND);
});

interface BarSeen {
  readonly word: string;
  readonly text: string;
  readonly isCut: boolean;
}

async function bars(page: Page): Promise<readonly BarSeen[]> {
  await page.locator('[data-picture="language"]:not([aria-busy])').waitFor();
  return page.locator('[data-picture="language"] .bar-row:visible').evaluateAll((rows) =>
    rows.map((row) => ({
      word: row.querySelector(".bar-word")?.textContent ?? "",
      text: row.lastElementChild?.textContent ?? "",
      isCut: row.classList.contains("cut"),
    })),
  );
}

/** The likeliest words, as the bars write them. */
function wantedBars(shares: readonly number[]): { word: string; text: string }[] {
  return shares
    .map((share, id) => ({ word: WORDS[id] ?? "", share }))
    .sort((a, b) => b.share - a.share)
    .slice(0, 10)
    .map(({ word, share }) => ({ word, text: formatShare(share) }));
}

const shown = (seen: readonly BarSeen[]) => seen.map(({ word, text }) => ({ word, text }));

const turn = (page: Page, name: string) => page.getByRole("radio", { name }).check();

describe("the mask", () => {
  test("is a switch: what follows tells BERT the word, and GPT does not see it", async () => {
    const asked: string[] = [];
    const watch = (page: Page) => page.on("request", (request) => asked.push(request.url()));
    const page = await answered("language.html", { watch, alone: true });
    const both = await wholeModel("masked", MASKED, BLANK);
    expect(shown(await bars(page))).toEqual(wantedBars(softmax(both.logits)));
    expect(
      (await bars(page))
        .slice(0, 4)
        .map(({ word }) => word)
        .sort(),
    ).toEqual(["busy", "closed", "wet", "wide"]);
    expect(asked.filter((url) => url.endsWith(".safetensors"))).toEqual([]);

    await turn(page, "GPT: left side");
    await expect
      .poll(async () => page.locator('[data-picture="language"] .bars h3').textContent())
      .toBe("What comes next?");
    const left = await wholeModel("causal", CAUSAL, BLANK - 1);
    expect(shown(await bars(page))).toEqual(wantedBars(softmax(left.logits)));
    const likely = (await bars(page)).filter(
      ({ text }) => !text.startsWith("<") && readNumber(text.replace("%", "")) > 5,
    );
    expect(likely).toHaveLength(8);
    expect(await hashOf(page)).toContain("mask=causal");
    expect(asked.filter((url) => url.endsWith(".safetensors"))).toHaveLength(1);

    await page.goBack();
    await expect.poll(async () => shown(await bars(page))).toEqual(wantedBars(softmax(both.logits)));
  });

  test("lets lines come from both sides, or from the left alone", async () => {
    const page = await answered("language.html");
    const sides = () =>
      page.locator(".arc:not(.quiet)").evaluateAll((arcs) =>
        arcs.map((arc) => {
          const [from = 0, , , , , , to = 0] = (arc.getAttribute("d")?.match(/-?[\d.]+/g) ?? []).map(Number);
          return Math.sign(from - to);
        }),
      );
    expect(new Set(await sides())).toEqual(new Set([-1, 1, 0]));
    await turn(page, "GPT: left side");
    await expect.poll(async () => new Set(await sides())).toEqual(new Set([-1, 0]));
  });

  test("under every layer stands what would be said there", async () => {
    const page = await answered("language.html");
    const lenses = await page.locator(".lens").allTextContents();
    expect(lenses).toHaveLength(LAYERS + 1);
    expect(lenses.at(-1)).toMatch(/^After layer 2: wet 28\s%, wide 27\s%, busy 24\s%$/);
    expect(lenses[1]).not.toContain("wet");
  });
});

test.each([1280, 390])("on %d pixels no word lies on an arc or on what the MLP adds", async (width) => {
  const page = await open("language.html", { viewport: { width, height: 844 } });
  const overlaps = (): Promise<number> =>
    page.locator(".streams").evaluate((stack) => {
      const lines = Array.from(stack.querySelectorAll(".block-heads, .lens"), (line) => line.getBoundingClientRect());
      const drawn = Array.from(stack.querySelectorAll("path.arc, path.added"), (path) => path.getBoundingClientRect());
      return drawn.filter(({ top, bottom }) => lines.some((line) => line.top < bottom - 1 && line.bottom > top + 1))
        .length;
    });
  expect(await page.locator("path.added").count()).toBeGreaterThan(20);
  expect(await overlaps()).toBe(0);
  await turn(page, "GPT: left side");
  await expect.poll(overlaps).toBe(0);
});

test("the field says what stands above once the model has written", async () => {
  const page = await answered("language.html");
  await page.getByRole("button", { name: "an owner" }).click();
  await turn(page, "GPT: left side");
  const stands = async (): Promise<string> => {
    const words = await page.locator(".stream-word:not(.hidden)").allTextContents();
    return words.join(" ");
  };
  const field = page.locator("#sentence");
  await expect.poll(() => page.locator(".stream-word.unseen").count()).toBeGreaterThan(0);
  const whole = await field.inputValue();
  await page.getByRole("button", { name: "4 words" }).click();
  await expect.poll(() => page.locator(".stream-word.wrote").count()).toBe(4);
  await expect.poll(() => field.inputValue()).toBe(await stands());
  await page.getByRole("button", { name: "Start again" }).click();
  await expect.poll(() => field.inputValue()).toBe(whole);
});

test("what is added to a stream is normalized after that by BERT, and before by GPT", async () => {
  const page = await open("language.html");
  const names = () => page.locator(".band-name").allTextContents();
  await expect.poll(names).toContain("Layer 2: attention, add, normalize");
  await turn(page, "GPT: left side");
  await expect.poll(names).toContain("Layer 2: normalize, attention, add");
});

test("temperature, top k and top p act on the bars at once", async () => {
  const page = await answered("language.html#temperature=0.5&k=3");
  const { logits } = await wholeModel("masked", MASKED, BLANK);
  expect(shown(await bars(page))).toEqual(wantedBars(softmax(logits, 0.5)));
  expect((await bars(page)).map(({ isCut }) => isCut)).toEqual([...Array(3).fill(false), ...Array(7).fill(true)]);
  const temperature = page.getByRole("slider", { name: "Temperature" });
  await temperature.press("Home");
  expect(shown(await bars(page))).toEqual(wantedBars(softmax(logits, 0.1)));
  await page.getByRole("slider", { name: "Top k" }).press("End");
  await page.getByRole("slider", { name: "Top p" }).press("Home");
  // The likeliest alone has a quarter.
  expect((await bars(page)).map(({ isCut }) => isCut).indexOf(true)).toBe(1);
});

describe("writing", () => {
  /** As the room says: a seed for each word. */
  async function written(count: number, seed: number): Promise<string[]> {
    const ids = [...CAUSAL];
    for (let at = 0; at < count; at++) {
      const { logits } = await wholeModel("causal", ids, ids.length - 1);
      const [id = -1] = await sample(() => Float32Array.from(logits), [], { maxTokens: 1, seed: 1000 * seed + at });
      ids.push(id);
    }
    return ids.slice(CAUSAL.length).map((id) => WORDS[id] ?? "");
  }
  const wrote = (page: Page) => page.locator(".stream-word.wrote").allTextContents();

  test("goes on word by word, several at once, and is the same after a reload", async () => {
    const page = await answered("language.html#mask=causal");
    await page.getByRole("button", { name: "Next word" }).click();
    await expect.poll(() => wrote(page)).toEqual(await written(1, 1));
    await page.getByRole("button", { name: "4 words" }).click();
    const five = await written(5, 1);
    await expect.poll(() => wrote(page)).toEqual(five);
    expect(await axeFindings(page)).toEqual([]);
    const before = await bars(page);
    await reload(page);
    await kernelAnswered(page);
    expect(await wrote(page)).toEqual(five);
    expect(await bars(page)).toEqual(before);

    await page.getByRole("button", { name: "4 words" }).click();
    await expect.poll(async () => (await wrote(page)).length).toBe(15 - BLANK);
    expect(await page.getByRole("button", { name: "Next word" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Start again" }).click();
    await page.getByRole("group", { name: "Seed" }).getByRole("radio", { name: "2" }).check();
    await page.getByRole("button", { name: "4 words" }).click();
    await expect.poll(() => wrote(page)).toEqual(await written(4, 2));
  });
});

describe("the KV cache", () => {
  const kept = (page: Page) => page.locator(".shelf .K, .shelf .V").count();

  test("is a shelf that fills as the model writes", async () => {
    const page = await answered("language.html#mask=causal");
    await bars(page);
    // A key and a value a layer.
    expect(await kept(page)).toBe(2 * LAYERS * BLANK);
    await page.getByRole("button", { name: "4 words" }).click();
    await expect.poll(() => kept(page)).toBe(2 * LAYERS * (BLANK + 4));
    const text = (await page.locator('[data-picture="cache"] .picture-text').textContent()) ?? "";
    expect(text).toContain("1,024 bytes");
    expect(await page.locator('[data-picture="cache"] .plain-table').textContent()).toContain(
      `${((BLANK + 4) * 1024).toLocaleString("en")} bytes`,
    );
    await turn(page, "BERT: both sides");
    await expect.poll(() => page.locator('[data-picture="cache"]').isVisible()).toBe(false);
  });
});

test("one’s own sentence: words that it does not know are marked, and those that it knows are listed", async () => {
  const page = await answered("language.html");
  await page
    .getByRole("textbox", { name: /^Sentence/ })
    .fill("susan gave ___ the shiny ring . who got the ring ? mary");
  await expect.poll(async () => (await bars(page))[0]?.word).toBe("mary");
  expect(await page.locator(".stream-word.unknown").allTextContents()).toEqual(["shiny"]);
  expect(await page.locator(".field-message").textContent()).toContain("shiny");
  await page.getByText("words that these models know").click();
  expect(await page.locator('[data-picture="words"] details p').textContent()).toContain("wagged");
  // The last word in its stead.
  await page.locator(".streams").getByRole("radio", { name: "mary" }).click();
  const ids = idsOf("susan gave [mask] the ring . who got the ring ? [mask]".split(" "));
  const { logits } = await wholeModel("masked", ids, ids.length - 1);
  await expect.poll(async () => shown(await bars(page))).toEqual(wantedBars(softmax(logits)));
  // The keyboard goes on from there.
  await page.keyboard.press("ArrowLeft");
  await expect.poll(async () => (await bars(page))[0]?.word).toBe("?");
});

describe("a sentence of twenty words", () => {
  const LONG = "the dog didn't cross the road because it was tired . it was the dog . susan gave roses to".split(" ");
  const READ = LONG.slice(0, 15);
  const field = (page: Page) => page.getByRole("textbox", { name: /^Sentence/ });
  const stage = (page: Page) => page.locator(".stream-word").allTextContents();
  const note = (page: Page) => page.locator(".field-message").textContent();

  test.each([
    ["masked", "", [...READ.slice(0, 14), "___", "+5"]],
    ["causal", "#mask=causal", [...READ, "___", "+5"]],
  ] as const)(
    "is read by the %s model up to its fifteenth, and the rest is said not to fit",
    async (kind, hash, words) => {
      const page = await answered(`language.html${hash}`);
      await field(page).fill(LONG.join(" "));
      const ids = idsOf(READ).map((id, at) => (kind === "masked" && at === 14 ? MASK : id));
      const { logits } = await wholeModel(kind, ids, 14);
      await expect.poll(async () => shown(await bars(page))).toEqual(wantedBars(softmax(logits)));
      expect(await stage(page)).toEqual(words);
      expect(await page.locator(".arc:not(.quiet)").count()).toBeGreaterThan(0);
      expect(await note(page)).toBe("It reads 15 words at a time: 5 more do not fit.");
      expect(await page.locator('[data-picture="language"] .picture-text').textContent()).not.toBe("");
    },
  );

  test("has its blank within the fifteen, and is written on from any of these", async () => {
    const page = await answered("language.html#mask=causal");
    await field(page).fill([...LONG.slice(0, 18), "___"].join(" "));
    await expect.poll(() => stage(page)).toEqual([...READ, "___", "+4"]);
    expect(await page.getByRole("button", { name: "Next word" }).isDisabled()).toBe(true);
    await page.locator(".streams").getByRole("radio", { name: "tired" }).click();
    await page.getByRole("button", { name: "4 words" }).click();
    await expect.poll(async () => (await stage(page)).length).toBe(9 + 4 + 1);
    expect((await stage(page)).slice(0, 9)).toEqual(READ.slice(0, 9));
    expect(await note(page)).toBe("");
  });

  test("is none of the room’s own, and makes no page wider than a phone", async () => {
    const page = await answered("language.html#mask=causal", { viewport: { width: 390, height: 844 } });
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);
    for (const name of ["the road", "the dog", "a gift", "an owner"]) {
      await page.getByRole("button", { name, exact: true }).click();
      await bars(page);
      expect(await note(page)).toBe("");
      expect(await width()).toBe(390);
    }
    await field(page).fill(LONG.join(" "));
    await expect.poll(() => note(page)).toContain("5 more do not fit");
    expect(await width()).toBe(390);
  });
});

test("a head is switched off with a press, and the prediction moves as the model’s does", async () => {
  const page = await answered("language.html");
  const whole = softmax((await wholeModel("masked", MASKED, BLANK)).logits);
  for (const head of [1, 6]) {
    const button = page.getByRole("button", {
      name: `Head ${(head % HEADS) + 1} of layer ${Math.floor(head / HEADS) + 1}`,
    });
    await button.click();
    const without = softmax((await wholeModel("masked", MASKED, BLANK, [head])).logits);
    const wanted = wantedBars(without).map(({ word, text }) => {
      return { word, text: `${formatShare(whole[WORDS.indexOf(word)] ?? 0)} → ${text}` };
    });
    await expect.poll(async () => shown(await bars(page))).toEqual(wanted);
    expect(await button.getAttribute("aria-pressed")).toBe("false");
    await button.click();
  }
  await expect.poll(async () => shown(await bars(page))).toEqual(wantedBars(whole));
});

test("every number opens: a bar, and a head’s scores, weights and outputs", async () => {
  const page = await answered("language.html", { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("radio", { name: /^wide/ }).check();
  const told = await readTold(page);
  const share = softmax((await wholeModel("masked", MASKED, BLANK)).logits)[WORDS.indexOf("wide")] ?? 0;
  expect(told.subject).toBe("“wide”");
  // Logits are recorded to three decimals.
  expect(Math.abs(told.result - share)).toBeLessThan(0.001);
  const [scores = []] = await readMatrix(page, "S");
  const [weights = []] = await readMatrix(page, "A");
  expect(gapOf(softmax(scores), weights)).toBeLessThan(0.01);
  await page.locator('heed-matrix[data-name="S"] td[data-col="3"]').click();
  const score = await readTold(page);
  expect(score.terms).toHaveLength(16);
  const dot = score.terms.reduce((sum, [q = 0, k = 0]) => sum + q * k, 0);
  expect(Math.abs(dot / 4 - score.result)).toBeLessThan(0.001);
  const output = await runUnderNode(await copied(page, "heed"));
  const [shownOutput = []] = await readMatrix(page, "O");
  expect(gapOf(shownOutput, output)).toBeLessThan(0.006);
});

test.each(["isolated", "plain"] as const)(
  "%s: the page never computes for 50 ms",
  async (kind) => {
    const page = await open("language.html", {}, kind);
    const act = async (): Promise<void> => {
      await turn(page, "GPT: left side");
      await page.getByRole("button", { name: "4 words" }).click();
      await expect.poll(() => page.locator(".stream-word.wrote").count()).toBe(4);
      await bars(page);
    };
    const { all, over } = await tasksOver(50, { page, act });
    expect(all).toBeGreaterThan(20);
    expect(over).toEqual([]);
  },
  TIME_FOR_TRIES,
);

describe.each([
  [1280, 800, 200],
  [390, 844, 260],
])("at %d x %d", (width, height, most) => {
  test("the picture is in sight, not many tab stops away, and texts are short", async () => {
    const page = await answered("language.html", { viewport: { width, height } });
    expect((await page.locator(".streams").boundingBox())?.y).toBeLessThan(most);
    expect(await stopsBefore(page, ".picture > .controls-options")).toBeLessThanOrEqual(30);
    expect(await longestParagraph(page, "main p:visible")).toBeLessThanOrEqual(45);
  });
});
