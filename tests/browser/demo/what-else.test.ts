// Room 8 in real Chromium: attention as other layers, and the numbers of those layers computed here anew.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { attention } from "../../../web/src/reference/index.js";
import { demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import { compare, HALF_OF_FOUR_DECIMALS, total } from "./numbers.js";
import { cell, hashOf, hover, kernelAnswered, longestParagraph, readMatrix, readNumber, readTold } from "./page.js";
import { jsonOf, saved } from "./saved.js";

const { answered, open } = demoInChromium();

/** Pixels of the picture that is convolved, both ways. */
const SIZE = 128;

interface Convolved {
  /** Where the kernel answered, and what its heads read there, head by head. */
  readonly sample: readonly number[];
  readonly kernel: readonly number[];
  readonly grey: readonly number[];
  readonly convolution: readonly number[];
  readonly attention: readonly number[];
}

/** With the border's own pixel beyond the border. */
function convolved(grey: readonly number[], kernel: readonly (readonly number[])[]): number[] {
  const [size, reach] = [Math.sqrt(grey.length), (kernel.length - 1) / 2];
  const inside = (place: number): number => Math.min(size - 1, Math.max(0, place));
  return grey.map((_, pixel) => {
    const [row, col] = [Math.floor(pixel / size), pixel % size];
    let sum = 0;
    kernel.forEach((line, y) => {
      line.forEach((weight, x) => {
        sum += weight * (grey[inside(row + y - reach) * size + inside(col + x - reach)] ?? Number.NaN);
      });
    });
    return sum;
  });
}

const widest = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((value, index) => Math.abs(value - (b[index] ?? Number.NaN))));

const figure = async (page: Page, name: string): Promise<string> =>
  (await page.locator(".figures:visible dt", { hasText: name }).locator("xpath=../dd").textContent()) ?? "";

