// Both calls that a page copies, on the page's very numbers: heed's, run here, against PyTorch's, whose numbers are stored. They were
// made by running the copied text (tests/fixtures/snippets.py), and are stored under it: a changed snippet has none.

import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PAGES, type Room } from "../../../demo/frame.js";
import { normal } from "../../../demo/src/model/random.js";
import { saveSafetensors } from "../../../web/src/layers/io/index.js";
import { readFixture, unpack } from "../../support/fixtures.js";
import { demoInChromium } from "./chromium.js";
import { copied, runUnderNode } from "./copied.js";
import { compare } from "./numbers.js";
import { readMatrix } from "./page.js";

const { answered, open, shared } = demoInChromium();

/** Where snippets are left for PyTorch, when its numbers are being made anew. */
const RENEWED = process.env["HEED_SNIPPETS"];
const HOW = "PyTorch never ran this snippet: python tests/fixtures/snippets.py makes its numbers";

interface Stored {
  /** The page that the snippet was copied from. */
  readonly place: string;
  readonly output: { readonly shape: readonly number[]; readonly data: string };
  /** How far PyTorch's f32 is from its f64, which is what is stored. */
  readonly apart: number;
}

const STORED = readFixture("snippets.json") as Readonly<Record<string, Stored>>;

/** The snippets that were found on the pages, and where. */
const asked = new Map<string, string>();

type Files = ReadonlyMap<string, Uint8Array>;
const NO_FILES: Files = new Map();

function torchNumbers(place: string, snippet: string, files: Files = NO_FILES): Stored | undefined {
  const hash = createHash("sha256").update(snippet);
  for (const bytes of files.values()) hash.update(bytes);
  const key = hash.digest("hex");
  asked.set(key, place);
  if (RENEWED === undefined) {
    expect(STORED, HOW).toHaveProperty([key]);
    return STORED[key];
  }
  const folder = join(RENEWED, key);
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
  writeFileSync(join(folder, "snippet.py"), snippet);
  writeFileSync(join(folder, "place.txt"), place);
  return undefined;
}

/**
 * heed may be as far from double precision as twice PyTorch's own f32, and where that happens to be exact, as far as some
 * roundings: of a power, a sum, a product, and of a score of this size, which heed takes to base 2 before it subtracts the largest.
 */
function agree(found: readonly number[], { output, apart }: Stored, score = 0): void {
  const { data } = unpack(output);
  expect(found).toHaveLength(data.length);
  data.forEach((wanted, index) => {
    const bound = 2 * apart + (16 + score) * 2 ** -24 * Math.max(1, Math.abs(wanted));
    expect(Math.abs((found[index] ?? Number.NaN) - wanted)).toBeLessThanOrEqual(bound);
  });
}

/** What the addresses of a room say after its file. */
const PLACES: Readonly<Partial<Record<Room, readonly string[]>>> = {
  "matrix-walk": [
    ...["", "#h=2", "#causal=lower-right&scale=1", "#causal=upper-left&asking=3&hide=1"],
    "#t=cat+saw+it&causal=lower-right&hide=0",
  ],
  dictionary: ["", "#T=0", "#T=inf", "#score=rbf", "#of=salary", "#of=movies"],
  "score-lab": [
    ...["#score=dot&T=0.5", "", "#score=general", "#score=additive", "#score=gated", "#score=cosine"],
    ...["#score=rbf&width=0.5", "#score=distance", "#score=top-k", "#score=sparsemax", "#score=own"],
  ],
  scale: ["", "#d=512&scale=root&T=0.7&n=12", "#T=20&like=0.9"],
  masks: [
    ...["", "#L=4", "#left=3&prefix=5", "#cuts=5.9", "#causal=none&pad=3", "#block=3"],
    ...["#causal=none&hide=72.73.74.75.76.77.78.79.80.81.82.83", "#hiding=minus&scores=equal"],
  ],
  heads: ["#h=2", "#h=1&too=wide", "#h=4", "#h=8"],
  order: ["none", "causal", "sinusoidal", "learned", "rope", "alibi", "relative"].map(
    (kind) => `#kind=${kind}&order=4.1.2.3.0`,
  ),
  "what-else": [...["", "#sharp=0.5", "#as=layer", "#as=set", "#as=graph", "#as=graph&rounds=3"], "#as=reach&n=8"],
  learning: ["", "#times=1"],
  language: [""],
};

