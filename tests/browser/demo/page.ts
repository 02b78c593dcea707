// What a person reads on the demo's page, as numbers and words.

import type { Locator, Page } from "playwright";

/** The numbers of the first visible matrix with this name, as displayed: two decimals, -Infinity for the sign. */
export async function readMatrix(page: Page, name: string): Promise<number[][]> {
  return readRows(page.locator(`heed-matrix[data-name="${name}"]:visible`).first());
}

/** The numbers of a table's lines, at one look. */
async function readRows(within: Locator): Promise<number[][]> {
  const rows = await within
    .locator("tbody tr")
    .evaluateAll((lines) =>
      lines.map((line) => Array.from(line.querySelectorAll("td"), (cell) => cell.textContent ?? "")),
    );
  return rows.map((row) => row.map(readNumber));
}

export function readNumber(text: string): number {
  const clean = text.replaceAll("−", "-").replace("∞", "Infinity").trim();
  return clean === "" ? Number.NaN : Number(clean);
}

export interface Told {
  readonly subject: string;
  readonly result: number;
  /** Figures of each line of the arithmetic. */
  readonly terms: readonly (readonly number[])[];
  readonly last: string;
  readonly kernel: string;
}

/** What the arithmetic beside the matrices tells. */
export async function readTold(page: Page): Promise<Told> {
  const readout = page.locator(".readout");
  const parts = [".readout-subject span", ".readout-result", ".readout-last", ".readout-kernel"];
  const [subject = "", result = "", last = "", kernel = ""] = await readout.evaluate(
    (element, parts) => parts.map((part) => element.querySelector(part)?.textContent ?? ""),
    parts,
  );
  return { subject, result: readNumber(result), terms: await readRows(readout), last, kernel };
}

/** What the address says after its #. The browser is asked, since Playwright learns of a new address a moment later. */
export const hashOf = (page: Page): Promise<string> => page.evaluate(() => location.hash);

/** Until all parts of a room show what was brought. */
export async function settled(page: Page): Promise<void> {
  await page.locator("[data-room]:not(:has([aria-busy]))").waitFor();
}

/** Points at a cell with the mouse. */
export async function hover(page: Page, name: string, row: number, col: number): Promise<void> {
  await cell(page, name, row, col).hover();
}

export function cell(page: Page, name: string, row: number, col: number) {
  return page.locator(`heed-matrix[data-name="${name}"]:visible td[data-row="${row}"][data-col="${col}"]`).first();
}

/** Goes to a place on a board, by its name below the scrubber. */
export async function step(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).click();
  await page.locator(".board-tick[aria-current]", { hasText: name }).waitFor();
}

/** Waits until the room stands again. */
export async function reload(page: Page): Promise<void> {
  await page.reload();
  await page.locator(".agreement").waitFor();
  await openDrawers(page);
}

/** All that can be changed stands in sight. */
export async function openDrawers(page: Page): Promise<void> {
  await page.locator("details.more").evaluateAll((all) => {
    for (const one of all) one.setAttribute("open", "");
  });
}

/** The lines of a chart's table, which is made while it is open. */
export async function linesOf(chart: Locator): Promise<Locator> {
  if ((await chart.locator("details").getAttribute("open")) === null) await chart.locator("summary").click();
  await chart.locator("tbody").waitFor();
  return chart.locator("tbody tr");
}

/** Waits until the shares on the page are the kernel's. */
export async function kernelAnswered(page: Page): Promise<void> {
  await settled(page);
  await page.locator(".agreement", { hasText: "computed by heed" }).waitFor();
}

/** A word, say, becomes a row or a column. */
export async function chooseBy(page: Page, way: "row" | "column", thing = "word"): Promise<void> {
  const group = page.getByRole("group", { name: `A ${thing} is a` });
  await group.getByRole("radio", { name: way }).check();
}

/** How many stops the keyboard makes before the first one within. */
export async function stopsBefore(page: Page, within: string): Promise<number> {
  for (let stops = 0; stops < 60; stops++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((selector) => document.activeElement?.closest(selector) !== null, within)) return stops;
  }
  return Number.POSITIVE_INFINITY;
}

/** Words of the longest paragraph. */
export async function longestParagraph(page: Page, paragraphs = "main p"): Promise<number> {
  const texts = await page.locator(paragraphs).allTextContents();
  return Math.max(...texts.map((text) => text.split(/\s+/).length));
}
