// Room 12's files and arithmetic, without a page: what is read and refused, and how cells become dots.

import { describe, expect, test } from "vitest";
import { Dots, levelOf, windowAbout } from "../../../demo/rooms/12-bring-your-own/dots.js";
import { exampleSource } from "../../../demo/rooms/12-bring-your-own/example.js";
import { entropyOf } from "../../../demo/rooms/12-bring-your-own/rows.js";
import { guessRoles, sourceFrom } from "../../../demo/rooms/12-bring-your-own/source.js";
import { FileTrouble, type NamedArray, readJson } from "../../../demo/src/brought/arrays.js";
import { readNpy } from "../../../demo/src/brought/npy.js";
import { uniform } from "../../../demo/src/model/random.js";
import { strongestOf } from "../../../demo/src/model/strongest.js";

/** By the format's description: magic, version, length of the header, the header, the numbers. */
function npy(header: string, numbers: ArrayBuffer, version = 1): ArrayBuffer {
  const text = new TextEncoder().encode(header);
  const size = version === 1 ? 2 : 4;
  const file = new Uint8Array(8 + size + text.length + numbers.byteLength);
  file.set([0x93, ...new TextEncoder().encode("NUMPY"), version, 0]);
  const view = new DataView(file.buffer);
  if (version === 1) view.setUint16(8, text.length, true);
  else view.setUint32(8, text.length, true);
  file.set(text, 8 + size);
  file.set(new Uint8Array(numbers), 8 + size + text.length);
  return file.buffer;
}

const header = (descr: string, shape: string, fortran = "False"): string =>
  `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }`;

function bigEndian(values: readonly number[]): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(values.length * 8));
  values.forEach((value, index) => {
    view.setFloat64(index * 8, value, false);
  });
  return view.buffer;
}

describe("npy", () => {
  test.each([
    ["<f4", Float32Array.of(1.5, -2, 0.25).buffer, [1.5, -2, 0.25]],
    ["<f8", Float64Array.of(1.5, -2, 0.25).buffer, [1.5, -2, 0.25]],
    [">f8", bigEndian([1.5, -2, 0.25]), [1.5, -2, 0.25]],
    // 1.5, -2, the smallest subnormal, 2^-24.
    ["<f2", Uint16Array.of(0x3e00, 0xc000, 0x0001).buffer, [1.5, -2, 2 ** -24]],
    ["|i1", Int8Array.of(1, -2, 127).buffer, [1, -2, 127]],
    ["|b1", Uint8Array.of(1, 0, 1).buffer, [1, 0, 1]],
    ["<i4", Int32Array.of(1, -2, 70000).buffer, [1, -2, 70000]],
  ] as const)("of %s", (descr, numbers, wanted) => {
    const read = readNpy("a", npy(header(descr, "(3,)"), numbers));
    expect(read.shape).toEqual([3]);
    expect(Array.from(read.data)).toEqual(wanted);
  });

  test("with a long header, version 2", () => {
    expect(Array.from(readNpy("a", npy(header("<f4", "(1,)"), Float32Array.of(7).buffer, 2)).data)).toEqual([7]);
  });

  test("in Fortran order, as if it were not", () => {
    // Columns lie one after the other: [[1, 2, 3], [4, 5, 6]].
    const read = readNpy("a", npy(header("<f4", "(2, 3)", "True"), Float32Array.of(1, 4, 2, 5, 3, 6).buffer));
    expect(Array.from(read.data)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  const none = new ArrayBuffer(0);
  test.each([
    ["no npy", new TextEncoder().encode("PK, or anything else").buffer, "does not begin as npy files do"],
    ["nothing", none, "does not begin"],
    ["a later version", npy("{}", none, 9), "version unknown here: 9"],
    ["a header cut off", npy(header("<f4", "(3,)"), none).slice(0, 30), "ends within its header"],
    ["no header", npy("import os", none), "header that cannot be read"],
    ["a negative size", npy(header("<f4", "(-3,)"), none), "header that cannot be read"],
    ["objects", npy(header("|O8", "(3,)"), none), "header that cannot be read"],
    ["complex numbers", npy(header("<c8", "(3,)"), none), "of the type c8"],
    [
      "fewer numbers than said",
      npy(header("<f4", "(3,)"), Float32Array.of(1, 2).buffer),
      "says 3 numbers of 4 bytes, which is 12, and holds 8",
    ],
    ["more numbers than said", npy(header("<f4", "(1,)"), Float32Array.of(1, 2).buffer), "which is 4, and holds 8"],
    ["a size beyond all", npy(header("<f4", "(99999999, 99999999)"), none), "too large"],
    ["a size beyond counting", npy(header("<f4", "(99999999999999999999, 2)"), none), "says its shape is"],
  ])("refuses %s", (_, file, why) => {
    expect(() => readNpy("a", file)).toThrow(FileTrouble);
    expect(() => readNpy("a", file)).toThrow(why);
  });
});

describe("JSON", () => {
  test("rows within rows, alone and by name", () => {
    expect(readJson("w", "[[1, 2], [3, 4]]").arrays).toEqual([
      { name: "w", shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) },
    ]);
    const { arrays } = readJson("x", '{ "q": [[1]], "k": [[3, 4]], "note": "no array" }');
    expect(arrays).toEqual([
      { name: "q", shape: [1, 1], data: Float32Array.of(1) },
      { name: "k", shape: [1, 2], data: Float32Array.of(3, 4) },
    ]);
  });

  test.each([
    ["[1, 2", "is not valid JSON"],
    ["[[1, NaN]]", "is not valid JSON"],
    ["7", "rows within rows"],
    ['{ "note": "none" }', "without arrays"],
    ["[[1, 2], [3]]", "ragged: at [1] it is 1 long, and 2 long"],
    ["[[1, 2], 3]", "ragged: at [1] it is 3"],
    ["[[1, null]]", "null at [0, 1]"],
    ['[["1"]]', '"1" at [0, 0]'],
    ['{ "q": [[1]], "labels": ["red"] }', "Words of tokens go into a list that is called one of “tokens”"],
    ['{ "q": [[1]], "tokens": ["red", 2] }', "2 at [1], where a word must be"],
    [`${"[".repeat(9)}1${"]".repeat(9)}`, "brackets within each other"],
  ])("refuses %s", (text, why) => {
    expect(() => readJson("a", text)).toThrow(why);
  });
});

const array = (
  name: string,
  shape: readonly number[],
  value: (index: number) => number = (index) => index,
): NamedArray => ({
  name,
  shape,
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, index) => value(index)),
});

