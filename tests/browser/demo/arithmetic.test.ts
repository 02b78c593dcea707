// The demo's own arithmetic, without a browser: every cell of every matrix is explained, and the explanation adds up.

import { describe, expect, test } from "vitest";
import { at, fill } from "../../../demo/src/model/matrix.js";
import { type State, WALK_STATE } from "../../../demo/src/model/state.js";
import { cutIntoWords } from "../../../demo/src/model/tokens.js";
import { walk } from "../../../demo/src/model/walk.js";
import type { Explanation } from "../../../demo/src/ui/explanation.js";
import { agreeing, magnitude, timesTold } from "../../../demo/src/ui/numbers.js";
import { explain, MATRICES, type Scene, viewOf } from "../../../demo/src/ui/walk-matrices.js";
import { attention } from "../../../web/src/reference/index.js";
import { readBlock } from "../../../web/src/viz/paste.js";
import { HALF_OF_FOUR_DECIMALS } from "./numbers.js";

const STATES: Readonly<Record<string, Partial<State>>> = {
  "one head": {},
  "two heads, causal": { heads: 2, head: 1, causal: "lower-right" },
  "three heads, which need a width of 9": { heads: 3, head: 2 },
  "the last four words ask, lower right": { asking: 4, causal: "lower-right" },
  "the last four words ask, upper left": { asking: 4, causal: "upper-left", heads: 4 },
  "hidden words": { hidden: [0, 5, 10] },
  "everything hidden": { text: "cat saw it", hidden: [0, 1, 2] },
  "unknown words at width 16, own scale": { text: "Zyzzyva jumped brightly over Ωmega 🦊", width: 16, scale: 0.7 },
  "one word": { text: "it" },
  "numbers, edited projections": {
    text: "",
    numbers: fill(3, 5, (row, col) => row - col / 2),
    wq: fill(5, 5, (row, col) => (row + col) / 4),
    wk: fill(5, 5, (row, col) => row - col),
  },
};

const { initial, consistent, fromHash, toHash } = WALK_STATE;
const cases = Object.entries(STATES).map(([name, patch]) => [name, consistent({ ...initial, ...patch })] as const);

function sceneOf(state: State): Scene {
  const walked = walk(state);
  const head = walked.heads[state.head];
  if (head === undefined) throw new Error("no such head");
  return { walk: walked, state, head, kernel: undefined };
}

describe.each(cases)("%s", (_name, state) => {
  const scene = sceneOf(state);

  test("weights, lse and output are those of the reference", () => {
    const { walk: walked } = scene;
    const stack = (role: "q" | "k" | "v") => ({
      data: Float64Array.from(walked.heads.flatMap((head) => [...head[role].data])),
      shape: [1, walked.heads.length, walked.heads[0]?.[role].rows ?? 0, walked.headWidth],
    });
    const mask = {
      data: walked.labels.map((_, key) => !state.hidden.includes(key)),
      shape: [1, 1, 1, walked.labels.length],
    };
    const causal = state.causal === "none" ? false : state.causal;
    const expected = attention(stack("q"), stack("k"), stack("v"), { scale: walked.scale, causal, mask });
    for (const name of ["weights", "lse", "output"] as const) {
      const own = walked.heads.flatMap((head) => [...head[name].data]);
      expect(own).toHaveLength(expected[name].data.length);
      own.forEach((value, index) => {
        const wanted = expected[name].data[index] ?? Number.NaN;
        if (Number.isFinite(wanted)) expect(value).toBeCloseTo(wanted, 12);
        else expect(value).toBe(wanted);
      });
    }
  });

  test("a scaled score is the product of the figures that are told, to its last digit where it says so", () => {
    const { rows, cols } = viewOf("Z", scene).matrix;
    for (let cell = 0; cell < rows * cols; cell++) {
      const { last = "", result } = explain(scene, { name: "Z", row: Math.floor(cell / cols), col: cell % cols }) ?? {};
      const [, a, b, sign, c] = /^(\S+) × (\S+) ([=≈]) (\S+)$/.exec(last.replaceAll("−", "-")) ?? [];
      expect(Math.abs(Number(c) - (result ?? Number.NaN)), last).toBeLessThanOrEqual(HALF_OF_FOUR_DECIMALS);
      const off = Math.abs(Number(a) * Number(b) - Number(c));
      // Else the score is off by half of its fourth decimal too, and the scale by half of its sixth.
      const more = sign === "=" ? 0 : Number(b) * HALF_OF_FOUR_DECIMALS + 5e-7 * Math.abs(Number(a));
      expect(off, last).toBeLessThanOrEqual(HALF_OF_FOUR_DECIMALS + more);
    }
  });

  test.each(MATRICES)("every cell of %s tells the number that it shows", (name) => {
    const { matrix } = viewOf(name, scene);
    for (let row = 0; row < matrix.rows; row++) {
      for (let col = 0; col < matrix.cols; col++) {
        const told = explain(scene, { name, row, col });
        expect(told?.result, `${name} ${row} ${col}`).toBe(at(matrix, row, col));
        if (told !== undefined) expectSum(told);
      }
    }
    expect(explain(scene, { name, row: matrix.rows, col: 0 })).toBeUndefined();
  });
});

