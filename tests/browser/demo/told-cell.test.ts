// The cell that the readout tells about stands in the address of every room.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { demoInChromium } from "./chromium.js";
import { cell, hashOf, kernelAnswered, readMatrix, readTold, reload, step, type Told } from "./page.js";

const { answered, open } = demoInChromium();

const subjectOf = async (page: Page): Promise<string> => (await readTold(page)).subject;

/** As the keyboard does; what is focused is forgotten by a reload, unlike the place of a mouse. */
async function choose(page: Page, [name, row, col]: readonly [string, number, number]): Promise<Told> {
  await cell(page, name, row, col).focus();
  return readTold(page);
}

const ROOMS: readonly (readonly [string, readonly [string, number, number], string])[] = [
  ["matrix-walk.html", ["X", 1, 2], "cell=X.1.2"],
  ["matrix-walk.html#step=scores", ["S", 2, 4], "cell=S.2.4"],
  ["matrix-walk.html#step=output&by=columns", ["O", 3, 1], "cell=O.1.3"],
  ["dictionary.html", ["S", 0, 3], "cell=S.0.3"],
  ["score-lab.html", ["A", 3, 2], "cell=A.3.2"],
  ["scale.html", ["A", 0, 2], "cell=A.0.2"],
  ["masks.html", ["A", 1, 2], "cell=A.1.2"],
  ["heads.html#h=2&step=mix", ["Y-0", 2, 3], "cell=Y-0.2.3"],
  ["order.html", ["A", 1, 2], "cell=A.1.2"],
  ["what-else.html", ["W", 2, 1], "cell=W.2.1"],
  ["what-else.html#as=layer", ["C", 0, 1], "cell=C.0.1"],
  ["what-else.html#as=graph", ["A", 2, 3], "cell=A.2.3"],
];

describe("a cell that is chosen", () => {
  test.each(ROOMS)("is told about after a reload: %s %s", async (path, chosen, said) => {
    const page = await answered(path);
    const [given, first, entries] = [
      await hashOf(page),
      await readTold(page),
      await page.evaluate(() => history.length),
    ];
    expect(given).not.toContain("cell=");
    const told = await choose(page, chosen);
    expect(told).not.toEqual(first);
    expect(await hashOf(page)).toBe(given === "" ? `#${said}` : `${given}&${said}`);
    expect(await page.evaluate(() => history.length)).toBe(entries);
    await reload(page);
    await kernelAnswered(page);
    expect(await readTold(page)).toEqual(told);
  });

  test("is counted in the whole, where the room shows a part", async () => {
    const page = await answered("bring-your-own.html#row=3000&col=100&layer=1&head=1");
    const { subject } = await choose(page, ["Z", 0, 0]);
    const [, key, query] = /^score of k(\d+) for q(\d+)$/.exec(subject) ?? [];
    const [, row, col] = /&cell=Z\.(\d+)\.(\d+)$/.exec(await hashOf(page)) ?? [];
    expect([Number(row) + 1, Number(col) + 1]).toEqual([Number(query), Number(key)]);
    expect(await hashOf(page)).toContain("col=100");
    await reload(page);
    await kernelAnswered(page);
    expect(await subjectOf(page)).toBe(subject);
  });

  test("is one and the same by rows and by columns", async () => {
    const [rows, columns] = [await open("order.html#cell=A.1.2"), await open("order.html#by=columns&cell=A.1.2")];
    expect(await subjectOf(columns)).toBe(await subjectOf(rows));
    expect(await subjectOf(rows)).not.toBe(await subjectOf(await open("order.html")));
  });

  test("comes back with the address that named it", async () => {
    const page = await answered("matrix-walk.html#step=scores");
    const { subject } = await choose(page, ["S", 2, 4]);
    await page.evaluate(() => {
      location.hash = "#step=softmax&cell=A.1.1";
    });
    await expect.poll(() => subjectOf(page)).toBe("A [animal, animal]");
    await page.goBack();
    await expect.poll(() => subjectOf(page)).toBe(subject);
    expect(await hashOf(page)).toBe("#step=scores&cell=S.2.4");
  });

  test("is left behind with its step", async () => {
    const page = await open();
    await choose(page, ["X", 1, 2]);
    await step(page, "QKᵀ");
    expect(await hashOf(page)).toBe("#step=scores");
    expect(await subjectOf(page)).toMatch(/^S/);
  });

  test("can be changed where it was only named", async () => {
    const page = await open("dictionary.html#cell=K.1.0");
    await page.getByRole("textbox", { name: "This number" }).fill("2.5");
    await page.keyboard.press("Enter");
    expect((await readMatrix(page, "K"))[1]?.[0]).toBe(2.5);
    expect(await hashOf(page)).toContain("cell=K.1.0");
  });
});

describe("a cell that does not exist is passed over:", () => {
  test.each([
    ["matrix-walk.html", "X.40.2"],
    ["matrix-walk.html", "O.1.2"],
    ["dictionary.html", "A.0.90"],
    ["score-lab.html", "W.0.0"],
    ["scale.html", "A.1.0"],
    ["masks.html", "mask.90.0"],
    ["heads.html", "A-7.0.0"],
    ["order.html", "nothing.0.0"],
    ["what-else.html", "W.3.0"],
    ["what-else.html", "W.1"],
    ["bring-your-own.html", "A.99999999.0"],
    ["bring-your-own.html", "<b>.1.0"],
  ])("%s#cell=%s", async (path, named) => {
    const page = await answered(path);
    const told = await readTold(page);
    const same = await answered(`${path}#cell=${encodeURIComponent(named)}`);
    expect(await readTold(same)).toEqual(told);
  });

  test("not any more, in a shorter sentence", async () => {
    const page = await open("matrix-walk.html#cell=X.10.2");
    const told = await subjectOf(page);
    expect(told).toContain("tired");
    await page.getByRole("textbox", { name: "Sentence" }).fill("Only three words");
    expect(await subjectOf(page)).toMatch(/^X \[(Only|three|words), /);
  });
});
