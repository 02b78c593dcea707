// Room 12 in real Chromium: arrays brought and looked at from above and from near, held against attention in double precision.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { normal } from "../../../demo/src/model/random.js";
import { loadSafetensors, saveSafetensors } from "../../../web/src/layers/io/index.js";
import { attention } from "../../../web/src/reference/index.js";
import { fileOf } from "../../support/model-files.js";
import { brought, drop, message, npyOf, PAGE, paste } from "./bringing.js";
import { demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import { HALF_OF_FOUR_DECIMALS, total } from "./numbers.js";
import { hashOf, hover, kernelAnswered, readMatrix, readNumber, readTold, settled } from "./page.js";
import { jsonOf, saved } from "./saved.js";
import { TIME_FOR_TRIES, tasksOver } from "./tasks.js";

const { answered, open } = demoInChromium();

/**
 * Of a share: scores are sums of `width` products in f32, each off by no more than the sum of their sizes times
 * width/2 epsilons; a share is off by at most twice that, times itself.
 */
function shareBound(size: number, width: number): number {
  return 2 * size * (width + 4) * 2 ** -24 + 2 ** -22;
}

async function mapDrawn(page: Page): Promise<void> {
  await page.locator('[data-picture="map"] [role="status"]', { hasText: "Drawn from" }).waitFor();
}

interface MapJson {
  readonly layer: number;
  readonly head: number;
  readonly window: { readonly top: number; readonly left: number; readonly span: number };
  readonly cellsOfADot: number;
  readonly across: number;
  readonly max: readonly number[];
}

const random = (seed: number, count: number): number[] => {
  const next = normal(seed);
  return Array.from({ length: count }, () => Math.fround(next()));
};
const nested = (data: readonly number[], width: number): number[][] =>
  Array.from({ length: data.length / width }, (_, row) => data.slice(row * width, (row + 1) * width));
const tensor = (data: readonly number[], ...shape: number[]) => ({ data: Float64Array.from(data), shape });

describe("the example", () => {
  test("is drawn from all its weights: dots are the largest of their cells", async () => {
    const page = await open(`${PAGE}#layer=1&head=2&causal=yes`);
    await mapDrawn(page);
    const { max, across, cellsOfADot } = await jsonOf<MapJson>(page, "map");
    expect([across, max.length, cellsOfADot]).toEqual([256, 256 * 256, 16]);
    // Chromium finishes files in any order.
    const downloads = new Map<string, Promise<Buffer>>();
    page.on("download", (file) =>
      downloads.set(
        file.suggestedFilename(),
        file.path().then((path) => import("node:fs").then(({ readFileSync }) => readFileSync(path))),
      ),
    );
    await page.getByRole("radio", { name: "Code", exact: true }).check();
    await page.getByRole("button", { name: "Save its arrays" }).click();
    await expect.poll(() => downloads.size).toBe(1);
    const file = await loadSafetensors(Uint8Array.from((await downloads.get("head.safetensors")) ?? []));
    const [q, k] = ["q", "k"].map((name) => Array.from(file.get(name)?.data as Float32Array));
    if (q === undefined || k === undefined) throw new Error("two arrays were promised");
    // One line of dots: sixteen queries, all keys.
    const [line, block] = [150, 16];
    const rows = Array.from({ length: block }, (_, row) => {
      const query = line * block + row;
      const one = q.slice(query * 32, (query + 1) * 32);
      return attention(tensor(one, 1, 32), tensor(k, 4096, 32), tensor(k, 4096, 32), {
        mask: { data: Uint8Array.from({ length: 4096 }, (_, key) => (key <= query ? 1 : 0)), shape: [1, 4096] },
      }).weights.data;
    });
    max.slice(line * across, (line + 1) * across).forEach((shown, dot) => {
      const cells = rows.flatMap((row) => Array.from(row.slice(dot * block, (dot + 1) * block)));
      expect(Math.abs(shown - Math.max(...cells))).toBeLessThan(shareBound(10, 32));
    });
  });

  test("is zoomed into by keys and buttons about the chosen cell, and back; the address keeps the place", async () => {
    const page = await open(PAGE);
    await mapDrawn(page);
    const stage = page.locator(".map-stage");
    const span = async () => Number(new URLSearchParams((await hashOf(page)).slice(1)).get("span") ?? 0);
    await stage.click({ position: { x: 200, y: 300 } });
    const told = await readTold(page);
    await stage.press("+");
    expect(await span()).toBe(2048);
    await page.getByRole("button", { name: "Zoom in" }).click();
    expect(await span()).toBe(1024);
    await page.getByRole("button", { name: "Zoom out" }).click();
    expect(await span()).toBe(2048);
    for (let press = 0; press < 9; press++) await stage.press("+");
    expect(await span()).toBe(8);
    await mapDrawn(page);
    const near = await jsonOf<MapJson>(page, "map");
    expect([near.cellsOfADot, near.max.length]).toEqual([1, 64]);
    // The chosen cell is in view, with its weight.
    const [, key = 0, query = 0] = (/weight of k(\d+) for q(\d+)/.exec(told.subject) ?? []).map(Number);
    const { top, left } = near.window;
    expect(near.max[(query - 1 - top) * 8 + key - 1 - left]).toBeCloseTo(told.result, 4);
    const again = await open(`${PAGE}${await hashOf(page)}`);
    await mapDrawn(again);
    expect((await jsonOf<MapJson>(again, "map")).window).toEqual(near.window);
    await page.getByRole("button", { name: "Show all of it" }).click();
    expect(await span()).toBe(0);
    await stage.press("+");
    await stage.press("0");
    expect(await span()).toBe(0);
  });

  test("a dot that is chosen puts its largest cell in the light; arrows walk on", async () => {
    const page = await open(`${PAGE}#layer=0&head=0`);
    await mapDrawn(page);
    const stage = page.locator(".map-stage");
    const box = await stage.boundingBox();
    if (box === null) throw new Error("no map");
    // On the diagonal: the token before.
    await stage.click({ position: { x: box.width * 0.5, y: box.width * 0.5 } });
    const told = await readTold(page);
    const [, key = "", query = ""] = /weight of k(\d+) for q(\d+)/.exec(told.subject) ?? [];
    expect(Number(query) - Number(key)).toBe(1);
    expect(told.result).toBeGreaterThan(0.5);
    await stage.press("ArrowRight");
    await kernelAnswered(page);
    expect((await readTold(page)).subject).toBe(`weight of k${Number(key) + 16} for q${query}`);
  });

  test.each([4096, 32768])("%i tokens: a share adds up to what is shown, and is the kernel's", async (tokens) => {
    const page = await answered(`${PAGE}#N=${tokens}&row=3000&col=3000`);
    const { result, terms, last, kernel } = await readTold(page);
    const [above = Number.NaN, below = Number.NaN] = last.split("=")[0]?.split("/").map(readNumber) ?? [];
    expect(Math.abs(above / below - result)).toBeLessThan(HALF_OF_FOUR_DECIMALS * 2);
    // The last of each line; small ones are written with a power of ten.
    expect(Math.abs(total(terms.map((line) => line.at(-1) ?? 0)) - below)).toBeLessThan(
      terms.length * HALF_OF_FOUR_DECIMALS * 2,
    );
    expect(kernel).toMatch(/heed computes (?:exactly the same|[^,]+, the same to \d+ decimals)/);
    expect(await page.locator(".agreement").textContent()).toContain((8 * tokens).toLocaleString("en"));
  });

  test("a score tells its multiply-adds", async () => {
    const page = await answered(`${PAGE}#layer=0&head=2`);
    await hover(page, "Z", 5, 2);
    const score = await readTold(page);
    expect(score.terms).toHaveLength(32);
    const sum = total(score.terms.map(([q = 0, k = 0]) => q * k));
    // Of 32 products of numbers with four decimals, up to 28 in size.
    expect(Math.abs(sum / Math.sqrt(32) - score.result)).toBeLessThan(
      (32 * 28 * HALF_OF_FOUR_DECIMALS) / Math.sqrt(32) + 1e-3,
    );
  });
});

describe("one's own arrays", () => {
  const [L, S, D] = [150, 170, 6] as const;
  const [q, k] = [random(1, 2 * 3 * L * D), random(2, 2 * 3 * S * D)];
  const heads = (data: readonly number[], rows: number): unknown =>
    nested(data, rows * D * 3).map((layer) => nested(layer, rows * D).map((head) => nested(head, D)));

  test.each(["no", "yes"] as const)("give every weight of every head; causal: %s", async (causal) => {
    const page = await open(PAGE);
    await paste(page, { q: heads(q, L), k: heads(k, S) });
    await message(page).filter({ hasText: "Taken: 2 layers, 3 heads, 150 queries, 170 keys." }).waitFor();
    await settled(page);
    if (causal === "yes") await page.getByRole("radio", { name: "what came before" }).check();
    await page.getByRole("slider", { name: "Layer" }).press("ArrowRight");
    await page.getByRole("slider", { name: "Head" }).press("ArrowRight");
    await mapDrawn(page);
    const { max, layer, head, cellsOfADot } = await jsonOf<MapJson>(page, "map");
    expect([layer, head, cellsOfADot, max.length]).toEqual([1, 1, 1, L * S]);
    const wanted = attention(tensor(q, 2, 3, L, D), tensor(k, 2, 3, S, D), tensor(k, 2, 3, S, D), {
      causal: causal === "yes",
    }).weights.data;
    max.forEach((weight, at) => {
      const real = wanted[(1 * 3 + 1) * L * S + at] ?? Number.NaN;
      expect(Math.abs(weight - real)).toBeLessThan(shareBound(12, D));
    });
  });

  test("as safetensors and npy, dropped; weights as they are", async () => {
    const page = await open(PAGE);
    const weights = Float32Array.from({ length: 2 * 5 * 5 }, (_, index) => (index % 7) / 10);
    await drop(page, fileOf("attentions.npy", npyOf([2, 5, 5], weights)));
    await message(page).filter({ hasText: "Taken: 1 layer, 2 heads, 5 queries, 5 keys." }).waitFor();
    await settled(page);
    await page.getByRole("slider", { name: "Head" }).press("ArrowRight");
    const shown = await readMatrix(page, "A");
    expect(shown.flat()).toEqual(Array.from(weights.slice(25), (weight) => Number(weight.toFixed(2))));
    expect(await page.locator(".agreement").textContent()).toContain("as they were brought");
    expect((await readTold(page)).last).toBe("sum of the row = 1");
    const file = saveSafetensors({
      "layer.query": { data: Float32Array.from(q), shape: [2, 3, L, D] },
      "layer.key": { data: Float32Array.from(k), shape: [2, 3, S, D] },
    });
    await drop(page, fileOf("model.safetensors", new Uint8Array(await new Blob([file]).arrayBuffer())));
    await message(page).filter({ hasText: "Taken: 2 layers, 3 heads, 150 queries, 170 keys." }).waitFor();
    await settled(page);
    await kernelAnswered(page);
  });

  test.each([
    ["broken.npy", new TextEncoder().encode("\x93NUMPY"), "does not begin as npy files do"],
    ["broken.json", new TextEncoder().encode("[[1, NaN]]"), "is not valid JSON"],
    ["notes.txt", new TextEncoder().encode("words"), "is none of npy, json, safetensors and gguf"],
    ["broken.safetensors", new Uint8Array([255, 255, 255, 255, 255, 255, 255, 127]), "at most 100000000 bytes"],
  ])("%s is refused in words, and what was there stays", async (name, bytes, why) => {
    const page = await answered(PAGE);
    await drop(page, fileOf(name, bytes));
    await message(page).filter({ hasText: why }).waitFor();
    expect(await hashOf(page)).not.toContain("from=own");
    expect(await page.locator(".agreement").textContent()).toContain("computed by heed");
  });

  test("that an address asks for and nobody brought are asked for", async () => {
    const page = await open(`${PAGE}#from=own`);
    await message(page).filter({ hasText: "Until you bring some, the example stands in" }).waitFor();
    await kernelAnswered(page);
  });

  test("the copied call gives the weights in the window, from the files that the page hands out", async () => {
    const page = await open(PAGE, { permissions: ["clipboard-read", "clipboard-write"] });
    await brought(page, { q: heads(q, L), k: heads(k, S) });
    await page.getByRole("radio", { name: "what came before" }).check();
    await kernelAnswered(page);
    const array = (data: readonly number[], rows: number) => {
      return { data: Float32Array.from(data.slice(0, rows * D)), shape: [1, 1, rows, D] };
    };
    const files = new Map([["head.safetensors", saveSafetensors({ q: array(q, L), k: array(k, S) })]]);
    const output = await runUnderNode(await copied(page, "heed"), files);
    const { A, left } = await jsonOf<{ A: number[][]; left: number }>(page, "cells");
    A.forEach((row, r) => {
      row.forEach((share, c) => {
        expect(Math.abs(share - (output[r * S + left + c] ?? Number.NaN))).toBeLessThan(shareBound(12, D));
      });
    });
    expect(await copied(page, "torch")).toContain('load_file("head.safetensors")');
  });
});

describe("several layers, heads and queries", () => {
  const [LAYERS, HEADS, N, D] = [3, 2, 40, 5] as const;
  const [q, k] = [random(3, LAYERS * HEADS * N * D), random(4, LAYERS * HEADS * N * D)];
  const heads = (data: readonly number[]) =>
    nested(data, N * D * HEADS).map((layer) => nested(layer, N * D).map((head) => nested(head, D)));
  const arrays = { q: heads(q), k: heads(k) };
  const wanted = attention(
    tensor(q, LAYERS, HEADS, N, D),
    tensor(k, LAYERS, HEADS, N, D),
    tensor(k, LAYERS, HEADS, N, D),
    {
      causal: true,
    },
  ).weights.data;
  const share = (layer: number, head: number, query: number, key: number): number =>
    wanted[((layer * HEADS + head) * N + query) * N + key] ?? Number.NaN;
  const range = Array.from({ length: N }, (_, index) => index);
  const entropyAt = (layer: number, head: number, query: number): number =>
    -total(range.map((key) => share(layer, head, query, key)).map((one) => (one > 0 ? one * Math.log(one) : 0)));

  async function opened(): Promise<Page> {
    const page = await open(PAGE);
    await brought(page, arrays);
    await page.getByRole("radio", { name: "what came before" }).check();
    await kernelAnswered(page);
    return page;
  }

  test("every head is shown with its entropy, and is chosen by a press", async () => {
    const page = await opened();
    const model = page.locator('[data-picture="model"]');
    await model.scrollIntoViewIfNeeded();
    await model.locator('[role="status"]', { hasText: "From all rows" }).waitFor();
    interface Heads {
      readonly heads: readonly {
        readonly layer: number;
        readonly head: number;
        readonly entropy: number;
        readonly max: number[];
      }[];
    }
    const looked = async (): Promise<Heads["heads"]> => (await jsonOf<Heads>(page, "model")).heads;
    const entropyErrors = async (): Promise<number> => {
      const errors = (await looked()).map(({ layer, head, entropy }) =>
        Math.abs(entropy - total(range.map((query) => entropyAt(layer, head, query))) / N),
      );
      return Math.max(...errors);
    };
    // Until all heads are looked at anew, some stand as they were without the mask.
    await expect.poll(entropyErrors).toBeLessThan(N * shareBound(12, D));
    const heads = await looked();
    expect(heads).toHaveLength(LAYERS * HEADS);
    for (const { layer, head, max } of heads) {
      expect(Math.abs((max[17 * N + 5] ?? Number.NaN) - share(layer, head, 17, 5))).toBeLessThan(shareBound(12, D));
    }
    const numbers = await model.locator("heed-heads button span").allTextContents();
    expect(numbers).toEqual(heads.map(({ head, entropy }) => `${head + 1} ${Number(Math.exp(entropy).toFixed(1))}`));
    await model.locator("heed-heads button").last().click();
    expect(await page.locator("heed-heads [aria-pressed=true]").getAttribute("aria-label")).toMatch(/^Layer 3, head 2/);
    expect(await hashOf(page)).toContain("head=1");
  });
});

test("8,192 tokens are walked through and zoomed into without a task over 50 ms", {
  timeout: TIME_FOR_TRIES,
}, async () => {
  const page = await open(`${PAGE}#N=8192&row=4000&col=4000`);
  const stage = page.locator(".map-stage");
  const before = await hashOf(page);
  const prepare = async () => {
    await mapDrawn(page);
    await stage.focus();
  };
  const act = async () => {
    for (const key of ["+", "+", "ArrowUp", "ArrowLeft", "+", "+", "ArrowDown", "-", "-", "-"]) await stage.press(key);
    const { width = 0 } = (await stage.boundingBox()) ?? {};
    for (let step = 1; step < 20; step++) await stage.hover({ position: { x: (step * width) / 20, y: width / 2 } });
    await mapDrawn(page);
  };
  const { all, over } = await tasksOver(50, { page, prepare, act });
  expect(await hashOf(page)).not.toBe(before);
  expect(all).toBeGreaterThan(20);
  expect(over).toEqual([]);
});

test("the map can be taken away", async () => {
  const page = await open(PAGE);
  await mapDrawn(page);
  expect((await saved(page, "map", "SVG")).toString("utf8")).toContain('href="data:image/png;base64,');
  expect((await saved(page, "map", "PNG")).length).toBeGreaterThan(5_000);
});

test("an address with nonsense in it is read as far as it makes sense", async () => {
  const page = await answered(`${PAGE}#N=5000&layer=77&head=-1&row=99999999&span=-3&from=moon&causal=no`);
  expect((await readTold(page)).subject).toBe("weight of k3001 for q4096");
  await mapDrawn(page);
  expect((await jsonOf<MapJson>(page, "map")).layer).toBe(1);
});
