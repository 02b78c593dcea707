// Which calls the calling thread computes itself. The tests count what a worker is sent, and never measure time.

import { expect, test } from "vitest";
import { readCreateOptions } from "../../web/src/api/read-create-options.js";
import { openEngine } from "../../web/src/engine.js";
import type { Heed, TensorLike } from "../../web/src/index.js";
import { probe } from "../../web/src/platform/features.js";
import { currentHost } from "../../web/src/platform/host.js";
import { ownWorkers } from "../support/own-workers.js";
import { Random } from "../support/random.js";

const random = new Random(77);
const tensor = (...shape: number[]): TensorLike => ({ data: random.floats(shape.reduce((a, b) => a * b, 1)), shape });

/** An engine, and how many calls its worker was sent. It has no shared memory, with which calls would not be sent as messages. */
async function watched(offload?: boolean | "auto"): Promise<{ heed: Heed; sent: () => number }> {
  let calls = 0;
  const { wasm } = ownWorkers((worker) => {
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (message, ...rest) => {
      if (message.kind === "block") calls += 1;
      post(message, ...rest);
    };
  });
  const read = readCreateOptions({ offload, threads: 1, wasm });
  const heed = await openEngine(read, { ...probe(currentHost()), isolated: false });
  return { heed, sent: () => calls };
}

const SMALL = [tensor(64, 64), tensor(64, 64), tensor(64, 64)] as const;

test.each([[undefined], ["auto"]] as const)(
  "with offload %s a small call goes to no worker, a larger one does",
  async (offload) => {
    const { heed, sent } = await watched(offload);
    await heed.attention(...SMALL);
    expect(sent()).toBe(0);
    await heed.attention(tensor(2, 128, 64), tensor(2, 128, 64), tensor(2, 128, 64));
    expect(sent()).toBe(1);
    // Few multiplications, but much to copy.
    await heed.attention(tensor(1, 1), tensor(2 ** 17, 1), tensor(2 ** 17, 1));
    expect(sent()).toBe(2);
    heed.dispose();
  },
);

test("with offload true every call goes to the worker, with the same bits", async () => {
  const { heed, sent } = await watched(true);
  const offloaded = await heed.attention(...SMALL);
  expect(sent()).toBe(1);
  const { heed: here } = await watched();
  expect(await here.attention(...SMALL)).toEqual(offloaded);
  heed.dispose();
  here.dispose();
});

test("a small call waits for a larger one before it", async () => {
  const { heed, sent } = await watched();
  const done: string[] = [];
  const large = heed
    .attention(tensor(4, 256, 64), tensor(4, 256, 64), tensor(4, 256, 64))
    .then(() => done.push("large"));
  const small = heed.attention(...SMALL).then(() => done.push("small"));
  await Promise.all([large, small]);
  expect(done).toEqual(["large", "small"]);
  expect(sent()).toBe(2);
  heed.dispose();
});

test("a small call that is invalid is refused as any other, and the next one works", async () => {
  const { heed } = await watched();
  await expect(heed.attention(tensor(3, 4), tensor(5, 4), tensor(6, 4))).rejects.toMatchObject({ code: "shape" });
  const aborted = heed.attention(...SMALL, { signal: AbortSignal.abort() });
  await expect(aborted).rejects.toMatchObject({ code: "aborted" });
  expect((await heed.attention(...SMALL)).output.shape).toEqual([64, 64]);
  heed.dispose();
});

test("a small call that is aborted or loses its engine in the same task is rejected as any other, and keeps nothing", async () => {
  const { heed, sent } = await watched();
  for (const keep of [false, true]) {
    const controller = new AbortController();
    const aborted = heed.attention(...SMALL, { signal: controller.signal, keep });
    controller.abort("enough");
    await expect(aborted).rejects.toMatchObject({ code: "aborted", cause: "enough" });
  }
  const orphaned = heed.attention(...SMALL, { keep: true });
  heed.dispose();
  await expect(orphaned).rejects.toMatchObject({ code: "disposed" });
  expect(sent()).toBe(0);
});

test("few multiplications do not make a call small that has many rows or many scores", async () => {
  const { heed, sent } = await watched();
  const rows = heed.zeros([60_000, 1]);
  await heed.attention(rows, tensor(8, 1), tensor(8, 1));
  expect(sent()).toBe(1);
  const keys = heed.zeros([500_000, 1]);
  await heed.attention(tensor(1, 1), keys, keys);
  expect(sent()).toBe(2);
  heed.dispose();
});
