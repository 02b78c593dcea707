// A run of the bench of training in words and tables.

import { digits, quotient, small, table, times } from "../../table.js";
import { figures, least, most } from "./aims.js";
import { msOf, scaling, speedOf } from "./findings.js";
import { TOKENS } from "./models.js";
import { everybody, GIGA, MIB, memoryTable, report, section } from "./report.js";

/** @typedef {import("../studies/shapes.js").ShapeStudy} ShapeStudy */
/** @typedef {import("../studies/training.js").TrainingStudy} TrainingStudy */
/** @typedef {import("../studies/memory.js").MemoryStudy} MemoryStudy */
/**
 * @typedef {object} Findings
 * @property {import("./bench.js").Run} run
 * @property {readonly ShapeStudy[]} backward
 * @property {readonly TrainingStudy[]} steps
 * @property {readonly MemoryStudy[]} memory
 */

/** Two products forward and five backward. */
const BOTH_DIRECTIONS = 7 / 2;

/** Losses that round differently differ by less. */
const ALIKE = 1e-5;

/** @param {Findings} findings */
export function trainingReport(findings) {
  const { run, backward, steps, memory } = findings;
  const sections = [
    ...section("Attention forward and backward", backward, backwardTable),
    ...everybody(backward, "Largest difference of a gradient from double precision"),
    ...section("A step of training", steps, stepsTable),
    ...section("Attention forward and backward, 16384 keys", memory, memoryTable),
  ];
  return report(run, sections, aims(findings));
}

/** @param {readonly ShapeStudy[]} backward */
function backwardTable(backward) {
  const rows = backward.map((study) => [
    study.shape,
    ...[1, 2].flatMap((threads) => [
      digits(msOf(study, `heed:backward@${threads}`)),
      digits(quotient(speedOf(study, `heed:backward@${threads}`), GIGA / BOTH_DIRECTIONS)),
      ...["jax", "tfjs"].map((peer) => times(lead(study, peer, "backward", threads))),
    ]),
    times(scaling(study, "heed:backward")),
  ]);
  const heads = [1, 2].flatMap((threads) => [`heed@${threads} ms`, "GFLOP/s", "over jax-js", "over TensorFlow.js"]);
  return table(["shape", ...heads, "2 thr."], rows);
}

/** @param {readonly TrainingStudy[]} steps */
function stepsTable(steps) {
  const rows = steps.flatMap((study) =>
    study.results.map(({ name, ms, firstMs, bytes, taskMs, apart, failure }) => [
      `${study.model} ${name}`,
      digits(ms),
      digits(quotient(1000 * TOKENS, ms)),
      digits(quotient(speedOf(study, name), GIGA)),
      times(quotient(ms, msOf(study, `heed:training@${name.split("@")[1]}`))),
      digits(firstMs),
      digits(quotient(bytes, MIB)),
      digits(taskMs),
      small(apart),
      failure ?? "",
    ]),
  );
  const heads = ["ms", "tokens/s", "GFLOP/s", "heed's lead", "first ms", "MiB", "longest task ms", "losses apart"];
  return table(["", ...heads, "failure"], rows);
}

/** @param {Findings} findings */
function aims({ backward, steps, memory }) {
  const causal = backward.filter(({ shape }) => shape.endsWith("c"));
  const plain = backward.filter((study) => !causal.includes(study));
  /** @param {readonly ShapeStudy[]} studies @param {number} threads */
  const leads = (studies, threads) => figures(studies, (study) => lead(study, "jax", "backward", threads));
  /** @param {string} peer */
  const stepLeads = (peer) =>
    [1, 2].flatMap((n) =>
      figures(
        steps,
        (study) => lead(study, peer, "training", n),
        ({ model }) => `${model}@${n}`,
      ),
    );
  const tasks = steps.flatMap(({ model, results }) =>
    figures(
      results.filter(({ name }) => name.startsWith("heed")),
      ({ taskMs }) => taskMs,
      ({ name }) => `${model} ${name}`,
    ),
  );
  /** @param {TrainingStudy} study @param {string} who */
  const bytesOf = ({ results }, who) => results.find(({ name }) => name === `${who}:training@1`)?.bytes ?? null;
  const shares = figures(
    steps,
    (study) => quotient(bytesOf(study, "heed"), bytesOf(study, "jax")),
    ({ model }) => model,
  );
  const beyond = figures(
    memory.filter(({ name }) => name.startsWith("heed")),
    ({ beyondBytes }) => quotient(beyondBytes, MIB) ?? Number.POSITIVE_INFINITY,
    ({ name }) => name,
  );
  return [
    least("backward: over jax-js, 1 thread", 2.3, leads(plain, 1)),
    least("the same when causal", 4.5, leads(causal, 1)),
    least("backward: over jax-js, 2 threads", 4, leads(plain, 2)),
    least("the same when causal", 8, leads(causal, 2)),
    least(
      "backward: 2 threads over 1",
      1.85,
      figures(backward, (study) => scaling(study, "heed:backward")),
    ),
    least("a step: over jax-js", 2.2, stepLeads("jax")),
    least("a step: over TensorFlow.js", 5, stepLeads("tfjs")),
    most("a step: memory over jax-js's", 0.5, shares),
    most("longest task of the page's thread, ms", 10, tasks),
    most("16384 keys: MiB beyond inputs, output and gradients", 32, beyond),
  ];
}

/** How many times as fast heed is as a peer, which may know one thread only. @param {import("./findings.js").Timed} study @param {string} peer @param {string} what @param {number} threads */
const lead = (study, peer, what, threads) =>
  quotient(
    msOf(study, `${peer}:${what}@${threads}`) ?? msOf(study, `${peer}:${what}@1`),
    msOf(study, `heed:${what}@${threads}`),
  );

/** Throws unless everybody trained, with the same losses. @param {readonly TrainingStudy[]} steps */
export function requireAlike(steps) {
  const wrong = steps.flatMap(({ model, results }) =>
    results
      .filter(({ failure, apart }) => failure !== null || !((apart ?? Number.NaN) <= ALIKE))
      .map(({ name, failure, apart }) => `${name} at ${model}: ${failure ?? `losses apart by ${apart}`}`),
  );
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
}
