// safetensors files: read as the format's own library wrote them, from every kind of source, and written as it writes them.

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type FileSource,
  type FileTensor,
  type LoadProgress,
  loadSafetensors,
  loadSafetensorsShards,
  readSafetensorsHeader,
  saveSafetensors,
  streamSafetensors,
  type TensorToSave,
} from "../../web/src/layers/index.js";
import { errorOf } from "../support/cases.js";

interface Fixture {
  /** In base64. */
  readonly file: string;
  readonly expected: Readonly<Record<string, { readonly shape: number[]; readonly values: string[] }>>;
}

const fixture: Fixture = JSON.parse(readFileSync(new URL("../fixtures/safetensors.json", import.meta.url), "utf8"));
const FILE = Uint8Array.from(Buffer.from(fixture.file, "base64"));

/** A stream in small chunks, whose ends fall everywhere. */
function streamOf(bytes: Uint8Array, chunk = 7): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull: (controller) => {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + chunk));
      at += chunk;
    },
  });
}

/** The file of a header and so many bytes of data. */
function fileOf(header: unknown, dataBytes: number): Uint8Array {
  const text = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + text.length + dataBytes);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  return file;
}

function expectFixture(tensors: ReadonlyMap<string, FileTensor>): void {
  expect([...tensors.keys()].sort()).toEqual(Object.keys(fixture.expected).sort());
  for (const [name, { shape, values }] of Object.entries(fixture.expected)) {
    const tensor = tensors.get(name);
    expect(tensor?.shape, name).toEqual(shape);
    // Float formats are read as f32.
    const isFloat = tensor?.dtype === "f32";
    const wanted = values.map((value) => (isFloat ? Math.fround(Number(value)) : BigInt(value)));
    const got = [...(tensor?.data ?? [])].map((value) => (isFloat ? Number(value) : BigInt(value)));
    expect(got, name).toEqual(wanted);
  }
}

describe("reads what the format's own library wrote", () => {
  test.each<[string, () => FileSource]>([
    ["bytes", () => FILE],
    ["bytes in the middle of a buffer", () => Uint8Array.of(9, 9, 9, ...FILE, 9).subarray(3, 3 + FILE.length)],
    ["a buffer", () => FILE.buffer.slice(0)],
    ["a Blob", () => new Blob([FILE])],
    ["a File", () => new File([FILE], "model.safetensors")],
    ["a stream", () => streamOf(FILE)],
    ["a stream of single bytes", () => streamOf(FILE, 1)],
    ["a stream of one chunk", () => streamOf(FILE, 1e6)],
    ["a Response", () => new Response(streamOf(FILE))],
  ])("from %s", async (_name, source) => expectFixture(await loadSafetensors(source())));

  test("with the types of its integers, f16 as f32 or as it is", async () => {
    const floats = await loadSafetensors(FILE);
    const f16 = await loadSafetensors(FILE, { keepHalves: true });
    expect(floats.get("f16")?.dtype).toBe("f32");
    expect(floats.get("i64")?.data).toBeInstanceOf(BigInt64Array);
    expect(floats.get("bool")).toEqual({ data: Uint8Array.of(1, 0, 1), shape: [3], dtype: "bool" });
    // 1, -2 and 65504 by their bits.
    expect(f16.get("f16")?.dtype).toBe("f16");
    expect([...(f16.get("f16")?.data ?? [])].slice(0, 3)).toEqual([0x3c00, 0xc000, 0x7bff]);
    expect(f16.get("bf16")?.dtype).toBe("f32");
  });

  test("its header alone, reading no further", async () => {
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(pulled === 0 ? FILE : new Uint8Array(1000));
        pulled += 1;
      },
    });
    const { metadata, tensors } = await readSafetensorsHeader(endless);
    expect(pulled).toBeLessThan(4);
    expect([...metadata]).toEqual([["format", "made by hand"]]);
    expect(tensors.get("bf16")).toEqual({ dtype: "BF16", shape: [4], bytes: 8 });
    expect(tensors.size).toBe(Object.keys(fixture.expected).length);
  });
});

