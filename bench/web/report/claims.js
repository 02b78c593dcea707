// What README and docs claim, in their own words, beside what a run measured. A claim whose words a document no longer has is an error, so
// that the list cannot fall behind the documents.

import { digits, percent, quotient, small, times } from "../../table.js";
import { lead, msOf, ofPeak, scaling } from "../lib/findings.js";
import { PREFILL } from "../lib/shapes.js";
import { rowsBelow } from "./markdown.js";

/** @typedef {import("./page.js").Found} Found */
/** @typedef {import("./page.js").Documents} Documents */
/** @typedef {{ where: string, what: string, claimed: string, measured: string | null }} Claim `measured` is null where the run lacks it */

const README = "README.md";
const PERFORMANCE = "docs/performance.md";
const NUMERICS = "docs/numerics.md";

/** @type {readonly (readonly [where: string, words: string, measured: (found: Found) => string | null])[]} */
const SENTENCES = [
  [README, "The first call loads at most 75 kB", ({ sizes }) => kB(firstBytes(sizes))],
  [README, "imports `loadTokenizer` from `heed/text`, 16 kB", ({ sizes }) => kB(sizes["text"])],
  [README, "1.4 to 2.4 times as fast as onnxruntime-web's", (found) => range(leads(found, false), times)],
  [README, "1.6 to 4.4 times when causal", (found) => range(leads(found, true), times)],
  [
    PERFORMANCE,
    "two are 1.83 to 2.09 times as fast as one from (1, 8, 1024, 64) up",
    ({ web }) =>
      range(
        web?.shapes.filter(({ flops }) => flops >= 2.147e9).map((study) => scaling(study)),
        times,
      ),
  ],
  [
    PERFORMANCE,
    "5.0e-7 at 128 keys, 6.2e-8 at 4096",
    ({ web }) =>
      range(
        web?.shapes.filter(({ shape }) => PREFILL.includes(shape)).map((study) => errorOf(study, "heed")),
        small,
      ),
  ],
  [
    PERFORMANCE,
    "waits 4 ms at most during (1, 8, 2048, 64)",
    ({ web }) =>
      range(
        ofHeed(web?.stalls).map(({ ms }) => ms),
        (ms) => `${digits(ms)} ms`,
      ),
  ],
  [
    PERFORMANCE,
    "takes 47 ms (jax-js 105, TensorFlow.js 180, onnxruntime-web 325)",
    ({ web }) => web?.firstResults.map(({ name, ms }) => `${name} ${digits(ms)}`).join(", ") ?? null,
  ],
  [
    PERFORMANCE,
    "(1, 1, 32768, 64) takes 0.4 MB beyond inputs and output",
    ({ web }) =>
      range(
        ofHeed(web?.memory).map(({ beyondBytes }) => quotient(beyondBytes, 1e6)),
        (mb) => `${digits(mb)} MB`,
      ),
  ],
  [
    PERFORMANCE,
    "boolean mask, bias of full rank | 1.31, 1.32 times the plain call's time",
    ({ web }) => [cost(web, "heed:mask@1"), cost(web, "heed:bias@1")].filter((one) => one !== "").join(", ") || null,
  ],
  [
    PERFORMANCE,
    "all weights returned, (1, 12, 512, 64) | 1.41 to 2.74 times",
    ({ web }) => cost(web, "heed:weights@1") || null,
  ],
  [
    PERFORMANCE,
    "causal 1.07, window 1.14, ALiBi 1.19, softcap 1.09 times",
    ({ programs }) => ratios(programs, /^(?:causal|window|ALiBi|softcap).* by .*x (\S+)$/gm),
  ],
  [PERFORMANCE, "0.53 to 0.55 of the whole", ({ programs }) => ratios(programs, /^half of the pairs, .*x (\S+)$/gm)],
  [
    PERFORMANCE,
    "gradients differ from double precision by 1.4e-6 at most, jax-js's by 8.6e-6",
    ({ train }) => {
      const worst = ["heed", "jax"].map((who) => largest(train?.backward.map((study) => errorOf(study, who))));
      return worst[0] === null ? null : `${small(worst[0])}, ${small(worst[1])}`;
    },
  ],
];

/** @param {Found} found @param {Documents} documents @returns {readonly Claim[]} */
export function claimsOf(found, documents) {
  const sentences = SENTENCES.map(([where, words, measured]) => {
    if (!documents[where]?.replaceAll(/\s+/g, " ").includes(words))
      throw new Error(`${where} no longer says: ${words}`);
    return { where, what: "", claimed: words, measured: measured(found) };
  });
  const tables = [prefill, peers, decode, tokens, training, numerics];
  return [...sentences, ...tables.flatMap((rows) => rows(found, documents))];
}

