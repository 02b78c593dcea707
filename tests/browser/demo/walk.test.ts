// The demo in real Chromium: does what a person would do, reads numbers from the page, and computes them again from what is
// printed before them.

import { describe, expect, test } from "vitest";
import { attention } from "../../../web/src/reference/index.js";
import { demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import { column, compare, dot, HALF_OF_FOUR_DECIMALS, HALF_OF_TWO_DECIMALS, total } from "./numbers.js";
import { cell, chooseBy, hashOf, hover, kernelAnswered, readMatrix, readTold, reload, step } from "./page.js";
import { jsonOf } from "./saved.js";

const { answered, open } = demoInChromium();

const PLACES = ["X", "Q", "K", "V", "QKᵀ", "scale", "mask", "softmax", "O"] as const;

describe("the first look", () => {
  test.each([
    ["isolated", true],
    ["plain", false],
  ] as const)("says which variant computes on a page that is %s", async (kind, isolated) => {
    const page = await answered("matrix-walk.html", {}, kind);
    const status = page.locator("#status-summary");
    await expect.poll(() => status.textContent()).toMatch(/^(relaxed )?SIMD · \d+ threads?$/);
    await page.locator(".status summary").click();
    const details = (await page.locator("#status-details").textContent()) ?? "";
    expect(details).toContain(isolated ? "the page is isolated" : "the page is not isolated");
  });

  test("the sentence says whom the word in the light attends to, as the matrix does", async () => {
    const page = await answered("matrix-walk.html#step=softmax");
    await page.locator(".flow-askers button", { hasText: /^it$/ }).click();
    const weights = await readMatrix(page, "A");
    const caption = (await page.locator(".stage-caption").textContent()) ?? "";
    const shares = weights[7] ?? [];
    const heard = caption.match(/^it → animal (\d+)\s%, road (\d+)\s%\.$/);
    expect(heard, caption).not.toBeNull();
    expect(Number(heard?.[1]) / 100).toBeCloseTo(shares[1] ?? Number.NaN, 2);
    expect(Number(heard?.[2]) / 100).toBeCloseTo(shares[5] ?? Number.NaN, 2);
  });

  test("the kernel and the arithmetic of the page agree within f32", async () => {
    const page = await answered("matrix-walk.html#h=2&causal=lower-right");
    const said = (await page.locator(".agreement").textContent()) ?? "";
    expect(said).toMatch(/agree to ([6-9]|1\d) decimals\.$/);
  });
});

describe("a typed sentence", () => {
  const SENTENCE = "The hungry fox saw a quick rabbit";

  test("gives a row for each word, and shares that sum to one", async () => {
    const page = await open();
    await page.locator("#sentence").fill(SENTENCE);
    await step(page, "softmax");
    await kernelAnswered(page);
    const labels = await page.locator('heed-matrix[data-name="A"] tbody th').allTextContents();
    expect(labels).toEqual(SENTENCE.split(" "));
    for (const row of await readMatrix(page, "A")) {
      expect(Math.abs(total(row) - 1)).toBeLessThanOrEqual(row.length * HALF_OF_TWO_DECIMALS);
    }
  });

  test("every step follows from the numbers of the step before", async () => {
    const page = await open("matrix-walk.html#d=4");
    await page.locator("#sentence").fill("cat saw it");
    const x = await readMatrix(page, "X");
    const projected: Record<string, number[][]> = {};
    for (const [weights, result] of [
      ["Wq", "Q"],
      ["Wk", "K"],
      ["Wv", "V"],
    ] as const) {
      await step(page, result);
      const w = await readMatrix(page, weights);
      const shown = await readMatrix(page, result);
      projected[result] = shown;
      shown.forEach((row, i) => {
        row.forEach((value, j) => {
          expect(Math.abs(value - dot(x[i] ?? [], column(w, j)))).toBeLessThanOrEqual(HALF_OF_TWO_DECIMALS);
        });
      });
    }
    // With these vectors all of Q, K and V have at most two decimals, so the page shows them exactly.
    const tensor = (name: string) => ({ data: Float64Array.from(projected[name]?.flat() ?? []), shape: [3, 4] });
    const expected = attention(tensor("Q"), tensor("K"), tensor("V"));
    await step(page, "softmax");
    await kernelAnswered(page);
    compare(await readMatrix(page, "A"), expected.weights.data);
    compare(await readMatrix(page, "lse"), expected.lse.data);
    await step(page, "O");
    compare(await readMatrix(page, "O"), expected.output.data);
  });

  test("no words, too many words, emoji and right-to-left words are all shown without an error", async () => {
    const page = await open();
    await page.locator("#sentence").fill("");
    expect(await page.locator(".field-message").textContent()).toContain("No words yet");
    await page.locator("#sentence").fill("a ".repeat(30));
    expect(await page.locator(".field-message").textContent()).toContain("6 left out");
    const words = ["שלום", "👩‍👩‍👧", "🇩🇪", "7️⃣", "Donaudampfschifffahrtsgesellschaftskapitän"];
    await page.locator("#sentence").fill(words.join(" "));
    await kernelAnswered(page);
    expect(await page.locator(".flow-askers button").allTextContents()).toEqual(words);
  });
});

describe("a cell's arithmetic", () => {
  test("the multiply-adds told for a score add up to the displayed number", async () => {
    const page = await open("matrix-walk.html#step=scores");
    const [q, keys, scores] = [await readMatrix(page, "Q"), await readMatrix(page, "Kt"), await readMatrix(page, "S")];
    await hover(page, "S", 3, 5);
    const told = await readTold(page);
    expect(told.subject).toBe("S [cross, road]");
    expect(told.terms.map(([left]) => left)).toEqual(q[3]);
    expect(told.terms.map(([, right]) => right)).toEqual(column(keys, 5));
    for (const [a = Number.NaN, b = Number.NaN, product = Number.NaN] of told.terms) {
      expect(Math.abs(product - a * b)).toBeLessThanOrEqual(HALF_OF_FOUR_DECIMALS);
    }
    const sum = total(told.terms.map(([, , product]) => product ?? Number.NaN));
    expect(Math.abs(sum - told.result)).toBeLessThanOrEqual(9 * HALF_OF_FOUR_DECIMALS);
    expect(Math.abs((scores[3]?.[5] ?? Number.NaN) - told.result)).toBeLessThanOrEqual(HALF_OF_TWO_DECIMALS);
  });

  test("a share is told from its row's scores, and the kernel's own number stands beside it", async () => {
    const page = await answered("matrix-walk.html#step=softmax");
    await hover(page, "A", 7, 5);
    const told = await readTold(page);
    const scores = told.terms.map(([score]) => score ?? Number.NaN);
    const most = Math.max(...scores);
    const sum = total(scores.map((score) => Math.exp(score - most)));
    expect(Math.abs(Math.exp((scores[5] ?? Number.NaN) - most) / sum - told.result)).toBeLessThan(0.001);
    expect(told.kernel).toMatch(/^heed computes (exactly the same|0\.\d+, the same to ([6-9]|1\d) decimals)\.$/);
    const shown = (await readMatrix(page, "A"))[7]?.[5] ?? Number.NaN;
    expect(Math.abs(shown - told.result)).toBeLessThanOrEqual(HALF_OF_TWO_DECIMALS);
  });

  test("the keyboard walks the cells, and the arithmetic follows", async () => {
    const page = await answered("matrix-walk.html#step=output");
    await cell(page, "O", 0, 0).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    const told = await readTold(page);
    expect(told.subject).toBe("O [animal, alive]");
    const sum = total(told.terms.map(([share = Number.NaN, value = Number.NaN]) => share * value));
    expect(Math.abs(sum - told.result)).toBeLessThanOrEqual(12 * HALF_OF_FOUR_DECIMALS);
    expect(await page.locator(".board-tick[aria-current]").textContent()).toBe("O");
  });

  test("an edited cell changes everything that follows from it", async () => {
    const page = await open("matrix-walk.html#step=project");
    const before = (await readMatrix(page, "Q"))[7]?.[0] ?? Number.NaN;
    await cell(page, "Wq", 2, 0).focus();
    await page.keyboard.type("1.5");
    await page.keyboard.press("Enter");
    const after = (await readMatrix(page, "Q"))[7]?.[0] ?? Number.NaN;
    expect([before, after]).toEqual([4, 1.5]);
    await page.getByText("Undo all edits").click();
    expect((await readMatrix(page, "Q"))[7]?.[0]).toBe(before);
  });

  test("a block pasted from a spreadsheet becomes X", async () => {
    const page = await open();
    await cell(page, "X", 0, 0).focus();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData("text/plain", "2\t−1,5\n0.25\t3");
      document.activeElement?.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
    });
    const x = await readMatrix(page, "X");
    expect([x[0]?.slice(0, 2), x[1]?.slice(0, 2)]).toEqual([
      [2, -1.5],
      [0.25, 3],
    ]);
  });
});

