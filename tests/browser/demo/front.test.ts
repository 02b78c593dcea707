// The front page as a person meets it: a question, a guess, the answer of a trained model, and a word that one turns.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { axeFindings, demoInChromium } from "./chromium.js";
import { runUnderNode } from "./copied.js";
import { kernelAnswered, stopsBefore } from "./page.js";
import { jumpsOf, watchJumps } from "./still.js";
import { weightOf } from "./weight.js";

const { open, shared } = demoInChromium();

const FRONT = "index.html";
const LOOKS = [
  { on: "a desk", viewport: { width: 1280, height: 800 }, highest: 200 },
  { on: "a phone", viewport: { width: 390, height: 844 }, highest: 260 },
] as const;
const WORDS = "start The animal didn't cross the road because it was too".split(" ");

interface Arc {
  readonly word: string;
  readonly width: number;
}

/** The arcs of the sentence as drawn, from the thickest on; each must begin and end at its words. */
async function arcsOf(page: Page, stage = "#stage", words: readonly string[] = WORDS): Promise<Arc[]> {
  const arcs = await page.locator(`${stage} path:not(.hollow)`).evaluateAll((paths) => {
    const [first] = paths;
    const boxes = Array.from(
      first?.closest(".asked")?.querySelectorAll(".asked-start span, .asked-word, .wheel") ?? [],
      (word) => word.getBoundingClientRect(),
    );
    const asker = first?.closest(".asked")?.querySelector(".asker")?.getBoundingClientRect();
    return paths.flatMap((path, place) => {
      if (!(path instanceof SVGPathElement) || getComputedStyle(path).opacity === "0" || !path.hasAttribute("d"))
        return [];
      const outside = (length: number, box: DOMRect | undefined): number => {
        const { x } = path.getPointAtLength(length).matrixTransform(path.getScreenCTM() ?? new DOMMatrix());
        return box === undefined ? Number.NaN : Math.max(0, box.left - x, x - box.right);
      };
      const apart = Math.max(outside(0, asker), outside(path.getTotalLength(), boxes[place]));
      return [{ place, apart, width: Number.parseFloat(getComputedStyle(path).strokeWidth) }];
    });
  });
  expect(Math.max(0, ...arcs.map(({ apart }) => apart))).toBe(0);
  return arcs
    .map(({ place, width }) => ({ word: words[place] ?? "the last word", width }))
    .sort((a, b) => b.width - a.width);
}

const largest = async (page: Page): Promise<string | undefined> => (await arcsOf(page))[0]?.word;
const said = (page: Page) => page.locator("#answer").innerText();
const turnTo = (page: Page, word: string) => page.locator("#stage").getByRole("radio", { name: word });

describe.each(LOOKS)("the first look on $on", ({ viewport, highest }) => {
  test("is a question and a sentence, high up, and no arc before the answer", async () => {
    const page = await open(FRONT, { viewport });
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Who is it?");
    const picture = await page.locator("#stage .asked").boundingBox();
    expect(picture?.y).toBeLessThan(highest);
    expect(await arcsOf(page)).toEqual([]);
    for (const door of ["How?", "Your own sentence", "For developers"]) {
      const box = await page.getByRole("link", { name: door, exact: true }).boundingBox();
      expect((box?.y ?? Number.NaN) + (box?.height ?? Number.NaN)).toBeLessThan(viewport.height);
    }
    const above = await page.locator(".masthead, .front").allInnerTexts();
    expect(above.join(" ")).not.toMatch(/npm|SIMD|thread|softmax|matri|kernel/i);
  });

  test("a guess brings the answer, and another last word makes it let go", async () => {
    const page = await open(FRONT, { viewport });
    await page.getByRole("button", { name: "road" }).click();
    expect(await page.getByRole("button", { name: "road" }).getAttribute("aria-pressed")).toBe("true");
    await expect.poll(() => said(page)).toMatch(/^A trained model looks elsewhere: “it” gives animal 59\s% /);
    expect(await largest(page)).toBe("animal");
    await page.getByRole("button", { name: "animal" }).click();
    await expect.poll(() => said(page)).toMatch(/^A trained model agrees/);
    const before = await arcsOf(page);
    await turnTo(page, "wide").check({ force: true });
    await expect.poll(() => said(page)).toMatch(/lets go of animal: 24\s% instead of 59\s%\. road gets 15\s%/);
    const after = await arcsOf(page);
    // What was its largest weight is none any more.
    expect([before[0]?.word, after[0]?.word]).toEqual(["animal", "start"]);
    const ratio = (after.find(({ word }) => word === "animal")?.width ?? Number.NaN) / (before[0]?.width ?? Number.NaN);
    expect(ratio).toBeCloseTo(0.24 / 0.59, 1);
  });

  test("the sentence ends before the thirtieth stop of the keyboard", async () => {
    const page = await open(`${FRONT}#guess=2`, { viewport });
    let stops = 0;
    for (let isInside = false; !isInside && stops < 40; stops += 1) {
      await page.keyboard.press("Tab");
      isInside = await page.evaluate(() => document.activeElement?.closest(".front-doors") !== null);
    }
    expect(stops).toBeGreaterThan(3);
    expect(stops).toBeLessThanOrEqual(30);
  });
});

