// Holds the code to the rooms of docs/architecture.md: a file may include or import what is listed for its room here,
// and nothing else. In web/src no files import each other in a circle, not even for types.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { Failure } from "../lib/steps.js";
import { filesUnder } from "../make/freshness.js";
import { root } from "../make/root.js";

/** C++ rooms under cpp/ and the rooms and foreign headers that each may include, beside std and itself. @type {Record<string, readonly string[]>} */
const CPP_ROOMS = {
  include: [],
  problem: ["include"],
  plan: ["problem", "include"],
  kernels: ["xsimd"],
  schedule: ["include"],
  reference: ["operations", "problem", "include"],
  operations: ["problem", "plan", "kernels", "schedule", "include"],
  bindings: ["operations", "plan", "kernels", "include", "schedule", "emscripten"],
};

/** What kernels know of the house: its words, the options of attention, and how to round. */
const SHARED_HEADERS = [
  "heed/vocabulary.hpp",
  "heed/fields.hpp",
  "heed/attention_options.hpp",
  "heed/i8_tile.hpp",
  "heed/rounding.hpp",
];

/** Rooms of cpp/kernels, what each is, and the rooms that it may include beside itself, xsimd and what kernels know of the house.
 * @type {Record<string, readonly string[]>} */
const KERNEL_ROOMS = {
  // vectors, their width, exp2, tanh and their like; the one room with intrinsics
  simd: [],
  // what rows of Q, K and V are: f32, f16, int8 tiles, pages; widening to f32
  memory: ["simd"],
  // the register tile MR x NR and the packed GEMM
  gemm: ["simd", "memory"],
  // what a kernel is given, and a panel of its rows
  task: ["simd", "memory", "gemm"],
  // score functions, transforms, softcap, ALiBi, masks
  score: ["task", "gemm", "memory", "simd"],
  // online softmax, the weights of other normalizers, dropout, results
  softmax: ["score", "task", "memory", "simd"],
  // expressions: a score, a mask and a weight by the caller's program
  expr: ["softmax", "score", "task", "memory", "simd"],
  // one KV block against a panel: its numbers in f32, its mask, its scores
  block: ["expr", "softmax", "score", "task", "gemm", "memory", "simd"],
  // many queries: queries in lanes
  prefill: ["block", "expr", "softmax", "score", "task", "gemm", "memory", "simd"],
  // the backward pass of attention: the score chain, dQ, dK and dV
  backward: ["prefill", "block", "expr", "softmax", "score", "task", "gemm", "memory", "simd"],
  // few queries: split-KV, streams, combine
  decode: ["block", "expr", "softmax", "score", "task", "gemm", "memory", "simd"],
  // the recurrent family: linear attention in chunks
  linear: ["gemm", "memory", "simd"],
  // norms, activations, gates, rotary embedding
  layers: ["gemm", "memory", "simd"],
  // weights of 16, 8 and 4 bits: packing, quantized rows, products
  narrow: ["gemm", "memory", "simd"],
  // what a build compiles, and the functions that operations call
  instances: ["decode", "prefill", "backward", "linear", "layers", "narrow", "score", "task", "gemm", "simd"],
};

/** Rooms of cpp/operations, likewise; "." are the operations of one file.
 * @type {Record<string, readonly string[]>} */
const OPERATION_ROOMS = {
  // packed calls, rows, sharing tasks among workers
  common: [],
  // what has a folder of its own
  attention: ["common"],
  // backward passes of layers, losses, steps of optimizers
  training: [".", "common"],
  // layers whose weights are stored in 16, 8 or 4 bits
  narrow: [".", "common"],
  ".": ["common"],
};

/** The rooms within rooms. @type {Record<string, Record<string, readonly string[]>>} */
const INNER_ROOMS = { kernels: KERNEL_ROOMS, operations: OPERATION_ROOMS };