describe("masks", () => {
  test("causal takes every later word out of sight, and says why", async () => {
    const page = await open("matrix-walk.html#step=softmax");
    await page.getByRole("group", { name: "Causal" }).getByRole("radio", { name: "on" }).check();
    await kernelAnswered(page);
    const weights = await readMatrix(page, "A");
    weights.forEach((row, i) => {
      row.forEach((share, j) => {
        if (j > i) expect(share, `${i} ${j}`).toBe(0);
      });
      expect(Math.abs(total(row) - 1)).toBeLessThanOrEqual(row.length * HALF_OF_TWO_DECIMALS);
    });
    await step(page, "mask");
    const masked = await readMatrix(page, "M");
    expect(masked[2]?.[3]).toBe(Number.NEGATIVE_INFINITY);
    await hover(page, "M", 2, 3);
    expect(await page.locator(".readout").textContent()).toContain(
      "Causal: query 3 sees keys up to 3, and “cross” is key 4.",
    );
  });

  test("with fewer queries than keys the two alignments differ", async () => {
    const page = await open("matrix-walk.html#t=a+b+c+d&asking=2&causal=lower-right&step=mask");
    const hidden = async (): Promise<number[][]> =>
      (await readMatrix(page, "M")).map((row) =>
        row.flatMap((value, key) => (value === Number.NEGATIVE_INFINITY ? [key] : [])),
      );
    expect(await hidden()).toEqual([[3], []]);
    await page.getByRole("radio", { name: "upper left" }).check();
    expect(await hidden()).toEqual([
      [1, 2, 3],
      [2, 3],
    ]);
  });

  test("a hidden word gets no share, and with all words hidden every output is zero", async () => {
    const page = await open("matrix-walk.html#t=cat+saw+it&step=softmax");
    const chips = page.locator(".chips button");
    await chips.nth(0).click();
    await kernelAnswered(page);
    expect(column(await readMatrix(page, "A"), 0)).toEqual([0, 0, 0]);
    await chips.nth(1).click();
    await chips.nth(2).click();
    await kernelAnswered(page);
    expect((await readMatrix(page, "A")).flat()).toEqual(Array.from({ length: 9 }, () => 0));
    expect((await readMatrix(page, "lse")).flat()).toEqual(Array.from({ length: 3 }, () => Number.NEGATIVE_INFINITY));
    await step(page, "O");
    expect((await readMatrix(page, "O")).flat().every((value) => value === 0)).toBe(true);
  });
});