test.each([360, 390])("on %d pixels an arc that runs behind words is pale", async (width) => {
  const page = await open(`${FRONT}#guess=2`, { viewport: { width, height: 800 } });
  const opacities = (kind: string): Promise<number[]> =>
    page
      .locator(`#stage path${kind}`)
      .evaluateAll((all) => all.map((one) => Number(getComputedStyle(one).opacity)).filter((opacity) => opacity > 0.1));
  await expect.poll(async () => (await opacities(".across")).length).toBeGreaterThan(0);
  expect(Math.max(...(await opacities(".across")))).toBeLessThanOrEqual(0.375);
});

test.each([320, 360, 390, 1280])("nothing is wider than a page of %d pixels, whatever was turned", async (width) => {
  const page = await open(`${FRONT}#guess=2`, { viewport: { width, height: 800 } });
  for (const word of ["tired", "wide", "hungry", "icy"]) {
    await turnTo(page, word).check({ force: true });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
});

describe("the wheel", () => {
  test("turns by the arrow keys, has a name, and cannot be turned before the answer", async () => {
    const page = await open(FRONT);
    const wheel = page.locator("#stage").getByRole("group", { name: "The last word" });
    expect(await turnTo(page, "tired").isDisabled()).toBe(true);
    await page.getByRole("button", { name: "just see the answer" }).click();
    await turnTo(page, "tired").focus();
    const seen: string[] = [];
    for (let i = 0; i < 4; i++) {
      await page.keyboard.press("ArrowDown");
      seen.push(await wheel.locator(":checked").inputValue());
    }
    expect(seen).toEqual(["wide", "hungry", "icy", "tired"]);
    await page.keyboard.press("ArrowUp");
    expect(await said(page)).toMatch(/^With icy, “it” lets go of animal: 28\s%/);
    expect(await page.locator("#answer").getAttribute("role")).toBe("status");
  });

  test("turns when it is dragged, one word at a time", async () => {
    const page = await open(`${FRONT}#guess=2`);
    const box = await page.locator("#stage .wheel").boundingBox();
    const [x, y] = [(box?.x ?? 0) + 20, (box?.y ?? 0) + (box?.height ?? 0) / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x, y - 30, { steps: 4 });
    await expect.poll(() => said(page)).toMatch(/^With wide/);
    await page.mouse.move(x, y, { steps: 4 });
    await expect.poll(() => said(page)).toMatch(/animal 59\s%/);
    await page.mouse.up();
  });
});

test("back and forward go through the guess, and a reload stays with the word", async () => {
  const page = await open(FRONT);
  await page.getByRole("button", { name: "animal" }).click();
  await turnTo(page, "wide").check({ force: true });
  await turnTo(page, "hungry").check({ force: true });
  await expect.poll(() => said(page)).toMatch(/^With hungry.* animal: 47\s%/);
  // The answer is one entry, however often the wheel was turned.
  await page.goBack();
  await expect.poll(() => page.locator("#ask").isVisible()).toBe(true);
  expect(await arcsOf(page)).toEqual([]);
  await page.goForward();
  await expect.poll(() => said(page)).toMatch(/^With hungry/);
  await page.reload();
  await expect.poll(() => said(page)).toMatch(/^With hungry/);
  expect(await page.getByRole("button", { name: "animal" }).getAttribute("aria-pressed")).toBe("true");
});

describe("which weights these are", () => {
  test("is said, and a head one layer on turns from the animal to the road", async () => {
    const page = await open(`${FRONT}#guess=2`);
    expect(await page.locator("#head-name").textContent()).toMatch(/^head 2 of layer 4, which gives animal 59\s%$/);
    await page.getByRole("radio", { name: /layer 5, head 1/ }).check();
    expect(await page.locator("#head-name").textContent()).toContain("head 1 of layer 5");
    const nouns = async (): Promise<string[]> =>
      (await arcsOf(page)).map(({ word }) => word).filter((word) => word === "animal" || word === "road");
    await expect.poll(nouns).toEqual(["animal", "road"]);
    await turnTo(page, "wide").check({ force: true });
    await expect.poll(nouns).toEqual(["road", "animal"]);
  });

  test("any other head can be chosen, by the keyboard too, and most look at the start", async () => {
    const page = await open(`${FRONT}#guess=2`);
    const cell = (row: number, col: number) => page.locator(`#heads td[data-row="${row}"][data-col="${col}"]`);
    expect(await page.locator("#heads td[data-row]").count()).toBe(72);
    await cell(0, 2).click();
    expect(await page.locator("#head-name").textContent()).toContain("head 3 of layer 1");
    // A head that looks at the word before, whatever it is.
    await expect.poll(() => largest(page)).toBe("because");
    await page.keyboard.press("ArrowDown");
    expect(await page.locator("#head-name").textContent()).toContain("head 3 of layer 2");
    expect(await page.locator("#heads-text").textContent()).toMatch(
      /4 of 72 heads .* 7\.2\s% to 6\.0\s%\. With tired, .* in 48 of them\.$/,
    );
    await turnTo(page, "wide").check({ force: true });
    await expect.poll(() => page.locator("#heads-text").textContent()).toMatch(/With wide, .* in 46 of them\.$/);
  });

  test("where it fails, the same word stays the largest", async () => {
    const page = await open(FRONT);
    const fails = page.locator("#fails");
    const words = "start The trophy didn't fit in the suitcase because it was too".split(" ");
    const first = async () => (await arcsOf(page, "#trophy", words))[0]?.word;
    expect(await first()).toBe("trophy");
    await fails.getByRole("radio", { name: "small" }).check({ force: true });
    expect(await first()).toBe("trophy");
    expect(await page.locator("#fail-text").textContent()).toMatch(/58\s%, then 60\s%/);
  });
});

describe("one’s own sentence", () => {
  const said = (page: Page) => () => page.locator("#own-said").innerText();
  const thickest = async (page: Page): Promise<string | undefined> => {
    const words = await page.locator("#own .asked-word").allTextContents();
    const [first] = await arcsOf(page, "#own", ["start", ...words]);
    return first?.word.replace(/\d.*/, "");
  };

  test.each([
    ["wide", "road", "road"],
    ["busy", "road", "road"],
    ["tired", "dog", "tired"],
    ["hungry", "dog", "hungry"],
  ])("with %s goes on with %s, as the tiny model reads it", async (last, next, looked) => {
    const page = await open(FRONT);
    await page.getByRole("link", { name: "Your own sentence" }).click();
    await expect.poll(said(page)).toMatch(/It goes on with road 99\s%\.$/);
    await page.locator("#sentence").fill(`the dog didn't cross the road because it was ${last} . it was the`);
    await expect.poll(said(page)).toMatch(new RegExp(`It goes on with ${next} (?:9\\d|100)\\s%`));
    await page.getByRole("button", { name: /^Layer 2, head 2/ }).click();
    await expect.poll(() => thickest(page)).toBe(looked);
  });

  test("that the tiny model does not know is grey, says so, and comes back with the history", async () => {
    const page = await open(`${FRONT}#t=the+dog`);
    await expect.poll(said(page)).toContain("It goes on with");
    await page.locator("#sentence").fill("the elephant didn't cross the road");
    await expect.poll(said(page)).toBe("The tiny model does not know “elephant”. MiniLM does.");
    expect(await page.locator("#own .noted").allTextContents()).toEqual(["elephant"]);
    expect(await page.locator(".strip").isVisible()).toBe(false);
    await page.getByRole("button", { name: "who gave it" }).click();
    await expect.poll(said(page)).toMatch(/It goes on with susan (?:9\d|100)\s%/);
    await page.goBack();
    await expect.poll(said(page)).toContain("does not know");
    await page.locator("#sentence").fill("the dog ".repeat(10));
    await expect.poll(said(page)).toBe("The tiny model reads 15 words at a time; these are 20.");
    await page.locator("#sentence").fill("");
    await expect.poll(said(page)).toBe("Type a sentence.");
    await page.getByText("The words that the tiny model knows").click();
    await expect.poll(() => page.locator("#own-words").textContent()).toMatch(/\bdog\b.*\broad\b/);
    await page.getByRole("button", { name: "Back to the question" }).click();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Who is it?");
  });

  test("stands once: a word that is pressed asks, and is changed where it is pressed again", async () => {
    const page = await open(FRONT);
    await page.mouse.wheel(0, 300);
    await page.getByRole("link", { name: "Your own sentence" }).click();
    const field = page.locator("#sentence");
    const word = page.locator("#own button.asked-word").nth(1);
    await expect.poll(said(page)).toContain("It goes on with");
    expect(await page.evaluate(() => scrollY)).toBe(0);
    const opacity = () => field.evaluate((one) => Number(getComputedStyle(one).opacity));
    expect(await opacity()).toBe(0);
    await word.click();
    await expect.poll(said(page)).toContain("“dog” gives ");
    expect(await opacity()).toBe(0);
    const colour = () => word.evaluate((one) => getComputedStyle(one).color);
    expect(await colour()).not.toBe("rgba(0, 0, 0, 0)");
    const place = await word.boundingBox();
    await word.click();
    expect(await field.evaluate((one) => one === document.activeElement)).toBe(true);
    expect(await opacity()).toBe(1);
    expect(await colour()).toBe("rgba(0, 0, 0, 0)");
    // Both are laid out alike.
    const box = await field.boundingBox();
    expect((place?.y ?? 0) > (box?.y ?? 0) && (place?.y ?? 0) < (box?.y ?? 0) + (box?.height ?? 0)).toBe(true);
    await page.keyboard.type("cat");
    await expect.poll(said(page)).toMatch(/“cat” gives .* instead of /);
    await page.keyboard.press("Enter");
    expect(await opacity()).toBe(0);
    // Where nothing reads it there is nothing to ask.
    await field.fill("the elephant.");
    await page.keyboard.press("Escape");
    await page.locator("#own .noted").click();
    await page.keyboard.type("mouse");
    expect(await field.inputValue()).toBe("the mouse.");
  });

  test("begins with the question’s, as it was answered", async () => {
    const page = await open(`${FRONT}#guess=2&word=wide`);
    await page.getByRole("link", { name: "Change any word" }).click();
    await expect.poll(said(page)).toMatch(/^Recorded\. Layer 4, head 2 of all-MiniLM-L6-v2: “it” gives animal 24\s%\./);
    expect(await page.locator("#sentence").inputValue()).toBe(
      "The animal didn't cross the road because it was too wide",
    );
    expect(await thickest(page)).toBe("start");
  });
});

test("by keyboard alone one guesses, turns the word, changes another, and asks it", async () => {
  const page = await open(FRONT);
  const own = (page: Page) => page.locator("#own-said").innerText();
  const tabTo = async (selector: string): Promise<void> => {
    expect(await stopsBefore(page, selector)).toBeLessThan(60);
  };
  await tabTo("#stage .asked-word:nth-of-type(2)");
  await page.keyboard.press("Enter");
  await expect.poll(() => said(page)).toMatch(/^A trained model agrees/);
  await tabTo("#stage .wheel");
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => said(page)).toMatch(/^With wide/);
  await tabTo("#answer a");
  await page.keyboard.press("Enter");
  await expect.poll(() => own(page)).toMatch(/^Recorded\. /);
  await page.locator("#own button.asked-word").first().waitFor();
  await tabTo("#sentence");
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("the dog was tired . it was the");
  await expect.poll(() => own(page)).toContain("It goes on with");
  await tabTo("#own .asked-word:nth-of-type(2)");
  await page.keyboard.press("Enter");
  await expect.poll(() => own(page)).toContain("“dog” gives ");
  await page.keyboard.press("Enter");
  await page.keyboard.type("cat");
  await expect.poll(() => own(page)).toMatch(/“cat” gives .* instead of /);
});

