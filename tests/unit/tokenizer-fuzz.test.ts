// Tokenizers that chance has spoilt: they tokenize, or are refused with a HeedError. Nothing else.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HeedError } from "../../web/src/index.js";
import { loadTokenizer } from "../../web/src/layers/index.js";
import { fromOniguruma } from "../../web/src/layers/text/pattern.js";
import { Random } from "../support/random.js";
import { roundsOf, timeFor } from "../support/rounds.js";

const SEED = 21;
const ROUNDS = roundsOf(600);

const read = (name: string) => JSON.parse(readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8"));
const MADE: readonly { readonly tokenizer: unknown }[] = [...read("tokenizers.json"), ...read("text.json").made];

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

test(
  `${ROUNDS} spoilt tokenizers of seed ${SEED} tokenize, or are refused`,
  async () => {
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
        const stream = tokenizer.decodeStream();
        for (const id of ids) expect(typeof stream.push(id)).toBe("string");
        expect(typeof stream.flush()).toBe("string");
        worked += 1;
      } catch (error) {
        if (!(error instanceof HeedError)) throw new Error(`round ${round}: ${String(error)}`, { cause: error });
      }
    }
    // Chance must reach both ends.
    expect(worked).toBeGreaterThan(ROUNDS / 20);
    expect(worked).toBeLessThan(ROUNDS);
  },
  timeFor(ROUNDS, 50),
);

/** A pattern of few characters, so that its parts overlap more often than not. */
function patternOf(random: Random, depth: number): string {
  const several = (most: number, make: () => string): string[] => Array.from({ length: random.whole(1, most) }, make);
  const part = (): string => {
    const kind = random.whole(0, depth > 0 ? 9 : 5);
    if (kind < 5) return random.pick(["a", "b", "[ab]", "[^b]", "\\w"]) + random.pick(QUANTIFIERS);
    if (kind === 5) return random.pick(["$", "\\B"]);
    const open = random.pick(["(?:", "(?:", "(?>", "(?=", "(?!"]);
    const isLook = open === "(?=" || open === "(?!";
    return `${open}${patternOf(random, depth - 1)})${isLook ? "" : random.pick(QUANTIFIERS)}`;
  };
  return several(2, () => several(4, part).join("")).join("|");
}
const QUANTIFIERS = ["", "", "?", "*", "+", "{1,3}", "{0,500}", "{2}", "{3,}", "*?", "++"] as const;

test("a pattern that is not refused takes a time that grows at most with the square of a text", () => {
  const random = new Random(SEED);
  const texts = ["a".repeat(2000), "ab".repeat(1000), "a".repeat(1000) + "b".repeat(1000)];
  let accepted = 0;
  for (let round = 0; round < 4_000; round++) {
    const pattern = patternOf(random, round % 3);
    let expression: RegExp;
    try {
      expression = fromOniguruma(pattern);
    } catch (error) {
      expect(error).toBeInstanceOf(HeedError);
      continue;
    }
    accepted += 1;
    for (const text of texts) {
      const took = (): number => {
        const start = performance.now();
        text.replace(expression, "");
        return performance.now() - start;
      };
      // At most 0.1 s for the square; the third power takes 4 s. Another task may take the processor once.
      const first = took();
      expect(first < 2000 ? first : took(), `${pattern} on ${text.slice(0, 3)}...`).toBeLessThan(2000);
    }
  }
  expect(accepted).toBeGreaterThan(400);
});
