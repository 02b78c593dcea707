// The aims of heed, and whether the figures meet them. An aim without figures is left open.

import { quotient } from "../../table.js";
import { lead, msOf, ofBandwidth, ofPeak, scaling } from "./findings.js";
import { DECODE, flopsOf, PREFILL, SCALING, shapeOf } from "./shapes.js";

/** @typedef {import("../studies/shapes.js").ShapeStudy} ShapeStudy */
/** @typedef {import("./web-report.js").Findings} Findings */
/** @typedef {{ value: number, where: string }} Figure */
/** @typedef {{ aim: string, wanted: string, got: string, state: "met" | "short" | "open" }} Judged */

const PEAK_SHAPES = ["8x1024x64", "8x1024x128", "4x4096x64"];
const TINY = "1x64x64";
const ACCURACY_SHAPE = "4x4096x64";
const MIB = 2 ** 20;

/** @param {Findings} findings @returns {Judged[]} */
export function judgeAims(findings) {
  const { shapes } = findings;
  const prefill = shapes.filter(({ shape }) => PREFILL.includes(shape) && !shape.startsWith(TINY));
  const plain = prefill.filter(({ shape }) => !shape.endsWith("c"));
  const causal = prefill.filter(({ shape }) => shape.endsWith("c"));
  const decode = shapes.filter(({ shape }) => DECODE.includes(shape));
  const compute = shapes.filter(({ shape }) => PEAK_SHAPES.includes(shape));
  const scaled = shapes.filter(({ shape }) => PREFILL.includes(shape) || SCALING.includes(shape)).filter(isLargeEnough);
  // heed may have got one of the two threads that were asked for: such figures say nothing about two.
  const hasTwo = findings.run.heed["heed@2"]?.threads === 2;
  const threaded = (/** @type {number} */ threads, /** @type {readonly ShapeStudy[]} */ studies) =>
    threads === 1 || hasTwo ? studies : [];
  return [
    least(
      "relaxed: of peak, 1 thread",
      0.9,
      figures(compute, (one) => ofPeak(one, 1, "relaxed")),
    ),
    least(
      "simd: of its peak, 1 thread",
      0.9,
      figures(compute, (one) => ofPeak(one, 1, "simd")),
    ),
    least("2 threads over 1", 1.93, figures(threaded(2, scaled), scaling)),
    ...[1, 2].flatMap((threads) => [
      least(
        `over the best onnxruntime-web, ${threads} thr.`,
        1.65,
        figures(threaded(threads, plain), (one) => lead(one, threads, "ort")),
      ),
      least(
        `the same, geometric mean, ${threads} thr.`,
        1.8,
        mean(figures(threaded(threads, plain), (one) => lead(one, threads, "ort"))),
      ),
      least(
        `the same when causal, ${threads} thr.`,
        3.3,
        figures(threaded(threads, causal), (one) => lead(one, threads, "ort")),
      ),
      least(
        `never slower than any peer, ${threads} thr.`,
        1,
        figures(threaded(threads, shapes), (one) => lead(one, threads)),
      ),
      least(
        `decode: over the best peer, ${threads} thr.`,
        1.7,
        figures(threaded(threads, decode), (one) => lead(one, threads)),
      ),
      least(
        `decode: of read bandwidth, ${threads} thr.`,
        0.85,
        figures(threaded(threads, decode), (one) => ofBandwidth(one, threads)),
      ),
    ]),
    most("weights returned, over without", 1.6, cost(findings, "heed:weights@1")),
    most("boolean mask of full rank, over without", 1.25, cost(findings, "heed:mask@1")),
    most("bias of full rank, over without", 1.25, cost(findings, "heed:bias@1")),
    most("window, over its share of the keys", 1.2, cost(findings, "heed:window@1")),
    most("first call over warm", 1.3, firstCall(findings)),
    most("from import to first result, ms", 50, own(findings.firstResults)),
    least("the fastest peer's, over that", 2, firstResultLead(findings)),
    most("longest task of the page's thread, ms", 10, own(findings.stalls)),
    most("32768 keys: MiB beyond inputs and output", 16, memory(findings)),
    most("error, normal inputs, 4096 keys", 6e-7, errors(shapes.filter(({ shape }) => shape === ACCURACY_SHAPE))),
    most("error over onnxruntime-web's", 1.5, errorRatios(shapes)),
  ];
}