/** Rooms of web/src, longest path first where they nest. @type {Record<string, readonly string[]>} */
const WEB_ROOMS = {
  // errors, what arrived in words, guards, typed arrays, readers of values
  base: [],
  "backends/wasm/generated": [],
  "backends/wasm": ["backends/wasm/generated", "backends", "operations", "memory", "platform", "base"],
  "backends/webgpu/shaders": ["backends/webgpu", "expr/layout.ts"],
  "backends/webgpu": ["backends/webgpu/shaders", "backends", "backends/wasm/generated", "operations", "memory", "base"],
  backends: ["base"],
  // one file an operation: its problem, its packed call, its cost
  // layers whose weights are stored in 16, 8 or 4 bits
  "operations/narrow": ["operations", "backends", "backends/wasm/generated", "base"],
  "operations/training": ["operations", "backends", "backends/wasm/generated", "base"],
  operations: ["backends", "backends/wasm/generated", "base"],
  memory: ["base"],
  platform: [],
  expr: ["base", "backends/wasm/generated"],
  "api/cache": ["api", "operations", "backends", "backends/wasm/generated", "memory", "base"],
  // what is loaded at its first use: rope, linear attention, gradients of attention
  "api/operations": [
    "api",
    "api/positions",
    "operations",
    "backends",
    "backends/wasm/generated",
    "memory",
    "expr/tree.ts",
    "expr/compile-vjp.ts",
    "base",
  ],
  "api/positions": ["api", "base"],
  // the engine as its users see it
  "api/heed.ts": ["api", "api/operations", "backends", "base"],
  api: ["backends", "backends/wasm/generated", "operations", "memory", "expr/tree.ts", "base"],
  reference: [],
  viz: ["base"],
  // formats of stored numbers, one file each
  "layers/formats": ["memory", "base"],
  "layers/io": ["api", "base"],
  "layers/text": ["layers/io", "api", "base"],
  // GGUF in what models take: configuration, names, tokenizer
  "layers/gguf": ["layers", "layers/formats", "layers/io", "layers/models/config.ts", "base"],
  "layers/generate": ["api", "base"],
  "layers/models": [
    "layers",
    "layers/formats",
    "layers/io",
    "layers/text",
    "api",
    "api/heed.ts",
    "api/operations",
    "operations",
    "backends",
    "base",
  ],
  "layers/index.ts": [
    "layers",
    "layers/formats",
    "layers/gguf",
    "layers/io",
    "layers/text",
    "layers/generate",
    "layers/models",
    "api",
  ],
  layers: [
    "layers/formats",
    "layers/io",
    "layers/text",
    "layers/generate",
    "api",
    "api/heed.ts",
    "api/operations",
    "api/positions",
    "operations",
    "operations/narrow",
    "backends",
    "backends/wasm/generated",
    "memory",
    "base",
    "shared-engine.ts",
  ],
  // models from their files: text in, text and vectors out
  models: [
    "layers",
    "layers/formats",
    "layers/gguf",
    "layers/io",
    "layers/text",
    "layers/generate",
    "layers/models",
    "api",
    "api/heed.ts",
    "operations",
    "memory",
    "base",
  ],
  // gradients, losses, optimizers, the training loop
  train: [
    "layers",
    "layers/formats",
    "layers/io",
    "layers/generate/random.ts",
    "layers/models/tokens.ts",
    "api",
    "api/heed.ts",
    "api/operations",
    "api/positions",
    "operations",
    "operations/narrow",
    "operations/training",
    "backends",
    "memory",
    "base",
    "expr/compile-vjp.ts",
    "expr/fill-tables.ts",
    "expr/tree.ts",
  ],
};

/** Files of web/src outside every room: the composition root and the public surface may see all. */
const WEB_ROOTS = ["index.ts", "engine.ts", "shared-engine.ts", "functions.ts", "gpu.ts", "webgpu.ts"];

/** What a room of the demo may import from beside itself: none imports another. */
const SHARED_BY_ROOMS = ["demo/src", "demo/style", "examples/train"];

export function checkLayers() {
  const rooms = readdirSync(join(root, "demo/rooms")).map((room) => `demo/rooms/${room}`);
  const demo = ["demo/src", ...rooms].flatMap((room) => strangerBreaches(room, [room, ...SHARED_BY_ROOMS], []));
  const bench = strangerBreaches("bench/web/pages", ["bench/web/pages"], PEERS);
  const broken = [...cppBreaches(), ...webBreaches(), ...webCircles(), ...demo, ...bench];
  if (broken.length > 0)
    throw new Failure(`${broken.length} includes or imports cross the layers`, { output: broken.join("\n") });
}

/** @param {string} path */
const sourcesUnder = (path) => filesUnder([join(root, path)]).filter((file) => /\.(?:[ch]pp|ts|js)$/.test(file));

/** @param {string} file @param {RegExp} pattern */
function* matches(file, pattern) {
  for (const [index, line] of readFileSync(file, "utf8").split("\n").entries()) {
    const target = pattern
      .exec(line)
      ?.slice(1)
      .find((group) => group !== undefined);
    if (target !== undefined) yield { target, where: `${relative(root, file)}:${index + 1}` };
  }
}