describe("reads no more than it must", () => {
  test("keeps the tensors that are wanted, and stops after the last of them", async () => {
    let sent = 0;
    const big = saveSafetensors({ a: floats(4), b: floats(100_000), c: floats(4), d: floats(100_000) });
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(big.slice(sent, sent + 1000));
        sent += 1000;
      },
    });
    const loaded = await loadSafetensors(source, { only: ["a", "c"] });
    expect([...loaded.keys()]).toEqual(["a", "c"]);
    expect(loaded.get("c")).toEqual({ data: floats(4).data, shape: [4], dtype: "f32" });
    expect(sent).toBeLessThan(big.length - 390_000);
    const some = await loadSafetensors(big, { only: (name) => name > "b" });
    expect([...some.keys()]).toEqual(["c", "d"]);
  });

  test("slices a Blob where wanted tensors lie", async () => {
    let read = 0;
    class CountingBlob extends Blob {
      override slice(from: number, to: number): Blob {
        read += to - from;
        return super.slice(from, to);
      }
    }
    const big = new CountingBlob([saveSafetensors({ a: floats(4), b: floats(100_000), c: floats(4) })]);
    const loaded = await loadSafetensors(big, { only: ["c"] });
    expect(loaded.get("c")?.data).toEqual(floats(4).data);
    expect(read).toBeLessThan(1000);
  });

  test("streams tensors one by one, and releases the source when told to stop", async () => {
    let cancelled = false;
    const source = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(saveSafetensors({ a: floats(4), b: floats(4) }).subarray(0, -4)),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const [name, tensor] of streamSafetensors(source)) {
      expect([name, tensor.data]).toEqual(["a", floats(4).data]);
      break;
    }
    expect(cancelled).toBe(true);
  });

  test("reports progress up to the whole file", async () => {
    const seen: LoadProgress[] = [];
    await loadSafetensors(streamOf(FILE, 100), { onProgress: (progress) => seen.push(progress) });
    expect(seen.at(-1)).toEqual({ loaded: FILE.length, total: FILE.length });
    expect(seen[0]?.total).toBeUndefined();
    for (const [at, { loaded }] of seen.entries()) expect(loaded).toBeGreaterThan(seen[at - 1]?.loaded ?? 0);
  });

  test("can be aborted: before, while it waits, and between chunks", async () => {
    const early = AbortSignal.abort();
    expect((await errorOf(loadSafetensors(FILE, { signal: early }))).code).toBe("aborted");
    const waiting = new AbortController();
    let cancelled = false;
    const silent = new ReadableStream<Uint8Array>({
      cancel: () => {
        cancelled = true;
      },
    });
    const stuck = errorOf(loadSafetensors(silent, { signal: waiting.signal }));
    setTimeout(() => waiting.abort(), 1);
    expect((await stuck).code).toBe("aborted");
    expect(cancelled).toBe(true);
    const between = new AbortController();
    const onProgress = (): void => between.abort();
    const error = await errorOf(loadSafetensors(new Blob([FILE]), { signal: between.signal, onProgress }));
    expect(error.code).toBe("aborted");
  });
});

