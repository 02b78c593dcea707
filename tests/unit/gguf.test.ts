// GGUF files: read as the gguf library wrote them, from every kind of source, with what models and tokenizers need of them.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readGgufLayout } from "../../web/src/layers/gguf/header.js";
import { rowsOfHead } from "../../web/src/layers/gguf/interleaved.js";
import { Metadata } from "../../web/src/layers/gguf/metadata.js";
import { BERT_TENSORS, DECODER_TENSORS, inverted, renamed } from "../../web/src/layers/gguf/names.js";
import { TENSOR_TYPES } from "../../web/src/layers/gguf/tensor-types.js";
import { tokenizerOf } from "../../web/src/layers/gguf/tokenizer/tokenizer.js";
import {
  BertModel,
  type FileSource,
  type GgufTensor,
  LlamaModel,
  loadGguf,
  loadSafetensors,
  loadTokenizer,
  type ModelConfig,
  Qwen2Model,
  Qwen3Model,
  readGgufHeader,
  saveSafetensors,
  streamGguf,
} from "../../web/src/layers/index.js";
import { streamEntries } from "../../web/src/layers/io/read-entries.js";
import { errorOf } from "../support/cases.js";
import { unpack, unpackAll, worstDifference } from "../support/fixtures.js";
import { madeByTransformers } from "../support/model-files.js";

interface Packed {
  readonly shape: number[];
  readonly data: string;
  readonly requantized?: string;
}

interface ModelCase {
  readonly file: string;
  readonly config: ModelConfig;
  readonly expected: Readonly<Record<string, Packed>>;
}

interface Fixture extends Readonly<Record<"llama" | "mixed" | "qwen2" | "qwen3" | "bert", ModelCase>> {
  readonly types: { readonly file: string; readonly expected: Readonly<Record<string, Packed>> };
  readonly tokenizers: Readonly<Record<string, string>>;
}

const fixture: Fixture = JSON.parse(readFileSync(new URL("../fixtures/gguf.json", import.meta.url), "utf8"));
const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(base64, "base64"));
const TYPES = bytesOf(fixture.types.file);

function streamOf(bytes: Uint8Array, chunk: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull: (controller) => {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + chunk));
      at += chunk;
    },
  });
}

async function all(source: FileSource): Promise<Map<string, GgufTensor>> {
  const tensors = new Map<string, GgufTensor>();
  for await (const [name, tensor] of streamGguf(source)) tensors.set(name, tensor);
  return tensors;
}

const bitsOf = (floats: Float32Array): number[] => [
  ...new Uint32Array(floats.buffer, floats.byteOffset, floats.length),
];

describe("reads what the library wrote", () => {
  test.each<[string, () => FileSource]>([
    ["bytes", () => TYPES],
    ["bytes in the middle of a buffer", () => Uint8Array.of(9, 9, 9, ...TYPES, 9).subarray(3, 3 + TYPES.length)],
    ["a Blob", () => new Blob([TYPES])],
    ["a stream of single bytes", () => streamOf(TYPES, 1)],
    ["a stream of small chunks", () => streamOf(TYPES, 777)],
    ["a Response", () => new Response(TYPES)],
  ])("from %s", async (_name, source) => {
    const tensors = await all(source());
    expect([...tensors.keys()]).toEqual(Object.keys(fixture.types.expected));
    const formats = [...tensors.values()].map(({ format }) => format);
    expect(formats).toEqual([
      ...["f32", "f16", "bf16", "int8", "int4", "int4-min", "q4-k"],
      ...["int8", "int8", "int8", "int8"],
    ]);
    for (const [name, { shape, requantized }] of Object.entries(fixture.types.expected)) {
      const tensor = tensors.get(name);
      expect(tensor?.shape).toEqual(shape);
      expect(tensor?.requantizedFrom).toBe(requantized === undefined ? undefined : name);
      if (requantized !== undefined) expect(tensor?.data, name).toEqual(bytesOf(requantized));
    }
  });

  test.each([...TENSOR_TYPES.values()])("$name is dequantized bit for bit", async ({ name, dequantize }) => {
    const stored = new Map<string, Uint8Array<ArrayBuffer>>();
    for await (const [entry, bytes] of streamEntries("test", TYPES, {}, readGgufLayout))
      stored.set(entry.name, await bytes.all());
    const expected = fixture.types.expected[name];
    if (expected === undefined) throw new Error(`no ${name}`);
    expect(bitsOf(dequantize(stored.get(name) ?? new Uint8Array(0)))).toEqual(bitsOf(unpack(expected).data));
  });

  test("values of every kind", async () => {
    const { version, metadata, tensors } = await readGgufHeader(TYPES);
    expect(version).toBe(3);
    expect(Object.fromEntries(metadata)).toEqual({
      "general.architecture": "test",
      "test.u8": 200,
      "test.i8": -100,
      "test.u16": 60000,
      "test.i16": -30000,
      "test.u32": 4000000000,
      "test.i32": -2000000000,
      "test.f32": 1.5,
      "test.bool": true,
      "test.text": "Wörter \u2581 😀",
      "test.u64": 2n ** 64n - 1n,
      "test.i64": -(2 ** 53) + 1,
      "test.f64": 0.1,
      "test.numbers": [1, -2, 3],
      "test.texts": ["a", "", "b\n"],
      "test.lists": [[1.5], [2.5, 3.5]],
    });
    expect(tensors.get("Q6_K")).toEqual({ type: "Q6_K", shape: [3, 512], bytes: 1260 });
  });

  test("version 2", async () => {
    const older = TYPES.slice();
    older[4] = 2;
    expect((await readGgufHeader(older)).version).toBe(2);
  });
});