describe("a convolution", () => {
  test.each([
    "",
    "#picture=ripples&w=3_-1_0_1_-2_0_2_-1_0_1",
    "#w=5_0_0_-1_0_0_0_-1_-2_-1_0_-1_-2_16_-2_-1_0_-1_-2_-1_0_0_0_-1_0_0",
  ])("is matched by the kernel's attention to 1e-6: what-else.html%s", async (hash) => {
    const page = await answered(`what-else.html${hash}`);
    const kernel = await readMatrix(page, "W");
    const {
      grey,
      convolution,
      attention: attended,
      sample,
      kernel: read,
    } = await jsonOf<Convolved>(page, "convolution");
    expect(grey).toHaveLength(SIZE * SIZE);
    const wanted = convolved(grey, kernel);
    const added = sample.map((_, place) =>
      total(kernel.flat().map((weight, head) => weight * (read[head * sample.length + place] ?? Number.NaN))),
    );
    expect(sample.length).toBeGreaterThan(60);
    expect(
      widest(
        added,
        sample.map((pixel) => wanted[pixel] ?? Number.NaN),
      ),
    ).toBeLessThan(1e-6);
    expect(widest(convolution, wanted)).toBeLessThan(1e-12);
    expect(widest(attended, wanted)).toBeLessThan(1e-6);
    // Not because all is 0.
    expect(Math.max(...wanted.map(Math.abs))).toBeGreaterThan(0.5);
    expect(await figure(page, "Largest difference")).toContain("the same, to 10⁻⁶");
  });

  test("with less sharpness it is a blurred one, as a softmax over places has it", async () => {
    const page = await answered("what-else.html#sharp=0.5");
    const { grey, attention: attended, sample, kernel: read } = await jsonOf<Convolved>(page, "convolution");
    expect(await figure(page, "Largest difference")).toContain("not the same yet");
    const kernel = [0, -1, 0, -1, 4, -1, 0, -1, 0];
    sample.forEach((pixel, place) => {
      const added = total(kernel.map((weight, head) => weight * (read[head * sample.length + place] ?? Number.NaN)));
      // Scores of thousands in f32, then a sum with weights of 8 in all.
      expect(Math.abs(added - (attended[pixel] ?? Number.NaN))).toBeLessThan(8e-3);
    });
    // One pixel near the border and one inside, by a softmax over all places of the negative squared distance.
    for (const [row, col] of [
      [0, 126],
      [64, 24],
    ] as const) {
      let sum = 0;
      for (const [dy, dx, weight] of [
        [-1, 0, -1],
        [0, -1, -1],
        [0, 0, 4],
        [0, 1, -1],
        [1, 0, -1],
      ] as const) {
        const powers = grey.map((_, pixel) => {
          const [y, x] = [Math.floor(pixel / SIZE), pixel % SIZE];
          return Math.exp(-0.5 * ((x - col - dx) ** 2 + (y - row - dy) ** 2));
        });
        sum += (weight * total(powers.map((power, pixel) => power * (grey[pixel] ?? 0)))) / total(powers);
      }
      expect(Math.abs((attended[row * SIZE + col] ?? Number.NaN) - sum)).toBeLessThan(1e-9);
    }
  });

  test("a photo of one's own is read, at 128 by 128, and what is no picture is refused in words", async () => {
    const page = await open("what-else.html");
    const png = await page.evaluate(() => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [256, 256];
      const context = canvas.getContext("2d");
      if (context === null) throw new Error("no canvas");
      context.fillStyle = "rgb(0 0 0)";
      context.fillRect(0, 0, 128, 256);
      context.fillStyle = "rgb(255 255 255)";
      context.fillRect(128, 0, 128, 256);
      return canvas.toDataURL("image/png").split(",")[1] ?? "";
    });
    await page
      .locator("#photo")
      .setInputFiles({ name: "half.png", mimeType: "image/png", buffer: Buffer.from(png, "base64") });
    await page.locator(".gallery", { hasText: "“half.png”, its middle" }).waitFor();
    await kernelAnswered(page);
    const { grey } = await jsonOf<Convolved>(page, "convolution");
    expect(grey.slice(0, 4)).toEqual([0, 0, 0, 0]);
    grey.slice(124, 128).forEach((value) => {
      expect(value).toBeCloseTo(1, 6);
    });
    expect(await hashOf(page)).toContain("picture=own");
    await page
      .locator("#photo")
      .setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("words") });
    await page.locator(".gallery", { hasText: "“notes.txt” could not be read as a picture" }).waitFor();
  });

  test("the arrow keys walk the picture, and each pixel tells what its heads read", async () => {
    const page = await answered("what-else.html#at=0");
    const stage = page.getByRole("application", { name: /^Picture/ });
    await stage.press("ArrowRight");
    await stage.press("ArrowDown");
    expect(await hashOf(page)).toContain("at=129");
    await kernelAnswered(page);
    const told = await readTold(page);
    expect(told.subject).toBe("row 2, column 2");
    expect(told.terms).toHaveLength(9);
    const sum = total(told.terms.map(([reads = 0, weight = 0]) => reads * weight));
    // Readings with four decimals, weights of 8 in all.
    expect(Math.abs(sum - told.result)).toBeLessThan(8 * HALF_OF_FOUR_DECIMALS + HALF_OF_FOUR_DECIMALS);
    expect(told.kernel).toMatch(/heed computes/);
  });

  test("copies part, are tinted and add up, as far as the scrubber says, there and back", async () => {
    const page = await answered("what-else.html#at=0");
    const scrubber = page.getByRole("slider", { name: "Step" });
    const board = page.locator(".ghosts .board-view");
    /** Of the middle of the canvas: so many pixels to a side have a colour in them, not grey or black. */
    const coloured = (): Promise<number> =>
      board.locator("canvas").evaluate((canvas: HTMLCanvasElement) => {
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
        copy?.drawImage(canvas, 0, 0);
        const { data = [] } = copy?.getImageData(0, 0, canvas.width, canvas.height) ?? {};
        let count = 0;
        for (let at = 0; at < data.length; at += 4) {
          if (Math.abs((data[at] ?? 0) - (data[at + 2] ?? 0)) > 20) count += 1;
        }
        return count / (data.length / 4);
      });
    expect(await coloured()).toBe(0);
    expect(await board.locator("text").count()).toBe(0);
    await scrubber.press("ArrowRight");
    expect(await board.locator("text").allTextContents()).toContain("1 up, 1 left");
    expect(await coloured()).toBe(0);
    await scrubber.press("ArrowRight");
    expect((await board.locator("text").allTextContents()).filter((text) => text.startsWith("×"))).toEqual(
      [0, 1, 0, 1, 4, 1, 0, 1, 0].map((weight) => (weight === 1 ? "× −1" : `× ${weight}`)),
    );
    const parted = await coloured();
    // Five of nine have a weight.
    expect(parted).toBeGreaterThan(0.4);
    await scrubber.press("ArrowRight");
    const edges = await coloured();
    expect(edges).toBeGreaterThan(0.01);
    // As many as the convolution has, that are not too faint.
    const { convolution } = await jsonOf<Convolved>(page, "convolution");
    const most = Math.max(...convolution.map(Math.abs));
    const wanted = convolution.filter((value) => Math.sqrt(Math.abs(value) / most) > 0.12).length / SIZE ** 2;
    expect(Math.abs(edges - wanted)).toBeLessThan(0.01);
    await scrubber.press("ArrowLeft");
    expect(await coloured()).toBe(parted);
  });

  test("a weight that is typed changes the convolution; a preset replaces all", async () => {
    const page = await open("what-else.html");
    await cell(page, "W", 1, 1).focus();
    await page.keyboard.type("7");
    await page.keyboard.press("Enter");
    expect((await readMatrix(page, "W"))[1]).toEqual([-1, 7, -1]);
    await page.getByRole("button", { name: "edges, 5 × 5" }).click();
    expect(await readMatrix(page, "W")).toHaveLength(5);
    await kernelAnswered(page);
    expect(await page.locator(".agreement").textContent()).toContain("All 25 heads");
  });
});

