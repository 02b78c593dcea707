// Files that chance has spoilt: they load with tensors that agree with themselves, or are refused with a HeedError. Nothing else.

import { expect, test } from "vitest";
import { HeedError } from "../../web/src/index.js";
import { type FileSource, loadSafetensors, saveSafetensors } from "../../web/src/layers/index.js";
import { Random } from "../support/random.js";
import { roundsOf, timeFor } from "../support/rounds.js";

const SEED = 20;
const ROUNDS = roundsOf(4000);

const VALID = saveSafetensors(
  {
    weight: { data: Float32Array.from({ length: 12 }, (_, i) => i), shape: [3, 4] },
    bias: { data: Uint16Array.of(1, 2, 3), shape: [3], dtype: "f16" },
    ids: { data: BigInt64Array.of(1n, -1n), shape: [2] },
    mask: { data: Uint8Array.of(1, 0), shape: [1, 2], dtype: "bool" },
  },
  { format: "pt" },
);
const HEADER_END = 8 + Number(new DataView(VALID.buffer).getBigUint64(0, true));

/** Numbers and signs that readers of headers stumble over. */
const SPLINTERS = [
  "0",
  "9",
  "-",
  "1e9",
  "e308",
  ".5",
  '"',
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\\",
  "\\ud800",
  "\u0000",
  "null",
];
const TYPES = ["F32", "F16", "BF16", "I64", "BOOL", "U8", "F64", "X"] as const;

function replaced(bytes: Uint8Array, at: number, removed: number, added: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([...bytes.subarray(0, at), ...added, ...bytes.subarray(at + removed)]);
}

/** Keeps the length of the header right, most of the time: else nothing behind it is ever reached. */
function inHeader(
  random: Random,
  file: Uint8Array,
  at: number,
  removed: number,
  text: string,
): Uint8Array<ArrayBuffer> {
  const added = new TextEncoder().encode(text);
  const changed = replaced(file, at, removed, added);
  const view = new DataView(changed.buffer);
  if (changed.length >= 8 && random.chance(0.9)) {
    view.setBigUint64(0, view.getBigUint64(0, true) + BigInt(added.length - Math.min(removed, file.length - at)), true);
  }
  return changed;
}

function mutated(random: Random, file: Uint8Array): Uint8Array<ArrayBuffer> {
  const at = random.whole(0, Math.max(file.length - 1, 0));
  const header = random.whole(8, HEADER_END - 1);
  const text = new TextDecoder().decode(file.subarray(8, HEADER_END));
  const numbers = [...text.matchAll(/\d+/g)];
  const number = numbers[random.whole(0, Math.max(numbers.length - 1, 0))];
  const types = [...text.matchAll(/"(F32|F16|I64|BOOL)"/g)];
  const type = types[random.whole(0, Math.max(types.length - 1, 0))];
  switch (random.whole(0, 8)) {
    case 0:
      return replaced(file, at, 1, Uint8Array.of(random.whole(0, 255)));
    case 1:
      return Uint8Array.from(file.subarray(0, at));
    case 2:
      return replaced(file, file.length, 0, new Uint8Array(random.whole(1, 9)));
    case 3:
      return replaced(file, random.whole(0, 7), 1, Uint8Array.of(random.whole(0, 255)));
    case 4:
      return inHeader(random, file, header, random.whole(0, 3), random.pick(SPLINTERS as [string, ...string[]]));
    case 5:
    case 6: {
      if (number === undefined) return Uint8Array.from(file);
      const other = random.pick([
        `${Number(number[0]) + random.whole(-4, 4)}`,
        `${random.whole(0, 60)}`,
        "1e15",
        "9007199254740993",
      ]);
      return inHeader(random, file, 8 + number.index, number[0].length, other);
    }
    case 7:
      if (type === undefined) return Uint8Array.from(file);
      return inHeader(random, file, 9 + type.index, type[0].length - 2, random.pick(TYPES));
    default: {
      const from = random.whole(8, HEADER_END - 1);
      const inserted = text.slice(from - 8, from - 8 + random.whole(1, 60));
      return inHeader(random, file, header, 0, inserted);
    }
  }
}

test(
  `${ROUNDS} spoilt files of seed ${SEED} load with tensors that agree with themselves, or are refused`,
  async () => {
    const random = new Random(SEED);
    let loaded = 0;
    const messages = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      let file = mutated(random, VALID);
      while (random.chance(0.3)) file = mutated(random, file);
      const source = random.pick<() => FileSource>([() => file, () => new Blob([file]), () => new Response(file)])();
      try {
        const tensors = await loadSafetensors(source);
        for (const [name, { data, shape }] of tensors) {
          const count = shape.reduce((total, size) => total * size, 1);
          expect(data.length, `round ${round}, ${name}`).toBe(count);
          expect(data.byteLength).toBeLessThanOrEqual(2 * file.length);
        }
        loaded += 1;
      } catch (error) {
        if (!(error instanceof HeedError)) throw new Error(`round ${round}: ${String(error)}`, { cause: error });
        expect(["load", "shape", "dtype"]).toContain(error.code);
        messages.add(error.message.replaceAll(/\d+|".*?"/g, "#").slice(0, 40));
      }
    }
    // Chance must reach both ends, and many of the rules.
    expect(loaded).toBeGreaterThan(ROUNDS / 50);
    expect(messages.size).toBeGreaterThan(8);
  },
  timeFor(ROUNDS, 10),
);
