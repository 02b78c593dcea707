// While a model is loaded, none of its large tensors stands whole in JavaScript: rows go to the engine as they come.

import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import { Layer, saveSafetensors, type Weights } from "../../../web/src/layers/index.js";
import { type LoadedModel, loadModel, type ModelSource } from "../../../web/src/models/index.js";
import { evaluate } from "../../../web/src/train/index.js";
import { type GgufSizes, llamaHeader } from "../../support/gguf-file.js";
import { enlarged } from "../../support/model-files.js";
import { json } from "../../support/small-model.js";

const engine = await createHeed({ threads: 1 });
afterAll(() => engine.dispose());
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** The numbers of a piece in f32, which is also the most that is read of a file at once. */
const PIECE = 2 ** 22;
/** Of each large tensor: four pieces in f32. */
const NUMBERS = 2 ** 22;

/** The bytes of the largest array that is made, or taken of a Blob, meanwhile. */
async function largestArray(act: () => Promise<unknown>): Promise<number> {
  let largest = 0;
  const count = (bytes: number): void => {
    largest = Math.max(largest, bytes);
  };
  for (const Kind of [Uint8Array, Uint16Array, Float32Array]) {
    const construct = (_: object, given: readonly unknown[]): object => {
      if (typeof given[0] === "number") count(given[0] * Kind.BYTES_PER_ELEMENT);
      return Reflect.construct(Kind, given);
    };
    vi.stubGlobal(Kind.name, new Proxy(Kind, { construct }));
  }
  const arrays: Pick<Uint8Array, "slice"> = Object.getPrototypeOf(Uint8Array.prototype);
  const { slice } = arrays;
  vi.spyOn(arrays, "slice").mockImplementation(function (this: Uint8Array, ...range) {
    const made = Reflect.apply(slice, this, range);
    count(made.byteLength);
    return made;
  });
  const { arrayBuffer } = Blob.prototype;
  vi.spyOn(Blob.prototype, "arrayBuffer").mockImplementation(function (this: Blob) {
    count(this.size);
    return Reflect.apply(arrayBuffer, this, []);
  });
  await act();
  return largest;
}

/** A Llama in which each matrix of the feed-forward part is large. */
function ggufOf(type: GgufSizes["type"]): File {
  const header = llamaHeader({ dim: 256, hidden: NUMBERS / 256, layers: 1, type });
  return new File([header, new Uint8Array(4 * (4 * NUMBERS))], "x.gguf");
}

/** A Llama whose table of words is large. */
function folderOf(dtype: "f32" | "f16"): ModelSource {
  const { config, parameters } = enlarged("llama", 2 ** 18, 64);
  const named = [...parameters].filter(([name]) => name !== "lm_head.weight");
  const tensors = Object.fromEntries(named.map(([name, tensor]) => [name, { ...tensor, dtype }]));
  return {
    "config.json": json({ ...config, tie_word_embeddings: true }),
    "model.safetensors": new Blob([saveSafetensors(tensors)]),
  };
}

test.each<[string, () => ModelSource, Weights]>([
  ["F32 to f32", () => ggufOf(0), "f32"],
  ["F32 to int8", () => ggufOf(0), "int8"],
  ["Q8_0 as stored", () => ggufOf(8), "as stored"],
  ["Q8_0 to f32", () => ggufOf(8), "f32"],
  ["Q6_K as stored, which is int8", () => ggufOf(14), "as stored"],
  ["safetensors to f32, a table and packed", () => folderOf("f32"), "f32"],
  ["F16 in safetensors to f32", () => folderOf("f16"), "f32"],
  ["F16 in safetensors to int8", () => folderOf("f16"), "int8"],
  ["F16 in safetensors as stored", () => folderOf("f16"), "as stored"],
])("%s", async (_, source, weights) => {
  const given = source();
  const before = engine.memory().tensorBytes;
  const largest = await largestArray(async () => {
    const lm = await loadModel(given, { engine, weights, tokenizer: false });
    expect(engine.memory().tensorBytes - before).toBeGreaterThan(NUMBERS);
    lm.dispose();
  });
  expect(largest).toBeGreaterThan(0);
  expect(largest).toBeLessThanOrEqual(PIECE);
});

describe("narrow weights that came in pieces", () => {
  const small = (): File => {
    const header = llamaHeader({ dim: 64, hidden: 64, layers: 1, type: 0 });
    return new File([header, new Uint8Array(2 ** 20)], "x.gguf");
  };
  const load = async (on: typeof engine): Promise<readonly [LoadedModel, WeakRef<File>]> => {
    const file = small();
    return [await loadModel(file, { engine: on, weights: "int8", tokenizer: false }), new WeakRef(file)];
  };

  test("keep nothing of their file", async () => {
    const [lm, file] = await load(engine);
    await vi.waitFor(
      () => {
        globalThis.gc?.();
        // An error with the file would keep it.
        expect(file.deref() === undefined).toBe(true);
      },
      { timeout: 20_000 },
    );
    expect(lm.config).toBeDefined();
    lm.dispose();
  });

  test("are lost with their engine, and no other memory is taken for them", async () => {
    const first = await createHeed({ threads: 1 });
    const [lm] = await load(first);
    // The norms stay in JavaScript.
    await lm.model.readParameters();
    first.dispose();
    class Whole extends Layer {
      constructor() {
        super("Whole", engine);
        this.part("model", lm.model);
      }
    }
    const given = evaluate(new Whole(), async (pass) => ({ y: (await lm.model.forward([1, 2], { pass })).hidden }));
    await expect(given).rejects.toMatchObject({ name: "HeedError", code: "disposed" });
  });
});
