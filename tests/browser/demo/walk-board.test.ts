// The board of the matrix walk: it scrubs both ways without a cut, and what stands on it is what the matrices multiply to.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { attention } from "../../../web/src/reference/index.js";
import { demoInChromium } from "./chromium.js";
import { column, dot, HALF_OF_TWO_DECIMALS } from "./numbers.js";
import { hashOf, kernelAnswered, readMatrix, readTold, step } from "./page.js";

const { answered, open } = demoInChromium();

const LAST = 8;

async function scrub(page: Page, at: number): Promise<void> {
  await page.getByRole("slider", { name: "Step" }).evaluate((input, at) => {
    if (!(input instanceof HTMLInputElement)) return;
    input.value = String(at);
    input.dispatchEvent(new Event("input"));
  }, at);
}

/** Every shape with all that is said of it, whatever the order in which it was said. */
const pictureOf = (page: Page): Promise<string[]> =>
  page
    .locator(".board-view svg *")
    .evaluateAll((all) =>
      all.map(
        (one) => one.tagName + Array.from(one.attributes, (a) => `${a.name}=${a.value}`).sort() + one.textContent,
      ),
    );

interface Square {
  /** Of the largest number, below 0 where the colour says so. */
  readonly level: number;
  readonly seen: number;
}

/** The squares of a matrix on the board, by the name that a press on them tells. */
async function squares(page: Page, name: string): Promise<Square[][]> {
  const found = await page.locator(`.board-view [data-pick^="${name}."]`).evaluateAll((all) =>
    all.map((one) => {
      const [, row, col] = (one.getAttribute("data-pick") ?? "").split(".").map(Number);
      const [, ink, percent] = /--(above|below|share)\) ([\d.]+)%/.exec(one.getAttribute("fill") ?? "") ?? [];
      const level = (ink === "below" ? -1 : 1) * (Number(percent) / 100);
      return { row: row ?? 0, col: col ?? 0, level, seen: Number(one.getAttribute("opacity") ?? 1) };
    }),
  );
  const rows: Square[][] = [];
  for (const { row, col, ...square } of found) {
    rows[row] ??= [];
    (rows[row] ?? [])[col] = square;
  }
  return rows;
}

describe.each([
  ["a desk", "", 1280],
  ["a phone, masked, one query at a time", "#causal=lower-right&loop=1", 390],
  ["words as columns, two heads", "#by=columns&h=2", 1280],
])("on %s", (_, hash, width) => {
  test("the same place gives the same picture, from whichever side one comes", async () => {
    const page = await answered(`matrix-walk.html${hash}`, { viewport: { width, height: 844 } });
    const places = [0, 0.2, 0.7, 1, 2.9, 3.33, 3.7, 4.5, 5.5, 6.6, 7.65, LAST];
    const there: string[][] = [];
    for (const at of places) {
      await scrub(page, at);
      there.push(await pictureOf(page));
    }
    expect(new Set(there.map(String)).size).toBe(places.length);
    for (const at of [...places].reverse()) {
      const index = places.indexOf(at);
      await scrub(page, at);
      expect(await pictureOf(page), `at ${at}`).toEqual(there[index]);
    }
  });

  test("no shape jumps, and the board keeps its height", async () => {
    const page = await answered(`matrix-walk.html${hash}`, { viewport: { width, height: 844 } });
    const { most, heights, moved } = await page.evaluate((last) => {
      const [input, svg] = [
        document.querySelector<HTMLInputElement>(".board input"),
        document.querySelector(".board-view svg"),
      ];
      if (input === null || svg === null) throw new Error("no board");
      const look = (at: number): Map<Element, DOMRect> => {
        input.value = String(at);
        input.dispatchEvent(new Event("input"));
        const shapes = Array.from(svg.querySelectorAll("rect, text, path")).filter((one) =>
          one.checkVisibility({ opacityProperty: true }),
        );
        return new Map(shapes.map((one) => [one, one.getBoundingClientRect()]));
      };
      let [most, moved] = [0, 0];
      const heights = new Set<number>();
      for (let at = 0; at < last; at += 0.05) {
        const [before, after] = [look(at), look(at + 0.002)];
        heights.add(svg.getBoundingClientRect().height);
        for (const [shape, box] of after) {
          const was = before.get(shape);
          if (was === undefined) continue;
          // Of the middle, which a longer text keeps.
          const way = Math.hypot(
            box.x + box.width / 2 - was.x - was.width / 2,
            box.y + box.height / 2 - was.y - was.height / 2,
          );
          most = Math.max(most, way);
          moved += way > 0 ? 1 : 0;
        }
      }
      return { most, heights: heights.size, moved };
    }, LAST);
    expect(moved).toBeGreaterThan(500);
    expect(most).toBeLessThan(14);
    expect(heights).toBe(1);
  });
});