/** From (8, 256, 64) up. @param {ShapeStudy} study */
const isLargeEnough = ({ flops }) => flops >= flopsOf(shapeOf("8x256x64"));

/** @type {(one: any) => string} */
const shapeAt = ({ shape }) => shape;

/**
 * What is missing gives no figure.
 * @template T
 * @param {readonly T[]} found @param {(one: T) => number | null} of @param {(one: T) => string} where
 * @returns {Figure[]}
 */
export function figures(found, of, where = shapeAt) {
  return found.flatMap((one) => {
    const value = of(one);
    return value === null ? [] : [{ value, where: where(one) }];
  });
}

/** @param {readonly Figure[]} all @returns {Figure[]} */
function mean(all) {
  if (all.length === 0) return [];
  const value = Math.exp(all.reduce((sum, one) => sum + Math.log(one.value), 0) / all.length);
  return [{ value, where: `${all.length} shapes` }];
}

/** @param {Findings} findings @param {string} name @returns {Figure[]} */
function cost({ costs }, name) {
  return figures(costs, (study) => {
    const share = study.options.find((one) => one.name === name)?.keptShare ?? null;
    return quotient(quotient(msOf(study, name), msOf(study, "heed@1")), share);
  });
}

/** @param {Findings} findings @returns {Figure[]} */
const firstCall = ({ firstCalls }) =>
  figures(
    firstCalls.filter(({ name }) => name.startsWith("heed")),
    ({ ratio }) => ratio,
    ({ name }) => name,
  );

/** heed's milliseconds. @param {readonly { name: string, ms: number | null }[]} found @returns {Figure[]} */
const own = (found) =>
  figures(
    found.filter(({ name }) => name.startsWith("heed")),
    ({ ms }) => ms,
    ({ name }) => name,
  );

/** @param {Findings} findings @returns {Figure[]} */
function firstResultLead({ firstResults }) {
  const peers = firstResults.flatMap(({ name, ms }) => (name.startsWith("heed") || ms === null ? [] : [{ name, ms }]));
  const [fastest] = peers.sort((a, b) => a.ms - b.ms);
  if (fastest === undefined) return [];
  return own(firstResults).map(({ value }) => ({ value: fastest.ms / value, where: fastest.name }));
}

/** @param {Findings} findings @returns {Figure[]} */
const memory = ({ memory: studies }) =>
  figures(
    studies.filter(({ name }) => name.startsWith("heed")),
    ({ beyondBytes }) => quotient(beyondBytes, MIB) ?? Number.POSITIVE_INFINITY,
  );

/** @param {readonly ShapeStudy[]} studies @returns {Figure[]} */
const errors = (studies) => figures(studies, ({ results }) => worst(results, "heed"));

/** @param {readonly ShapeStudy[]} studies @returns {Figure[]} */
const errorRatios = (studies) =>
  figures(studies, ({ results }) => quotient(worst(results, "heed"), worst(results, "ort")));

/** @param {readonly import("./rounds.js").Result[]} results @param {string} beginning */
function worst(results, beginning) {
  const found = results.flatMap(({ name, error }) => (name.startsWith(beginning) && error !== null ? [error] : []));
  return found.length === 0 ? null : Math.max(...found);
}

/** @param {string} aim @param {number} bound @param {readonly Figure[]} all @returns {Judged} */
export const least = (aim, bound, all) =>
  judged(
    aim,
    `>= ${bound}`,
    all,
    (a, b) => a.value - b.value,
    (value) => value >= bound,
  );

/** @param {string} aim @param {number} bound @param {readonly Figure[]} all @returns {Judged} */
export const most = (aim, bound, all) =>
  judged(
    aim,
    `<= ${bound}`,
    all,
    (a, b) => b.value - a.value,
    (value) => value <= bound,
  );

/**
 * The worst figure decides.
 * @param {string} aim @param {string} wanted @param {readonly Figure[]} all
 * @param {(a: Figure, b: Figure) => number} worstFirst @param {(value: number) => boolean} isEnough
 * @returns {Judged}
 */
function judged(aim, wanted, all, worstFirst, isEnough) {
  const [first] = [...all].sort(worstFirst);
  if (first === undefined) return { aim, wanted, got: "", state: "open" };
  const value = first.value < 0.01 ? first.value.toExponential(1) : first.value.toPrecision(3);
  return { aim, wanted, got: `${value} (${first.where})`, state: isEnough(first.value) ? "met" : "short" };
}
