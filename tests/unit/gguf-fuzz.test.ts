// GGUF files that chance has spoilt: they load with tensors that agree with themselves, or are refused with a HeedError. Nothing else.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HeedError } from "../../web/src/index.js";
import { Metadata } from "../../web/src/layers/gguf/metadata.js";
import { tokenizerOf } from "../../web/src/layers/gguf/tokenizer/tokenizer.js";
import { type FileSource, loadGguf, loadTokenizer, readGgufHeader, streamGguf } from "../../web/src/layers/index.js";
import { Random } from "../support/random.js";
import { roundsOf, timeFor } from "../support/rounds.js";

const SEED = 44;
const ROUNDS = roundsOf(4000);
const OF_TOKENIZERS = roundsOf(150, 0.05);

const fixture = JSON.parse(readFileSync(new URL("../fixtures/gguf.json", import.meta.url), "utf8"));
const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(base64, "base64"));
/** A model, and a file with a tensor of each type. */
const [MODEL, TYPES] = [bytesOf(fixture.mixed.file), bytesOf(fixture.types.file)];
/** Tokenizers of each kind, which are longer: they are spoilt less often. */
const TOKENIZERS = ["bert", "llama3", "llama2"].map((name) => bytesOf(fixture.tokenizers[name]));

/** Counts and sizes that readers stumble over. */
const NUMBERS = [0n, 1n, 2n, 31n, 32n, 255n, 2n ** 16n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n];

function mutated(random: Random, file: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  // Most of what can go wrong is in the header.
  const at = random.whole(0, Math.min(file.length, random.chance(0.9) ? 2600 : file.length) - 1);
  const changed = file.slice();
  const view = new DataView(changed.buffer);
  switch (random.whole(0, 5)) {
    case 0:
      changed[at] = random.whole(0, 255);
      return changed;
    case 1:
      changed[at] = (changed[at] ?? 0) ^ (1 << random.whole(0, 7));
      return changed;
    case 2:
      return file.slice(0, at);
    case 3:
      if (at + 8 <= file.length) {
        view.setBigUint64(at, NUMBERS[random.whole(0, NUMBERS.length - 1)] ?? 0n, true);
      }
      return changed;
    case 4:
      if (at + 4 <= file.length) view.setUint32(at, random.whole(0, 45), true);
      return changed;
    default: {
      // Bytes move within the file, by a few or many.
      const from = random.whole(0, file.length - 1);
      changed.copyWithin(at, from, from + random.whole(1, 40));
      return changed;
    }
  }
}

function sourceOf(random: Random, file: Uint8Array<ArrayBuffer>): FileSource {
  return random.chance(0.9) ? file : random.pick<FileSource>([new Blob([file]), new Response(file).body ?? file]);
}

/** Whether it loaded. Throws what is no HeedError. */
async function attempt(round: number, act: () => Promise<void>, messages: Set<string>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (!(error instanceof HeedError)) throw new Error(`round ${round}: ${String(error)}`, { cause: error });
    expect(["load", "shape", "dtype", "unsupported"]).toContain(error.code);
    messages.add(error.message.replaceAll(/\d+|".*?"/g, "#").slice(0, 50));
    return false;
  }
}

test(
  `${ROUNDS} spoilt files of seed ${SEED} load with tensors that agree with themselves, or are refused`,
  async () => {
    const random = new Random(SEED);
    const messages = new Set<string>();
    let loaded = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const isModel = round % 2 === 0;
      let file = mutated(random, isModel ? MODEL : TYPES);
      while (random.chance(0.3)) file = mutated(random, file);
      const source = sourceOf(random, file);
      const act = async (): Promise<void> => {
        if (isModel) {
          const { tensors } = await loadGguf(source);
          for (const { data, shape } of tensors.values()) expect(data.length).toBe(shape.reduce((a, b) => a * b, 1));
          return;
        }
        for await (const [, { data }] of streamGguf(source))
          expect(data.byteLength).toBeLessThanOrEqual(2 * file.length);
      };
      loaded += (await attempt(round, act, messages)) ? 1 : 0;
    }
    // Chance must reach both ends, and many of the rules.
    expect(loaded).toBeGreaterThan(ROUNDS / 50);
    expect(loaded).toBeLessThan(ROUNDS);
    expect(messages.size).toBeGreaterThan(20);
  },
  timeFor(ROUNDS, 10),
);

test(
  "spoilt tokenizers are refused, or tokenize",
  async () => {
    const random = new Random(SEED);
    const messages = new Set<string>();
    for (let round = 0; round < OF_TOKENIZERS; round++) {
      const file = mutated(random, TOKENIZERS[round % 3] ?? MODEL);
      const act = async (): Promise<void> => {
        const { metadata } = await readGgufHeader(file);
        const json = tokenizerOf(new Metadata("loadGguf", metadata));
        if (json !== null) (await loadTokenizer(json)).encode("Hello \u2581 world 12");
      };
      await attempt(round, act, messages);
    }
    expect(messages.size).toBeGreaterThan(5);
  },
  timeFor(OF_TOKENIZERS, 200),
);
