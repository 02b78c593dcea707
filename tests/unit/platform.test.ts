// Probes of hosts with and without features, and the table of choices from features to a ladder.

import { describe, expect, test } from "vitest";
import { type Features, features, probe } from "../../web/src/platform/features.js";
import { currentHost, type Host } from "../../web/src/platform/host.js";
import { autoThreads, type Rung, select, type Wishes } from "../../web/src/platform/select.js";

describe("probe", () => {
  test("finds the features with which the tests start Node", async () => {
    expect(probe(currentHost())).toEqual({
      simd: true,
      relaxedSimd: true,
      sharedMemory: true,
      isolated: true,
      worker: "node",
      cores: expect.any(Number),
    });
    expect(await features()).toBe(await features());
  });

  test("an empty host has nothing, and one core", () => {
    expect(probe({})).toEqual({
      simd: false,
      relaxedSimd: false,
      sharedMemory: false,
      isolated: false,
      worker: null,
      cores: 1,
    });
  });

  test("a page that is not isolated says so, whatever its SharedArrayBuffer", () => {
    expect(probe({ crossOriginIsolated: false, SharedArrayBuffer }).isolated).toBe(false);
    expect(probe({ crossOriginIsolated: true }).isolated).toBe(true);
    expect(probe({ SharedArrayBuffer }).isolated).toBe(true);
  });

  test("an engine that refuses to make shared memories has none", () => {
    class Refusing {
      constructor() {
        throw new RangeError("out of address space");
      }
    }
    // A stand-in with the two members that the probe uses.
    const engine = { validate: () => true, Memory: Refusing } as unknown as NonNullable<Host["WebAssembly"]>;
    expect(probe({ WebAssembly: engine })).toMatchObject({ simd: true, relaxedSimd: true, sharedMemory: false });
  });

  test("pages have web workers, even where Node's can be reached from them", () => {
    const Worker = class {};
    const process = { getBuiltinModule: () => ({ Worker }) };
    expect(probe({ Worker }).worker).toBe("web");
    expect(probe({ Worker, process }).worker).toBe("node");
    expect(probe({ Worker, process, document: {} }).worker).toBe("web");
  });

  test("Node before getBuiltinModule has no worker that can be reached", () => {
    expect(probe({ process: { versions: { node: "20.10.0" } } }).worker).toBeNull();
  });
});

const ALL: Features = {
  simd: true,
  relaxedSimd: true,
  sharedMemory: true,
  isolated: true,
  worker: "web",
  cores: 8,
};
const WISHES: Wishes = { variant: "auto", offload: true, importsMemory: null, ownWorkers: false };

const rungs = (...list: [Rung["variant"], Rung["worker"]][]): readonly Rung[] =>
  list.map(([variant, worker]) => ({ variant, worker }));

describe("select", () => {
  test.each<[string, Partial<Features>, Partial<Wishes>, readonly Rung[], string | null]>([
    [
      "everything",
      {},
      {},
      rungs(
        ["wasm-relaxed-threads", "shared-memory"],
        ["wasm-simd-threads", "shared-memory"],
        ["wasm-relaxed", "private-memory"],
        ["wasm-simd", "private-memory"],
        ["wasm-relaxed", null],
        ["wasm-simd", null],
      ),
      null,
    ],
    [
      "no relaxed SIMD",
      { relaxedSimd: false },
      {},
      rungs(["wasm-simd-threads", "shared-memory"], ["wasm-simd", "private-memory"], ["wasm-simd", null]),
      "no relaxed SIMD",
    ],
    [
      "not isolated",
      { isolated: false },
      {},
      rungs(
        ["wasm-relaxed", "private-memory"],
        ["wasm-simd", "private-memory"],
        ["wasm-relaxed", null],
        ["wasm-simd", null],
      ),
      "not cross-origin isolated",
    ],
    [
      "no shared memory",
      { sharedMemory: false },
      { variant: "simd" },
      rungs(["wasm-simd", "private-memory"], ["wasm-simd", null]),
      "no shared WebAssembly memory",
    ],
    ["no workers", { worker: null }, { variant: "simd" }, rungs(["wasm-simd", null]), "no workers in this runtime"],
    [
      "no workers but the caller's",
      { worker: null, isolated: false },
      { variant: "simd", ownWorkers: true },
      rungs(["wasm-simd", "private-memory"], ["wasm-simd", null]),
      "not cross-origin isolated",
    ],
    ["offload false", {}, { variant: "relaxed", offload: false }, rungs(["wasm-relaxed", null]), "offload is false"],
    [
      "variant simd",
      {},
      { variant: "simd" },
      rungs(["wasm-simd-threads", "shared-memory"], ["wasm-simd", "private-memory"], ["wasm-simd", null]),
      null,
    ],
    [
      "a given binary with its own memory",
      {},
      { importsMemory: false },
      rungs(["wasm-relaxed", "private-memory"], ["wasm-relaxed", null]),
      null,
    ],
    [
      "a given binary that imports memory",
      {},
      { importsMemory: true },
      rungs(["wasm-relaxed-threads", "shared-memory"], ["wasm-relaxed-threads", null]),
      null,
    ],
    [
      "a given binary that imports memory on a page without isolation",
      { isolated: false },
      { importsMemory: true, variant: "simd" },
      rungs(["wasm-simd-threads", null]),
      "not cross-origin isolated",
    ],
    ["no SIMD", { simd: false }, {}, [], "SIMD is needed"],
    ["relaxed wanted and missing", { relaxedSimd: false }, { variant: "relaxed" }, [], 'variant "relaxed"'],
    [
      "a given binary wants missing shared memory",
      { sharedMemory: false },
      { importsMemory: true },
      [],
      "shared memory",
    ],
  ])("%s", (_name, found, wishes, ladder, reason) => {
    const choice = select({ ...ALL, ...found }, { ...WISHES, ...wishes });
    expect(choice.ladder).toEqual(ladder);
    if (reason === null) expect(choice.reasons).toEqual([]);
    else expect(choice.reasons.join("; ")).toContain(reason);
  });

  test.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [8, 4],
    [64, 4],
  ])("%i cores make %i threads", (cores, threads) => {
    expect(autoThreads(cores)).toBe(threads);
  });
});