function* cppBreaches() {
  for (const file of sourcesUnder("cpp")) {
    const path = relative(join(root, "cpp"), file);
    const [room = ""] = path.split("/");
    const allowed = CPP_ROOMS[room];
    if (allowed === undefined) {
      yield `${relative(root, file)}: no such room`;
      continue;
    }
    for (const { target, where } of matches(file, /^\s*#\s*include\s*[<"]([^>"]+)[>"]/)) {
      const [folder = "", ...rest] = target.split("/");
      if (rest.length === 0) {
        if (!(target === "wasm_simd128.h" && room === "kernels") && target.includes(".")) yield `${where}: ${target}`;
        continue;
      }
      const from = folder === "heed" ? "include" : folder;
      if (room === "kernels" && SHARED_HEADERS.includes(target)) continue;
      if (from !== room && !allowed.includes(from)) yield `${where}: ${room} may not include ${target}`;
      if (from === room) yield* innerBreaches(path, target, where);
    }
  }
}

/** @param {string} path from cpp/ */
const innerRoom = (path) => dirname(path).split("/")[1] ?? ".";

/** @param {string} file from cpp/ @param {string} target what it includes of its own room @param {string} where */
function* innerBreaches(file, target, where) {
  const [outer = ""] = file.split("/");
  const [room, to] = [innerRoom(file), innerRoom(target)];
  const rooms = INNER_ROOMS[outer];
  if (rooms === undefined) return;
  const allowed = rooms[room];
  if (allowed === undefined) yield `${where}: ${outer} has no room ${room}`;
  else if (to !== room && !allowed.includes(to)) yield `${where}: ${outer}/${room} may not include ${target}`;
}

/** What the bench's pages measure heed against. */
const PEERS = [
  "onnxruntime-web/wasm",
  "onnxruntime-web/webgpu",
  "@litertjs/core",
  "@jax-js/jax",
  "@huggingface/transformers",
  "@wllama/wllama",
];

const IMPORT = /^(?:import|export|\})(?:.*\bfrom)?\s*"([^"]+)"|\bimport\("([^"]+)"\)/;

const base = join(root, "web/src");

/** A file may be a room of its own. @param {string} path of a file under web/src */
const roomOf = (path) => Object.keys(WEB_ROOMS).find((room) => path === room || path.startsWith(`${room}/`));

/** @param {string} file @param {string} target as the file writes it */
const importedBy = (file, target) => relative(base, join(dirname(file), target)).replace(/\.js$/, ".ts");

function* webBreaches() {
  for (const file of sourcesUnder("web/src")) {
    const path = relative(base, file);
    const room = roomOf(path);
    if (room === undefined && !WEB_ROOTS.includes(path)) yield `web/src/${path}: no such room`;
    if (room === undefined || room.endsWith("generated")) continue;
    for (const { target, where } of matches(file, IMPORT)) {
      if (!target.startsWith(".")) {
        yield `${where}: the package depends on nothing, got ${target}`;
        continue;
      }
      const imported = importedBy(file, target);
      const to = roomOf(imported);
      const isAllowed = to === room || WEB_ROOMS[room]?.some((one) => one === to || one === imported);
      if (!isAllowed) yield `${where}: ${room} may not import ${imported}`;
    }
  }
}

function* webCircles() {
  /** @type {Map<string, readonly string[]>} */
  const imports = new Map();
  for (const file of sourcesUnder("web/src")) {
    const targets = Array.from(matches(file, IMPORT), ({ target }) => importedBy(file, target));
    imports.set(relative(base, file), targets);
  }
  const seen = new Set();
  for (const file of imports.keys()) {
    const circle = seen.has(file) ? null : shortestCircle(file, imports);
    for (const path of circle ?? []) seen.add(path);
    if (circle !== null) yield `web/src: ${circle.join(" imports ")} imports ${file}`;
  }
}

/**
 * The files on the shortest way from a file back to itself, itself the first; null when there is none.
 * @param {string} start @param {ReadonlyMap<string, readonly string[]>} imports
 */
function shortestCircle(start, imports) {
  /** @type {string[][]} */
  const paths = [[start]];
  const seen = new Set();
  for (const path of paths) {
    for (const next of imports.get(path.at(-1) ?? "") ?? []) {
      if (next === start) return path;
      if (!seen.has(next)) paths.push([...path, next]);
      seen.add(next);
    }
  }
  return null;
}

/**
 * Those that import the package as a stranger would: the demo, which runs examples, and the pages of the bench, which import peers as well.
 * @param {string} folder @param {readonly string[]} homes relative imports stay in them
 * @param {readonly string[]} others
 */
function strangerBreaches(folder, homes, others) {
  const broken = [];
  for (const file of sourcesUnder(folder)) {
    for (const { target, where } of matches(file, IMPORT)) {
      const path = join(dirname(file), target);
      const escapes = target.startsWith(".") && !homes.some((home) => path.startsWith(join(root, home, "/")));
      const isKnown = target === "heed" || target.startsWith("heed/") || others.includes(target);
      if (escapes || !(target.startsWith(".") || isKnown)) {
        broken.push(`${where}: ${homes[0]} imports the package as a stranger would, got ${target}`);
      }
    }
  }
  return broken;
}
