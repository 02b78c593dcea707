// Programs of calls: order, memory, failures and aborts at any point, and what happens beside them.

import { describe, expect, test } from "vitest";
import type { Program, Resident } from "../../web/src/backends/backend.js";
import type { WasmBackend } from "../../web/src/backends/wasm/wasm-backend.js";
import { AFFINE, PACK } from "../../web/src/operations/affine.js";
import { NORM } from "../../web/src/operations/norm.js";
import { POINTWISE } from "../../web/src/operations/pointwise.js";
import type { Rows } from "../../web/src/operations/rows.js";
import { errorOf } from "../support/cases.js";
import { FEW_KINDS, nameOf, openBackend } from "../support/engines.js";
import { ownWorkers } from "../support/own-workers.js";
import { Random } from "../support/random.js";

const random = new Random(4100);

/** Few enough numbers for the calling thread, and enough for workers. */
const [SMALL, LARGE] = [3, 4096];
const WIDTH = 64;

const NO_RULE = { activation: "none", bias: null, factor: null, addend: null } as const;

function rowsOf(resident: Resident): Rows {
  return { resident, count: resident.elements / WIDTH, length: WIDTH };
}

/** x + y */
async function sum(program: Program, x: Resident, y: Resident): Promise<Resident> {
  const [made] = await program.run(POINTWISE, { input: rowsOf(x), rule: { ...NO_RULE, addend: rowsOf(y) } });
  return made?.resident ?? raise();
}

/** A call that C++ refuses: the addend is wider. */
async function refused(program: Program, x: Resident): Promise<Resident> {
  const { resident, count } = rowsOf(x);
  const addend = { resident, count: count / 2, length: 2 * WIDTH };
  const [made] = await program.run(POINTWISE, { input: rowsOf(x), rule: { ...NO_RULE, addend } });
  return made?.resident ?? raise();
}

/** x doubled so often, each result freed when the next is recorded. */
async function doubled(program: Program, x: Resident, times: number, refuseAt = -1): Promise<Resident> {
  let y = x;
  for (let at = 0; at < times; at++) {
    const next = at === refuseAt ? await refused(program, y) : await sum(program, y, y);
    if (y !== x) program.free(y);
    y = next;
  }
  return y;
}

/** x W, for a W that doubles. Workers compute it wherever there are any. */
async function product(program: Program, x: Resident, weights: Resident): Promise<Resident> {
  const [made] = await program.run(AFFINE, { input: rowsOf(x), weights, outputs: WIDTH, rule: NO_RULE });
  return made?.resident ?? raise();
}

async function doublingWeights(backend: WasmBackend): Promise<Resident> {
  const array = Float32Array.from({ length: WIDTH * WIDTH }, (_, at) => (at % (WIDTH + 1) === 0 ? 2 : 0));
  const [elements, source] = [array.length, { kind: "array", array } as const];
  const view = { shape: [1, 1, WIDTH, WIDTH], strides: [0, 0, WIDTH, 1] } as const;
  const [packed] = await backend.run(PACK, { source, dtype: "f32", elements, ...view }, null);
  return packed?.kind === "resident" ? packed.resident : raise();
}

async function within<R>(
  backend: WasmBackend,
  act: (program: Program) => Promise<R>,
  signal: AbortSignal | null = null,
): Promise<R> {
  const program = await backend.program(signal, "full");
  try {
    return await act(program);
  } finally {
    await program.close();
  }
}

function raise(): never {
  throw new Error("missing");
}

const SIZES = [
  ["small", SMALL],
  ["large", LARGE],
] as const;

const KINDS = FEW_KINDS.flatMap((kind) =>
  kind.worker === null ? [{ kind, threads: 1 }] : [1, 2].map((threads) => ({ kind, threads })),
).map((one) => ({ ...one, name: `${nameOf(one.kind)}, ${one.threads} threads` }));

