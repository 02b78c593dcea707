// Models from their files, wherever these are: each source gives the model that its parts give when they are put together by hand.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import { BertModel, LlamaModel, saveSafetensors, type Weights } from "../../../web/src/layers/index.js";
import { type FileProgress, type LoadedModel, loadModel, type ModelSource } from "../../../web/src/models/index.js";
import { readFixture } from "../../support/fixtures.js";
import { type GgufSizes, llamaHeader } from "../../support/gguf-file.js";
import { folderOf, json } from "../../support/small-model.js";

const engine = await createHeed({ threads: 1 });
afterAll(() => engine.dispose());

const llama = folderOf("llama");
const IDS = [3, 1, 4, 1, 5];
const expected = await new LlamaModel(llama.config, { engine }).load(llama.parameters).forward(IDS);

async function checkLlama(lm: LoadedModel): Promise<void> {
  expect((await lm.model.forward(IDS)).logits).toEqual(expected.logits);
  expect(lm.config).toEqual(llama.config);
  expect(lm.tokenizer?.decode([72, 105])).toBe("Hi");
  lm.dispose();
}

const fileOf = (name: string, bytes: Uint8Array<ArrayBuffer>, path = ""): File => {
  const file = new File([bytes], name);
  return path === "" ? file : Object.defineProperty(file, "webkitRelativePath", { value: path });
};

test("a Blob whose streams are not of bytes is read in slices, and no stream of it is begun", async () => {
  const begun: number[] = [];
  const stream = vi.spyOn(Blob.prototype, "stream").mockImplementation(function (this: Blob) {
    begun.push(this.size);
    return new ReadableStream();
  });
  try {
    const blobs = new Map(Object.entries(llama.files).map(([name, bytes]) => [name, new Blob([bytes])]));
    await checkLlama(await loadModel(blobs, { engine }));
  } finally {
    stream.mockRestore();
  }
  expect(begun.length).toBeGreaterThan(0);
  expect(Math.max(...begun)).toBe(0);
});

/** A folder as browsers give it. */
function handleOf(name: string, files: Readonly<Record<string, Uint8Array<ArrayBuffer>>>): ModelSource {
  const missing = (): never => {
    throw new DOMException("none", "NotFoundError");
  };
  const inside = (start: string) => ({
    kind: "directory" as const,
    name,
    getDirectoryHandle: async (part: string) => inside(`${start}${part}/`),
    getFileHandle: async (part: string) => {
      const bytes = files[start + part] ?? missing();
      return { getFile: async () => new File([bytes], part) };
    },
    async *keys() {
      for (const path of Object.keys(files)) if (path.startsWith(start)) yield path.slice(start.length);
    },
  });
  return inside("");
}

