// Models and a layer whose weights are kept in 32, 16, 8 and 4 bits, beside each other and beside peers.

import { participant } from "../lib/participants.js";
import { measure } from "../lib/rounds.js";
import { shapeOf } from "../lib/shapes.js";

/** @typedef {import("../lib/participants.js").Participant} Participant */
/** @typedef {import("../lib/rounds.js").Result} Result */
/** @typedef {import("./settings.js").Settings} Settings */
/** @typedef {import("../lib/stage.js").Stage} Stage */

/**
 * @typedef {object} WeightStudy
 * @property {string} shape
 * @property {number} threads
 * @property {readonly Result[]} results milliseconds of runs of tokens are those of one
 * @property {Record<string, number>} bytes all WebAssembly memory of a page, by participant
 */

/**
 * @typedef {object} RowStudy
 * @property {string} format
 * @property {number} bytes of the packed weights
 * @property {readonly Result[]} results
 */

export const FORMATS = ["f32", "f16", "int8", "int4"];
export const MINILM = ["1x4", "1x8", "1x16", "1x64", "1x128", "8x128"].map((size) => `minilm-${size}`);
export const SHAPES = ["llama-token", "llama-prefill", ...MINILM];
/** Tokens of a call, as in pages/peers/wllama.ts. */
const RUN = 16;
/** Of the layer: no format fits into a cache. */
const FEATURES = 8192;
const PACKED_BYTES = new Map([
  ["f32", 4],
  ["f16", 2],
  ["int8", 1.125],
  ["int4", 0.625],
]);
const ROWS = [1, 8];
/** The machine reads at most so many numbers in a loop. */
const MOST_NUMBERS = 2 ** 25;
const NONE = shapeOf("1x1x1");

/** @param {string} kind @param {Participant["page"]} page @param {number} threads @param {Record<string, string>} options @returns {Participant} */
const one = (kind, page, threads, options) => ({ name: `${kind}@${threads}`, page, threads, options });

/** @param {string} shape @param {number} threads @param {Settings} settings */
export function weightParticipants(shape, threads, { isSmoke }) {
  const isToken = shape === "llama-token";
  const common = { name: shape, size: isSmoke ? "small" : "whole", ...(isToken && { run: String(RUN) }) };
  const heed = (/** @type {string} */ weights) => one(`heed ${weights}`, "model", threads, { ...common, weights });
  if (shape.startsWith("minilm")) {
    const peers = ["f32", "q8"].map((format) =>
      one(`transformers.js ${format}`, "transformers", threads, { ...common, format }),
    );
    return [heed("f32"), heed("int8"), ...peers];
  }
  const plain = ["f32", "int8"].map((weights) =>
    one(`heed-simd ${weights}`, "model", threads, { ...common, weights, variant: "simd" }),
  );
  const peers = [
    one("wllama Q8_0", "wllama", threads, { ...common, format: "int8" }),
    one("wllama Q4_0", "wllama", threads, { ...common, format: "int4" }),
  ];
  const readers = isToken ? [participant(`read-memory@${threads}`)] : [];
  return [...FORMATS.map(heed), ...(shape === "llama-prefill" ? plain : []), ...peers, ...readers];
}

/** @param {Stage} stage @param {Settings} settings */
export async function studyWeights(stage, settings) {
  /** @type {WeightStudy[]} */
  const studies = [];
  for (const shape of settings.shapes) {
    for (const threads of settings.isQuick ? [1] : [1, 2]) {
      const all = weightParticipants(shape, threads, settings).filter(settings.takesPart);
      const results = (await measure(stage, NONE, all, settings.pace)).map((result) =>
        shape === "llama-token" ? perToken(result) : result,
      );
      /** @type {Record<string, number>} */
      const bytes = {};
      for (const { name } of results.filter(({ failure, rate }) => failure === null && rate === null)) {
        const each = all.find((other) => other.name === name);
        if (each?.page === "model") bytes[name] = await stage.ask(each, "memoryBytes");
      }
      for (const each of all) await stage.close(each);
      console.log(`▸ ${shape}, ${threads} threads: ${results.map(told).join(", ")}`);
      studies.push({ shape, threads, results, bytes });
    }
  }
  return studies;
}

/** @param {Result} result @returns {Result} */
const perToken = (result) => ({ ...result, ms: result.ms === null ? null : result.ms / RUN });

/** @param {Result} result */
const told = ({ name, ms, rate, failure }) => `${name} ${failure ?? (ms ?? (rate ?? 0) / 1e9).toFixed(2)}`;

/** One row and some rows times a matrix that comes from memory, beside plain reading of as many bytes. @param {Stage} stage @param {Settings} settings */
export async function studyRows(stage, settings) {
  const features = settings.isSmoke ? 256 : FEATURES;
  /** @type {RowStudy[]} */
  const studies = [];
  for (const [format, each] of PACKED_BYTES) {
    const bytes = each * features ** 2;
    const layers = ROWS.map((rows) =>
      one(`heed ${rows}`, "linear", 1, { weights: format, rows: String(rows), features: String(features) }),
    );
    const numbers = String(Math.min(MOST_NUMBERS, Math.ceil(bytes / 4)));
    // The kernel itself, on weights in the first-level cache.
    const loops = format.startsWith("int") ? [one("kernel", "peak", 1, { variant: "relaxed", loop: format })] : [];
    const all = [...layers, ...loops, one("read", "peak", 1, { variant: "simd", loop: "read", numbers })];
    const results = await measure(stage, NONE, all, settings.pace);
    for (const each of all) await stage.close(each);
    studies.push({ format, bytes, results });
  }
  return studies;
}

/** @param {Stage} stage */
export async function dotClassOf(stage) {
  const layer = one("heed dot", "linear", 1, {});
  const { dotClass } = await stage.about(layer);
  await stage.close(layer);
  return String(dotClass);
}

/**
 * @typedef {object} LargeStudy
 * @property {string} format
 * @property {number | null} loadMs its weights are made and packed
 * @property {number | null} ms a token
 * @property {number} bytes all WebAssembly memory of the page
 * @property {string | null} failure
 */

/** 494 million parameters, and a token. @param {Stage} stage @param {Settings} settings @returns {Promise<LargeStudy[]>} */
export async function studyLarge(stage, settings) {
  const model = one("heed int8", "model", 1, {
    name: "qwen-0.5b",
    size: settings.isSmoke ? "small" : "whole",
    weights: "int8",
  });
  const [result] = await measure(stage, NONE, [model], { ...settings.pace, rounds: 3 });
  if (result === undefined) return [];
  const { prepareMs, ms, failure } = result;
  const bytes = failure === null ? await stage.ask(model, "memoryBytes") : Number.NaN;
  await stage.close(model);
  return [{ format: "int8", loadMs: prepareMs, ms, bytes, failure }];
}