describe("eight lines", () => {
  test("run with the numbers that stand in them, and with others", async () => {
    const page = await open(FRONT);
    const lines = page.locator("#lines");
    const output = () => lines.locator("output").innerText();
    await lines.getByRole("button", { name: "Run" }).click();
    // Scores 4, 3.2 and 0.
    const weight = (...scores: [number, ...number[]]): string =>
      (Math.exp(scores[0]) / scores.reduce((sum, score) => sum + Math.exp(score), 0)).toFixed(2);
    await expect.poll(output).toBe(`animal ${weight(4, 3.2, 0)}`);
    await lines.getByLabel("Number 5").fill("1.5");
    await expect.poll(output).toBe(`road ${weight(6, 4, 0)}`);
    await lines.getByLabel("Number 9").fill("alert(1)");
    await page.keyboard.press("Enter");
    await expect.poll(output).toBe("Type numbers, as in 0.5");
    expect(await lines.getByLabel("Number 9").getAttribute("aria-invalid")).toBe("true");
    expect(await axeFindings(page, { within: "#developers" })).toEqual([]);
  });

  test("are copied as they stand, and run elsewhere", async () => {
    const page = await open(FRONT, { permissions: ["clipboard-read", "clipboard-write"] });
    await page.locator("#lines").getByLabel("Number 1").fill("2");
    await page.locator("#lines").getByRole("button", { name: "Copy" }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain("Float32Array.of(2, 0)");
    const code = await page.evaluate(() => navigator.clipboard.readText());
    expect(await runUnderNode(`${code}\nconst output = weights;\n`)).toHaveLength(3);
    expect(
      code
        .trim()
        .split("\n")
        .filter((line) => line !== ""),
    ).toHaveLength(7);
  });
});

describe("the doors", () => {
  test("lead into the thread, and into the walk with one’s own sentence", async () => {
    const page = await open(FRONT);
    await page.getByRole("link", { name: "Your own sentence" }).click();
    await page.locator("#sentence").fill("The dog saw a cat");
    await page.getByRole("link", { name: "Take it apart" }).click();
    await kernelAnswered(page);
    expect(await page.locator("#sentence").inputValue()).toBe("The dog saw a cat");
    await page.goBack();
    await page.getByRole("button", { name: "Back to the question" }).click();
    await page.getByRole("link", { name: "How?" }).click();
    await page.locator(".thread-said").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Attention in five minutes");
  });

  test("lead to what this device does", async () => {
    const page = await open(FRONT);
    await page.getByRole("link", { name: "This device" }).click();
    await expect.poll(() => page.locator("h1").innerText()).toBe("How fast is this device?");
  });
});

describe.each(LOOKS)("on $on", ({ viewport }) => {
  const addresses = new Set<string>();
  const visit = shared(`${FRONT}#guess=2`, {
    viewport,
    reducedMotion: "no-preference",
    before: watchJumps,
    watch: (page) => page.on("response", (response) => addresses.add(response.url())),
  });

  test("the page weighs less than 60 kB and does not jump", async () => {
    const bytes = await weightOf(addresses);
    // The recorded weights alone are more.
    expect(bytes).toBeGreaterThan(5_000);
    expect(bytes).toBeLessThan(60_000);
    expect((await jumpsOf(visit())).sum).toBeLessThan(0.02);
  });

  test.each(["light", "dark"] as const)(
    "axe objects to nothing in the %s theme, nor does anything move when it shall not",
    async (colorScheme) => {
      const page = visit();
      await page.emulateMedia({ reducedMotion: "reduce", colorScheme });
      expect(await axeFindings(page)).toEqual([]);
      expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
    },
  );
});
