// Room 2 in real Chromium: ten ways to score five keys, and one's own, and what the reference says to each.

import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { attention, type ReferenceOptions } from "../../../web/src/reference/index.js";
import { demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import { column, compare, dot, HALF_OF_FOUR_DECIMALS, halfOfCell, inOne, total } from "./numbers.js";
import { cell, hashOf, hover, kernelAnswered, readMatrix, readNumber, readTold, reload } from "./page.js";
import { jsonOf } from "./saved.js";

const { answered, open } = demoInChromium();

const PERMISSIONS = { permissions: ["clipboard-read", "clipboard-write"] };

type Rows = readonly (readonly number[])[];
type Typed = Readonly<Record<"q" | "K" | "W" | "Wq" | "Wk" | "b" | "v" | "g", Rows>>;

const BUILT_IN = [
  "dot",
  "scaled-dot",
  "general",
  "additive",
  "gated",
  "cosine",
  "rbf",
  "distance",
  "top-k",
  "sparsemax",
] as const;
const KINDS = [...BUILT_IN, "own"] as const;

const typedOn = (page: Page): Promise<Typed> => jsonOf<Typed>(page, "lab");

function optionsOf(
  typed: Typed,
  bandwidth = 1,
  topK = 2,
): Readonly<Record<(typeof BUILT_IN)[number], ReferenceOptions>> {
  const row = (rows: Rows) => Float32Array.from(rows[0] ?? []);
  return {
    dot: { score: "dot" },
    "scaled-dot": { score: "scaled-dot" },
    general: { score: { type: "general", w: inOne(typed.W) } },
    additive: {
      score: { type: "additive", wq: inOne(typed.Wq), wk: inOne(typed.Wk), b: row(typed.b), v: row(typed.v) },
    },
    gated: { score: { type: "gated", w: row(typed.g) } },
    cosine: { score: "cosine" },
    rbf: { score: { type: "rbf", bandwidth } },
    distance: { score: "distance" },
    "top-k": { score: "scaled-dot", topK },
    sparsemax: { score: "scaled-dot", normalize: "sparsemax" },
  };
}

describe("scores and shares of every kind are those of the reference", () => {
  test.each([
    ["score-lab.html#score=additive", 1, 1, 2],
    ["score-lab.html#score=general&T=0.5&width=0.5&keep=3&q=2_0.5_-1", 0.5, 0.5, 3],
    ["score-lab.html#score=gated&T=3&keep=1&k=2_1_1_0_2_-1_3_0.5_0.5_2_2", 3, 1, 1],
  ] as const)("%s", async (path, temperature, bandwidth, topK) => {
    const page = await answered(path);
    const typed = await typedOn(page);
    const [scores, shares] = [await readMatrix(page, "S"), await readMatrix(page, "A")];
    expect(shares).toHaveLength(KINDS.length);
    const options = optionsOf(typed, bandwidth, topK);
    BUILT_IN.forEach((kind, row) => {
      const wanted = attention(inOne(typed.q), inOne(typed.K), inOne(typed.K), { ...options[kind], temperature });
      compare([scores[row] ?? []], wanted.scores.raw.data);
      compare([shares[row] ?? []], wanted.weights.data);
    });
  });
});

describe("the plane", () => {
  const handle = (page: Page, key: number) => page.locator(`[data-drag="${key}"]`);
  const softmaxOf = ({ q, K }: Pick<Typed, "q" | "K">): number[] => {
    const powers = K.map((key) => Math.exp(dot(q[0] ?? [], key) / Math.sqrt(2)));
    return powers.map((power) => power / total(powers));
  };

  test("has the weights that a softmax gives to keys that are dragged, or moved with the keyboard", async () => {
    const page = await answered("score-lab.html");
    const before = await typedOn(page);
    await handle(page, 2).scrollIntoViewIfNeeded();
    const box = await handle(page, 2).boundingBox();
    if (box === null) throw new Error("no key");
    const unit = Number(await handle(page, 1).getAttribute("cx")) - Number(await handle(page, 3).getAttribute("cx"));
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + unit / 4.5, y + unit / 9, { steps: 5 });
    await page.mouse.up();
    await handle(page, -1).focus();
    for (const key of ["ArrowLeft", "ArrowLeft", "ArrowUp"]) await page.keyboard.press(key);
    await kernelAnswered(page);
    const after = await typedOn(page);
    // k2 and k4 are 4.5 apart.
    expect(after.K[2]?.[0]).toBeCloseTo((before.K[2]?.[0] ?? 0) + 1, 1);
    expect(after.K[2]?.[1]).toBeCloseTo((before.K[2]?.[1] ?? 0) - 0.5, 1);
    expect(after.q[0]?.map((value) => Number(value.toFixed(6)))).toEqual([0.8, 0.6]);
    const wanted = softmaxOf(after);
    compare([(await readMatrix(page, "A"))[KINDS.indexOf("scaled-dot")] ?? []], wanted);
    const said = await page.locator(".plane-label").allTextContents();
    expect(
      said
        .map((text) => readNumber(text.replace(/^q$|^k\d |%/g, "")))
        .reverse()
        .slice(0, 5),
    ).toEqual(wanted.map((weight) => Math.round(100 * weight)));
  });

  test("is as dark as the weight of one more key, for every score", async () => {
    const page = await open("score-lab.html");
    for (const kind of BUILT_IN) {
      await page.locator(`input[value="${kind}"]`).check();
      await kernelAnswered(page);
      const typed = await typedOn(page);
      const places = [-4, -2.5, -1, 0.25, 1.5, 3, 4.5].flatMap((x) => [-2, -0.5, 1, 2.25].map((y) => [x, y] as const));
      const drawn = await page.locator("path.plane-level").evaluateAll(
        (paths, places) =>
          paths.map((path) => ({
            level: Number(path.getAttribute("data-level")),
            // A step of the grid is an eighth, and the first place is at -5 and 2.5.
            inside: places.map(
              ([x, y]) =>
                path instanceof SVGPathElement &&
                path.isPointInFill({ x: 8 * (x + 5) + 0.01, y: 8 * (2.5 - y) + 0.01 }),
            ),
          })),
        places,
      );
      expect(drawn).toHaveLength(12);
      places.forEach((place, index) => {
        const keys = inOne([...typed.K, place]);
        const weight = attention(inOne(typed.q), keys, keys, optionsOf(typed)[kind]).weights.data[5] ?? Number.NaN;
        for (const { level, inside } of drawn) {
          if (Math.abs(weight - level) < 0.03 * level) continue;
          expect(inside[index], `${kind} at ${place}: ${weight}, level ${level}`).toBe(weight > level);
        }
      });
    }
  });
});

