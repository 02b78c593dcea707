// Room 5 in real Chromium: masks chosen and painted, and the shares and costs that must follow.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { attention, type ReferenceOptions } from "../../../web/src/reference/index.js";
import { demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import { compare, dot, HALF_OF_FOUR_DECIMALS, inOne, total } from "./numbers.js";
import { hover, kernelAnswered, readMatrix, readNumber, readTold, reload } from "./page.js";
import { jsonOf } from "./saved.js";

const { answered, open } = demoInChromium();

const pair = (page: Page, row: number, col: number) => page.locator(`.mask-grid [data-pair="${row} ${col}"]`);

/** The grid as a screen reader reads it. */
async function grid(page: Page): Promise<boolean[][]> {
  const rows = await page.locator(".mask-grid tbody tr").all();
  return Promise.all(
    rows.map(async (row) => (await row.locator("td").allTextContents()).map((text) => text === "sees")),
  );
}

interface Numbers {
  readonly q: number[][];
  readonly k: number[][];
  readonly scale: number;
}

async function expected(page: Page, options: ReferenceOptions) {
  const { q, k, scale } = await jsonOf<Numbers>(page, "mask");
  return attention(inOne(q), inOne(k), inOne(k), { scale, ...options });
}

const inSix = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2];
const PRESETS: readonly (readonly [string, ReferenceOptions, (i: number, j: number) => boolean])[] = [
  ["No mask", {}, () => true],
  ["Causal", { causal: true }, (i, j) => j <= i],
  ["Causal with a cache", { causal: "lower-right" }, (i, j) => j <= i + 8],
  ["Sliding window", { causal: true, window: [3, 0] }, (i, j) => j <= i && j >= i - 3],
  [
    "Documents",
    { causal: true, cuSeqlensQ: [0, 5, 9, 12], cuSeqlensK: [0, 5, 9, 12] },
    (i, j) => j <= i && inSix[i] === inSix[j],
  ],
  ["Padding", { qLengths: [9], kvLengths: [9] }, (i, j) => i < 9 && j < 9],
  ["Prefix", {}, (i, j) => j <= i || j < 5],
  ["Blocks", {}, (i, j) => j <= i && (j < 3 || Math.floor(i / 3) - Math.floor(j / 3) <= 1)],
  ["A row that sees nothing", {}, (i) => i !== 6],
];

describe("the examples", () => {
  test.each(PRESETS)("%s", async (name, options, rule) => {
    const page = await open("masks.html");
    await page.getByRole("button", { name, exact: true }).click();
    await kernelAnswered(page);
    const seen = await grid(page);
    seen.forEach((row, i) => {
      row.forEach((sees, j) => {
        expect(sees, `${i} ${j}`).toBe(rule(i, j));
      });
    });
    const shape = [1, 1, seen.length, seen[0]?.length ?? 0];
    // Where the reference knows the structure by name, it is not told by mask.
    const told = Object.keys(options).length > 0 ? options : { mask: { data: seen.flat(), shape } };
    const { weights } = await expected(page, told);
    compare(await readMatrix(page, "A"), weights.data);
  });
});