describe("files at hand", () => {
  const { files } = llama;
  const entries = Object.entries(files);
  test.each<[string, ModelSource]>([
    ["names and bytes", files],
    ["a Map of Blobs", new Map(entries.map(([name, bytes]) => [name, new Blob([bytes])]))],
    ["a list of Files", entries.map(([name, bytes]) => fileOf(name, bytes))],
    ["Files of a chosen folder", entries.map(([name, bytes]) => fileOf(name, bytes, `tiny/${name}`))],
    ["a folder's handle", handleOf("tiny", files)],
  ])("%s", async (_, source) => {
    await checkLlama(await loadModel(source, { engine }));
  });

  test("shards by their index", async () => {
    const { "model.safetensors": _, ...rest } = files;
    const all = [...llama.parameters];
    const shards = { "a.safetensors": all.slice(0, 5), "b.safetensors": all.slice(5) };
    const weight_map = Object.fromEntries(
      Object.entries(shards).flatMap(([file, tensors]) => tensors.map(([name]) => [name, file])),
    );
    const bytes = Object.entries(shards).map(([file, tensors]) => [file, saveSafetensors(new Map(tensors))] as const);
    const index = { "model.safetensors.index.json": json({ weight_map }) };
    const seen: string[] = [];
    const onProgress = ({ file }: FileProgress) => seen.push(file);
    await checkLlama(await loadModel({ ...rest, ...index, ...Object.fromEntries(bytes) }, { engine, onProgress }));
    expect(new Set(seen)).toEqual(new Set(Object.keys(shards)));
    await expect(loadModel({ ...rest, ...index }, { engine })).rejects.toMatchObject({
      code: "load",
      message: expect.stringMatching(/must have "a\.safetensors", which its index names/),
    });
  });

  test("GGUF in every form", async () => {
    const { file, config } = readFixture("gguf.json")["llama"] as { readonly file: string; readonly config: object };
    const bytes = Uint8Array.from(Buffer.from(file, "base64"));
    for (const source of [bytes, new Blob([bytes]), { "tiny.gguf": bytes }, fileOf("tiny.GGUF", bytes)]) {
      const lm = await loadModel(source, { engine });
      expect(lm.config).toMatchObject({ model_type: "llama" });
      expect(lm.tokenizer).toBeNull();
      expect((await lm.model.forward([1, 2])).logits?.shape.slice(0, 2)).toEqual([1, 2]);
      lm.dispose();
    }
    expect(config).toBeDefined();
  });

  test("a tokenizer may be absent, left out, or one's own", async () => {
    const { "tokenizer.json": _, ...rest } = files;
    const lm = await loadModel(rest, { engine });
    expect(lm.tokenizer).toBeNull();
    lm.tokenizer = { encode: (text) => [...text].map((one) => one.charCodeAt(0)), decode: (ids) => String(ids) };
    lm.dispose();
    const unknown = { ...files, "tokenizer.json": json({ model: { type: "Unheard" } }) };
    await expect(loadModel(unknown, { engine })).rejects.toMatchObject({ code: "unsupported" });
    expect((await loadModel(unknown, { engine, tokenizer: false })).tokenizer).toBeNull();
  });

  test("progress in bytes, to the end", async () => {
    const seen: FileProgress[] = [];
    const lm = await loadModel(files, { engine, onProgress: (progress) => seen.push(progress) });
    const { length } = files["model.safetensors"] ?? [];
    expect(seen.at(-1)).toEqual({ loaded: length, total: length, file: "model.safetensors" });
    lm.dispose();
  });

  test("what was read is in the engine before the model is used, and tables that are one are there once", async () => {
    const table = llama.parameters.get("model.embed_tokens.weight") ?? { data: new Float32Array(), shape: [] };
    const sizes: number[] = [];
    const made = [];
    const tie_word_embeddings = true;
    const { "lm_head.weight": _, ...others } = Object.fromEntries(llama.parameters);
    const turned = { ...table, data: table.data.map((number) => -number) };
    for (const head of [undefined, { ...table, data: table.data.slice() }, turned]) {
      const tensors = head === undefined ? others : { ...others, "lm_head.weight": head };
      const config = { "config.json": json({ ...llama.config, tie_word_embeddings }) };
      const before = engine.memory().tensorBytes;
      const lm = await loadModel({ ...files, ...config, "model.safetensors": saveSafetensors(tensors) }, { engine });
      sizes.push(engine.memory().tensorBytes - before);
      const { logits } = await lm.model.forward(IDS);
      expect(engine.memory().tensorBytes - before).toBe(sizes.at(-1));
      made.push(logits?.data);
      expect(lm.model.parameters().get("head.weight")?.data).toEqual((head ?? table).data);
      lm.dispose();
      expect(engine.memory().tensorBytes).toBe(before);
    }
    expect(made[1]).toEqual(made[0]);
    expect(made[2]).toEqual(made[0]?.map((logit) => -logit));
    // f32 has a table for words and packed matrices for the head, as one or as two.
    expect(sizes[1]).toBe(sizes[0]);
    const narrow = await Promise.all(
      [others, { ...others, "lm_head.weight": { ...table, data: table.data.slice() } }].map(async (tensors) => {
        const config = { "config.json": json({ ...llama.config, tie_word_embeddings }) };
        const given = { ...files, ...config, "model.safetensors": saveSafetensors(tensors) };
        const lm = await loadModel(given, { engine, weights: "f16" });
        const { bytes } = lm.model.describe();
        lm.dispose();
        return bytes;
      }),
    );
    expect(narrow[1]).toBe(narrow[0]);
  });

  test("an abort in the midst rejects, and the engine works on", async () => {
    const before = engine.memory().tensorBytes;
    const controller = new AbortController();
    const loading = loadModel(files, { engine, signal: controller.signal, onProgress: () => controller.abort() });
    await expect(loading).rejects.toMatchObject({ code: "aborted" });
    await expect(loadModel(files, { engine, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted" });
    expect(engine.memory().tensorBytes).toBe(before);
    await checkLlama(await loadModel(files, { engine }));
  });

  const { "config.json": _, ...noConfig } = files;
  const { "model.safetensors": __, ...noWeights } = files;
  test.each<[string, unknown, string, RegExp]>([
    ["no config", noConfig, "load", /must have one config\.json/],
    ["no weights", noWeights, "load", /must have model\.safetensors, or model\.safetensors\.index\.json/],
    ["another family", { ...files, "config.json": json({ model_type: "mamba" }) }, "unsupported", /got "mamba"/],
    ["a config that is a list", { ...files, "config.json": json([1]) }, "load", /config\.json must be an object/],
    ["no JSON", { ...files, "config.json": new TextEncoder().encode("<!doctype") }, "load", /config\.json: .*JSON/],
    ["two configs", { "a/config.json": json({}), "b/config.json": json({}) }, "load", /one config\.json, got "a/],
    ["two GGUF files", { "a.gguf": json(1), "b.gguf": json(1) }, "option", /one GGUF file/],
    ["a number", 7, "option", /^loadModel: a model must be an address/],
    ["files without names", [new Blob([])], "option", /must have names/],
    ["a cut file", { ...files, "model.safetensors": files["model.safetensors"]?.slice(0, -4) }, "load", /bytes/],
    ["text for a GGUF file", new TextEncoder().encode("hello"), "load", /GGUF|magic/i],
  ])("refuses %s", async (_, source, code, message) => {
    await expect(loadModel(source as ModelSource, { engine })).rejects.toMatchObject({
      name: "HeedError",
      code,
      message: expect.stringMatching(message),
    });
  });

  test("refuses options that it does not know", async () => {
    await expect(loadModel(files, { engine, weight: "f32" } as object)).rejects.toMatchObject({
      message: expect.stringMatching(/no option "weight", did you mean "weights"/),
    });
    await expect(loadModel(files, { engine, weights: "f64" as "f32" })).rejects.toMatchObject({ code: "option" });
  });
});

describe("a server", () => {
  let server: Server;
  let address = "";
  const answers: string[] = [];
  const served = new Map<string, { bytes: Uint8Array<ArrayBuffer>; tag: string }>();

  beforeAll(async () => {
    for (const [name, bytes] of Object.entries(llama.files)) served.set(`/tiny/${name}`, { bytes, tag: `"1"` });
    server = createServer((request, answer) => {
      const found = served.get(request.url ?? "");
      answers.push(`${request.method} ${request.url}`);
      // As of Vite's server: what is not there is the page.
      if (found === undefined && request.url?.startsWith("/tiny/g")) {
        answer.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>");
      } else if (found === undefined) answer.writeHead(404).end();
      else
        answer
          .writeHead(200, { etag: found.tag, "content-length": found.bytes.length })
          .end(request.method === "HEAD" ? undefined : found.bytes);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tiny`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test("a folder, with or without its last stroke, as a string or URL", async () => {
    await checkLlama(await loadModel(address, { engine }));
    await checkLlama(await loadModel(new URL(`${address}/`), { engine }));
    await expect(loadModel(`${address}x`, { engine })).rejects.toMatchObject({
      code: "load",
      message: expect.stringMatching(/must have a config\.json, or be a GGUF file/),
    });
    await expect(loadModel("http://127.0.0.1:1/x", { engine })).rejects.toMatchObject({
      message: expect.stringMatching(/could not be fetched: .*CORS/),
    });
  });

  describe("with a cache", () => {
    const stored = new Map<string, Response>();
    let isFull = false;
    const storage = {
      match: async (key: string) => stored.get(key)?.clone(),
      put: async (key: string, response: Response) => {
        if (isFull && response.ok) throw new DOMException("no room", "QuotaExceededError");
        const bytes = await response.arrayBuffer();
        stored.set(
          key,
          new Response(response.ok ? bytes : null, { status: response.status, headers: response.headers }),
        );
      },
      delete: async (key: string) => stored.delete(key),
    };
    beforeAll(() => vi.stubGlobal("caches", { open: async () => storage }));
    afterAll(() => vi.unstubAllGlobals());
    afterEach(() => answers.splice(0));

    test("files are fetched once, checked by tag and size, and used without a network", async () => {
      const seen: FileProgress[] = [];
      await checkLlama(await loadModel(address, { engine, cache: true, onProgress: (one) => seen.push(one) }));
      const { length } = llama.files["model.safetensors"] ?? [];
      expect(seen).toContainEqual({ loaded: length, total: length, file: "model.safetensors" });
      answers.splice(0);
      await checkLlama(await loadModel(address, { engine, cache: true }));
      expect(answers.filter((one) => one.startsWith("GET"))).toEqual([]);
      // Another tag, another file.
      const changed = { ...llama.config, extra: 1 };
      served.set("/tiny/config.json", { bytes: json(changed), tag: `"2"` });
      const lm = await loadModel(address, { engine, cache: true });
      expect(lm.config).toEqual(changed);
      lm.dispose();
      served.set("/tiny/config.json", { bytes: json(llama.config), tag: `"1"` });
      await checkLlama(await loadModel(address, { engine, cache: true }));
      const network = globalThis.fetch;
      vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
      await checkLlama(await loadModel(address, { engine, cache: true }));
      vi.stubGlobal("fetch", network);
    });

    test("a full storage is a clear error, and keeps nothing of the file", async () => {
      stored.clear();
      isFull = true;
      await expect(loadModel(address, { engine, cache: true })).rejects.toMatchObject({
        code: "memory",
        message: expect.stringMatching(/storage is full.*caches\.delete\("heed-models"\).*cache: false/),
      });
      isFull = false;
      expect([...stored.values()].filter(({ ok }) => ok)).toEqual([]);
    });
  });

  test("cache: true without a browser is refused", async () => {
    vi.stubGlobal("caches", undefined);
    await expect(loadModel(address, { engine, cache: true })).rejects.toMatchObject({ code: "unsupported" });
    vi.unstubAllGlobals();
  });
});

describe("a GGUF file is refused by its header", async () => {
  // Formats of weights have a module of their own, which rounds otherwise.
  const own = await createHeed({ threads: 1 });
  afterAll(() => own.dispose());

  /** Of which nothing but the header can be read. */
  const headerOnly = (sizes: GgufSizes, cancel = () => {}): ReadableStream<Uint8Array> => {
    const chunks = [llamaHeader(sizes)];
    const pull = (controller: ReadableStreamDefaultController): void => {
      const chunk = chunks.shift();
      if (chunk === undefined) controller.error(new Error("no weights"));
      else controller.enqueue(chunk);
    };
    return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  };

  test.each<[Weights, GgufSizes["type"], number, string, RegExp]>([
    ["f32", 0, 12, "memory", /take 3\.2\d GB: .* "f16" takes 1\.6\d GB, "int8" takes 0\.8\d GB, "int4" takes/],
    ["as stored", 0, 12, "memory", /take 3\.2\d GB: .* "f16" takes 1\.6\d GB, "int8" takes 0\.8\d GB, "int4" takes/],
    ["f16", 8, 24, "memory", /take 3\.2\d GB: as option weights, "int8" takes 1\.7\d GB, "int4" takes/],
    ["f16", 0, 48, "memory", /take 6\.4\d GB: as option weights, "int4" takes 1\.8\d GB$/],
    ["int8", 0, 80, "memory", /take 5\.\d\d GB: no format of weights is small enough/],
    ["int8", 0, 12, "load", /no weights/],
    ["int4", 0, 24, "load", /no weights/],
  ])("as %s of type %i, %i layers", async (weights, type, layers, code, message) => {
    const source = headerOnly({ dim: 2048, hidden: 8192, layers, type });
    await expect(loadModel(source, { engine: own, weights })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  test("with a tokenizer that heed refuses, and closed", async () => {
    const metadata = {
      "tokenizer.ggml.model": "gpt2",
      "tokenizer.ggml.pre": "gpt-2",
      "tokenizer.ggml.tokens": Array.from({ length: 32 }, (_, at) => String.fromCharCode(97 + at)),
      "tokenizer.ggml.merges": ["a b"],
    };
    const cancelled = vi.fn();
    const source = headerOnly({ dim: 64, hidden: 64, layers: 1, type: 0, metadata }, cancelled);
    await expect(loadModel(source, { engine: own })).rejects.toThrow(/merges/);
    await vi.waitFor(() => expect(cancelled).toHaveBeenCalledOnce());
  });
});

test("a path in Node: of a folder, as a file's URL, and of a GGUF file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "heed-models-"));
  try {
    for (const [name, bytes] of Object.entries(llama.files)) await writeFile(join(folder, name), bytes);
    await checkLlama(await loadModel(folder, { engine }));
    await checkLlama(await loadModel(new URL(`file://${folder}`), { engine }));
    const { file } = readFixture("gguf.json")["bert"] as { readonly file: string };
    const gguf = join(folder, "tiny.gguf");
    await writeFile(gguf, Buffer.from(file, "base64"));
    const lm = await loadModel(gguf, { engine });
    expect(lm.model).toBeInstanceOf(BertModel);
    lm.dispose();
    await expect(loadModel(join(folder, "nowhere"), { engine })).rejects.toMatchObject({ code: "load" });
  } finally {
    await rm(folder, { recursive: true });
  }
});