/** By the formula's own meaning, in plain arithmetic, of the scaled dot product over T. */
const FORMULAS: readonly (readonly [formula: string, rule: (score: number, k: number) => number])[] = [
  ["score - 0.5 * abs(q - k)", (score, k) => score - 0.5 * k],
  ["score", (score) => score],
  [
    "k % 2 == 0 || k > 3 ? 3 * tanh(score / 3) : -infinity",
    (score, k) => (k % 2 === 0 ? 3 * Math.tanh(score / 3) : -Infinity),
  ],
  ["-(k//2 - 1) * -score + max(k, 2, 1e0) - .5", (score, k) => (Math.floor(k / 2) - 1) * score + Math.max(k, 2) - 0.5],
  [
    "!(q + h + b != 0 && k >= 0) ? exp(min(score, 1)) - sqrt(k) : log(k)",
    (score, k) => Math.exp(Math.min(score, 1)) - Math.sqrt(k),
  ],
  ["8 - 4 - 2 - k / 2 / 2", (_score, k) => 2 - k / 4],
];

test("a formula of one's own gives the reference's numbers, and comes back with the address", async () => {
  const page = await answered("score-lab.html#score=own&T=2&q=2_0.5_-1", PERMISSIONS);
  const row = KINDS.indexOf("own");
  for (const [formula, rule] of FORMULAS) {
    await page.getByLabel("Your own score").fill(formula);
    await expect
      .poll(async () => new URLSearchParams((await hashOf(page)).slice(1)).get("f") ?? FORMULAS[0]?.[0])
      .toBe(formula);
    await kernelAnswered(page);
    const { q, K } = await jsonOf<Pick<Typed, "q" | "K">>(page, "lab");
    const plain = attention(inOne(q), inOne(K), inOne(K), { score: "scaled-dot", temperature: 2 }).scores.raw.data;
    const wanted = plain.map(rule);
    compare([(await readMatrix(page, "S"))[row] ?? []], wanted);
    const bias = { data: wanted, shape: [1, wanted.length] };
    const { weights } = attention(inOne(q), inOne(K), inOne(K), { scale: 0, bias });
    compare([(await readMatrix(page, "A"))[row] ?? []], weights.data);
    compare([await runUnderNode(await copied(page, "heed"))], weights.data);
    await reload(page);
    await kernelAnswered(page);
    expect(await page.getByLabel("Your own score").inputValue()).toBe(formula);
    compare([(await readMatrix(page, "S"))[row] ?? []], wanted);
  }
});