describe("the words", () => {
  /** The figure beside each word that is a key. */
  const weights = async (page: Page): Promise<number[]> =>
    (await page.locator(".sight-weight").allTextContents()).map((text) =>
      readNumber(text.replace("<1", "0").replace("%", "")),
    );
  const widths = (page: Page): Promise<number[]> =>
    page
      .locator(".sight-curve.chosen")
      .evaluateAll((curves) => curves.map((curve) => Number(curve.getAttribute("stroke-width"))));

  test("give no weight to what the mask takes, and the rest adds up to 1", async () => {
    const page = await answered("masks.html#cuts=5.9");
    const [{ q, k, scale }, { weights: masked }] = [
      await jsonOf<Numbers>(page, "mask"),
      await expected(page, { causal: true, cuSeqlensQ: [0, 5, 9, 12], cuSeqlensK: [0, 5, 9, 12] }),
    ];
    await page.locator('[data-pick="7"]').click();
    await page.mouse.move(1, 1);
    expect(await page.locator(".sight-word.gone").allTextContents()).toEqual(
      "The animal was tired . . Profits rose sharply".split(" "),
    );
    const row = Array.from(masked.data.slice(7 * 12, 8 * 12));
    expect(await weights(page)).toEqual(row.map((weight) => Math.round(100 * weight)));
    const thick = await widths(page);
    expect(thick.map((width) => width === 0)).toEqual(row.map((weight) => weight === 0));
    thick.forEach((width, key) => {
      // The widest that a curve gets is 12.
      expect(width).toBeCloseTo(12 * (row[key] ?? Number.NaN), 4);
    });
    expect(total(thick)).toBeCloseTo(12, 4);
    const powers = k.map((key) => Math.exp(scale * dot(q[7] ?? [], key)));
    await page.getByRole("slider", { name: "Step" }).press("ArrowLeft");
    expect(await page.locator(".sight-word.gone").count()).toBe(0);
    (await widths(page)).forEach((width, key) => {
      expect(width).toBeCloseTo((12 * (powers[key] ?? Number.NaN)) / total(powers), 4);
    });
  });

  test("are taken by one rule after the other, forwards and backwards alike", async () => {
    const page = await answered("masks.html#cuts=5.9");
    await page.locator('[data-pick="7"]').click();
    await page.mouse.move(1, 1);
    const step = page.getByRole("slider", { name: "Step" });
    const gone = () => page.locator(".sight-word.gone").allTextContents();
    await step.fill("0.5");
    // Causal has taken what comes after, and documents have not begun.
    expect(await gone()).toEqual([".", "Profits", "rose", "sharply"]);
    const half = await widths(page);
    // What a rule has taken has no weight left, and the rest has all of it.
    expect(half.map((width) => width > 0)).toEqual(Array.from({ length: 12 }, (_, key) => key < 8));
    await step.fill("1");
    await step.fill("0.5");
    expect(await widths(page)).toEqual(half);
    expect(total(half)).toBeCloseTo(12, 4);
  });

  test.each(["Causal", "A row that sees nothing"])(
    "%s: the arithmetic beside the picture is that of its place",
    async (name) => {
      const page = await answered("masks.html");
      await page.getByRole("button", { name, exact: true }).click();
      await kernelAnswered(page);
      await page.locator('[data-pick="6"]').click();
      await page.mouse.move(1, 1);
      const step = page.getByRole("slider", { name: "Step" });
      for (const place of ["0", "0.5", "1"]) {
        await step.fill(place);
        const told = await readTold(page);
        const key = Number(/^weight of k(\d+) for q7$/.exec(told.subject)?.[1]) - 1;
        const thick = (await widths(page))[key] ?? Number.NaN;
        expect(Math.abs(told.result - thick / 12)).toBeLessThanOrEqual(HALF_OF_FOUR_DECIMALS);
      }
    },
  );

  test("without a mask every word looks for the next one", async () => {
    const page = await answered("masks.html#causal=none");
    const rows = await readMatrix(page, "A");
    rows.slice(0, -1).forEach((row, place) => {
      expect(row.indexOf(Math.max(...row))).toBe(place + 1);
    });
  });
});

describe("paint", () => {
  test("a drag hides the pairs under it, and the address keeps them", async () => {
    const page = await open("masks.html#causal=none");
    const [from, to] = [await pair(page, 2, 3).boundingBox(), await pair(page, 2, 6).boundingBox()];
    if (from === null || to === null) throw new Error("no grid");
    await page.mouse.move(from.x + 8, from.y + 8);
    await page.mouse.down();
    await page.mouse.move(to.x + 8, to.y + 8, { steps: 12 });
    await page.mouse.up();
    const hidden = async (): Promise<string[]> =>
      (await grid(page)).flatMap((row, i) => row.flatMap((sees, j) => (sees ? [] : [`${i} ${j}`])));
    expect(await hidden()).toEqual(["2 3", "2 4", "2 5", "2 6"]);
    await reload(page);
    expect(await hidden()).toEqual(["2 3", "2 4", "2 5", "2 6"]);
    await page.getByText("Wipe off the paint").click();
    expect(await hidden()).toEqual([]);
  });

  test("the keyboard walks the grid and paints with the space bar; the rules are told", async () => {
    const page = await open("masks.html#left=2");
    await pair(page, 0, 0).focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", " "])
      await page.keyboard.press(key);
    expect((await grid(page))[3]?.slice(0, 5)).toEqual([false, true, false, true, false]);
    const told = await readTold(page);
    expect(told.subject).toBe("q4 sees k3?");
    expect(told.result).toBe(0);
    const rules = await page.locator(".readout tbody tr").allTextContents();
    expect(rules).toEqual(["causal3 ≤ 4yes", "window2 to …yes", "painthidden by handno"]);
  });

  test("a finger paints as well", async () => {
    const page = await open("masks.html#causal=none", { viewport: { width: 360, height: 740 }, hasTouch: true });
    await pair(page, 4, 4).tap();
    expect((await grid(page))[4]?.[4]).toBe(false);
  });
});

