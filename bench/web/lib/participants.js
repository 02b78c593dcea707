// The participants: each has a page, a number of threads, and options for its page. Names end in the threads: heed@2.

import { DECODE } from "./shapes.js";

/**
 * @typedef {object} Participant
 * @property {string} name
 * @property {"heed" | "ort" | "litert" | "jax" | "tfjs" | "plain" | "peak" | "gpu-peak" | "model" | "linear" | "quality" | "loaded" | "transformers" | "wllama" | "training/heed" | "training/jax" | "training/tfjs"} page
 * @property {number} threads
 * @property {Record<string, string>} options
 */

/** @typedef {Omit<Participant, "name" | "threads">} Entry */

/** @type {Record<string, Entry & { threads: readonly number[] }>} */
const KINDS = {
  heed: { page: "heed", threads: [1, 2], options: {} },
  "heed-simd": { page: "heed", threads: [1], options: { variant: "simd" } },
  "heed:feed": { page: "heed", threads: [1, 2], options: { feed: "yes" } },
  "heed:here": { page: "heed", threads: [1], options: { here: "yes" } },
  "heed:weights": { page: "heed", threads: [1], options: { with: "weights" } },
  "heed:mask": { page: "heed", threads: [1], options: { with: "mask" } },
  "heed:bias": { page: "heed", threads: [1], options: { with: "bias" } },
  "heed:window": { page: "heed", threads: [1], options: { with: "window" } },
  "heed:backward": { page: "heed", threads: [1, 2], options: { with: "backward" } },
  "heed:training": { page: "training/heed", threads: [1, 2], options: {} },
  "ort-unfused": { page: "ort", threads: [1, 2], options: { op: "unfused" } },
  "ort-attention": { page: "ort", threads: [1, 2], options: { op: "attention" } },
  "ort-mha": { page: "ort", threads: [1, 2], options: { op: "mha" } },
  "ort-gqa": { page: "ort", threads: [1, 2], options: { op: "gqa" } },
  "ort-attention:feed": { page: "ort", threads: [1, 2], options: { op: "attention", feed: "yes" } },
  litert: { page: "litert", threads: [1, 2], options: {} },
  jax: { page: "jax", threads: [1, 2], options: {} },
  "jax:backward": { page: "jax", threads: [1, 2], options: { with: "backward" } },
  "jax:training": { page: "training/jax", threads: [1, 2], options: {} },
  "heed-wasm": { page: "heed", threads: [2], options: { backend: "wasm" } },
  "heed-webgpu": { page: "heed", threads: [1, 2], options: { backend: "webgpu" } },
  "heed-auto": { page: "heed", threads: [2], options: { backend: "auto" } },
  "ort-webgpu-unfused": { page: "ort", threads: [1], options: { device: "webgpu", op: "unfused" } },
  "ort-webgpu-mha": { page: "ort", threads: [1], options: { device: "webgpu", op: "mha" } },
  "ort-webgpu-gqa": { page: "ort", threads: [1], options: { device: "webgpu", op: "gqa" } },
  "jax-webgpu": { page: "jax", threads: [1], options: { device: "webgpu" } },
  tfjs: { page: "tfjs", threads: [1], options: {} },
  "tfjs:backward": { page: "tfjs", threads: [1, 2], options: { with: "backward" } },
  "tfjs:training": { page: "training/tfjs", threads: [1], options: {} },
  "tfjs-transposed:training": { page: "training/tfjs", threads: [1, 2], options: { transposed: "yes" } },
  plain: { page: "plain", threads: [1], options: {} },
  "tile-relaxed": { page: "peak", threads: [1, 2], options: { variant: "relaxed", loop: "tile" } },
  "tile-simd": { page: "peak", threads: [1], options: { variant: "simd", loop: "tile" } },
  "chain-relaxed": { page: "peak", threads: [1, 2], options: { variant: "relaxed", loop: "chain" } },
  "chain-simd": { page: "peak", threads: [1, 2], options: { variant: "simd", loop: "chain" } },
  "chain-webgpu": { page: "gpu-peak", threads: [1], options: { loop: "chain" } },
  "read-webgpu": { page: "gpu-peak", threads: [1], options: { loop: "read" } },
  read: { page: "peak", threads: [1, 2], options: { variant: "simd", loop: "read" } },
  "read-memory": {
    page: "peak",
    threads: [1, 2],
    options: { variant: "simd", loop: "read", numbers: String(2 ** 25) },
  },
};

/** @param {string} name @returns {Participant} */
export function participant(name) {
  const [, kind = "", threads = "1"] = /^([^@]+)(?:@(\d+))?$/.exec(name) ?? [];
  const known = KINDS[kind];
  if (known === undefined) throw new Error(`nobody is called ${name}; there are ${Object.keys(KINDS).join(", ")}`);
  const { page, options } = known;
  return { name: `${kind}@${threads}`, page, options, threads: Number(threads) };
}

/** The participant whose page computes the reference. */
export const JUDGE = participant("plain");

/** One participant for every number of threads that the shapes are measured with. @param {string} kind */
const all = (kind) => (KINDS[kind]?.threads ?? []).map((threads) => participant(`${kind}@${threads}`));

/** The participants at a shape: both variants of heed, the loop that shows the peak of each, and every peer. @param {string} shape */
export function participantsAt(shape) {
  const kinds = [
    "heed",
    "heed-simd",
    "ort-unfused",
    "ort-attention",
    "ort-mha",
    "ort-gqa",
    "litert",
    "jax",
    "tfjs",
    "plain",
  ];
  const peaks = ["tile-relaxed", "tile-simd", ...(DECODE.includes(shape) ? ["read"] : [])];
  const fed = FED.includes(shape) ? ["heed:feed", "ort-attention:feed"] : [];
  // A call on the page's own thread is not sent to a worker, which shows where calls are small.
  const here = shape === "1x64x64" ? ["heed:here"] : [];
  return [...peaks, ...kinds, ...fed, ...here].flatMap(all);
}

/** The participants on a GPU. onnxruntime-web's Attention is left out: it silently computes on the CPU. */
export function gpuParticipants() {
  const peers = ["unfused", "mha", "gqa"].map((op) => `ort-webgpu-${op}`);
  return ["chain-webgpu", "read-webgpu", "heed-webgpu", ...peers, "jax-webgpu"].map(participant);
}

/** The participants of the backward pass of attention. */
export const backwardParticipants = () => ["heed:backward", "jax:backward", "tfjs:backward"].flatMap(all);

/** The participants that train. */
export const learners = () =>
  ["heed:training", "jax:training", "tfjs:training", "tfjs-transposed:training"].flatMap(all);

const FED = ["8x1024x64", "8x77:1024x64", ...DECODE];

/** @param {Participant} one */
export const isHeed = ({ name }) => name.startsWith("heed");
/** @param {Participant} one */
export const isPeak = ({ page }) => page === "peak" || page === "gpu-peak";
/** Pages without a problem of attention. */
const MODEL_PAGES = ["model", "linear", "loaded", "transformers", "wllama"];
/** @param {Participant} one */
export const isModel = ({ page }) => MODEL_PAGES.includes(page);
