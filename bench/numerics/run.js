// How far results are from double precision: the tables of docs/numerics.md. `npm run bench -- numerics` prints them, and with `--write`
// puts them into the page. Inputs come from seeds, so that a run on a machine of the same kind gives the same figures.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createHeed } from "heed";
import { abs, lessEqual, sub } from "heed/expr";
import { dequantize, Linear, quantize } from "heed/layers";
import { attention, linearAttention } from "heed/reference";
import { cases } from "../numbers.js";
import { small, tableOf } from "../table.js";
import { exactGradients } from "./gradients.js";
import { largest, meanShare, worst, worstShare } from "./measures.js";
import { peerTables } from "./peers.js";
import { Random } from "./random.js";
import { gradientError, outputError, search } from "./search.js";

/** @typedef {import("heed").AttentionOptions & import("heed/reference").ReferenceOptions & import("heed").AttentionVjpOptions} Options */
/** @typedef {{ simd: number, relaxed: number }} Pair an error of each variant */

const ENGINES = {
  simd: await createHeed({ variant: "simd", offload: false }),
  relaxed: await createHeed({ variant: "relaxed", offload: false }),
};

/** @param {(heed: import("heed").Heed) => Promise<number> | number} error @returns {Promise<Pair>} */
async function byVariant(error) {
  return { simd: await error(ENGINES.simd), relaxed: await error(ENGINES.relaxed) };
}

/** @param {Random} random @param {readonly number[]} shape */
const normal = (random, ...shape) => ({ data: random.normal(shape.reduce((a, b) => a * b, 1)), shape });

/** [heads, rows, dim] @param {number} seed @param {{ heads: number, queries: number, keys: number, dim: number }} sizes */
function drawn(seed, { heads, queries, keys, dim }) {
  const random = new Random(seed);
  const [q, k, v] = [queries, keys, keys].map((rows) => normal(random, heads, rows, dim));
  if (q === undefined || k === undefined || v === undefined) throw new Error("three tensors");
  return { q, k, v, random };
}

/** @typedef {{ name: string, errors: Readonly<Record<string, Pair>> }} Row */

/** A column for each variant of each error. @param {string} head @param {readonly Row[]} rows */
function errorTable(head, rows) {
  const names = Object.keys(rows[0]?.errors ?? {});
  const columns = names.flatMap((name) => {
    const of = (/** @type {keyof Pair} */ variant) => (/** @type {Row} */ one) => small(one.errors[name]?.[variant]);
    return [
      /** @type {const} */ ([`${name}, plain`, of("simd")]),
      /** @type {const} */ ([`${name}, relaxed`, of("relaxed")]),
    ];
  });
  return tableOf(rows, [[head, (one) => one.name], ...columns]);
}

async function sizes() {
  /** @type {Row[]} */
  const found = [];
  for (const [queries, keys, dim] of cases([
    [1, 128, 64],
    [1, 1024, 64],
    [1, 4096, 128],
    [64, 16, 64],
    [64, 128, 64],
    [64, 1024, 64],
    [64, 4096, 64],
    [64, 4096, 128],
  ])) {
    if (queries === undefined || keys === undefined || dim === undefined) continue;
    const { q, k, v } = drawn(keys, { heads: 1, queries, keys, dim });
    const exact = attention(q, k, v);
    const of = (/** @type {import("heed").Heed} */ heed) => heed.attentionSync(q, k, v, { return: { lse: true } });
    const errors = {
      output: await byVariant((heed) => worst(of(heed).output.data, exact.output.data) / largest(v.data)),
      lse: await byVariant((heed) => worst(of(heed).lse.data, exact.lse.data)),
    };
    found.push({ name: `${queries} x ${keys}, D = ${dim}`, errors });
  }
  return errorTable("queries x keys", found);
}

const SCENE = { heads: 2, queries: 64, keys: 200, dim: 64 };

