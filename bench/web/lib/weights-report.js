// Prints what the bench of weights found as tables, and judges its aims.

import { digits, percent, quotient, table, tableOf, times } from "../../table.js";
import { figures, least, most } from "./aims.js";
import { msOf, rateOf } from "./findings.js";
import { GIGA, MIB, report, section } from "./report.js";

/** @typedef {import("../studies/weights.js").WeightStudy} WeightStudy */
/** @typedef {import("../studies/weights.js").RowStudy} RowStudy */
/** @typedef {import("../studies/weights.js").LargeStudy} LargeStudy */
/** @typedef {{ run: import("./bench.js").Run, dotClass: string, rows: readonly RowStudy[], shapes: readonly WeightStudy[], large: readonly LargeStudy[] }} Findings */

/** @param {Findings} findings */
export function weightsReport(findings) {
  const { run, dotClass, rows, shapes, large } = findings;
  const sections = [
    `Relaxed dot products of bytes: ${dotClass}`,
    ...section("One row and eight rows times a matrix from memory, 1 thread", rows, rowTable),
    ...section("A Llama of 135 million parameters, ms a token", of(shapes, "llama-token"), llamaTable),
    ...section("Its prompt of 128 tokens, ms", of(shapes, "llama-prefill"), llamaTable),
    ...section("A MiniLM, ms a pass, as texts x tokens", of(shapes, "minilm"), minilmTable),
    ...section("494 million parameters", large, largeTable),
    ...section("Who is missing, and why", failures(shapes), (all) => table(["who", "where", "why"], all)),
  ];
  return report(run, sections, judgeWeights(findings));
}

/** @param {readonly WeightStudy[]} shapes @param {string} beginning */
const of = (shapes, beginning) => shapes.filter(({ shape }) => shape.startsWith(beginning));

/** Milliseconds of a participant of as many threads as the study has. @param {WeightStudy} study @param {string} kind */
const ms = (study, kind) => msOf(study, `${kind}@${study.threads}`);

/** How many times as fast the second is. @param {WeightStudy} study @param {string} slow @param {string} fast */
const lead = (study, slow, fast) => quotient(ms(study, slow), ms(study, fast));

/** Of the bytes of its weights a second: the machine's reading, or the kernel where that is slower. @param {RowStudy} study */
const ceiling = (study) => {
  const [read, kernel] = [rateOf(study, "read@1"), rateOf(study, "kernel@1")];
  return read === null || kernel === null ? read : Math.min(read, kernel);
};
/** @param {RowStudy} study */
const ofCeiling = (study) => quotient(quotient(study.bytes * 1000, msOf(study, "heed 1@1")), ceiling(study));
/** @param {RowStudy} study */
const eightRows = (study) => quotient(msOf(study, "heed 8@1"), msOf(study, "heed 1@1"));

/** @param {readonly RowStudy[]} rows */
const rowTable = (rows) =>
  tableOf(rows, [
    ["weights", ({ format }) => format],
    ["MB", ({ bytes }) => digits(bytes / 1e6)],
    ["ms", (one) => digits(msOf(one, "heed 1@1"))],
    ["GB/s", ({ bytes, ...one }) => digits(quotient(bytes / 1e6, msOf(one, "heed 1@1")))],
    ["plain reading", (one) => digits(quotient(rateOf(one, "read@1"), GIGA))],
    ["the kernel in L1", (one) => digits(quotient(rateOf(one, "kernel@1"), GIGA))],
    ["of the lower", (one) => percent(ofCeiling(one))],
    ["eight rows over one", (one) => times(eightRows(one))],
  ]);

/** @param {readonly WeightStudy[]} studies */
function llamaTable(studies) {
  const rows = studies.flatMap((study) =>
    study.results
      .filter(({ rate, failure }) => rate === null && failure === null)
      .map(({ name, ms: each }) => [
        name,
        digits(each),
        times(quotient(ms(study, "heed f32"), each)),
        digits(quotient(study.bytes[name] ?? null, MIB)),
      ]),
  );
  return table(["", "ms", "x heed f32", "MiB of the page"], rows);
}

/** @param {readonly WeightStudy[]} studies */
const minilmTable = (studies) =>
  tableOf(studies, [
    ["", ({ shape, threads }) => `${shape.replace("minilm-", "")}@${threads}`],
    ...["heed f32", "heed int8", "transformers.js f32", "transformers.js q8"].map(
      (kind) => /** @type {const} */ ([kind, (/** @type {WeightStudy} */ one) => digits(ms(one, kind))]),
    ),
    ["f32 lead", (one) => times(lead(one, "transformers.js f32", "heed f32"))],
    ["int8 over q8", (one) => times(lead(one, "transformers.js q8", "heed int8"))],
  ]);