describe("the walk", () => {
  test("goes on and back by its scrubber’s arrows, and shows the numbers of one step or of all", async () => {
    const page = await open();
    const current = (): Promise<string | null> => page.locator(".board-tick[aria-current]").textContent();
    const scrubber = page.getByRole("slider", { name: "Step" });
    for (const [key, name] of [
      ["ArrowRight", "Q"],
      ["ArrowRight", "K"],
      ["ArrowLeft", "Q"],
    ] as const) {
      await scrubber.press(key);
      expect(await current()).toBe(name);
      expect(await scrubber.getAttribute("aria-valuetext")).toMatch(new RegExp(`^${name}: `));
    }
    expect(await page.locator("heed-matrix:visible").count()).toBe(3);
    await page.getByRole("button", { name: "All steps" }).click();
    expect(await page.locator("heed-matrix:visible").count()).toBe(15);
  });

  test("the state survives a reload, by the address alone", async () => {
    const page = await open();
    await page.locator("#sentence").fill("the dog saw a cat");
    await page.getByRole("group", { name: "Heads" }).getByRole("radio", { name: "2" }).check();
    await page.locator(".chips button").nth(3).click();
    await step(page, "softmax");
    await kernelAnswered(page);
    const before = await readMatrix(page, "A");
    await reload(page);
    await kernelAnswered(page);
    expect(await page.locator("#sentence").inputValue()).toBe("the dog saw a cat");
    expect(await readMatrix(page, "A")).toEqual(before);
  });

  test("an address with nonsense in it is read as far as it makes sense", async () => {
    const page = await answered(
      "matrix-walk.html#t=cat+saw+it&h=99&d=-3&x=2_a_b&hide=7.x.1&scale=NaN&wq=3_1&step=nowhere&word=88&head=9",
    );
    expect(await page.locator(".flow-askers button").allTextContents()).toEqual(["cat", "saw", "it"]);
    expect(await page.locator(".board-tick[aria-current]").textContent()).toBe("X");
  });
});