const UNREADABLE = [
  ["score +", "something is missing at the end"],
  ["(score", "“)” is missing"],
  ["score)", "“)” is too much"],
  ["alert(1)", "there is no “alert”"],
  ["constructor(1)", "there is no “constructor”"],
  ["score; 1", "cannot read “; 1”"],
  ["score % 2", "mod takes whole numbers"],
  ["k < 2", "it is true or false"],
  ["1 < 2 < 3", "less takes numbers"],
  ["max(score)", "max takes two or more"],
  ["abs(1, 2)", "abs takes one"],
] as const;

test("what cannot be read is told at the field, and the last formula stays", async () => {
  const page = await answered("score-lab.html#score=own&f=k");
  const field = page.getByLabel("Your own score");
  const trouble = page.locator("#formula-trouble");
  const scores = async () => (await readMatrix(page, "S"))[KINDS.indexOf("own")];
  for (const [index, [typed, told]] of UNREADABLE.entries()) {
    await field.fill(typed);
    await expect.poll(() => trouble.textContent(), { message: typed }).toContain(told);
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await scores(), typed).toEqual([0, 1, 2, 3, 4].map((k) => k + index));
    await field.fill(`k + ${index + 1}`);
    await expect.poll(() => trouble.textContent()).toBe("");
    await expect.poll(scores).toEqual([1, 2, 3, 4, 5].map((k) => k + index));
  }
});

test("a weight that is no number has no percent sign, and what is shown meanwhile is named", async () => {
  const page = await open("score-lab.html#score=own");
  const labels = () => page.locator(".plane-label").allTextContents();
  await page.getByLabel("Your own score").fill("log(-1)");
  await expect.poll(labels).toContain("k1 no number");
  expect((await labels()).join()).not.toMatch(/NaN/);
  await page.getByLabel("Your own score").fill("score - 2 *");
  await expect
    .poll(() => page.locator("#formula-trouble").textContent())
    .toMatch(/What could be read before is still shown\.$/);
});

test("an address with a formula that cannot be read has the one that is given", async () => {
  const page = await answered("score-lab.html#score=own&f=alert(1)");
  expect(await page.getByLabel("Your own score").inputValue()).toBe(FORMULAS[0]?.[0]);
});

test("scores that are no numbers are told", async () => {
  const page = await answered("score-lab.html#score=own&f=sqrt(k+-+2)");
  expect(await page.locator("#formula-trouble").textContent()).toBe("The score of k1 is not a number.");
});

const EXTREMES = [
  ["log(-1)", "The score of k1 is not a number.", "your own gives no key a weight that is a number."],
  ["k == 2 ? 1 / 0 : score", "The score of k3 is infinite.", "your own gives k3 the most."],
  ["(score + 10) * 1e38 * 1e38", "The score of k1 is too large", "your own gives every key the same."],
  ["-infinity", "", "your own gives every key 0."],
  ["1", "", "your own gives every key the same."],
  ["abs(k - 2) == 1 ? 1 : 0", "", "your own gives k2 and k4 the most."],
] as const;

test("the room says what a formula gives, and how the rest agrees", async () => {
  const page = await open("score-lab.html#score=own");
  for (const [formula, trouble, gives] of EXTREMES) {
    await kernelAnswered(page);
    await page.getByLabel("Your own score").fill(formula);
    await kernelAnswered(page);
    await page.locator('[data-picture="lab"] .picture-text', { hasText: gives }).waitFor();
    await expect.poll(() => page.locator("#formula-trouble").textContent(), { message: formula }).toContain(trouble);
    const rest = trouble === "" ? "" : ", except for your own, whose scores are not all finite";
    // The largest f32 difference of eleven kinds of score.
    await expect
      .poll(() => page.locator(".agreement").textContent(), { message: formula })
      .toMatch(new RegExp(`they agree to [67] decimals${rest}\\.$`));
  }
});

test("as given, a dot product prefers the longer key, and a distance the same one", async () => {
  const page = await answered("score-lab.html#score=dot");
  const shares = await readMatrix(page, "A");
  const best = (row: number): number => (shares[row] ?? []).indexOf(Math.max(...(shares[row] ?? [])));
  expect(best(KINDS.indexOf("dot"))).toBe(1);
  expect(best(KINDS.indexOf("distance"))).toBe(0);
  const cosine = shares[KINDS.indexOf("cosine")] ?? [];
  expect(cosine[0]).toBe(cosine[1]);
});

