// Appending to pages as an operation of WebAssembly, against the JavaScript that does so for single calls: byte by byte.

import { afterAll, describe, expect, test } from "vitest";
import { PageLayout } from "../../web/src/api/cache/page-layout.js";
import { type NewRows, PageStore, type Staged } from "../../web/src/api/cache/page-store.js";
import { denseView } from "../../web/src/api/layout.js";
import type { Dims4, Operand } from "../../web/src/backends/backend.js";
import type { WasmBackend } from "../../web/src/backends/wasm/wasm-backend.js";
import { toF16 } from "../../web/src/base/f16.js";
import { appendTo } from "../../web/src/operations/append.js";
import { TYPES } from "../support/cached.js";
import { FEW_KINDS, openBackend } from "../support/engines.js";
import { Random } from "../support/random.js";

/** Numbers at the borders of f16, and halves between whole numbers where a row's scale is 1. */
const SPECIAL = [0, -0, 127, 0.5, 1.5, -0.5, -1.5, 2 ** -24, 2 ** -25, 3 * 2 ** -26, 65504, 65519, 65520, 1e-45, 1e30];

function numbersFor(random: Random, count: number, specials: readonly number[]): Float32Array {
  const scale = random.pick([1, 1e-30, 1e4]);
  return random
    .floats(count, scale)
    .map((one) => (random.chance(0.2) ? (specials[random.whole(0, specials.length - 1)] ?? one) : one));
}

/** Rows of a tensor in the engine: dense, the heads of a token together, or with other numbers between the rows. */
function operandIn(backend: WasmBackend, random: Random, shape: Dims4, specials: readonly number[]): Operand {
  const [batch, heads, tokens, dim] = shape;
  const gap = random.pick([0, 3]);
  const { strides } = denseView(random.pick(["bhnd", "bnhd"]), [batch, heads, tokens, dim + gap]);
  const floats = numbersFor(random, batch * heads * tokens * (dim + gap), specials);
  const isHalf = random.chance(0.3);
  const resident = backend.upload(isHalf ? toF16(floats) : floats);
  return { source: { kind: "resident", resident }, dtype: resident.dtype, elements: floats.length, shape, strides };
}

describe.each(FEW_KINDS)("appending, $variant, $worker worker", async (kind) => {
  // The calling thread computes it in slices, head by head.
  const backend = await openBackend(kind, 2, { grain: { least: 1, most: 64, count: 1, upTo: 64 } });
  await backend.use("full");
  afterAll(() => backend.dispose());

  const append = async (store: PageStore, rows: NewRows): Promise<Staged> => {
    const staged = store.stage(rows.key.shape[2]);
    const problem = store.appended(rows, staged);
    await backend.run(appendTo(problem.pages.length), problem, null);
    return staged;
  };

  const bytesOf = (store: PageStore, staged: Staged): readonly Buffer[] =>
    store.pagesOf(staged).pages.map((page) => Buffer.from(backend.bytesOf("a test", page)));

  test.each(TYPES)(
    "%s rows have the bytes that JavaScript writes, across pages, windows and shared pages",
    async (dtype) => {
      const random = new Random(4100);
      const before = backend.memory().tensors;
      for (let round = 0; round < 8; round++) {
        const [batch, heads] = [random.whole(1, 3), random.whole(1, 3)];
        const dims = { key: random.pick([1, 7, 16, 33]), value: random.pick([1, 8, 17, 40]) };
        const layout = new PageLayout(dtype, heads, dims, 2 ** 20, 500);
        const keep = random.pick([null, 20, layout.rows + 1]);
        const [ours, theirs] = [0, 1].map(() => new PageStore(backend, layout, batch, keep)) as [PageStore, PageStore];
        // What f16 can hold, for int8, which takes finite numbers only.
        const finite = dtype === "i8" ? SPECIAL.filter((one) => one < 65520) : SPECIAL;
        const all = dtype === "i8" ? finite : [...SPECIAL, Number.NaN, Number.POSITIVE_INFINITY, -Infinity];
        for (let step = 0; step < 5; step++) {
          const tokens = random.pick([1, 1, 2, 31, layout.rows + 5]);
          const rows = {
            key: operandIn(backend, random, [batch, heads, tokens, dims.key], finite),
            value: operandIn(backend, random, [batch, heads, tokens, dims.value], step < 3 ? finite : all),
          };
          const [made, wanted] = [await append(ours, rows), theirs.stage(tokens)];
          theirs.write("a test", wanted, rows);
          const [got, expected] = [bytesOf(ours, made), bytesOf(theirs, wanted)];
          expect(got.length).toBe(expected.length);
          const differing = got.findIndex((page, at) => !page.equals(expected[at] ?? Buffer.alloc(0)));
          expect(differing, `round ${round}, step ${step}`).toBe(-1);
          const order = Array.from({ length: batch }, () => random.whole(0, batch - 1));
          for (const [store, staged] of [
            [ours, made],
            [theirs, wanted],
          ] as const) {
            store.commit(staged);
            store.reorder(order);
            if (keep === null && step === 2) store.truncate(Math.floor(store.length / 2));
          }
          for (const { source } of [rows.key, rows.value])
            if (source.kind === "resident") backend.free(source.resident);
        }
        for (const store of [ours, theirs]) store.dispose();
      }
      expect(backend.memory().tensors).toBe(before);
    },
  );

  test("int8 takes finite numbers only", async () => {
    const layout = new PageLayout("i8", 1, { key: 4, value: 4 }, 100, 100);
    const store = new PageStore(backend, layout, 1, null);
    for (const wrong of [Number.NaN, Number.NEGATIVE_INFINITY]) {
      for (const name of ["key", "value"]) {
        const rowsOf = (data: number[]): Operand => {
          const resident = backend.upload(Float32Array.from(data));
          const { strides } = denseView("bhnd", [1, 1, 2, 4]);
          return { source: { kind: "resident", resident }, dtype: "f32", elements: 8, shape: [1, 1, 2, 4], strides };
        };
        const fine = [1, 2, 3, 4, 5, 6, 7, 8];
        const broken = fine.map((number, at) => (at === 6 ? wrong : number));
        const rows = { key: rowsOf(name === "key" ? broken : fine), value: rowsOf(name === "value" ? broken : fine) };
        await expect(append(store, rows)).rejects.toMatchObject({
          code: "option",
          message: "attention: a cache of i8 takes finite numbers, got others",
        });
      }
    }
  });
});