test("the copied heed call runs and gives the numbers on the page", async () => {
  const page = await answered("matrix-walk.html#t=cat+saw+it+run&h=2&causal=upper-left&asking=3&hide=0&step=output", {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const code = await copied(page, "heed");
  const ran = await runUnderNode(code);
  const read = (name: string): { data: Float64Array; shape: number[] } => {
    const found = code.match(
      new RegExp(`const ${name} = \\{\\s*data: Float32Array.of\\(([^)]*)\\),\\s*shape: (\\[.*\\])`),
    );
    return {
      data: Float64Array.from(JSON.parse(`[${found?.[1]?.replace(/,\s*$/, "")}]`)),
      shape: JSON.parse(found?.[2] ?? "[]"),
    };
  };
  expect(code).toContain('causal: "upper-left"');
  const mask = {
    data: Uint8Array.from(JSON.parse(`[${code.match(/Uint8Array.of\((.*?)\)/)?.[1]}]`)),
    shape: [1, 1, 1, 4],
  };
  const scale = Number(code.match(/scale: (.*),/)?.[1]);
  const { output } = attention(read("q"), read("k"), read("v"), { scale, mask, causal: "upper-left" });
  const first = output.data.subarray(0, output.data.length / 2);
  compare(await readMatrix(page, "O"), first);
  expect(ran).toHaveLength(output.data.length);
  ran.forEach((value, index) => {
    expect(value).toBeCloseTo(output.data[index] ?? Number.NaN, 5);
  });
});

describe("with a word as a column", () => {
  const turn = (matrix: readonly (readonly number[])[]): number[][] =>
    (matrix[0] ?? []).map((_, index) => column(matrix, index));

  test("every matrix of every step is turned", async () => {
    const page = await open("matrix-walk.html#causal=lower-right");
    const read = async () => {
      const names = await page
        .locator("heed-matrix:visible")
        .evaluateAll((all) => all.map((one) => one.getAttribute("data-name") ?? ""));
      return Promise.all(names.map(async (one) => [one, await readMatrix(page, one)] as const));
    };
    for (const name of PLACES) {
      await step(page, name);
      await kernelAnswered(page);
      const before = await read();
      await chooseBy(page, "column");
      await kernelAnswered(page);
      expect(await read(), name).toEqual(before.map(([one, matrix]) => [one, turn(matrix)]));
      expect(await hashOf(page)).toContain("by=columns");
      await chooseBy(page, "row");
    }
  });

  test("a cell is told, lit and edited where it stands now", async () => {
    const page = await open("matrix-walk.html#step=project&by=columns");
    await hover(page, "Q", 0, 7);
    expect((await readTold(page)).subject).toBe("Q [it, who]");
    expect(await page.locator('heed-matrix[data-name="X"]:visible td.lit-col').count()).toBe(8);
    expect(await page.locator(".readout").textContent()).toContain("its column of X times this row of WQ");
    await cell(page, "Wq", 0, 2).focus();
    await page.keyboard.type("1.5");
    await page.keyboard.press("Enter");
    expect((await readMatrix(page, "Q"))[0]?.[7]).toBe(1.5);
  });
});

test("the numbers of all steps can be taken away, and O is A times V", async () => {
  const page = await answered("matrix-walk.html#t=cat+saw+it&causal=lower-right");
  const { labels, A, V, O } = await jsonOf<Readonly<Record<"labels" | "A" | "V" | "O", number[][]>>>(page, "walk");
  expect(labels).toEqual(["cat", "saw", "it"]);
  expect(O).toHaveLength(3);
  O.forEach((row, i) => {
    row.forEach((value, j) => {
      expect(value).toBeCloseTo(dot(A[i] ?? [], column(V, j)), 6);
    });
  });
});

describe("on a phone", () => {
  test("no step makes the page wider than 360 pixels", async () => {
    const page = await open("matrix-walk.html#h=2&asking=5&causal=lower-right", {
      viewport: { width: 360, height: 740 },
      hasTouch: true,
    });
    for (const name of PLACES) {
      await step(page, name);
      await kernelAnswered(page);
      const { inner, scroll } = await page.evaluate(() => ({
        inner: document.documentElement.clientWidth,
        scroll: document.documentElement.scrollWidth,
      }));
      expect(scroll, name).toBeLessThanOrEqual(inner);
      // Nor is the formula cut off.
      const formula = page.locator(".step-formula");
      expect(await formula.evaluate((one) => one.scrollWidth - one.clientWidth), name).toBe(0);
    }
  });

  test("nor does a word that is longer than the page", async () => {
    const page = await answered(
      "matrix-walk.html#t=Donaudampfschifffahrtsgesellschaftskapitän+sees+Donaudampfschifffahrtsgesellschaften",
      {
        viewport: { width: 360, height: 740 },
        hasTouch: true,
      },
    );
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  });

  test("a tapped cell tells its arithmetic", async () => {
    const page = await open("matrix-walk.html#step=scores", { viewport: { width: 360, height: 740 }, hasTouch: true });
    await cell(page, "Q", 3, 1).tap();
    expect((await readTold(page)).subject).toBe("Q [cross, doer]");
  });
});