describe("a dense layer", () => {
  test("is matched by one query with a head for each input", async () => {
    const page = await answered("what-else.html#as=layer");
    const [[x = []], weights] = [await readMatrix(page, "X"), await readMatrix(page, "Wd")];
    const wanted = weights.map((row) => total(row.map((weight, input) => weight * (x[input] ?? Number.NaN))));
    compare(await readMatrix(page, "D"), wanted);
    compare(await readMatrix(page, "Y"), wanted);
    expect(await figure(page, "Largest difference")).toMatch(/exactly the same|the same, to 10⁻⁶/);
  });

  test("with little sharpness the heads read mixtures, as the reference does", async () => {
    const page = await answered("what-else.html#as=layer&sharp=1");
    const [x = []] = await readMatrix(page, "X");
    const unit = Float64Array.from({ length: 16 }, (_, index) => (index % 5 === 0 ? 1 : 0));
    const heads = { data: unit, shape: [1, 4, 1, 4] };
    const { weights, output } = attention(
      heads,
      { data: unit, shape: [1, 1, 4, 4] },
      { data: Float64Array.from(x), shape: [1, 1, 4, 1] },
      { scale: 1 },
    );
    compare(await readMatrix(page, "A"), weights.data);
    compare(await readMatrix(page, "C"), output.data);
  });

  /** Of each wire of this kind: the weight that it is as thick as. */
  const thick = async (page: Page, ...tones: readonly string[]): Promise<number[]> => {
    const kinds = tones.map((tone) => `path[stroke="var(--${tone})"]`);
    const wires = await page
      .locator(`[data-picture="layer"] svg :is(${kinds.join(", ")})`)
      .evaluateAll((all) => all.map((wire) => Number(wire.getAttribute("stroke-width"))));
    return wires.map((width) => (width - 1) / 8).sort((a, b) => a - b);
  };

  test("another input leaves its wires, and changes those that attention makes", async () => {
    const page = await answered("what-else.html#as=layer");
    const scrubber = page.locator('[data-picture="layer"]').getByRole("slider", { name: "Step" });
    const change = page.getByRole("button", { name: "Change the input" });
    const sizes = (numbers: readonly number[], full: number): number[] =>
      numbers
        .map((value) => Math.abs(value) / full)
        .filter((value) => value >= 0.005)
        .sort((a, b) => a - b);
    const weights = (await readMatrix(page, "Wd")).flat();
    const dense = await thick(page, "above", "below");
    compare([dense], sizes(weights, 2));
    expect(await thick(page, "below")).toHaveLength(weights.filter((weight) => weight < 0).length);
    await change.click();
    await kernelAnswered(page);
    expect(await thick(page, "above", "below")).toEqual(dense);
    await scrubber.press("ArrowRight");
    expect(await thick(page, "share")).toEqual([1, 1, 1, 1]);
    await scrubber.press("ArrowRight");
    const before = await thick(page, "share");
    for (const press of [false, true]) {
      if (press) await change.click();
      await kernelAnswered(page);
      const [[x = []], own] = [await readMatrix(page, "X"), await readMatrix(page, "B")];
      const wanted = x.map((query) => {
        const powers = x.map((key) => Math.exp(query * key));
        return powers.map((power) => power / total(powers));
      });
      compare(own, wanted.flat());
      compare([await thick(page, "share")], sizes(wanted.flat(), 1));
    }
    expect(await thick(page, "share")).not.toEqual(before);
  });

  test("the arithmetic is that of the first output on the board, at every step", async () => {
    const page = await answered("what-else.html#as=layer");
    const scrubber = page.locator('[data-picture="layer"]').getByRole("slider", { name: "Step" });
    for (const output of ["D", "Y", "Z"]) {
      const [[first = Number.NaN] = []] = [(await readMatrix(page, output))[0]];
      expect(Math.abs((await readTold(page)).result - first)).toBeLessThanOrEqual(0.005);
      await scrubber.press("ArrowRight");
    }
    expect((await readTold(page)).kernel).toMatch(COMPARED);
  });

  test("fast weights are written by outer products, which the kernel's state is", async () => {
    const page = await answered("what-else.html#as=layer");
    const fast = page.locator('[data-picture="fast-weights"]');
    const { keys, values, state, output } = await jsonOf<{
      keys: Record<string, number>;
      values: Record<string, number>;
      state: number[];
      output: number[];
    }>(page, "fast-weights");
    const [k, v] = [Object.values(keys), Object.values(values)];
    const written = Array.from({ length: 9 }, (_, cell) =>
      total([0, 1, 2].map((word) => (k[word * 3 + Math.floor(cell / 3)] ?? 0) * (v[word * 3 + (cell % 3)] ?? 0))),
    );
    expect(widest(written, state)).toBeLessThan(1e-6);
    // Asked with the second key.
    expect(widest(written.slice(3, 6), output)).toBeLessThan(1e-6);
    const numbers = async (): Promise<number[]> =>
      (await fast.locator("svg text").allTextContents()).map(readNumber).filter((value) => !Number.isNaN(value));
    expect(await numbers()).toEqual(written.map(() => 0));
    const scrubber = fast.getByRole("slider", { name: "Step" });
    for (const _ of STEPS_OF_FAST_WEIGHTS) await scrubber.press("ArrowRight");
    // The state, what asks and what is read.
    expect((await numbers()).sort()).toEqual(
      [...written, ...k.slice(3, 6), ...written.slice(3, 6)].map((value) => Number(value.toFixed(2))).sort(),
    );
  });
});