test("with fewer queries than keys the two alignments differ", async () => {
  const page = await open("masks.html#L=2&S=5");
  const count = async (): Promise<number[]> => (await grid(page)).map((row) => row.filter(Boolean).length);
  expect(await count()).toEqual([4, 5]);
  await page.getByRole("radio", { name: "upper left" }).check();
  expect(await count()).toEqual([1, 2]);
});

describe("ways to hide", () => {
  /** Of the rows of weights. */
  const sums = async (page: Page): Promise<number[]> => {
    const { weights } = await jsonOf<{ weights: number[][] }>(page, "mask");
    return weights.map((row) => Number(total(row).toFixed(6)));
  };

  test("after the softmax, shares are lost: rows no longer add up to one", async () => {
    const page = await answered("masks.html#hiding=after");
    const { weights } = await expected(page, {});
    const seen = (await grid(page)).flat();
    compare(
      await readMatrix(page, "A"),
      weights.data.map((share, index) => (seen[index] === true ? share : 0)),
    );
    const shown = await sums(page);
    expect(shown[0]).toBeLessThan(0.9);
    expect(shown[11]).toBe(1);
  });

  test("a large negative number fails where a row sees nothing: all of it is heard", async () => {
    const blind = "masks.html#L=3&S=4&causal=none&hide=4.5.6.7";
    const page = await answered(`${blind}&hiding=minus`);
    const { weights } = await expected(page, {});
    compare((await readMatrix(page, "A")).slice(1, 2), weights.data.slice(4, 8));
    await page.getByRole("radio", { name: "−∞ before the softmax" }).check();
    await kernelAnswered(page);
    expect((await readMatrix(page, "A"))[1]).toEqual([0, 0, 0, 0]);
    expect(await sums(page)).toEqual([1, 0, 1]);
  });

  test("a share tells what it comes from", async () => {
    const page = await answered("masks.html");
    await hover(page, "A", 4, 2);
    const share = await readTold(page);
    const powers = share.terms.map(([score = Number.NaN]) => Math.exp(score));
    expect(powers.slice(5)).toEqual([0, 0, 0, 0, 0, 0, 0]);
    // Scores are told with three decimals.
    expect(Math.abs((powers[2] ?? Number.NaN) / total(powers) - share.result)).toBeLessThan(0.001);
  });
});

describe("costs", () => {
  test("of a causal mask in tiles of 4, counted by hand", async () => {
    const page = await open("masks.html#tile=4&N=4096");
    const text = await page.locator('[data-picture="cost"]').innerText();
    expect(text).toContain("Of 9 tiles here: 3 skipped, 3 whole, 3 mixed.");
    const rows = await page.locator(".cost tbody tr").allTextContents();
    // 2 products x 12 heads x 4096² pairs x 64 = 25.77e9; 6 of 9 tiles; 78 of 144 pairs.
    expect(rows).toEqual([
      "no mask144100\u00a0%25.8 billion",
      "in tiles9667\u00a0%17.2 billion",
      "seen7854\u00a0%14.0 billion",
    ]);
    // 12 x 4096² x 4 bytes; 12 x 4096 x 2 x 4.
    expect(text).toMatch(/805 MB[\s\S]*393 kB/);
  });

  test("the structures are timed here, on a phone's width, and it can be stopped", async () => {
    const page = await answered("masks.html#N=256", { viewport: { width: 360, height: 740 } });
    const start = page.getByRole("button", { name: "Time it on this device" });
    await start.click();
    await page.locator(".race [role=status]", { hasText: "Best of three" }).waitFor();
    expect(await page.locator(".laps tbody tr").count()).toBe(5);
    for (const time of await page.locator(".laps td:nth-child(2)").allTextContents())
      expect(time).toMatch(/^\d+(\.\d)? ms$/);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.getByLabel("Tokens N").fill("4");
    await start.click();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".race [role=status]", { hasText: "Stopped" }).waitFor();
  });
});

test.each(["masks.html#L=3&S=5&left=1", "masks.html#L=4&S=4&cuts=2&pad=1", "masks.html#L=3&S=3&hiding=minus"])(
  "the copied heed call of %s runs and gives the shares on the page",
  async (path) => {
    const page = await answered(path, { permissions: ["clipboard-read", "clipboard-write"] });
    compare(await readMatrix(page, "A"), await runUnderNode(await copied(page, "heed")));
  },
);

test("an address with nonsense in it is read as far as it makes sense", async () => {
  const page = await answered("masks.html#L=99&S=x&causal=sideways&cuts=-1.0.3.77&pad=40&hide=1.9999.z&tile=0&N=12");
  expect(await grid(page)).toHaveLength(16);
});