describe("refuses hostile files", () => {
  const one = (entry: object): object => ({ a: { dtype: "F32", shape: [2], data_offsets: [0, 8], ...entry } });
  const two = (start: number, end: number): object => ({
    a: { dtype: "U8", shape: [8], data_offsets: [0, 8] },
    b: { dtype: "U8", shape: [end - start], data_offsets: [start, end] },
  });
  const lengthOnly = (length: bigint): Uint8Array => {
    const bytes = new Uint8Array(100);
    new DataView(bytes.buffer).setBigUint64(0, length, true);
    return bytes;
  };
  const spoilt = fileOf(one({}), 8);
  spoilt[9] = 0xff;

  test.each<[string, Uint8Array, string, RegExp]>([
    ["nothing", new Uint8Array(0), "load", /at least 8 bytes, got 0/],
    ["a cut length", new Uint8Array(5), "load", /at least 8 bytes, got 5/],
    ["a header beyond the file", lengthOnly(93n), "load", /must lie in the file|ends within its header/],
    ["a header over 100 MB", lengthOnly(100_000_001n), "load", /at most 100000000 bytes long, got 100000001/],
    ["a header of 2^64 - 1", lengthOnly(2n ** 64n - 1n), "load", /got 18446744073709551615/],
    ["no header", fileOf("", 0), "load", /must start with "{"/],
    ["an array", fileOf("[]", 0), "load", /must start with "{"/],
    ["a mark before the header", fileOf("\ufeff{}", 0), "load", /must start with "{"/],
    ["no JSON", fileOf('{"a":', 0), "load", /must be JSON/],
    ["no UTF-8", spoilt, "load", /must be UTF-8/],
    ["a name given twice", fileOf('{"a":1,"\\u0061":2}', 0), "load", /"a" twice/],
    ["a field given twice", fileOf('{"a":{"dtype":"F32","dtype" : "F32"}}', 0), "load", /"dtype" twice/],
    ["a tensor that is a number", fileOf({ a: 1 }, 0), "load", /described by an object, got 1/],
    ["a tensor that is an array", fileOf({ a: [] }, 0), "load", /described by an object/],
    ["another field", fileOf(one({ more: 1 }), 8), "load", /alone, got "more"/],
    ["an unknown type", fileOf(one({ dtype: "F8_E5M2" }), 8), "dtype", /got "F8_E5M2"/],
    ["a type from the prototype", fileOf(one({ dtype: "constructor" }), 8), "dtype", /got "constructor"/],
    ["no type", fileOf(one({ dtype: null }), 8), "dtype", /got null/],
    ["a negative size", fileOf(one({ shape: [-2] }), 8), "shape", /got \[-2\]/],
    ["a size between numbers", fileOf(one({ shape: [0.5] }), 8), "shape", /got \[0.5\]/],
    ["a size that is a text", fileOf(one({ shape: ["2"] }), 8), "shape", /got \["2"\]/],
    ["sizes that overflow", fileOf(one({ shape: [2 ** 40, 2 ** 40] }), 8), "shape", /more bytes than can be counted/],
    ["sizes that wrap around", fileOf(one({ shape: [2 ** 52, 2 ** 10, 2] }), 8), "shape", /more bytes than/],
    ["too few bytes", fileOf(one({ shape: [3] }), 8), "shape", /F32 \[3\] takes 12 bytes, got 0 to 8/],
    ["too many bytes", fileOf(one({ shape: [1] }), 8), "shape", /takes 4 bytes, got 0 to 8/],
    ["one offset", fileOf(one({ data_offsets: [0] }), 8), "load", /two data_offsets/],
    ["a negative offset", fileOf(one({ data_offsets: [-8, 0] }), 8), "load", /got \[-8, 0\]/],
    ["an offset between numbers", fileOf(one({ data_offsets: [0, 8.5] }), 8), "load", /got \[0, 8.5\]/],
    ["a huge offset", fileOf(one({ data_offsets: [0, 1e300] }), 8), "load", /two data_offsets/],
    ["offsets the wrong way round", fileOf(one({ data_offsets: [8, 0] }), 8), "shape", /got 8 to 0/],
    ["a start beyond 0", fileOf(one({ data_offsets: [4, 12] }), 12), "load", /leave a gap/],
    ["an overlap", fileOf(two(4, 12), 12), "load", /overlap: "b" starts at 4/],
    ["a gap", fileOf(two(12, 20), 20), "load", /leave a gap: "b" starts at 12/],
    ["the same bytes twice", fileOf(two(0, 8), 8), "load", /overlap/],
    ["metadata of numbers", fileOf({ __metadata__: { a: 1 } }, 0), "load", /metadata must be strings, got "a": 1/],
    ["metadata that is a text", fileOf({ __metadata__: "a" }, 0), "load", /metadata must be an object/],
    ["data that ends early", fileOf(one({}), 7), "load", /must be \d+ bytes by its header|ends within tensor "a"/],
    ["bytes after the data", fileOf(one({}), 9), "load", /must be \d+ bytes by its header|got more/],
    ["deep nesting", fileOf(`{"a":${"[".repeat(1e5)}${"]".repeat(1e5)}}`, 0), "load", /described by an object|JSON/],
  ])("%s", async (_name, file, code, message) => {
    for (const source of [file, new Blob([Uint8Array.from(file)]), streamOf(file, 50_000)]) {
      const error = await errorOf(loadSafetensors(source));
      expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)]);
      expect(error.message).toMatch(/^loadSafetensors: /);
    }
  });

  test("that announce more bytes than they send take no memory for them", async () => {
    const before = process.memoryUsage().arrayBuffers;
    const terabyte = fileOf({ a: { dtype: "U8", shape: [2 ** 40], data_offsets: [0, 2 ** 40] } }, 100);
    const error = await errorOf(loadSafetensors(streamOf(terabyte)));
    expect(error.message).toMatch(/ends within tensor "a", after 100 of 1099511627776 bytes/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2e7);
  });

  test("but not odd ones: misaligned, with strange names, empty", async () => {
    const odd = await loadSafetensors(
      fileOf(
        '{"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"F32","shape":[],"data_offsets":[1,5]}}',
        5,
      ),
    );
    expect(odd.get("a")).toEqual({ data: Float32Array.of(0), shape: [], dtype: "f32" });
    const names = await loadSafetensors(
      fileOf(
        '{"__proto__":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"":{"dtype":"U8","shape":[0,9],"data_offsets":[1,1]}}',
        1,
      ),
    );
    expect([...names.keys()]).toEqual(["__proto__", ""]);
    expect((await loadSafetensors(fileOf("{}", 0))).size).toBe(0);
    expect((await loadSafetensors(fileOf('{"__metadata__":{"__proto__":"x"}}  ', 0))).size).toBe(0);
  });
});