/** The page's own number in double precision is beside the kernel's, which has f32. */
const COMPARED = /^heed computes −?\d\.\d+, the same to (?:[6-9]|1\d) decimals\.$/;

const STEPS_OF_FAST_WEIGHTS = ["a word", "a word", "a word", "a query"];

test("shuffled pixels give shuffled outputs; a convolution does not", async () => {
  const page = await answered("what-else.html#as=set&b=0.2");
  const {
    colours,
    places,
    attention: plain,
    throughTheShuffle,
  } = await jsonOf<{
    colours: number[];
    places: number[];
    attention: number[];
    throughTheShuffle: number[];
  }>(page, "set");
  expect([...places].sort((a, b) => a - b)).toEqual(Array.from({ length: 1024 }, (_, pixel) => pixel));
  expect(places[0] === 0 && places[1] === 1).toBe(false);
  // Sums of 1,024 products of at most 1, in another order.
  expect(widest(plain, throughTheShuffle)).toBeLessThan(4e-6);
  const pixels = { data: Float64Array.from(colours), shape: [1024, 3] };
  const wanted = attention(pixels, pixels, pixels, { score: { type: "rbf", bandwidth: 0.2 } }).output.data;
  expect(widest(plain, Array.from(wanted))).toBeLessThan(4e-6);
  expect(readNumber((await figure(page, "Convolution")).split(" ")[0] ?? "")).toBeGreaterThan(0.5);
  // Sums of 1,024 outputs, in another order; then a mean.
  expect(await figure(page, "Pooled")).toMatch(/^(?:0 |\d\u00a0×\u00a010⁻(?:[⁷⁸⁹]|¹))/);
  const spread = (data: readonly number[]): number => {
    const means = [0, 1, 2].map((channel) => total(data.filter((_, index) => index % 3 === channel)) / 1024);
    return Math.sqrt(total(data.map((value, index) => (value - (means[index % 3] ?? 0)) ** 2)));
  };
  const left = (100 * spread(Array.from(wanted))) / spread(colours);
  expect(Math.abs(Number.parseFloat(await figure(page, "Detail left")) - left)).toBeLessThanOrEqual(0.51);
  const { last } = await readTold(page);
  const chosen = 16 * 32 + 6;
  const told = Array.from(last.matchAll(/(?:red|green|blue) ([\d.]+)/g), ([, figure]) => Number(figure));
  expect(told).toHaveLength(3);
  told.forEach((value, channel) => {
    expect(Math.abs(value - (wanted[chosen * 3 + channel] ?? Number.NaN))).toBeLessThanOrEqual(HALF_OF_FOUR_DECIMALS);
  });
  // The output over the shuffled pixels, before it is put back.
  const panels = page.locator('[data-picture="set"] heed-pixels');
  expect(await panels.filter({ visible: true }).count()).toBe(4);
  const rows = await panels
    .nth(1)
    .locator("canvas")
    .evaluate((canvas: HTMLCanvasElement) => {
      const { data = [] } = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? {};
      return Array.from(data).filter((_, part) => part % 4 < 3);
    });
  const moved = places.flatMap((pixel) => [0, 1, 2].map((channel) => wanted[pixel * 3 + channel] ?? Number.NaN));
  // Colours are rounded to a 255th.
  expect(
    widest(
      rows.map((part) => part / 255),
      moved,
    ),
  ).toBeLessThan(0.5 / 255 + 4e-6);
  await page.getByRole("button", { name: "Shuffle again" }).click();
  expect((await jsonOf<{ places: number[] }>(page, "set")).places).not.toEqual(places);
  await page.getByRole("radio", { name: "in order" }).check();
  expect((await jsonOf<{ places: number[] }>(page, "set")).places).toEqual(
    colours.map((_, pixel) => pixel).slice(0, 1024),
  );
  expect(await figure(page, "Convolution")).toMatch(/^0 /);
  expect(await panels.filter({ visible: true }).count()).toBe(3);
});