/** @type {readonly (readonly [string, Options, number?])[]} The last: a factor of the queries. */
const FORWARD = [
  ["none", {}],
  ["none, scores to 100", {}, 20],
  ["`causal`", { causal: true }],
  ["`window: [32, 0]`", { window: [32, 0] }],
  ["`softcap: 5`", { softcap: 5 }],
  ["`alibiSlopes`", { alibiSlopes: [0.5, 0.25] }],
  ["`sinks`", { sinks: Float32Array.of(1, -1) }],
  ["`bias`", { bias: normal(new Random(9), SCENE.heads, SCENE.queries, SCENE.keys) }],
  ["`dropout: { p: 0.1 }`", { dropout: { p: 0.1, seed: 7 } }],
  ["`topK: 16`", { topK: 16 }],
  ['`normalize: "sparsemax"`', { normalize: "sparsemax" }],
  ['`normalize: "sigmoid"`', { normalize: "sigmoid" }],
  ['`score: "cosine"`, `scale: 10`', { score: "cosine", scale: 10 }],
  ['`score: { type: "additive" }`', { score: { type: "additive" } }],
  ['`score: { type: "rbf", bandwidth: 8 }`', { score: { type: "rbf", bandwidth: 8 } }],
  ['`score: { type: "distance" }`', { score: { type: "distance" } }],
  [
    "`scoreMod`, `maskMod`",
    {
      scoreMod: (/** @type {import("heed/expr").ScoreModArguments} */ { score, q, k }) => sub(score, abs(sub(q, k))),
      maskMod: (/** @type {import("heed/expr").MaskModArguments} */ { q, k }) => lessEqual(k, q),
    },
  ],
];

async function options() {
  /** @type {Row[]} */
  const found = [];
  for (const [name, given, factor = 1] of cases(FORWARD)) {
    const { q, k, v } = drawn(3, SCENE);
    const query = { ...q, data: q.data.map((number) => factor * number) };
    const exact = attention(query, k, v, given);
    const of = (/** @type {import("heed").Heed} */ heed) =>
      heed.attentionSync(query, k, v, { ...given, keep: false, return: { weights: true } });
    const errors = {
      output: await byVariant((heed) => worst(of(heed).output.data, exact.output.data) / largest(v.data)),
      weights: await byVariant((heed) => worst(of(heed).weights.data, exact.weights.data)),
    };
    found.push({ name, errors });
  }
  return errorTable("options", found);
}

async function caches() {
  /** @type {Row[]} */
  const found = [];
  for (const queries of cases([1, 64])) {
    for (const dtype of /** @type {const} */ (["f32", "f16", "i8"])) {
      const { q, k, v } = drawn(5, { heads: 2, queries, keys: 1024, dim: 64 });
      const exact = attention(q, k, v).output.data;
      const none = { data: new Float32Array(0), shape: [2, 0, 64] };
      const output = await byVariant(async (heed) => {
        const cache = await heed.createCache({ kvHeads: 2, headDim: 64, maxLength: 1024, dtype });
        await cache.append(k, v);
        const got = await heed.attention(q, none, none, { cache, causal: false });
        cache.dispose();
        return worst(got.output.data, exact) / largest(v.data);
      });
      found.push({ name: `${dtype}, ${queries === 1 ? "1 query" : `${queries} queries`}`, errors: { output } });
    }
  }
  return errorTable("cache of 1024 tokens", found);
}

async function linear() {
  /** @type {Row[]} */
  const found = [];
  for (const rule of cases(/** @type {const} */ (["linear", "gated", "delta", "gated-delta", "elu"]))) {
    const { q, k, v, random } = drawn(6, { heads: 2, queries: 256, keys: 256, dim: 64 });
    // Keys of length 1, as the delta rules want them.
    const keys = { ...k, data: k.data.map((number) => number / 8) };
    const perToken = (/** @type {() => number} */ one) => ({
      data: Float32Array.from({ length: 2 * 256 }, one),
      shape: [2, 256],
    });
    const given = {
      rule,
      ...(rule.startsWith("gated") ? { decay: perToken(() => -0.1 * random.next()) } : {}),
      ...(rule.endsWith("delta") ? { beta: perToken(() => random.next()) } : {}),
    };
    const exact = linearAttention(q, keys, v, given);
    const of = (/** @type {"output" | "state"} */ name) =>
      byVariant(async (heed) =>
        worstShare((await heed.linearAttention(q, keys, v, given))[name].data, exact[name].data),
      );
    found.push({ name: `\`${rule}\``, errors: { output: await of("output"), state: await of("state") } });
  }
  return errorTable("rule", found);
}

/** @type {readonly (readonly [string, { queries: number, keys: number }, Options])[]} */
const BACKWARD = [
  ["none, 64 x 16", { queries: 64, keys: 16 }, {}],
  ["none, 64 x 200", SCENE, {}],
  ["none, 64 x 2048", { queries: 64, keys: 2048 }, {}],
  ["`causal`", SCENE, { causal: true }],
  ["`softcap: 5`", SCENE, { softcap: 5 }],
  ["`alibiSlopes`", SCENE, { alibiSlopes: [0.5, 0.25] }],
  ["`sinks`", SCENE, { sinks: Float32Array.of(1, -1) }],
  ["`dropout: { p: 0.1 }`", SCENE, { dropout: { p: 0.1, seed: 7 } }],
];

