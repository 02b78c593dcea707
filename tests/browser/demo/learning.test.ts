// Room 9 in real Chromium: a model that is trained here, gradients against finite differences, and the matrix in sight.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { INPUTS, sceneOf, TARGET } from "../../../demo/rooms/09-learning/scene.js";
import { FACTORS, LEARNING_STATE } from "../../../demo/rooms/09-learning/state.js";
import { attention } from "../../../web/src/reference/index.js";
import { axeFindings, demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import { HALF_OF_FOUR_DECIMALS, halfOfCell } from "./numbers.js";
import { cell, hashOf, hover, linesOf, longestParagraph, readMatrix, readTold, reload } from "./page.js";
import { saved } from "./saved.js";
import { TIME_FOR_TRIES, tasksOver } from "./tasks.js";

const { answered, open } = demoInChromium();

const stateOf = (factor: number) => ({ ...LEARNING_STATE.initial, factor });

const STEP = 1e-5;

/** The loss by the reference, in double precision, where one number of one input is another. */
function lossBeside(factor: number, name: keyof typeof INPUTS, index: number, step: number): number {
  const tensorOf = (one: keyof typeof INPUTS) => {
    const { rows, cols, data } = INPUTS[one];
    const moved = data.slice();
    if (one === name) moved[index] = (moved[index] ?? Number.NaN) + step;
    return { data: moved, shape: [rows, cols] };
  };
  const scale = Math.fround(factor / Math.sqrt(INPUTS.q.cols));
  const { output } = attention(tensorOf("q"), tensorOf("k"), tensorOf("v"), { scale, bias: tensorOf("bias") });
  return TARGET.reduce((sum, wanted, i) => sum + ((output.data[i] ?? Number.NaN) - wanted) ** 2 / 2, 0);
}

/** Of every number of an input. */
function differences(factor: number, name: keyof typeof INPUTS): number[] {
  return Array.from(
    INPUTS[name].data,
    (_, index) => (lossBeside(factor, name, index, STEP) - lossBeside(factor, name, index, -STEP)) / (2 * STEP),
  );
}

/** A third derivative grows as the cube of what a score is multiplied by; the loss is rounded to double precision. */
const boundOf = (factor: number): number => STEP ** 2 * (2 * factor) ** 3 + 2 ** -50 / STEP;

const PARTS = [
  ["dS", "bias"],
  ["dV", "v"],
  ["dK", "k"],
  ["dQ", "q"],
] as const;

describe.each(FACTORS)("with scores times %d", (factor) => {
  test("the gradients are the slopes of the loss", () => {
    const { matrices } = sceneOf(stateOf(factor));
    for (const [part, name] of PARTS) {
      const { data } = matrices[part];
      const gaps = differences(factor, name).map((slope, index) => Math.abs(slope - (data[index] ?? Number.NaN)));
      expect(Math.max(...gaps)).toBeLessThan(boundOf(factor));
    }
  });
});

test.each([1, 16])("the kernel’s gradients stand in every cell, with scores times %d", async (factor) => {
  const page = await answered(`learning.html#times=${factor}`);
  for (const [matrix, name] of PARTS) {
    const shown = (await readMatrix(page, matrix)).flat();
    const slopes = differences(factor, name);
    expect(shown).toHaveLength(slopes.length);
    for (const [index, slope] of slopes.entries()) {
      expect(Math.abs((shown[index] ?? Number.NaN) - slope)).toBeLessThanOrEqual(halfOfCell(slope));
    }
  }
});

test("a cell tells its products, a finite difference and the kernel’s figure, which agree", async () => {
  const page = await answered("learning.html#times=2");
  await hover(page, "dQ", 0, 1);
  const told = await readTold(page);
  const slope = differences(2, "q")[1] ?? Number.NaN;
  expect(told.terms).toHaveLength(INPUTS.k.rows);
  expect(Math.abs(told.result - slope)).toBeLessThanOrEqual(HALF_OF_FOUR_DECIMALS);
  const besides = await page.locator(".readout-kernel").allTextContents();
  expect(besides).toHaveLength(2);
  expect(besides[0]).toMatch(/^A finite difference gives .+, the same to (?:[2-9]|1\d) decimals\.$/);
  expect(besides[1]).toMatch(/^heed computes (?:exactly the same|.+, the same to \d+ decimals)\.$/);
});

test("the softmax saturates, and the gradient of its scores dries up while that of the values flows", async () => {
  const page = await answered("learning.html#times=1");
  const arrive = async (): Promise<number[]> => (await page.locator(".path-sum").allTextContents()).map(Number);
  const [scores = 0, values = 0] = await arrive();
  await page.getByRole("slider", { name: "Multiply scores by" }).press("End");
  await expect.poll(async () => (await arrive())[0]).toBeLessThan(scores / 100);
  expect((await arrive())[1]).toBeGreaterThan(values);
  expect(await hashOf(page)).toContain("times=32");
});

test.each([
  [1, /grows a little, from 8 on it dries up/],
  [4, /grows a little, from 8 on it dries up/],
  [8, /has shrunk to 0\.27/],
  [16, /hardly any gradient reaches the scores/],
])("the caption says of scores times %d what the picture shows", async (factor, said) => {
  const page = await open(`learning.html#times=${factor}`);
  expect(await page.locator('[data-picture="gradients"] .picture-text').textContent()).toMatch(said);
  const sums = await Promise.all(
    [1, factor].map(async (one) => {
      const { dScores } = sceneOf(stateOf(one));
      return dScores.reduce((sum, gradient) => sum + Math.abs(gradient), 0);
    }),
  );
  // What the sentences claim: larger up to 4, smaller at 8, next to nothing at 16.
  const [soft = 0, now = 0] = sums;
  expect(factor <= 4 ? now >= soft : now < soft / (factor === 8 ? 2 : 10)).toBe(true);
});

test("the copied heed call runs", async () => {
  const page = await answered("learning.html#times=1", { permissions: ["clipboard-read", "clipboard-write"] });
  const output = await runUnderNode(await copied(page, "heed"));
  const expected = sceneOf(stateOf(1)).output;
  for (const [index, value] of expected.entries()) {
    expect(Math.abs((output[index] ?? Number.NaN) - value)).toBeLessThan(1e-6);
  }
  expect(await copied(page, "torch")).toContain("output.backward(output_gradient)");
});

const status = (page: Page) => page.locator(".learning-stage [role=status]");
const trained = (page: Page): Promise<void> => status(page).filter({ hasText: "steps in" }).waitFor();

async function train(page: Page): Promise<void> {
  const button = page.getByRole("button", { name: "Train" });
  await button.click();
  // Until the end it is called Stop.
  await button.waitFor();
  await trained(page);
}

/** Where each row of the matrix looks, and how much of its weight is there. */
async function looks(page: Page): Promise<{ readonly places: number[]; readonly least: number }> {
  const rows = await readMatrix(page, "M");
  const most = rows.map((row) => Math.max(...row));
  return { places: rows.map((row, index) => row.indexOf(most[index] ?? Number.NaN)), least: Math.min(...most) };
}

const REVERSED = [7, 6, 5, 4, 3, 2, 1, 0];

test("a word of one’s own is watched as the same model learns again", async () => {
  const page = await answered("learning.html");
  await page.getByRole("radio", { name: "d", exact: true }).check();
  await train(page);
  const word = page.locator(".learning-word");
  const field = page.getByLabel("A word of your own");
  await field.fill("notebook");
  await expect.poll(() => word.textContent()).toBe("notebook → koobeton");
  expect(await hashOf(page)).toContain("word=notebook");
  await field.fill("note");
  expect(await page.locator("#own-word-message").textContent()).toBe("8 letters from a to z");
  expect(await word.textContent()).toBe("notebook → koobeton");
  await page.getByRole("radio", { name: "copy" }).check();
  await page.getByRole("radio", { name: "n", exact: true }).check();
  await train(page);
  await expect.poll(() => word.textContent()).toBe("notebook → notebook");
  // The loss of the other task runs along.
  expect(await page.locator(".learning-side .chart-keys").innerText()).toMatch(/reverse/);
});

test("a curve is drawn before training, and the real one is compared with it", async () => {
  const page = await answered("learning.html");
  const side = page.locator(".learning-side");
  const hint = () => side.locator("p[role=status]").last().innerText();
  expect(await hint()).toMatch(/^Draw how the loss will fall/);
  await side.locator(".chart-stage").scrollIntoViewIfNeeded();
  const box = await side.locator(".chart-stage").boundingBox();
  const [x, y] = [box?.x ?? 0, box?.y ?? 0];
  // From the top left to the lower right of the plane.
  await page.mouse.move(x + 46, y + 40);
  await page.mouse.down();
  await page.mouse.move(x + (box?.width ?? 0) - 16, y + 190, { steps: 12 });
  await page.mouse.up();
  await expect.poll(hint).toMatch(/^Now train/);
  const points = await side.locator(".chart-line.tone-key").getAttribute("points");
  const heights = (points ?? "").split(" ").map((point) => Number(point.split(",")[1]));
  expect(heights.length).toBe(121);
  expect(heights).toEqual([...heights].sort((a, b) => a - b));
  await page.getByRole("radio", { name: "d", exact: true }).check();
  await train(page);
  await expect.poll(hint).toMatch(/^Your curve was off by \d\.\d+ on average\.$/);
  expect(await side.locator(".chart-line.tone-key").getAttribute("points")).toBe(points);
});

const word = (page: Page) => page.locator(".learning-word").textContent();
const caption = (page: Page) => page.locator('[data-picture="training"] .picture-text').textContent();

describe("induction", () => {
  test("is guessed, and the last output comes to look one further than where its letter stood", async () => {
    const page = await answered("learning.html");
    await page.getByRole("radio", { name: "induction" }).check();
    expect((await readMatrix(page, "M"))[1]).toEqual([0.5, 0.5, 0, 0, 0, 0, 0, 0]);
    await page
      .getByRole("group", { name: /which letter will the last output/ })
      .locator("label:nth-child(5)")
      .click();
    await train(page);
    expect((await looks(page)).places.slice(4)).toEqual([1, 2, 3, 4]);
    expect(await word(page)).toBe("couscous → ····ousc");
    expect(await caption(page)).toContain("letter 5, “c”");
    expect(await caption(page)).toContain("Just as you guessed.");
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel("A word of your own").fill("beriberi");
    await expect.poll(() => word(page)).toBe("beriberi → ····erib");
    await page.getByLabel("A word of your own").fill("keyboard");
    await expect.poll(() => caption(page)).toContain("comes twice");
  });

  test("looks at the answer itself where no mask hides it, and the last output has nothing to copy", async () => {
    const page = await answered("learning.html#task=induction&guess=5");
    await page.getByRole("button", { name: "mask" }).click();
    expect(await hashOf(page)).toContain("without=3");
    await page.getByRole("radio", { name: "s", exact: true }).last().check();
    await train(page);
    expect((await looks(page)).places.slice(4, 7)).toEqual([5, 6, 7]);
    expect((await looks(page)).least).toBeLessThan(0.5);
    expect(await caption(page)).toContain("the answer itself");
  });
});

describe("a race", () => {
  const points = async (page: Page, tone: string): Promise<number> => {
    const line = page.locator(`.learning-side .chart-line.tone-${tone}:not(.dashed)`);
    return (await line.count()) === 0 ? 0 : ((await line.getAttribute("points")) ?? "").trim().split(" ").length;
  };

  test("moves both curves in turns, and one of them falls", async () => {
    const page = await answered("learning.html#task=induction&guess=5&against=whole");
    // There is nothing to race yet.
    expect(await page.getByRole("radio", { name: "nobody" }).isChecked()).toBe(true);
    await page.getByRole("button", { name: "positions" }).click();
    await page.getByRole("radio", { name: "all parts" }).check();
    await page.getByRole("radio", { name: "c", exact: true }).last().check();
    await page.getByRole("button", { name: "Train" }).click();
    // Both are on the way.
    await expect.poll(() => points(page, "share")).toBeGreaterThan(3);
    expect(await points(page, "query")).toBeGreaterThan(3);
    await trained(page);
    expect([await points(page, "share"), await points(page, "query")]).toEqual([81, 81]);
    const chart = page.locator(".learning-side heed-chart");
    const figures = (await (await linesOf(chart)).last().locator("td").allTextContents()).map(Number);
    expect(figures[0]).toBeGreaterThan(1);
    expect(figures[1]).toBeLessThan(0.1);
    expect(await page.locator(".learning-rival").textContent()).toBe("all parts: couscous → ····ousc");
    expect(await word(page)).not.toBe("couscous → ····ousc");
    expect(await caption(page)).toContain("Without positions");
  });

  test("has the curve that each would have alone, and can be stopped", async () => {
    const page = await answered("learning.html#guess=8&without=0&against=whole");
    const figures = async (): Promise<string[][]> => {
      const lines = await (await linesOf(page.locator(".learning-side heed-chart"))).all();
      return Promise.all(lines.map((line) => line.locator("td").allTextContents()));
    };
    await train(page);
    const both = await figures();
    await page.getByRole("button", { name: "positions" }).click();
    await page.getByRole("radio", { name: "d", exact: true }).check();
    await train(page);
    expect((await figures()).map(([alone]) => alone).join()).toBe(both.map(([, rival]) => rival).join());
    expect(await word(page)).toBe("stressed → desserts");

    await page.getByRole("radio", { name: "no scaling" }).check();
    await page.getByRole("button", { name: "Train" }).click();
    await expect.poll(() => points(page, "query")).toBeGreaterThan(2);
    await page.getByRole("button", { name: "Stop" }).click();
    await status(page).filter({ hasText: "Stopped." }).waitFor();
    await train(page);
    expect(await points(page, "query")).toBe(121);
  });
});

test("sorting needs no positions, and reversing does", async () => {
  const page = await answered("learning.html#task=sort&guess=2&without=0");
  await train(page);
  expect(await word(page)).toBe("sandwich → acdhinsw");
  await page.getByRole("radio", { name: "reverse" }).check();
  expect(await page.getByRole("button", { name: "positions" }).getAttribute("aria-pressed")).toBe("true");
  expect(await page.getByRole("button", { name: "mask" }).count()).toBe(0);
  await page.getByRole("radio", { name: "d", exact: true }).check();
  await train(page);
  expect(await word(page)).not.toBe("stressed → desserts");
});

describe("reverse", () => {
  test("is guessed, trained until the matrix is antidiagonal, scrubbed back and forth, and the same after a reload", async () => {
    const page = await answered("learning.html");
    expect((await readMatrix(page, "M")).flat()).toEqual(Array(64).fill(0.13));
    const button = page.getByRole("button", { name: "Train" });
    expect(await button.isDisabled()).toBe(true);
    await page.getByRole("radio", { name: "d", exact: true }).check();
    await train(page);
    const after = await readMatrix(page, "M");
    expect(await looks(page)).toMatchObject({ places: REVERSED });
    expect((await looks(page)).least).toBeGreaterThan(0.9);
    expect(await page.locator(".learning-word").textContent()).toBe("stressed → desserts");
    expect(await page.locator('[data-picture="training"] .picture-text').textContent()).toContain(
      "Just as you guessed.",
    );
    expect(await axeFindings(page)).toEqual([]);

    const scrubber = page.getByRole("slider", { name: "Step", exact: true });
    await scrubber.press("Home");
    expect((await looks(page)).least).toBeLessThan(0.4);
    expect(await hashOf(page)).not.toContain("step=");
    await scrubber.press("ArrowRight");
    expect(await hashOf(page)).toContain("step=1");
    await scrubber.press("End");
    expect(await readMatrix(page, "M")).toEqual(after);

    await cell(page, "M", 0, 7).click();
    const told = await readTold(page);
    await reload(page);
    await trained(page);
    expect(await readMatrix(page, "M")).toEqual(after);
    expect(await readTold(page)).toEqual(told);
  });

  const learnt: unknown[] = [];
  test.each(["isolated", "plain"] as const)(
    "%s: the page never computes for 50 ms, and has the same numbers",
    async (kind) => {
      const page = await open("learning.html#guess=8", {}, kind);
      const { all, over } = await tasksOver(50, { page, act: () => train(page) });
      expect(all).toBeGreaterThan(80);
      expect(over).toEqual([]);
      const losses = await linesOf(page.locator(".learning-side heed-chart"));
      learnt.push([await readMatrix(page, "M"), await losses.allTextContents()]);
      expect(learnt.at(-1)).toEqual(learnt[0]);
    },
    TIME_FOR_TRIES,
  );
});

test("sorting can be stopped, shows what it has learnt by then, and another task begins anew", async () => {
  const page = await answered("learning.html#task=sort&guess=2");
  await page.getByRole("button", { name: "Train" }).click();
  await status(page)
    .filter({ hasText: /Step [1-9]/ })
    .waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await status(page).filter({ hasText: "Stopped." }).waitFor();
  expect(await hashOf(page)).toMatch(/step=\d/);
  const before = await readMatrix(page, "M");
  await page.getByRole("radio", { name: "copy" }).check();
  expect((await readMatrix(page, "M")).flat()).toEqual(Array(64).fill(0.13));
  await page.getByRole("radio", { name: "k", exact: true }).check();
  await train(page);
  expect((await looks(page)).places).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await page.getByRole("radio", { name: "sort" }).check();
  expect(await readMatrix(page, "M")).toEqual(before);
});

test.each([1280, 390])("a saved picture ends with what is drawn, at %d pixels", async (width) => {
  const page = await answered("learning.html", { viewport: { width, height: 800 } });
  const svg = (await saved(page, "training", "SVG")).toString("utf8");
  const attribute = (tag: string, name: string): number => Number(tag.match(`\\s${name}="([^"]*)"`)?.[1]);
  const [, ...drawn] = Array.from(svg.matchAll(/<(?:svg|rect)[^>]*>/g), ([tag]) => tag);
  const ends = drawn.filter((tag) => tag.includes(" y=")).map((tag) => attribute(tag, "y") + attribute(tag, "height"));
  // Two margins of 16, and what a line of text is higher than its letters.
  expect(attribute(svg, "height") - Math.max(...ends)).toBeLessThan(40);
});

test("no paragraph has more than 45 words", async () => {
  const page = await open("learning.html#guess=8&step=120");
  await trained(page);
  expect(await longestParagraph(page)).toBeLessThanOrEqual(45);
});
