// Models from their files, by heed/models beside wllama and transformers.js: the loading, a prompt's first token, tokens, notes as vectors.

import { measure } from "../lib/rounds.js";
import { shapeOf } from "../lib/shapes.js";

/** @typedef {import("../lib/participants.js").Participant} Participant */
/** @typedef {import("../lib/rounds.js").Result} Result */

/**
 * @typedef {object} LoadedStudy
 * @property {Task} task
 * @property {string} page isolated, not isolated, no workers
 * @property {number} threads
 * @property {readonly Result[]} results milliseconds: of the loading, the first token, a token, or all notes
 * @property {Record<string, number>} fileBytes by participant
 */

/** @typedef {keyof typeof TASKS} Task */

/** Of a call, as in pages/peers/wllama.ts. */
const RUN = 16;
const NONE = shapeOf("1x1x1");

/** @param {string} kind @param {Participant["page"]} page @param {string} name @param {string} format @param {string} [task] @returns {Omit<Participant, "threads">} */
const one = (kind, page, name, format, task = "") => ({
  name: `${kind} ${format}`,
  page,
  options: { name, format, task },
});

/** @param {string} name */
const talkers = (name) => [
  one("heed", "loaded", name, "int8"),
  one("heed", "loaded", name, "int4"),
  one("wllama", "wllama", name, "int8"),
  one("wllama", "wllama", name, "int4"),
  one("transformers.js", "transformers", name, "f32"),
  one("transformers.js", "transformers", name, "q8"),
];

const TASKS = {
  load: [
    one("heed", "loaded", "llama-token", "int8", "load"),
    one("heed", "loaded", "notes", "f32", "load"),
    one("heed to its first pass,", "loaded", "llama-token", "int8", "begin"),
    one("heed to its first pass,", "loaded", "notes", "f32", "begin"),
  ],
  "first-token": talkers("llama-prefill"),
  tokens: talkers("llama-token"),
  notes: [
    one("heed", "loaded", "notes", "f32"),
    one("heed", "loaded", "notes", "int8"),
    one("transformers.js", "transformers", "notes", "f32", "embed"),
    one("transformers.js", "transformers", "notes", "q8", "embed"),
  ],
};

export const LOADED_TASKS = /** @type {Task[]} */ (Object.keys(TASKS));

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {{ task: Task, page: string, threads: number, size: string, hasPeers: boolean, pace: import("../lib/rounds.js").Pace }} at
 * @returns {Promise<LoadedStudy>}
 */
export async function studyLoaded(stage, { task, page, threads, size, hasPeers, pace }) {
  const all = TASKS[task]
    .filter((each) => each.page === "loaded" || hasPeers)
    .map((each) => ({ ...each, name: `${each.name}@${threads}`, threads, options: { ...each.options, size } }));
  /** @type {Record<string, number>} */
  const fileBytes = {};
  for (const each of all)
    if (each.page === "loaded") fileBytes[each.name] = Number((await stage.about(each))["fileBytes"]);
  const measured = await measure(stage, NONE, all, pace);
  for (const each of all) await stage.close(each);
  const results =
    task === "tokens" ? measured.map((result) => ({ ...result, ms: result.ms && result.ms / RUN })) : measured;
  return { task, page, threads, results, fileBytes };
}