describe("what is brought", () => {
  test("is taken for what its name says", () => {
    const roles = (...names: string[]) => guessRoles(names.map((name) => array(name, [1, 1])));
    expect(roles("anything")).toEqual(["none"]);
    expect(roles("q")).toEqual(["q"]);
    expect(roles("attentions")).toEqual(["weights"]);
    expect(roles("layers.0.q_proj.weight", "layers.0.k_proj.bias", "h.0.attn.weight")).toEqual([
      "none",
      "none",
      "none",
    ]);
    expect(roles("q", "k", "v")).toEqual(["q", "k", "none"]);
    expect(roles("layer0.query", "layer0.key", "layer1.query")).toEqual(["q", "k", "none"]);
    expect(roles("attentions", "task")).toEqual(["weights", "none"]);
  });

  test("is taken for weights without a name for it where rows are shares", () => {
    const half = (index: number) => (index % 2 === 0 ? 0.25 : 0.75);
    expect(guessRoles([array("anything", [3, 2], half)])).toEqual(["weights"]);
    expect(guessRoles([array("anything", [3, 2], (index) => (index % 2 === 0 ? -0.5 : 1.5))])).toEqual(["none"]);
    expect(guessRoles([array("anything.weight", [3, 2], half)])).toEqual(["none"]);
  });

  test("gives each head its own part, and groups of heads their keys", () => {
    const source = sourceFrom([array("q", [2, 4, 3, 5]), array("k", [2, 2, 7, 5])], ["q", "k"]);
    expect(source).toMatchObject({ layers: 2, heads: 4, queries: 3, keys: 7 });
    const vectors = source.vectors(1, 3);
    expect(vectors?.width).toBe(5);
    expect([vectors?.q[0], vectors?.q.length]).toEqual([(1 * 4 + 3) * 15, 15]);
    // Heads 2 and 3 share the second keys.
    expect([vectors?.k[0], vectors?.k.length]).toEqual([(1 * 2 + 1) * 35, 35]);
  });

  test("may have axes of one too many", () => {
    expect(sourceFrom([array("a", [3, 1, 2, 5, 5])], ["weights"])).toMatchObject({ layers: 3, heads: 2, queries: 5 });
  });

  test.each([
    [[array("q", [4, 8]), array("k", [4, 9])], ["q", "k"], "do not fit"],
    [[array("q", [3, 4, 8]), array("k", [2, 4, 8])], ["q", "k"], "do not fit"],
    [[array("a", [4])], ["weights"], "must be [rows, columns]"],
    [[array("a", [2, 2, 2, 2, 2])], ["weights"], "must be [rows, columns]"],
    [[array("a", [0, 4])], ["weights"], "nothing in it"],
    [
      [array("x", [4, 8]), array("y", [4, 8])],
      ["none", "none"],
      "must be called q and k, or one weights: x [4, 8], y [4, 8]",
    ],
    [[array("q", [4, 8])], ["q"], "“q” is taken for queries: bring the keys that go with them"],
    [[array("k", [4, 8])], ["k"], "“k” is taken for keys: bring the queries that go with them"],
    [[array("a", [2, 3], (index) => (index === 4 ? Number.NaN : 0))], ["weights"], "holds NaN at [1, 1]"],
    [
      [array("q", [2, 2]), array("k", [2, 2], (index) => (index === 3 ? Infinity : 0))],
      ["q", "k"],
      "“k” holds numbers too large for single precision, which ends at 3.4 × 10³⁸; the first is at [1, 1]",
    ],
    [
      [array("q", [2, 2], () => 1e30), array("k", [2, 2], (index) => (index === 3 ? -1e30 : 0))],
      ["q", "k"],
      "Scores of “q” and “k” would be too large for single precision",
    ],
  ] as const)("is refused in words: %#", (arrays, roles, why) => {
    expect(() => sourceFrom(arrays, roles)).toThrow(why);
  });
});