test("a kind shows its own parameters, and the address keeps what is typed", async () => {
  const page = await open("score-lab.html");
  expect(await page.locator('[data-picture="lab"] heed-matrix:visible').count()).toBe(4);
  await page.getByRole("group", { name: "Score" }).getByRole("radio", { name: "additive" }).check();
  expect(await page.locator('[data-picture="lab"] heed-matrix:visible').count()).toBe(8);
  await cell(page, "v", 0, 1).focus();
  await page.keyboard.type("-2");
  await page.keyboard.press("Enter");
  expect(await readMatrix(page, "v")).toEqual([[1, -2, 1]]);
  const before = await readMatrix(page, "S");
  await reload(page);
  await kernelAnswered(page);
  expect(await readMatrix(page, "S")).toEqual(before);
  await page.getByRole("button", { name: "Reset" }).click();
  expect(await readMatrix(page, "v")).toEqual([[1, 1, 1]]);
});

test("an additive score tells its hidden numbers, and they add up", async () => {
  const page = await open("score-lab.html#score=additive");
  await hover(page, "S", KINDS.indexOf("additive"), 2);
  const told = await readTold(page);
  expect(told.terms).toHaveLength(3);
  told.terms.forEach(([sum = Number.NaN, tanh = Number.NaN, weight = Number.NaN, product = Number.NaN]) => {
    expect(Math.abs(Math.tanh(sum) - tanh)).toBeLessThan(0.0011);
    expect(Math.abs(tanh * weight - product)).toBeLessThan(0.0011);
  });
  expect(Math.abs(total(told.terms.map((figures) => figures[3] ?? Number.NaN)) - told.result)).toBeLessThan(0.0016);
});

test("a key that is the query is at distance 0, without a sign, and its name stands beside the ring", async () => {
  const page = await open("score-lab.html#score=rbf");
  await hover(page, "S", KINDS.indexOf("rbf"), 0);
  expect((await readTold(page)).last).toBe("0");
  const [ring, label] = [page.locator("circle.plane-query"), page.locator(".plane-label", { hasText: "k1" })];
  const [around, beside] = [await ring.boundingBox(), await label.boundingBox()];
  expect(beside?.x).toBeGreaterThan((around?.x ?? Number.NaN) + (around?.width ?? Number.NaN));
});

test("a gated score tells what opens its gate", async () => {
  const page = await open("score-lab.html#score=gated");
  const [[q = []], keys, [w = []]] = [
    await readMatrix(page, "q"),
    await readMatrix(page, "K"),
    await readMatrix(page, "g"),
  ];
  await hover(page, "S", KINDS.indexOf("gated"), 1);
  const told = await readTold(page);
  const opened = dot([...q, ...(keys[1] ?? [])], w);
  const wanted = dot(q, keys[1] ?? []) / (1 + Math.exp(-opened));
  expect(told.terms).toHaveLength(2);
  expect(Math.abs(told.result - wanted)).toBeLessThanOrEqual(HALF_OF_FOUR_DECIMALS);
});

test("a general score multiplies the key by what W makes of the query", async () => {
  const page = await open("score-lab.html#score=general");
  const [[q = []], W] = [await readMatrix(page, "q"), await readMatrix(page, "W")];
  await hover(page, "S", KINDS.indexOf("general"), 2);
  const { terms } = await readTold(page);
  expect(terms.map(([made]) => made)).toEqual([0, 1].map((col) => dot(q, column(W, col))));
});

test("a threshold tells how sparsemax cuts off, and top-k which keys it keeps", async () => {
  const page = await answered("score-lab.html");
  await hover(page, "A", KINDS.indexOf("sparsemax"), 1);
  const sparse = await readTold(page);
  expect(Math.abs(total(sparse.terms.map(([, share = Number.NaN]) => share)) - 1)).toBeLessThan(
    5 * HALF_OF_FOUR_DECIMALS,
  );
  expect(sparse.kernel).toMatch(/heed computes/);
  await hover(page, "A", KINDS.indexOf("top-k"), 0);
  const top = await readTold(page);
  expect(top.terms.filter(([, power]) => power === 0)).toHaveLength(3);
});

test("what a score costs is counted", async () => {
  const page = await answered("score-lab.html#score=additive");
  const costs = page.locator('[data-picture="lab"] .figures');
  expect(await costs.textContent()).toMatch(/64 products .* 64 tanh.*4,096 a query, 4,096 a key multiply-adds$/);
});

test.each(KINDS)("the copied heed call of %s runs and gives the shares on the page", async (kind) => {
  const page = await answered(`score-lab.html#score=${kind}`, PERMISSIONS);
  const shown = (await readMatrix(page, "A"))[KINDS.indexOf(kind)] ?? [];
  const found = await runUnderNode(await copied(page, "heed"));
  expect(found).toHaveLength(shown.length);
  shown.forEach((share, key) => {
    expect(Math.abs(share - (found[key] ?? Number.NaN))).toBeLessThanOrEqual(halfOfCell(share));
  });
  expect(await copied(page, "torch")).toContain("output = ");
});