describe.each(KINDS)("$name", ({ kind, threads }) => {
  const open = (): Promise<WasmBackend> =>
    openBackend(kind, threads, { offload: kind.worker === null ? false : "auto" });

  test.each(SIZES)(
    "%s calls see the results of those before them, with the bits of calls one by one",
    async (_, count) => {
      const backend = await open();
      const x = random.floats(count * WIDTH);
      const weight = random.floats(WIDTH);
      const [input, row] = [backend.upload(x), backend.upload(weight)];
      const rule = { isCentred: true, epsilon: 1e-5, weight: { ...rowsOf(row), count: 1 }, bias: null };
      const expected: Float32Array[] = [];
      let before = input;
      for (let at = 0; at < 5; at++) {
        const [normed] = await backend.run(NORM, { input: rowsOf(before), ...rule }, null);
        if (normed?.kind !== "resident") raise();
        const [next] = await backend.run(
          POINTWISE,
          { input: rowsOf(normed.resident), rule: { ...NO_RULE, activation: "gelu", addend: rowsOf(before) } },
          null,
        );
        if (next?.kind !== "resident") raise();
        before = next.resident;
        expected.push((await backend.download(before)) as Float32Array);
      }
      await within(backend, async (program) => {
        let y = input;
        const made: Resident[] = [];
        for (let at = 0; at < 5; at++) {
          const [normed] = await program.run(NORM, { input: rowsOf(y), ...rule });
          if (normed === undefined) raise();
          const [next] = await program.run(POINTWISE, {
            input: rowsOf(normed.resident),
            rule: { ...NO_RULE, activation: "gelu", addend: rowsOf(y) },
          });
          program.free(normed.resident);
          y = next?.resident ?? raise();
          made.push(y);
        }
        for (const [at, one] of made.entries()) expect(await program.download(one)).toEqual(expected[at]);
      });
      backend.dispose();
    },
  );

  test("a thousand calls take the memory of two results", async () => {
    const backend = await open();
    const input = backend.upload(new Float32Array(LARGE * WIDTH).fill(1));
    const run = (times: number): Promise<unknown> =>
      within(backend, async (program) => {
        const y = await doubled(program, input, times);
        await program.flush();
        return program.free(y);
      });
    await run(4);
    const before = backend.memory();
    await run(1000);
    // A result is a MiB, and a thousand packed calls are less.
    expect(backend.memory().total - before.total).toBeLessThan(2 ** 22);
    expect(backend.memory()).toMatchObject({ tensors: 1, tensorBytes: before.tensorBytes });
    backend.dispose();
  });

  test.each(SIZES)(
    "%s: the first call that fails ends the program, wherever it is, and the next program is right",
    async (_, count) => {
      const backend = await open();
      const input = backend.upload(new Float32Array(count * 2 * WIDTH).fill(1));
      let settled = 0;
      for (let round = 0; round < 3; round++) {
        for (let at = 0; at < 6; at++) {
          await within(backend, async (program) => {
            const error = await errorOf(async () => {
              await doubled(program, input, 6, at);
              await program.flush();
            });
            expect(error).toMatchObject({ code: "shape" });
            expect(error.message).toMatch(/^pointwise: /);
            // It stays ended, with the same error.
            expect(await errorOf(() => sum(program, input, input))).toBe(error);
            expect(await errorOf(() => program.flush())).toBe(error);
          });
          expect(backend.memory().tensors).toBe(1);
        }
        const y = await within(backend, async (program) => program.download(await doubled(program, input, 6)));
        expect(y).toEqual(new Float32Array(count * 2 * WIDTH).fill(64));
        // The first round takes what the others use again.
        if (round === 0) settled = backend.memory().total;
      }
      expect(backend.memory().total).toBe(settled);
      backend.dispose();
    },
  );

  test("an abort ends a program before, between and after its calls, and frees what it made", async () => {
    const backend = await open();
    const input = backend.upload(new Float32Array(LARGE * WIDTH).fill(1));
    for (const when of ["before", "recorded", "flushing", "done"]) {
      const abort = new AbortController();
      if (when === "before") abort.abort("why");
      const error = await errorOf(() =>
        within(
          backend,
          async (program) => {
            const y = await doubled(program, input, 40);
            if (when === "recorded") abort.abort("why");
            const flushed = program.flush();
            if (when === "flushing") abort.abort("why");
            await flushed;
            if (when === "done") abort.abort("why");
            return program.download(y);
          },
          abort.signal,
        ),
      );
      expect(error, when).toMatchObject({ code: "aborted", cause: "why" });
      expect(backend.memory().tensors, when).toBe(1);
      const y = await within(backend, async (program) => program.download(await doubled(program, input, 3)));
      expect(y[0]).toBe(8);
    }
    backend.dispose();
  });

  test("what is not flushed when the program is closed is not computed, and its memory is free", async () => {
    const backend = await open();
    const input = backend.upload(new Float32Array(LARGE * WIDTH).fill(1));
    await within(backend, (program) => doubled(program, input, 40));
    expect(backend.memory().tensors).toBe(1);
    const y = await within(backend, async (program) => program.download(await doubled(program, input, 3)));
    expect(y[0]).toBe(8);
    backend.dispose();
  });

  test("a resident that is freed meanwhile stays for the program, and one that is kept outlives it", async () => {
    const backend = await open();
    const input = backend.upload(new Float32Array(LARGE * WIDTH).fill(3));
    const kept = await within(backend, async (program) => {
      const y = await doubled(program, input, 3);
      backend.free(input);
      // This would take its memory.
      backend.free(backend.upload(new Float32Array(LARGE * WIDTH).fill(5)));
      await program.flush();
      return program.keep(y);
    });
    expect(backend.memory()).toMatchObject({ tensors: 1, tensorBytes: kept.elements * 4 });
    expect(await backend.download(kept)).toEqual(new Float32Array(LARGE * WIDTH).fill(24));
    backend.free(kept);
    expect(backend.memory().tensors).toBe(0);
    backend.dispose();
  });

  test("two programs and calls beside them do not disturb each other", async () => {
    const backend = await open();
    const filled = (value: number): Resident => backend.upload(new Float32Array(LARGE * WIDTH).fill(value));
    const [one, three] = [filled(1), filled(3)];
    const run = (x: Resident): Promise<ArrayLike<number>> =>
      within(backend, async (program) => program.download(await doubled(program, x, 9)));
    const beside = async (): Promise<ArrayLike<number>> => {
      const [made] = await backend.run(
        POINTWISE,
        { input: rowsOf(one), rule: { ...NO_RULE, addend: rowsOf(three) } },
        null,
      );
      return made?.kind === "resident" ? backend.download(made.resident) : raise();
    };
    const [first, second, ...others] = await Promise.all([run(one), run(three), beside(), beside(), beside()]);
    expect(first).toEqual(new Float32Array(LARGE * WIDTH).fill(512));
    expect(second).toEqual(new Float32Array(LARGE * WIDTH).fill(3 * 512));
    for (const other of others) expect(other).toEqual(new Float32Array(LARGE * WIDTH).fill(4));
    backend.dispose();
  });

  test("an engine that is disposed of ends the program", async () => {
    const backend = await open();
    const input = backend.upload(new Float32Array(LARGE * WIDTH).fill(1));
    const error = await errorOf(() =>
      within(backend, async (program) => {
        await doubled(program, input, 40);
        const flushed = program.flush();
        backend.dispose();
        await flushed;
      }),
    );
    expect(error).toMatchObject({ code: "disposed" });
  });
});

describe.each(KINDS.filter(({ kind }) => kind.worker !== null))("$name", ({ kind, threads }) => {
  test("a program whose worker is lost fails, and the next one is right", async () => {
    const { workers, wasm } = ownWorkers();
    const backend = await openBackend(kind, threads, wasm);
    const input = backend.upload(new Float32Array(LARGE * WIDTH).fill(1));
    const weights = await doublingWeights(backend);
    const error = await errorOf(() =>
      within(backend, async (program) => {
        program.free(await product(program, input, weights));
        const ended = Promise.all(workers.map((worker) => worker.terminate()));
        try {
          for (;;) program.free(await product(program, input, weights));
        } finally {
          // A worker that ends only later would be lost to the next program.
          await ended;
        }
      }),
    );
    expect(error).toMatchObject({ code: "device-lost" });
    expect(error.message).toMatch(/^(linear|heed\/layers): /);
    const y = await within(backend, async (program) => program.download(await product(program, input, weights)));
    expect(y).toEqual(new Float32Array(LARGE * WIDTH).fill(2));
    expect(backend.memory().tensors).toBe(2);
    backend.dispose();
  });
});
