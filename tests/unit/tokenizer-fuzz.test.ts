// Tokenizers that chance has spoilt: they tokenize, or are refused with a HeedError. Nothing else.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HeedError } from "../../web/src/index.js";
import { loadTokenizer } from "../../web/src/layers/index.js";
import { Random } from "../support/random.js";

const SEED = 21;
const ROUNDS = 600;

const MADE: readonly { readonly tokenizer: unknown }[] = JSON.parse(
  readFileSync(new URL("../fixtures/tokenizers.json", import.meta.url), "utf8"),
);

const TEXT = "Hello  naïve 日本 12345 it's\n😀 <x> KEEP [MASK] \ud800 e\u0301";

const SPLINTERS: readonly [unknown, ...unknown[]] = [
  null,
  true,
  false,
  -1,
  0.5,
  0,
  7,
  1e300,
  "",
  " ",
  "a",
  "[UNK]",
  "Sequence",
  "ByteLevel",
  "ByteFallback",
  "Fuse",
  "Lowercase",
  "TemplateProcessing",
  "BPE",
  "WordPiece",
  "WordLevel",
  "(",
  "\\s+|[",
  [],
  {},
  [null],
  { type: "Sequence" },
];

type Node = Record<string | number, unknown>;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;

/** Replaces, removes or copies something, and looks deeper more often than not. */
function spoil(random: Random, root: Node): void {
  let node = root;
  for (;;) {
    const keys = Object.keys(node);
    if (keys.length === 0) return;
    const key = random.pick(keys as [string, ...string[]]);
    const value = node[key];
    if (isNode(value) && random.chance(0.75)) {
      node = value;
      continue;
    }
    if (random.chance(0.2)) delete node[key];
    else {
      const part = random.pick(["model", "decoder", "normalizer"]);
      // A copy, lest it comes to hold itself.
      node[key] = structuredClone(random.chance(0.2) ? root[part] : random.pick(SPLINTERS));
    }
    return;
  }
}

test(`${ROUNDS} spoilt tokenizers of seed ${SEED} tokenize, or are refused`, async () => {
  const random = new Random(SEED);
  let worked = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const file = structuredClone(random.pick(MADE as [{ tokenizer: unknown }]).tokenizer);
    if (!isNode(file)) throw new Error("a fixture without a tokenizer");
    spoil(random, file);
    while (random.chance(0.4)) spoil(random, file);
    try {
      const tokenizer = await loadTokenizer(new TextEncoder().encode(JSON.stringify(file)));
      const { ids, tokens, offsets } = tokenizer.encode(TEXT, { pair: "a b" });
      expect([tokens.length, offsets.length]).toEqual([ids.length, ids.length]);
      for (const [start, end] of offsets) expect(start <= end && end <= TEXT.length, `round ${round}`).toBe(true);
      expect(typeof tokenizer.decode(ids)).toBe("string");
      worked += 1;
    } catch (error) {
      if (!(error instanceof HeedError)) throw new Error(`round ${round}: ${String(error)}`, { cause: error });
    }
  }
  // Chance must reach both ends.
  expect(worked).toBeGreaterThan(ROUNDS / 20);
  expect(worked).toBeLessThan(ROUNDS);
});