test("the example is the same each time, and of the size that is asked for", () => {
  const [one, same, other] = [exampleSource(4096), exampleSource(4096), exampleSource(32768)];
  expect(one.vectors(0, 2)?.k).toEqual(same.vectors(0, 2)?.k);
  expect(other.vectors(1, 3)?.q).toHaveLength(32768 * 32);
});

describe("dots", () => {
  test.each([100, 600, 1300])("hold the largest of their cells and its place, over %i cells", (span) => {
    const [queries, keys] = [span + 53, span + 95];
    const next = uniform(3);
    const weights = Float32Array.from({ length: queries * keys }, () => (next() < 0.5 ? 0 : next()));
    const dots = new Dots({ queries, keys }, { top: 53, left: 40, span });
    for (let row = 53; row < queries; row += 7) dots.add(weights.slice(row * keys, (row + 7) * keys), keys);
    expect([dots.rows, dots.high, dots.wide]).toEqual([span, span, span]);
    const { block, across, max } = dots;
    for (let dot = 0; dot < max.length; dot += 13) {
      const [top, left] = [53 + Math.floor(dot / across) * block, 40 + (dot % across) * block];
      let most = 0;
      for (let row = top; row < Math.min(queries, top + block); row++) {
        const [from, to] = [left, Math.min(40 + span, left + block)];
        most = Math.max(most, ...weights.subarray(row * keys + from, row * keys + to));
      }
      expect(max[dot]).toBe(most);
      const { row, col } = dots.cellAt(dot);
      expect(dots.dotOf(row, col)).toBe(dot);
      if (most > 0) expect(weights[row * keys + col]).toBe(most);
    }
    expect(dots.dotOf(52, 40)).toBeUndefined();
    expect(dots.dotOf(53, 40 + span)).toBeUndefined();
  });

  test("are shaded from a tenth of an even share to all", () => {
    expect(levelOf(0, 1 / 1000)).toBe(0);
    expect(levelOf(1e-4, 1 / 1000)).toBe(0);
    expect(levelOf(1e-2, 1 / 1000)).toBeCloseTo(0.5, 12);
    expect(levelOf(1, 1 / 1000)).toBe(1);
  });
});

describe("the part of the map that is looked at", () => {
  const size = { queries: 4096, keys: 8192 };

  test("is inside, no smaller than eight cells, and all of it unless it is said", () => {
    expect(windowAbout(size, 0, 3, 5)).toEqual({ top: 0, left: 0, span: 8192 });
    expect(windowAbout(size, 100, 4095, 8191)).toEqual({ top: 3996, left: 8092, span: 100 });
    expect(windowAbout(size, 1, 0, 3)).toEqual({ top: 0, left: 0, span: 8 });
    expect(windowAbout(size, 99999, 9, 9).span).toBe(8192);
  });

  test.each([8, 9, 100, 2048])("has the cell well inside, and stays as one walks on: %i cells", (span) => {
    const lefts = new Set<number>();
    for (let col = 3000; col < 3000 + span; col++) {
      const { left } = windowAbout(size, span, 100, col);
      lefts.add(left);
      expect(col - left).toBeGreaterThanOrEqual(Math.floor(span / 4));
      expect(col - left).toBeLessThan(span);
    }
    expect(lefts.size).toBeLessThanOrEqual(4);
  });
});

test("entropy is that of the weights as parts of their sum", () => {
  expect(entropyOf([0.5, 0.5, 0])).toBeCloseTo(Math.LN2, 12);
  expect(entropyOf([3, 3, 3])).toBeCloseTo(Math.log(3), 12);
  expect(entropyOf([0, 0])).toBe(0);
});

test("the strongest come first, and no more than asked for", () => {
  expect(strongestOf([0.1, 0.4, 0, 0.3, 0.2], 3)).toEqual([1, 3, 4]);
  expect(strongestOf([0, 0], 3)).toEqual([]);
  expect(strongestOf([0.2, 0.2, 0.2], 2)).toEqual([0, 1]);
});