describe("models", () => {
  test.each(["llama", "mixed", "qwen2", "qwen3"] as const)(
    "%s: tensors by published names, bit for bit",
    async (name) => {
      const { file, config, expected } = fixture[name];
      const model = await loadGguf(bytesOf(file));
      expect([...model.tensors.keys()].sort()).toEqual(Object.keys(expected).sort());
      for (const [key, packed] of Object.entries(expected)) {
        const tensor = model.tensors.get(key);
        expect(tensor?.shape).toEqual(packed.shape);
        expect(bitsOf(tensor?.data ?? new Float32Array(0)), key).toEqual(bitsOf(unpack(packed).data));
      }
      const { rms_norm_eps, ...others } = model.config;
      const { rms_norm_eps: epsilon, ...wanted } = config;
      expect(rms_norm_eps).toBe(Math.fround(epsilon ?? 0));
      expect(others).toEqual(wanted);
      expect(model.chatTemplate).toBe("{{ messages[0].content }}");
      expect(model.tokenizer).toBe(null);
    },
  );

  test("weights as stored have the published rows", async () => {
    const { tensors } = await loadGguf(bytesOf(fixture.mixed.file), { weights: "as stored" });
    const floats = (await loadGguf(bytesOf(fixture.mixed.file))).tensors;
    const formats = new Set([...tensors.values()].map(({ format, requantizedFrom }) => requantizedFrom ?? format));
    expect([...formats].sort()).toEqual(["Q5_0", "Q5_1", "bf16", "f16", "f32", "int4", "int4-min", "int8"]);
    // Q8_0: every 34 bytes are a scale and 32 numbers.
    const [name = "", tensor] =
      [...tensors].find(([, { format, requantizedFrom }]) => format === "int8" && !requantizedFrom) ?? [];
    const numbers = floats.get(name)?.data ?? [];
    expect(Math.sign(numbers[0] ?? 0)).toBe(Math.sign(((tensor?.data[2] ?? 0) << 24) >> 24));
  });

  test("llama computes what PyTorch computed", async () => {
    const { config, tensors } = await loadGguf(bytesOf(fixture.llama.file));
    const { ids, outputs } = madeByTransformers("llama");
    const model = new LlamaModel(config);
    model.load(tensors);
    const { logits } = await model.forward([ids]);
    const wanted = outputs.get("logits");
    if (wanted === undefined) throw new Error("no logits");
    const first = { data: wanted.data.subarray(0, logits.data.length), shape: logits.shape };
    expect(worstDifference(logits, first, 40)).toBeLessThan(1);
    model.dispose();
  });

  test("bert computes what PyTorch computed", async () => {
    const { config, tensors } = await loadGguf(bytesOf(fixture.bert.file));
    const made = madeByTransformers("bert");
    expect(config).toEqual({
      ...Object.fromEntries(Object.keys(config).map((key) => [key, made.config[key]])),
      layer_norm_eps: Math.fround(made.config.layer_norm_eps ?? 0),
    });
    for (const [name, tensor] of tensors) expect(tensor).toEqual(made.parameters.get(name));
    expect(tensors.size).toBe(made.parameters.size - 2);
    const [model, other] = [new BertModel(config), new BertModel(made.config)];
    model.load(tensors);
    other.load(made.parameters);
    expect((await model.forward(made.ids)).hidden.data).toEqual((await other.forward(made.ids)).hidden.data);
  });

  test.each([
    ["qwen2", Qwen2Model],
    ["qwen3", Qwen3Model],
  ] as const)("%s computes what it does from the published file", async (name, Model) => {
    const { config, expected, file } = fixture[name];
    const { config: read, tensors } = await loadGguf(bytesOf(file));
    const model = new Model(read).load(tensors);
    // The file's epsilon is in single precision.
    const other = new Model({ ...config, rms_norm_eps: Math.fround(config.rms_norm_eps ?? 0) }).load(
      unpackAll(expected),
    );
    const tokens = [1, 5, 9, 2, 7];
    expect((await model.forward(tokens)).logits.data).toEqual((await other.forward(tokens)).logits.data);
  });

  test("another model says so", async () => {
    const { config } = await loadGguf(bytesOf(fixture.qwen3.file));
    expect(() => new LlamaModel(config)).toThrow(/config.model_type must be "llama" or "mistral", got "qwen3"/);
    expect((await errorOf(loadGguf(TYPES))).message).toMatch(/general.architecture must be one of llama.*got "test"/);
  });

  test.each([DECODER_TENSORS, BERT_TENSORS])("names are the same after both directions", (table) => {
    for (const name of Object.keys(table)) {
      const own = `${name.replace("*", "17")}.weight`;
      expect(renamed(inverted(table), renamed(table, own) ?? "")).toBe(own);
    }
  });
});