describe("messages on a graph", () => {
  const held = async (page: Page): Promise<number[]> => (await readMatrix(page, "N")).flat();

  test("a round is the mean over neighbours and itself", async () => {
    const page = await answered("what-else.html#as=graph");
    // a is joined to b and c; c to a, b and d.
    compare([await held(page)], [1 / 3, 1 / 3, 1 / 4, 0, 0, 0, 0]);
    await page.locator('[data-picture="graph"]').getByRole("slider", { name: "Step" }).press("ArrowRight");
    await kernelAnswered(page);
    const second = [
      (1 / 3 + 1 / 3 + 1 / 4) / 3,
      (1 / 3 + 1 / 3 + 1 / 4) / 3,
      (1 / 3 + 1 / 3 + 1 / 4) / 4,
      1 / 12,
      0,
      0,
      0,
    ];
    compare([await held(page)], second);
  });

  test("it is the reference's masked attention", async () => {
    const page = await answered("what-else.html#as=graph");
    const alike = { data: new Float32Array(7), shape: [7, 1] };
    const joined = ["ab", "bc", "ac", "cd", "de", "ef", "fg", "eg"];
    const mask = Uint8Array.from({ length: 49 }, (_, index) => {
      const [a, b] = [Math.floor(index / 7), index % 7];
      const pair = [a, b]
        .sort()
        .map((node) => "abcdefg"[node])
        .join("");
      return a === b || joined.includes(pair) ? 1 : 0;
    });
    const values = { data: Float64Array.of(1, 0, 0, 0, 0, 0, 0), shape: [7, 1] };
    const wanted = attention(alike, alike, values, { mask: { data: mask, shape: [7, 7] } });
    compare(await readMatrix(page, "A"), wanted.weights.data);
    compare([await held(page)], wanted.output.data);
    await hover(page, "N", 2, 0);
    expect((await readTold(page)).kernel).toMatch(/^heed computes /);
    await hover(page, "A", 2, 3);
    expect((await readTold(page)).result).toBe(0.25);
  });

  test("a round under way carries its messages: half way a node holds half of what changes", async () => {
    const page = await answered("what-else.html#as=graph&rounds=0");
    const graph = page.locator('[data-picture="graph"]');
    await graph.getByRole("slider", { name: "Step" }).evaluate((range: HTMLInputElement) => {
      range.value = "0.5";
      range.dispatchEvent(new Event("input"));
    });
    expect(await hashOf(page)).not.toContain("rounds=0");
    // From a to b and c.
    expect(await graph.locator(".message").count()).toBe(2);
    const texts = (await graph.locator("svg text").allTextContents()).map(readNumber);
    compare([texts.filter((value) => !Number.isNaN(value))], [2 / 3, 1 / 6, 1 / 8, 0, 0, 0, 0]);
  });

  test("on a chain one round reaches the neighbour, and everybody where all are joined to all", async () => {
    const page = await open("what-else.html#as=graph");
    const joined = async (graph: string): Promise<number[]> => {
      await page.getByRole("group", { name: "Edges" }).getByRole("radio", { name: graph }).check();
      await kernelAnswered(page);
      return held(page);
    };
    compare([await joined("a chain")], [1 / 2, 1 / 3, 0, 0, 0, 0, 0]);
    compare([await joined("all to all")], Array(7).fill(1 / 7));
    expect(await page.locator('[data-picture="graph"] .picture-text').textContent()).toMatch(/^All are joined to all/);
  });
});