/** The rows of a table of docs/performance.md. @param {Documents} documents @param {string} heading */
const tableOf = (documents, heading) => rowsBelow(documents[PERFORMANCE] ?? "", heading);

/** Of peak, which the document has from Node and a run from Chromium. @param {Found} found @param {Documents} documents @returns {readonly Claim[]} */
function prefill({ web }, documents) {
  return tableOf(documents, "## Prefill").map(([label = "", , share = ""]) => {
    const study = web?.shapes.find(({ shape }) => shape === shapeNamed(label));
    return {
      where: PERFORMANCE,
      what: `${label}, of peak on one thread, measured in Chromium`,
      claimed: `${share} %`,
      measured: study === undefined ? null : percent(ofPeak(study, 1, "relaxed")),
    };
  });
}

/** The speed-up by narrow caches, as bench/caches.js prints it. @param {Found} found @param {Documents} documents @returns {readonly Claim[]} */
function decode({ programs }, documents) {
  const printed = Object.values(programs ?? {}).join("\n");
  return tableOf(documents, "## Decode").flatMap(([label = "", , , half = "", int8 = ""]) => {
    const [, queryHeads, heads, keys, dim] = /^(\d+) : (\d+), (\d+), (\d+)$/.exec(label) ?? [];
    if (keys === undefined) return [];
    const line = printed.match(`${queryHeads}/${heads} heads, ${keys} keys, dim ${dim}: \\S+ ms, (\\S+), (\\S+)`);
    return [
      {
        where: PERFORMANCE,
        what: `one query, ${label}, caches of f16 and int8 over f32`,
        claimed: `${half}, ${int8}`,
        measured: line && `${line[1]} x, ${line[2]} x`,
      },
    ];
  });
}

const TOKENS = { "Llama-shaped, 134 million": "llama-token", "GPT-2-shaped, 124 million": "gpt2" };

/** A token beside plain reading of the weights. @param {Found} found @param {Documents} documents @returns {readonly Claim[]} */
function tokens({ models }, documents) {
  return tableOf(
    documents,
    "A token of a model reads every weight once. Random weights, an isolated page on a Xeon (Sapphire Rapids), six runs:",
  ).map(([label = "", , one = "", , two = ""]) => {
    const shares = [1, 2].map((threads) => {
      const study = models?.studies.find(
        (each) => each.shape === Reflect.get(TOKENS, label) && each.page === "isolated" && each.threads === threads,
      );
      const read = study?.results.find(({ rate }) => rate !== null)?.rate ?? null;
      return study === undefined ? null : quotient(quotient(1000 * study.weightBytes, read), msOf(study, "dist all"));
    });
    return {
      where: PERFORMANCE,
      what: `a token, ${label}, of plain reading on one and two threads`,
      claimed: `${one}, ${two}`,
      measured: shares.every((share) => share === null) ? null : shares.map(percent).join(", "),
    };
  });
}

/** heed's lead over onnxruntime-web, as the table of docs/performance.md has it. @param {Found} found @param {Documents} documents @returns {readonly (Claim & { claims: readonly number[], is: readonly (number | null)[] })[]} */
export function peers({ web }, documents) {
  return tableOf(documents, "## Beside the peers").map(([label = "", , , one = "", two = ""]) => {
    const study = web?.shapes.find(({ shape }) => shape === shapeNamed(label));
    const is = [1, 2].map((threads) => (study === undefined ? null : lead(study, threads, "ort")));
    return {
      where: PERFORMANCE,
      what: `${label}, over onnxruntime-web, on one and two threads`,
      claimed: `${one}, ${two}`,
      measured: study === undefined ? null : is.map(times).join(", "),
      claims: [one, two].map((text) => Number(text.split(" to ").at(-1))),
      is,
    };
  });
}

/** "(1, 8, 1024 : 77, 64) causal" as the benches write it. @param {string} label */
export function shapeNamed(label) {
  const [, heads, length, dim, causal] = /^\(1, (\d+), ([\d :]+), (\d+)\)( causal)?/.exec(label) ?? [];
  return `${heads}x${length?.replaceAll(" ", "")}x${dim}${causal === undefined ? "" : "c"}`;
}