/** @param {readonly LargeStudy[]} large */
const largeTable = (large) =>
  tableOf(large, [
    ["weights", ({ format }) => format],
    ["loaded in s", ({ loadMs }) => digits(quotient(loadMs, 1000))],
    ["ms a token", ({ ms }) => digits(ms)],
    ["MiB of the page", ({ bytes }) => digits(bytes / MIB)],
    ["failure", ({ failure }) => failure ?? ""],
  ]);

/** @param {readonly WeightStudy[]} shapes */
const failures = (shapes) =>
  shapes.flatMap(({ shape, results }) =>
    results.flatMap(({ name, failure }) => (failure === null ? [] : [[name, shape, failure]])),
  );

/** What a thread reads in the aims about tokens, GB/s; where it reads more, aims are lower in proportion. */
const SLOW_MEMORY = 25;
const SMALL_TEXTS = ["minilm-1x4", "minilm-1x8", "minilm-1x16"];
const NARROW_TEXTS = ["minilm-1x16", "minilm-1x128", "minilm-8x128"];

/** @param {Findings} findings */
export function judgeWeights({ rows, shapes }) {
  const narrow = rows.filter(({ format }) => format.startsWith("int"));
  const tokens = of(shapes, "llama-token");
  const single = tokens.filter(({ threads }) => threads === 1);
  const prompts = of(shapes, "llama-prefill").filter(({ threads }) => threads === 1);
  const texts = (/** @type {readonly string[]} */ names) => shapes.filter(({ shape }) => names.includes(shape));
  const where = (/** @type {WeightStudy} */ { shape, threads }) => `${shape}@${threads}`;
  const format = (/** @type {RowStudy} */ one) => one.format;
  /** @param {string} kind */
  const gain = (kind) =>
    figures(single, (one) => {
      const read = rateOf(one, "read-memory@1");
      const faster = lead(one, "heed f32", kind);
      return faster === null || read === null ? null : faster * Math.max(1, read / GIGA / SLOW_MEMORY);
    });
  const gigabytes = (/** @type {string} */ kind) =>
    figures(single, ({ bytes }) => quotient(bytes[`heed ${kind}@1`] ?? null, GIGA));
  return [
    least("one row, of reading or the kernel in L1", 0.85, figures(narrow, ofCeiling, format)),
    most("eight rows over one", 2, figures(narrow, eightRows, format)),
    least("Llama: tokens in int8 over f32", 3, gain("heed int8")),
    least("Llama: tokens in int4 over f32", 4.5, gain("heed int4")),
    least(
      "Llama: prompt in int8 over f32",
      1,
      figures(prompts, (one) => lead(one, "heed f32", "heed int8"), where),
    ),
    least(
      "the same on plain SIMD",
      1.4,
      figures(prompts, (one) => lead(one, "heed-simd f32", "heed-simd int8"), where),
    ),
    least(
      "Llama: prompt in int4 over f32",
      1.5,
      figures(prompts, (one) => lead(one, "heed f32", "heed int4"), where),
    ),
    most("Llama in int8: GB of the page", 0.25, gigabytes("int8")),
    most("Llama in int4: GB of the page", 0.17, gigabytes("int4")),
    ...[
      ["int8", "Q8_0"],
      ["int4", "Q4_0"],
    ].map(([own, theirs]) =>
      least(
        `Llama: tokens in ${own} over wllama's ${theirs}`,
        1,
        figures(tokens, (one) => lead(one, `wllama ${theirs}`, `heed ${own}`), where),
      ),
    ),
    least(
      "MiniLM: f32 over transformers.js, few tokens",
      1.3,
      figures(texts(SMALL_TEXTS), (one) => lead(one, "transformers.js f32", "heed f32"), where),
    ),
    least(
      "MiniLM: int8 over transformers.js q8",
      1.25,
      figures(texts(NARROW_TEXTS), (one) => lead(one, "transformers.js q8", "heed int8"), where),
    ),
    ...["f32", "int8"].map((kind) =>
      most(`MiniLM, ${kind}: a token of 8 over one of 64`, 1.4, tokenCost(shapes, kind)),
    ),
  ];
}

/** @param {readonly WeightStudy[]} shapes @param {string} kind */
function tokenCost(shapes, kind) {
  const long = shapes.find(({ shape, threads }) => shape === "minilm-1x64" && threads === 1);
  if (long === undefined) return [];
  const short = shapes.filter(({ shape, threads }) => shape === "minilm-1x8" && threads === 1);
  return figures(short, (one) =>
    quotient(quotient(ms(one, `heed ${kind}`), 8), quotient(ms(long, `heed ${kind}`), 64)),
  );
}