describe("refuses what it cannot read from", () => {
  test.each<[string, unknown, string, RegExp]>([
    ["a number", 7, "option", /a file must be an address.* got 7/],
    ["an array", [1], "option", /got an Array/],
    ["an answer of an error", new Response("no", { status: 404 }), "load", /got 404/],
    [
      "a stream of texts",
      new Response("x").body?.pipeThrough(new TextDecoderStream()),
      "load",
      /of Uint8Arrays, got "x"/,
    ],
  ])("%s", async (_name, source, code, message) => {
    const error = await errorOf(Reflect.apply(loadSafetensors, undefined, [source]));
    expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)]);
  });

  test("a stream in use, one that fails, options that are none", async () => {
    const locked = streamOf(FILE);
    locked.getReader();
    expect((await errorOf(loadSafetensors(locked))).message).toMatch(/must not be in use/);
    const failing = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error("the cable")) });
    expect((await errorOf(loadSafetensors(failing))).message).toMatch(/could not be read: the cable/);
    const options = [{ onlyy: ["a"] }, { only: "a" }, { keepHalves: 1 }, { onProgress: 1 }, { signal: 1 }];
    for (const given of options) {
      const error = await errorOf(Reflect.apply(loadSafetensors, undefined, [FILE, given]));
      expect(error.code).toBe("option");
    }
    expect((await errorOf(loadSafetensors(FILE, { only: ["f32", "nowhere"] }))).message).toMatch(/"nowhere"/);
    const thrower = (): never => {
      throw new TypeError("mine");
    };
    expect((await errorOf(loadSafetensors(FILE, { only: thrower }))).message).toMatch(/mine/);
    expect((await errorOf(loadSafetensors(FILE, { onProgress: thrower }))).message).toMatch(/mine/);
  });
});