/** 2 s (x + dx) x + 2 s (y + dy) y + s (x^2 + y^2), where a coordinate is 15.5 at most and s a half. */
const LARGE_SCORES: Readonly<Record<string, number>> = { "what-else.html#sharp=0.5": 752 };

const PERMISSIONS = { permissions: ["clipboard-read", "clipboard-write"] };

const COMPARED = PAGES.filter(({ room }) => PLACES[room] !== undefined);

describe.each(COMPARED)("$name: heed and PyTorch give the same numbers", ({ room, file }) => {
  const paths = (PLACES[room] ?? []).map((hash) => file + hash);
  const visit = shared(paths[0] ?? "", PERMISSIONS);
  const seen = new Set<string>();

  test.each(paths)("at %s", async (path) => {
    const page = visit();
    await page.evaluate(
      (hash) => {
        location.hash = hash;
      },
      path.slice(path.indexOf(".html") + ".html".length),
    );
    let snippet = "";
    // Until the page has left the place before.
    await expect.poll(async () => (snippet = await copied(page, "torch"))).not.toSatisfy((text) => seen.has(text));
    seen.add(snippet);
    const stored = torchNumbers(path, snippet);
    if (stored !== undefined) agree(await runUnderNode(await copied(page, "heed")), stored, LARGE_SCORES[path]);
  });
});

test("Masks: shares struck out after the softmax, which heed has no option for, are PyTorch's on the page", async () => {
  const path = "masks.html#hiding=after";
  const page = await answered(path, PERMISSIONS);
  const stored = torchNumbers(path, await copied(page, "torch"));
  if (stored !== undefined) compare(await readMatrix(page, "A"), unpack(stored.output).data);
});

test.each(["everything", "what came before"])(
  "Bring your own: heed and PyTorch agree on arrays, each seeing %s",
  async (sees) => {
    const [queries, keys, width] = [5, 7, 8];
    const arrays = { q: random(1, queries * width), k: random(2, keys * width) };
    const page = await open("bring-your-own.html", PERMISSIONS);
    await page.locator(".bringing summary").click();
    const pasted = { q: nested(arrays.q, width), k: nested(arrays.k, width) };
    await page.getByLabel("or paste JSON").fill(JSON.stringify(pasted));
    await page.getByRole("button", { name: "Load" }).click();
    await page.getByRole("radio", { name: sees }).check();
    const q = { data: arrays.q, shape: [1, 1, queries, width] };
    const k = { data: arrays.k, shape: [1, 1, keys, width] };
    const files = new Map([["head.safetensors", saveSafetensors({ q, k })]]);
    const stored = torchNumbers(`bring-your-own.html, ${sees}`, await copied(page, "torch"), files);
    if (stored !== undefined) agree(await runUnderNode(await copied(page, "heed"), files), stored);
  },
);

test.runIf(RENEWED === undefined)("nothing is stored but what a page copies, under its place", () => {
  const stored = Object.entries(STORED).map(([key, { place }]) => [key, place]);
  expect(Object.fromEntries(stored)).toEqual(Object.fromEntries(asked));
});

function random(seed: number, count: number): Float32Array {
  const next = normal(seed);
  return Float32Array.from({ length: count }, () => next());
}

function nested(data: Float32Array, width: number): number[][] {
  return Array.from({ length: data.length / width }, (_, row) => [...data.subarray(row * width, (row + 1) * width)]);
}
