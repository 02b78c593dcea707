// Appending to pages as an operation of WebAssembly, on the calling thread and in a pass, against the definition: byte by byte.

import { afterAll, describe, expect, test } from "vitest";
import { PageLayout, type PagePart } from "../../web/src/api/cache/page-layout.js";
import { denseView } from "../../web/src/api/layout.js";
import type { Dims4, Operand, Resident } from "../../web/src/backends/backend.js";
import type { WasmBackend } from "../../web/src/backends/wasm/wasm-backend.js";
import { fromF16, toF16 } from "../../web/src/base/f16.js";
import { APPEND, type AppendProblem } from "../../web/src/operations/append.js";
import { TYPES } from "../support/cached.js";
import { FEW_KINDS, openBackend } from "../support/engines.js";
import { Random } from "../support/random.js";

/** Numbers at the borders of f16, and halves between whole numbers where a row's scale is 1. */
const SPECIAL = [0, -0, 127, 0.5, 1.5, -0.5, -1.5, 2 ** -24, 2 ** -25, 3 * 2 ** -26, 65504, 65519, 65520, 1e-45, 1e30];

interface Rows {
  readonly operand: Operand;
  /** In f32. */
  readonly numbers: Float32Array;
}

/** Rows of a tensor in the engine: dense, the heads of a token together, or with other numbers between the rows. */
function rowsIn(backend: WasmBackend, random: Random, shape: Dims4, specials: readonly number[]): Rows {
  const [batch, heads, tokens, dim] = shape;
  const gap = random.pick([0, 3]);
  const { strides } = denseView(random.pick(["bhnd", "bnhd"]), [batch, heads, tokens, dim + gap]);
  const scale = random.pick([1, 1e-30, 1e4]);
  const floats = random
    .floats(batch * heads * tokens * (dim + gap), scale)
    .map((one) => (random.chance(0.2) ? (specials[random.whole(0, specials.length - 1)] ?? one) : one));
  const f16 = random.chance(0.3) ? toF16(floats) : null;
  const resident = backend.upload(f16 ?? floats);
  const operand: Operand = {
    source: { kind: "resident", resident },
    dtype: resident.dtype,
    elements: floats.length,
    shape,
    strides,
  };
  return { operand, numbers: f16 === null ? floats : fromF16(f16) };
}

/** Where number i of row `row` lies in int8 tiles: pairs of numbers for 16 keys, pairs of 32 values for 16 numbers. */
function tiled(name: "key" | "value", row: number, i: number, width: number): number {
  if (name === "key") return (row - (row % 16)) * width + (i - (i % 2)) * 16 + (row % 16) * 2 + (i % 2);
  const inTile = row % 32;
  return (row - inTile) * width + (i - (i % 16)) * 32 + (inTile - (inTile % 2)) * 16 + (i % 16) * 2 + (inTile % 2);
}

/** Writes a row as pages have it. */
function expectRow(
  page: DataView,
  layout: PageLayout,
  name: "key" | "value",
  head: number,
  row: number,
  numbers: Float32Array,
): void {
  const part: PagePart = name === "key" ? layout.keys : layout.values;
  const start = head * layout.headBytes + part.offset;
  const place = start + row * part.width * layout.elementBytes;
  if (layout.dtype === "f32") {
    numbers.forEach((number, i) => {
      page.setFloat32(place + 4 * i, number, true);
    });
  } else if (layout.dtype === "f16") {
    const bits = toF16(numbers);
    bits.forEach((one, i) => {
      page.setUint16(place + 2 * i, one, true);
    });
    if (fromF16(bits).some((number) => !Number.isFinite(number))) page.setInt32(start + part.scales, 1, true);
  } else {
    const scale = Math.fround(Math.max(...numbers.map(Math.abs)) / 127);
    page.setFloat32(start + part.scales + 4 * row, scale, true);
    const inverse = scale === 0 ? 0 : 1 / scale;
    numbers.forEach((number, i) => {
      const whole = Math.max(-127, Math.min(127, Math.round(number * inverse)));
      page.setInt8(start + tiled(name, row, i, part.width), whole);
    });
  }
}

function problemOf(
  layout: PageLayout,
  key: Operand,
  value: Operand,
  pages: readonly Resident[],
  first: number,
): AppendProblem {
  const { keys, values, headBytes, elementBytes, rows, dtype } = layout;
  const cached = ({ offset, width }: PagePart, { shape }: Operand): Operand => ({
    source: { kind: "paged", offset },
    dtype,
    elements: 0,
    shape,
    strides: [0, headBytes / elementBytes, width, 1],
  });
  const perBatch = pages.length / key.shape[0];
  const scales = { keyScales: keys.scales, valueScales: values.scales };
  return {
    key,
    value,
    cachedKey: cached(keys, key),
    cachedValue: cached(values, value),
    pages: { pages, perBatch, rows, first, headBytes, ...scales },
    firstRows: null,
  };
}