async function backward() {
  /** @type {Row[]} */
  const found = [];
  for (const [name, of, given] of cases(BACKWARD)) {
    const { q, k, v, random } = drawn(8, { heads: 2, dim: 64, queries: of.queries, keys: of.keys });
    const ofOutput = normal(random, ...q.shape);
    const exact = exactGradients(q, k, v, ofOutput.data, given);
    const errorsOf = (/** @type {"dq" | "dk" | "dv"} */ of) =>
      byVariant(async (heed) => {
        const { backward } = await heed.attentionVjp(q, k, v, given);
        return worstShare((await backward(ofOutput))[of].data, exact[of]);
      });
    found.push({ name, errors: { dq: await errorsOf("dq"), dk: await errorsOf("dk"), dv: await errorsOf("dv") } });
  }
  return errorTable("options", found);
}

async function narrow() {
  const found = [];
  const [rows, width] = [16, 512];
  const random = new Random(11);
  const x = normal(random, rows, width);
  const weight = { data: random.normal(width * width, 0.02), shape: [width, width] };
  const product = (/** @type {ArrayLike<number>} */ weights) =>
    Float64Array.from({ length: rows * width }, (_, at) => {
      const [row, column] = [Math.floor(at / width), at % width];
      let sum = 0;
      for (let i = 0; i < width; i++) sum += (x.data[row * width + i] ?? 0) * (weights[column * width + i] ?? 0);
      return sum;
    });
  const exact = product(weight.data);
  const heed = await createHeed({ offload: false });
  for (const format of cases(/** @type {const} */ (["f32", "f16", "bf16", "int8", "int4"]))) {
    const stored = format === "f32" ? weight : quantize(weight, format);
    const layer = new Linear({ inFeatures: width, outFeatures: width, bias: false, engine: heed });
    layer.load(new Map([["weight", stored]]), { weights: format });
    const { data } = await layer.forward(x);
    const ofStored = product("format" in stored ? dequantize(stored).data : stored.data);
    found.push({ format, given: meanShare(data, exact), stored: meanShare(data, ofStored) });
    layer.dispose();
  }
  heed.dispose();
  return tableOf(found, [
    ["weights", (one) => `\`"${one.format}"\``],
    ["from the f32 weights", (one) => small(one.given)],
    ["from the weights as stored", (one) => small(one.stored)],
  ]);
}

/** @type {readonly (readonly [string, Options])[]} */
const SEARCHED = [
  ["none", {}],
  ["`causal`", { causal: true }],
  ["`softcap: 1`", { softcap: 1 }],
  ["`alibiSlopes`", { alibiSlopes: [0.5] }],
  ["`sinks`", { sinks: Float32Array.of(2) }],
];

async function searched() {
  const [restarts, steps] = process.argv.includes("--smoke") ? [1, 5] : [20, 400];
  const found = [];
  for (const [name, given] of cases(SEARCHED)) {
    for (const [what, inputs, errorOf] of /** @type {const} */ ([
      ["output", 3, outputError],
      ["gradients", 4, gradientError],
    ])) {
      for (const variant of /** @type {const} */ (["simd", "relaxed"])) {
        const result = await search(errorOf(ENGINES[variant], given), { restarts, steps, inputs });
        found.push({ name, what: `${what}, ${variant === "simd" ? "plain" : variant}`, ...result });
      }
    }
  }
  return tableOf(found, [
    ["options", (one) => one.name],
    ["of", (one) => one.what],
    [`worst of ${restarts} drawn`, (one) => small(one.drawn)],
    ["worst after climbing", (one) => small(one.climbed)],
    ["seed", (one) => `${one.seed}`],
  ]);
}

const PAGE = fileURLToPath(new URL("../../docs/numerics.md", import.meta.url));

const tables = { sizes, options, caches, linear, backward, narrow, searched, ...peerTables() };
let page = readFileSync(PAGE, "utf8");
for (const [name, make] of Object.entries(tables)) {
  const text = await make();
  console.log(`\n${name}\n\n${text}`);
  const place = new RegExp(`(<!-- table: ${name} -->\n).*?(<!-- end -->)`, "s");
  if (!place.test(page)) throw new Error(`docs/numerics.md has no place for the table ${name}`);
  page = page.replace(place, (_, begin, end) => `${begin}\n${text}\n\n${end}`);
}
if (process.argv.includes("--write")) writeFileSync(PAGE, page);
for (const heed of Object.values(ENGINES)) heed.dispose();