/** @param {Found} found @param {Documents} documents @returns {readonly Claim[]} */
function training({ train }, documents) {
  const rows = tableOf(documents, "## Training");
  return rows.map(([label = "", , one = "", , two = "", tfjs = ""]) => {
    const model = /\((\d+) x (\d+)\)/.exec(label);
    const shape = label === "the same, causal" ? "8x1024x64c" : "8x1024x64";
    const study =
      model === null
        ? train?.backward.find((each) => each.shape === shape)
        : train?.steps.find((each) => each.model === `${model[1]}x${model[2]}`);
    const what = model === null ? "backward" : "training";
    const lead = (/** @type {string} */ peer, /** @type {number} */ threads) =>
      study === undefined
        ? null
        : quotient(
            msOf(study, `${peer}:${what}@${threads}`) ?? msOf(study, `${peer}:${what}@1`),
            msOf(study, `heed:${what}@${threads}`),
          );
    return {
      where: PERFORMANCE,
      what: `${model === null ? `${shape}, attention and its gradients` : `a step, ${label}`}: over jax-js on one and two threads, over TensorFlow.js`,
      claimed: `${one}; ${two}; ${tfjs}`,
      measured: study === undefined ? null : [lead("jax", 1), lead("jax", 2), lead("tfjs", 2)].map(times).join("; "),
    };
  });
}

/** The largest figure of each table of docs/numerics.md. @param {Found} found @param {Documents} documents @returns {readonly Claim[]} */
function numerics(found, documents) {
  const page = documents[NUMERICS] ?? "";
  return Array.from(page.matchAll(/<!-- table: (\S+) -->\n(.*?)<!-- end -->/gs), ([, name = "", table = ""]) => ({
    where: NUMERICS,
    what: `the largest error of the table “${name}”`,
    claimed: small(largestIn(table)),
    measured: found.numerics?.[name] === undefined ? null : small(largestIn(found.numerics[name])),
  }));
}

/** What bench/structure.js printed. @param {Found["programs"]} programs @param {RegExp} line */
function ratios(programs, line) {
  const found = Array.from(
    Object.values(programs ?? {})
      .join("\n")
      .matchAll(line),
    ([, ratio]) => Number(ratio),
  );
  return found.length === 0 ? null : found.map((ratio) => ratio.toFixed(2)).join(", ");
}

/** @param {string} table */
const largestIn = (table) => Math.max(...(table.match(/\d\.\de[-+]\d+/g) ?? ["NaN"]).map(Number));

/** The entry, its runner and a variant, by the largest of each. @param {Found["sizes"]} sizes */
function firstBytes({ index = 0, runners = {}, variants = {} }) {
  const most = (/** @type {readonly number[]} */ bytes) => Math.max(...bytes);
  const pairs = Object.entries(variants).map(
    ([name, { chunk }]) => chunk + (name.endsWith("threads") ? (runners["shared"] ?? 0) : (runners["unshared"] ?? 0)),
  );
  return index + most(pairs);
}

/** @param {number | undefined} bytes */
const kB = (bytes) => (bytes === undefined ? null : `${(bytes / 1000).toFixed(1)} kB`);

/** @param {Found} found @param {boolean} causal */
const leads = ({ web }, causal) =>
  web?.shapes
    .filter(({ shape }) => PREFILL.includes(shape) && !shape.startsWith("1x64x64") && shape.endsWith("c") === causal)
    .flatMap((study) => [1, 2].map((threads) => lead(study, threads, "ort")));

/** @param {readonly (number | null)[] | undefined} values @param {(value: number) => string} show */
function range(values, show) {
  const known = values?.filter((value) => value !== null) ?? [];
  const [least, most] = [Math.min(...known), Math.max(...known)].map(show);
  if (known.length === 0) return null;
  return least === most ? `${least}` : `${least} to ${most}`;
}

/** @param {readonly (number | null)[] | undefined} values */
const largest = (values) => {
  const known = values?.filter((value) => value !== null) ?? [];
  return known.length === 0 ? null : Math.max(...known);
};

/** @template {{ name: string }} T @param {readonly T[] | undefined} all */
const ofHeed = (all) => all?.filter(({ name }) => name.startsWith("heed")) ?? [];

/** @param {{ results: readonly { name: string, error: number | null }[] }} study @param {string} who */
const errorOf = ({ results }, who) =>
  largest(results.filter(({ name }) => name.startsWith(who)).map(({ error }) => error));

/** @param {Found["web"]} web @param {string} name */
function cost(web, name) {
  const study = web?.costs.find(({ results }) => results.some((one) => one.name === name));
  return study === undefined ? "" : times(quotient(msOf(study, name), msOf(study, "heed@1")));
}