describe.each(FEW_KINDS)("appending, $variant, $worker worker", async (kind) => {
  // In a pass the calling thread computes it in slices, head by head.
  const backend = await openBackend(kind, 2, { grain: { least: 1, most: 64, count: 1, upTo: 64 } });
  afterAll(() => backend.dispose());

  test.each(TYPES)(
    "%s rows have the bytes of the definition, across pages, in the core module and in a pass",
    async (dtype) => {
      const random = new Random(4100);
      for (let round = 0; round < 24; round++) {
        const [batch, heads] = [random.whole(1, 3), random.whole(1, 3)];
        const dims = { key: random.pick([1, 7, 16, 33]), value: random.pick([1, 8, 17, 40]) };
        const layout = new PageLayout(dtype, heads, dims, 2 ** 20, 500);
        // What f16 can hold, for int8, which takes finite numbers only.
        const finite = SPECIAL.filter((one) => one < 65520);
        const all = dtype === "i8" ? finite : [...SPECIAL, Number.NaN, Number.POSITIVE_INFINITY, -Infinity];
        const tokens = random.pick([1, 1, 2, 31, layout.rows + 5]);
        const first = random.whole(0, layout.rows - 1);
        const perBatch = Math.ceil((first + tokens) / layout.rows);
        const pages = Array.from({ length: batch * perBatch }, () => backend.page(layout.bytes));
        const key = rowsIn(backend, random, [batch, heads, tokens, dims.key], finite);
        const value = rowsIn(backend, random, [batch, heads, tokens, dims.value], all);
        const problem = problemOf(layout, key.operand, value.operand, pages, first);
        if (round % 2 === 0) {
          backend.runSync(APPEND, problem);
        } else {
          const program = await backend.program(null, "full");
          for (let at = 0; at < batch * tokens; at++) {
            const row = first + (at % tokens);
            const page = pages[Math.floor(at / tokens) * perBatch + Math.floor(row / layout.rows)];
            if (page !== undefined) program.changed(page, layout.spans(row % layout.rows, 1));
          }
          await program.run(APPEND, problem);
          await program.flush();
          await program.close();
        }
        const wanted = pages.map(() => new DataView(new ArrayBuffer(layout.bytes)));
        for (const [name, { operand, numbers }] of Object.entries({ key, value })) {
          const [byBatch, byHead, byToken] = operand.strides;
          for (let at = 0; at < batch * heads * tokens; at++) {
            const [token, head, entry] = [
              at % tokens,
              Math.floor(at / tokens) % heads,
              Math.floor(at / tokens / heads),
            ];
            const from = entry * byBatch + head * byHead + token * byToken;
            const page = wanted[entry * perBatch + Math.floor((first + token) / layout.rows)];
            if (page === undefined) throw new Error("a page is missing");
            const row = numbers.subarray(from, from + operand.shape[3]);
            expectRow(page, layout, name === "key" ? "key" : "value", head, (first + token) % layout.rows, row);
          }
        }
        for (const [at, page] of pages.entries()) {
          const got = Buffer.from(backend.bytesOf("a test", page));
          expect(got.equals(Buffer.from(wanted[at]?.buffer ?? new ArrayBuffer(0))), `round ${round}, page ${at}`).toBe(
            true,
          );
          backend.free(page);
        }
        for (const { source } of [key.operand, value.operand])
          if (source.kind === "resident") backend.free(source.resident);
      }
      expect(backend.memory().tensors).toBe(0);
    },
  );

  test("int8 takes finite numbers only", () => {
    const layout = new PageLayout("i8", 1, { key: 4, value: 4 }, 100, 100);
    const page = backend.page(layout.bytes);
    const rowsOf = (array: Float32Array): Operand => {
      const { strides } = denseView("bhnd", [1, 1, 2, 4]);
      return { source: { kind: "array", array }, dtype: "f32", elements: 8, shape: [1, 1, 2, 4], strides };
    };
    const fine = Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8);
    for (const wrong of [Number.NaN, Number.NEGATIVE_INFINITY]) {
      const broken = fine.slice();
      broken[6] = wrong;
      for (const [key, value] of [
        [broken, fine],
        [fine, broken],
      ] as const) {
        const problem = problemOf(layout, rowsOf(key), rowsOf(value), [page], 0);
        expect(() => backend.runSync(APPEND, problem)).toThrow("KVCache: dtype i8 takes finite numbers, got others");
      }
    }
    backend.free(page);
  });
});