/** The figures as told have four decimals, so each product and the sum may be off by half of the last one. */
function expectSum({ terms = [], head = [], result, subject }: Explanation): void {
  if (head.at(-1) !== "product") return;
  const figure = (text: string | undefined): number => Number((text ?? "").replace("−", "-"));
  const sum = terms.reduce((total, { figures }) => total + figure(figures[2]), 0);
  expect(Math.abs(sum - result), subject).toBeLessThanOrEqual((terms.length + 1) * 0.00005);
}

describe("numbers", () => {
  test.each([0.049, 0.02, 0.0051, 0.0049, 9e-7, 5.1e-7, 4.9e-7, 1e-7])(
    "that are %d apart agree where that is at most half of the last decimal, and no further",
    (apart) => {
      const decimals = Number(/^to (\d+) decimals?$/.exec(agreeing(apart))?.[1]);
      expect(decimals).toBeGreaterThanOrEqual(1);
      expect(apart).toBeLessThanOrEqual(0.5 * 10 ** -decimals);
      expect(apart).toBeGreaterThan(0.5 * 10 ** -(decimals + 1));
    },
  );

  test.each([
    [6e-8, "6 × 10⁻⁸"],
    [-2e3, "-2 × 10³"],
    [0, "0"],
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "Infinity"],
    [Number.NEGATIVE_INFINITY, "-Infinity"],
  ])("%d is written by its magnitude as %s", (value, written) => {
    expect(magnitude(value).replaceAll("\u00a0", " ")).toBe(written);
  });

  test.each([
    [[8.8, 0.353553], 3.1112664, "8.8 × 0.353553 = 3.1113"],
    [[2.12341, 1 / 3], 0.70780333, "2.1234 × 0.333333 = 0.7078"],
    [[-0.00006, 0.5, 0.4], -0.000012, "−6.0e−5 × 0.5 × 0.4 = −1.2e−5"],
    [[44.44449, 10], 444.4449, "44.4445 × 10 ≈ 444.4449"],
  ])("%j as a product", (factors, result, told) => {
    expect(timesTold(factors, result)).toBe(told);
  });
});

describe("the address", () => {
  test.each(cases)("holds the whole state: %s", (_name, state) => {
    const again = consistent({ ...initial, ...fromHash(toHash(state)) });
    expect(again).toEqual(state);
  });
});

describe("words", () => {
  test.each([
    ["The animal didn’t cross.", ["The", "animal", "didn’t", "cross", "."]],
    ["well-known [pad] 3D", ["well-known", "[pad]", "3D"]],
    ["👩‍👩‍👧 ❤️ ok", ["👩‍👩‍👧", "❤️", "ok"]],
    ["שלום, עולם", ["שלום", ",", "עולם"]],
    ["   ", []],
  ])("%s", (text, words) => {
    expect(cutIntoWords(text)).toEqual({ words, leftOut: 0 });
  });
});

describe("a pasted block", () => {
  test.each([
    [
      "1\t2\n3\t4",
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ["1,5\t−2", [[1.5, -2]]],
    ["1, 2, 3", [[1, 2, 3]]],
    ["1,2,3", [[1, 2, 3]]],
    [
      "1 2; 3 4",
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ["0.5", [[0.5]]],
    ["1 two", null],
    ["", null],
  ])("%j", (text, numbers) => {
    expect(readBlock(text)).toEqual(numbers);
  });
});