describe("from a server", () => {
  const shards = {
    "a-1.safetensors": saveSafetensors({ x: floats(3), y: floats(5) }),
    "a-2.safetensors": saveSafetensors({ z: floats(7) }),
  };
  const index = { metadata: {}, weight_map: { x: "a-1.safetensors", y: "a-1.safetensors", z: "a-2.safetensors" } };
  const files: Readonly<Record<string, Uint8Array | string>> = {
    "/model.safetensors": FILE,
    "/m/index.json": JSON.stringify(index),
    "/m/a-1.safetensors": shards["a-1.safetensors"],
    "/m/a-2.safetensors": shards["a-2.safetensors"],
  };
  const asked: string[] = [];
  let server: Server;
  let base: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(request.url ?? "");
      const file = files[request.url ?? ""];
      response.writeHead(file === undefined ? 404 : 200).end(file);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  test("files come by their address, and a missing one is an error", async () => {
    expectFixture(await loadSafetensors(`${base}/model.safetensors`));
    expectFixture(await loadSafetensors(new URL("/model.safetensors", base)));
    const error = await errorOf(loadSafetensors(`${base}/nowhere`));
    expect([error.code, error.message]).toEqual(["load", expect.stringMatching(/got 404 Not Found for .*nowhere/)]);
    expect((await errorOf(loadSafetensors("http://127.0.0.1:1/x"))).message).toMatch(/could not be fetched/);
  });

  test.each(["model.safetensors", "./m/model.safetensors", "/m/model.safetensors", "file:///m/model.safetensors"])(
    "a path is told to be read first: %s",
    async (path) => {
      const { code, message } = await errorOf(loadSafetensors(path));
      expect([code, message]).toEqual(["load", expect.stringContaining("a path must be read first: give the bytes")]);
    },
  );

  test("shards come from beside their index, those alone that are wanted", async () => {
    const all = await loadSafetensorsShards(`${base}/m/index.json`);
    expect([...all].map(([name, { shape }]) => [name, shape])).toEqual([
      ["x", [3]],
      ["y", [5]],
      ["z", [7]],
    ]);
    asked.length = 0;
    expect([...(await loadSafetensorsShards(`${base}/m/index.json`, { only: ["z"] })).keys()]).toEqual(["z"]);
    expect(asked).toEqual(["/m/index.json", "/m/a-2.safetensors"]);
  });

  test("shards come from wherever the caller says", async () => {
    const resolve = (file: string): FileSource => shards[file as keyof typeof shards];
    const bytes = new TextEncoder().encode(JSON.stringify(index));
    const some = await loadSafetensorsShards(bytes, { resolve, only: (name) => name !== "x" });
    expect([...some.keys()]).toEqual(["y", "z"]);
  });

  test.each<[string, string, RegExp]>([
    ["a path", '{"weight_map":{"a":"../x"}}', /without a path, got "..\/x"/],
    ["an address", '{"weight_map":{"a":"http://x/y"}}', /without a path/],
    ["a hidden file", '{"weight_map":{"a":".."}}', /without a path/],
    ["a number", '{"weight_map":{"a":1}}', /without a path, got 1/],
    ["no map", "{}", /must have a weight_map/],
    ["null", "null", /must have a weight_map, got null/],
    ["a name twice", '{"weight_map":{"a":"x","a":"y"}}', /"a" twice/],
    [
      "a tensor that its file has not",
      '{"weight_map":{"a":"a-1.safetensors"}}',
      /^loadSafetensorsShards: .* got none named "a"/,
    ],
  ])("an index is refused with %s", async (_name, text, message) => {
    const resolve = (): FileSource => shards["a-1.safetensors"];
    const error = await errorOf(loadSafetensorsShards(new TextEncoder().encode(text), { resolve }));
    expect([error.code, error.message]).toEqual(["load", expect.stringMatching(message)]);
  });

  test("an index without an address needs a function that finds its files", async () => {
    const error = await errorOf(loadSafetensorsShards(new TextEncoder().encode(JSON.stringify(index))));
    expect([error.code, error.message]).toEqual(["option", expect.stringMatching(/resolve must be given/)]);
  });
});