test("what is said is said of the part in view, also when one comes back to it", async () => {
  const page = await answered("what-else.html");
  const view = (name: string) => page.getByRole("group", { name: "Attention is" }).getByRole("radio", { name });
  const said = page.locator(".agreement");
  await view("far-reaching").check();
  expect(await said.textContent()).toMatch(/^Nothing is computed/);
  await view("a dense layer").check();
  await said.filter({ hasText: "fast weights: computed by heed" }).waitFor();
  await view("a convolution").check();
  await said.filter({ hasText: /^All 9 heads: computed by heed/ }).waitFor();
});

test("steps between words follow from the wiring", async () => {
  const page = await open("what-else.html#as=reach&n=64&k=3");
  const rows = await page.locator(".reach tbody tr").allTextContents();
  const steps = await page.locator(".reach tbody tr td:nth-child(2)").allTextContents();
  expect(rows).toHaveLength(5);
  // 1 + 3 + 9 + 27 = 40 < 64 <= 121: five layers.
  expect(steps).toEqual(["64", "64", "5", "64", "1"]);
  await page.getByRole("slider", { name: "Filter or window k" }).press("ArrowRight");
  expect(await page.locator(".reach tbody tr td:nth-child(2)").allTextContents()).toEqual(["64", "32", "4", "32", "1"]);
});

test.each(["", "#as=layer", "#as=set", "#as=graph", "#as=reach&n=8"])(
  "the copied heed call runs: what-else.html%s",
  async (hash) => {
    const page = await open(`what-else.html${hash}`, { permissions: ["clipboard-read", "clipboard-write"] });
    if (!hash.includes("reach")) await kernelAnswered(page);
    const output = await runUnderNode(await copied(page, "heed"));
    expect(await copied(page, "torch")).toContain("output = ");
    if (hash === "") {
      // The same at a quarter of the size: every fourth pixel of a picture that is computed.
      const { grey } = await jsonOf<Convolved>(page, "convolution");
      const coarse = grey.filter((_, pixel) => pixel % 4 === 0 && Math.floor(pixel / SIZE) % 4 === 0);
      expect(widest(convolved(coarse, await readMatrix(page, "W")), output)).toBeLessThan(1e-6);
    } else if (hash === "#as=layer") {
      compare(await readMatrix(page, "Y"), output);
    } else if (hash === "#as=set") {
      expect(widest((await jsonOf<{ attention: number[] }>(page, "set")).attention, output)).toBeLessThan(4e-6);
    } else if (hash === "#as=graph") {
      compare(await readMatrix(page, "N"), output);
    } else {
      expect(output.at(-1)).toBeCloseTo(1 / 9, 6);
    }
  },
);

test("pictures of pixels can be taken away", async () => {
  const page = await answered("what-else.html#at=0");
  const drawing = (await saved(page, "convolution", "SVG")).toString("utf8");
  expect(drawing.match(/<image [^>]*href="data:image\/png;base64,/g)).toHaveLength(3);
  expect((await saved(page, "convolution", "PNG")).length).toBeGreaterThan(5_000);
});

test("an address with nonsense in it is read as far as it makes sense", async () => {
  const page = await answered("what-else.html#as=sonata&w=4_1_1_1_1&sharp=-2&at=99999&picture=mine");
  expect(await readMatrix(page, "W")).toEqual([
    [0, -1, 0],
    [-1, 4, -1],
    [0, -1, 0],
  ]);
  expect((await readTold(page)).subject).toBe("row 128, column 128");
});

test.each(["", "#sharp=1", "#as=layer", "#as=set", "#as=graph", "#as=reach"])(
  "no paragraph is long, and numbers stay behind the picture: what-else.html%s",
  async (hash) => {
    const page = await open(`what-else.html${hash}`, { untouched: true });
    await page.locator(".agreement", { hasText: /computed by heed|Nothing is computed/ }).waitFor();
    expect(await longestParagraph(page, "main p:visible")).toBeLessThanOrEqual(45);
    expect(await page.locator("heed-matrix:visible").count()).toBe(0);
  },
);