test("the colours of all matrices are those of an independent product", async () => {
  const page = await answered("matrix-walk.html#d=4&t=cat+saw+it+run&all=1");
  const given: Record<string, number[][]> = {};
  for (const name of ["X", "Wq", "Wk", "Wv"]) given[name] = await readMatrix(page, name);
  const times = (a: readonly (readonly number[])[] = [], b: readonly (readonly number[])[] = []): number[][] =>
    a.map((row) => (b[0] ?? []).map((_, col) => dot(row, column(b, col))));
  // Four columns of two decimals at most: the page shows these numbers exactly.
  const [q, k, v] = ["Wq", "Wk", "Wv"].map((name) => times(given["X"], given[name]));
  const tensor = (rows: readonly (readonly number[])[] = []) => ({
    data: Float64Array.from(rows.flat()),
    shape: [4, 4],
  });
  const { output, weights } = attention(tensor(q), tensor(k), tensor(v));
  const scores = (q ?? []).map((query) => (k ?? []).map((key) => dot(query, key)));
  const expectLevels = async (at: number, name: string, numbers: readonly number[]): Promise<void> => {
    await scrub(page, at);
    const most = Math.max(1, ...numbers.map(Math.abs));
    const shown = (await squares(page, name)).flat();
    expect(shown).toHaveLength(16);
    shown.forEach(({ level, seen }, index) => {
      expect(seen).toBe(1);
      expect(Math.abs(level - (numbers[index] ?? Number.NaN) / most), `${name} ${index}`).toBeLessThan(0.0006);
    });
  };
  await expectLevels(1, "Q", (q ?? []).flat());
  await expectLevels(2, "K", (k ?? []).flat());
  await expectLevels(3, "V", (v ?? []).flat());
  await expectLevels(4, "S", scores.flat());
  await expectLevels(LAST, "O", Array.from(output.data));
  // A bar is as high as its weight, of cells that are nine tenths of one high.
  const bars = await page
    .locator(".board-view .bar")
    .evaluateAll((all) => all.map((one) => Number(one.getAttribute("height")) / 0.9));
  bars.forEach((bar, index) => {
    expect(bar).toBeCloseTo(weights.data[index] ?? Number.NaN, 5);
  });
  expect(bars).toHaveLength(16);
});

test("a row and a column fold into a cell: what has been added up goes from 0 to the score", async () => {
  const page = await answered();
  const own = async (at: number): Promise<number> => {
    await scrub(page, at);
    return (await squares(page, "S"))[7]?.[1]?.level ?? Number.NaN;
  };
  const levels: number[] = [];
  for (const at of [3.5, 3.55, 3.6, 3.65, 3.7, 4]) levels.push(await own(at));
  expect(levels[0]).toBe(0);
  expect(levels).toEqual([...levels].sort((a, b) => a - b));
  const scores = await readMatrix(page, "S");
  expect(levels.at(-1)).toBeCloseTo((scores[7]?.[1] ?? Number.NaN) / Math.max(...scores.flat()), 2);
});

test("one query at a time fills row by row, all at once column by column, to the same numbers", async () => {
  const page = await answered("matrix-walk.html#step=output");
  const results: number[][][] = [];
  for (const [name, isLoop] of [
    ["one query at a time", true],
    ["all at once", false],
  ] as const) {
    await page.getByRole("radio", { name }).check();
    await scrub(page, 3.85);
    const seen = (await squares(page, "S")).map((row) => row.map((square) => square.seen));
    // Less the cell that showed how it is done.
    const others = seen.map((row, index) => row.filter((_, key) => index !== 7 || key !== 1));
    const [top, below] = [others[0] ?? [], others.at(-1) ?? []];
    if (isLoop) expect([Math.min(...top), Math.max(...below)]).toEqual([1, 0]);
    else expect(top).toEqual(below);
    await scrub(page, LAST);
    results.push(await readMatrix(page, "O"));
  }
  expect(results[0]).toEqual(results[1]);
});

test("a pressed square tells its arithmetic, with the numbers around it", async () => {
  const page = await answered("matrix-walk.html", { untouched: true });
  expect(await page.locator("heed-matrix:visible").count()).toBe(0);
  await scrub(page, LAST);
  await page.locator('.board-view [data-pick="O.7.1"]').click();
  const told = await readTold(page);
  expect(told.subject).toBe("O [it, alive]");
  const [weights, values] = [await readMatrix(page, "A"), await readMatrix(page, "V")];
  const sum = dot(weights[7] ?? [], column(values, 1));
  expect(Math.abs(told.result - sum)).toBeLessThan(11 * HALF_OF_TWO_DECIMALS);
  expect(await hashOf(page)).toContain("cell=O.7.1");
});

test("W_Q times W_K transposed stands between two words, and gives their score", async () => {
  const page = await open("matrix-walk.html#all=1&step=scores&d=4&t=cat+saw+it");
  const [x, both, scores] = [await readMatrix(page, "X"), await readMatrix(page, "Wqk"), await readMatrix(page, "S")];
  x.forEach((asking, i) => {
    x.forEach((asked, j) => {
      const between = both.map((_, feature) => dot(asking, column(both, feature)));
      const slack =
        HALF_OF_TWO_DECIMALS *
        (1 + asking.reduce((sum, a) => sum + asked.reduce((all, b) => all + Math.abs(a * b), 0), 0));
      expect(Math.abs(dot(between, asked) - (scores[i]?.[j] ?? Number.NaN))).toBeLessThan(slack);
    });
  });
});

test("without parameters the weights are softmax(XXᵀ), and the page counts its large diagonal", async () => {
  const page = await open("matrix-walk.html#all=1");
  await page.getByRole("button", { name: "No parameters: softmax(XXᵀ) X" }).click();
  await step(page, "softmax");
  await kernelAnswered(page);
  const [x, shown] = [await readMatrix(page, "X"), await readMatrix(page, "A")];
  const largest = x.filter((own, i) => {
    const powers = x.map((other) => Math.exp(dot(own, other)));
    const sum = powers.reduce((a, b) => a + b, 0);
    powers.forEach((power, j) => {
      expect(Math.abs((shown[i]?.[j] ?? Number.NaN) - power / sum)).toBeLessThan(0.02);
    });
    return (powers[i] ?? 0) >= Math.max(...powers);
  });
  expect(await page.locator('[data-picture="walk"] .picture-text').textContent()).toContain(
    `${largest.length} of ${x.length} words give themselves the largest weight`,
  );
});