describe("saving", () => {
  test("writes the very bytes that the format's own library writes", async () => {
    const f16 = await loadSafetensors(FILE, { keepHalves: true });
    const tensors = new Map<string, TensorToSave>(f16);
    // Formats that were read as floats, back as they were.
    tensors.set("f64", { data: Float64Array.of(0.1, -2.5e10, 1e-320), shape: [1, 3] });
    tensors.set("bf16", { data: Uint16Array.of(0x3f80, 0xc000, 0x4049, 0x7f7f), shape: [4], dtype: "bf16" });
    const saved = saveSafetensors(tensors, { format: "made by hand" });
    expect(Buffer.from(saved).equals(Buffer.from(FILE))).toBe(true);
  });

  test("makes a file of 72 bytes of two floats, as docs/semantics/layers-and-models.md says", () => {
    expect(saveSafetensors({ w: { data: Float32Array.of(1, 2), shape: [2] } }).length).toBe(72);
  });

  /** The bits of f32 numbers, and those of the nearest f16, ties to even. */
  const ROUNDED: Readonly<Record<"bf16" | "f16", readonly (readonly [number, number])[]>> = {
    bf16: [
      [0x3f800000, 0x3f80],
      [0x3f808000, 0x3f80],
      [0x3f808001, 0x3f81],
      [0x3f817fff, 0x3f81],
      [0x3f818000, 0x3f82],
      [0xbfffffff, 0xc000],
      [0x80000000, 0x8000],
      [0x00008000, 0x0000],
      [0x00008001, 0x0001],
      [0x7f7f0000, 0x7f7f],
      [0x7f7f8000, 0x7f80],
      [0xff800000, 0xff80],
      [0x7f800001, 0x7fc0],
      [0xffffffff, 0xffff],
    ],
    f16: [
      [0x3f800000, 0x3c00],
      [0x3f801000, 0x3c00],
      [0x3f801001, 0x3c01],
      [0x3f803000, 0x3c02],
      [0xc77fefff, 0xfbff],
      [0x477ff000, 0x7c00],
      [0x33000000, 0x0000],
      [0x33000001, 0x0001],
      [0x7fc00000, 0x7e00],
    ],
  };

  test.each(["bf16", "f16"] as const)("rounds a Float32Array to %s, ties to even", async (dtype) => {
    const pairs = ROUNDED[dtype];
    // Off the start of their buffer, as a subarray's.
    const data = new Float32Array(Uint32Array.of(0, ...pairs.map(([word]) => word)).buffer, 4);
    const saved = saveSafetensors({ a: { data, shape: [pairs.length], dtype } });
    const bits = new Uint16Array(saved.slice(saved.length - 2 * pairs.length).buffer);
    expect([...bits]).toEqual(pairs.map(([, rounded]) => rounded));
    expect((await readSafetensorsHeader(saved)).tensors.get("a")).toEqual({
      dtype: dtype.toUpperCase(),
      shape: [pairs.length],
      bytes: 2 * pairs.length,
    });
  });

  test("and loading give the same tensors and metadata, from maps and objects", async () => {
    const tensors = { __proto__x: floats(3), 7: { data: Int8Array.of(1, -1), shape: [1, 2, 1] } };
    const metadata = new Map([["__proto__", "ü\n"]]);
    const saved = saveSafetensors(tensors, metadata);
    expect((await readSafetensorsHeader(saved)).metadata).toEqual(metadata);
    const loaded = await loadSafetensors(saved);
    expect(loaded.get("7")).toEqual({ ...tensors[7], dtype: "i8" });
    expect(loaded.get("__proto__x")).toEqual({ ...tensors.__proto__x, dtype: "f32" });
    expect(saveSafetensors({}).length).toBe(16);
  });

  test.each<[string, unknown, string, RegExp]>([
    ["a wrong shape", { a: { data: new Float32Array(3), shape: [2] } }, "shape", /of 3 numbers, got \[2\]/],
    [
      "a wrong shape of what is rounded",
      { a: { data: new Float32Array(3), shape: [6], dtype: "f16" } },
      "shape",
      /of 3 numbers, got \[6\]/,
    ],
    ["no shape", { a: { data: new Float32Array(3) } }, "shape", /got undefined/],
    ["a negative shape", { a: { data: new Float32Array(1), shape: [-1, -1] } }, "shape", /got \[-1, -1\]/],
    ["numbers in an array", { a: { data: [1], shape: [1] } }, "dtype", /typed array of numbers, got an Array/],
    ["a DataView", { a: { data: new DataView(new ArrayBuffer(4)), shape: [1] } }, "dtype", /got a DataView/],
    [
      "a type that the array cannot hold",
      { a: { data: new Float64Array(1), shape: [1], dtype: "f16" } },
      "dtype",
      /holds f64, got dtype "f16"/,
    ],
    ["null", { a: null }, "dtype", /got null/],
    ["the name of metadata", { __metadata__: floats(1) }, "option", /not "__metadata__"/],
    ["an array", [floats(1)], "option", /a Map or an object/],
  ])("refuses %s", (_name, tensors, code, message) => {
    const save = (): unknown => Reflect.apply(saveSafetensors, undefined, [tensors]);
    expect(save).toThrow(expect.objectContaining({ name: "HeedError", code, message: expect.stringMatching(message) }));
  });
});

function floats(count: number): { data: Float32Array<ArrayBuffer>; shape: number[] } {
  return { data: Float32Array.from({ length: count }, (_, i) => i + 0.5), shape: [count] };
}

test.each([
  ["GGUF", [..."GGUF\x03\0\0\0"], "a GGUF file"],
  ["ONNX, written by PyTorch", [..."\x08\x08\x12\x07pytorch"], "an ONNX file"],
  ["ONNX, of onnx.helper", [..."\x08\x0a:\x90\x01\n"], "an ONNX file"],
  ["PyTorch's archive", [..."PK\x03\x04\0\0\x08\x08"], "a file of PyTorch's"],
  ["Keras", [..."\x89HDF\r\n\x1a\n"], "an HDF5 file"],
  ["an index", [...'{\n  "metadata"'], "a JSON file"],
  ["a page", [..."<!DOCTYPE html>"], "a web page"],
  ["a pointer of Git LFS", [..."version https://git-lfs"], "a web page or a pointer to a file"],
])("a file of another kind is told by name: %s", async (_, text, name) => {
  const bytes = Uint8Array.from({ length: 64 }, (_, at) => text[at]?.charCodeAt(0) ?? 0);
  const { code, message } = await errorOf(loadSafetensors(bytes));
  expect([code, message]).toEqual(["load", expect.stringContaining(`, as of ${name}`)]);
});