interface TextCase {
  readonly text: string;
  readonly pair?: string;
  readonly addSpecialTokens?: boolean;
  readonly maxLength?: number;
  readonly ids: number[];
}
const MADE: readonly { readonly name: string; readonly cases: readonly TextCase[] }[] = JSON.parse(
  readFileSync(new URL("../fixtures/tokenizers.json", import.meta.url), "utf8"),
);

test.each(Object.keys(fixture.tokenizers))("the tokenizer %s gives the recorded tokens", async (name) => {
  const { metadata } = await readGgufHeader(bytesOf(fixture.tokenizers[name] ?? ""));
  const tokenizer = await loadTokenizer(tokenizerOf(new Metadata("test", metadata)) ?? {});
  const cases = MADE.find((one) => one.name === name)?.cases ?? [];
  expect(cases.length).toBeGreaterThan(30);
  for (const { text, pair, addSpecialTokens, maxLength, ids } of cases) {
    expect([...tokenizer.encode(text, { pair, addSpecialTokens, maxLength }).ids], JSON.stringify(text)).toEqual(ids);
  }
});

describe("refuses", () => {
  const changed = (change: (view: DataView) => void): Uint8Array<ArrayBuffer> => {
    const bytes = TYPES.slice();
    change(new DataView(bytes.buffer));
    return bytes;
  };
  test.each<[string, Uint8Array<ArrayBuffer>, string, RegExp]>([
    ["nothing", new Uint8Array(0), "load", /must start with "GGUF"/],
    [
      "a safetensors file",
      saveSafetensors({ a: { data: new Float32Array(2), shape: [2] } }),
      "load",
      /loadSafetensors/,
    ],
    ["version 1", changed((view) => view.setUint32(4, 1, true)), "load", /version 2 or 3, little-endian, got 1/],
    ["a big-endian file", changed((view) => view.setUint32(4, 3)), "load", /got a big-endian one/],
    [
      "many tensors",
      changed((view) => view.setBigUint64(8, 2n ** 64n - 1n, true)),
      "load",
      /number of tensors must be at most/,
    ],
    [
      "many fields",
      changed((view) => view.setBigUint64(16, 2n ** 40n, true)),
      "load",
      /metadata fields must be at most/,
    ],
    [
      "a long name",
      changed((view) => view.setBigUint64(24, 2n ** 63n, true)),
      "load",
      /the length of a name must be at most/,
    ],
    ["a cut header", TYPES.slice(0, 300), "load", /ends within its header, after 300 bytes/],
    ["cut data", TYPES.slice(0, -200), "load", /must be at least \d+ bytes by its header|ends within tensor/],
  ])("%s", async (_name, file, code, message) => {
    for (const source of [file, new Blob([file]), streamOf(file, 5000)]) {
      const error = await errorOf(all(source));
      expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)]);
    }
  });

  test("rows of heads that are no whole bytes, as those of a vector in blocks", async () => {
    const error = await errorOf((async () => rowsOfHead("a bias", 64, 2, 68))());
    expect([error.code, error.message]).toEqual([
      "shape",
      expect.stringMatching(/of whole bytes, .* got 64 of 1.0625/),
    ]);
  });

  test("a type that heed does not take, by its name", async () => {
    const at = Buffer.from(TYPES).indexOf("Q6_K") + 4 + 4 + 16;
    const error = await errorOf(readGgufHeader(changed((view) => view.setUint32(at, 10, true))));
    expect([error.code, error.message]).toEqual(["dtype", expect.stringMatching(/must be of F32.*got Q2_K/)]);
  });

  test("an abort, and where a safetensors file is read, by name", async () => {
    const progress: number[] = [];
    const controller = new AbortController();
    const onProgress = ({ loaded }: { readonly loaded: number }): void => {
      progress.push(loaded);
      if (loaded > 6000) controller.abort();
    };
    const given = { onProgress, signal: controller.signal };
    const error = await errorOf(loadGguf(streamOf(bytesOf(fixture.mixed.file), 1000), given));
    expect([error.code, progress.length > 3]).toEqual(["aborted", true]);
    expect((await errorOf(loadSafetensors(TYPES))).message).toMatch(/load it by loadGguf/);
  });
});
