// Prints what the bench of training found.

import { digits, small, table, times } from "../../table.js";
import { least, most } from "./aims.js";
import { TOKENS } from "./models.js";
import { aimsTable, everybodyTable, failureTable, memoryTable, titled } from "./report.js";

/** @typedef {import("../studies/shapes.js").ShapeStudy} ShapeStudy */
/** @typedef {import("../studies/training.js").TrainingStudy} TrainingStudy */
/** @typedef {import("../studies/memory.js").MemoryStudy} MemoryStudy */
/** @typedef {readonly { name: string, ms: number | null }[]} Timed */
/**
 * @typedef {object} Findings
 * @property {{ date: string, browser: string, isolated: boolean, machine: string }} run
 * @property {readonly ShapeStudy[]} backward
 * @property {readonly TrainingStudy[]} steps
 * @property {readonly MemoryStudy[]} memory
 */

const MIB = 2 ** 20;

/** Two products forward and five backward. */
const BOTH_DIRECTIONS = 7 / 2;

/** Losses that round differently differ by less. */
const ALIKE = 1e-5;

/** @param {Findings} findings */
export function trainingReport({ run, backward, steps, memory }) {
  const page = run.isolated ? "" : ", not isolated";
  const parts = [`Chromium ${run.browser}, ${run.machine}${page}, ${run.date}`];
  if (backward.length > 0) {
    parts.push(
      titled("Attention forward and backward", backwardTable(backward)),
      titled(
        "Everybody: ms a call",
        everybodyTable(backward, ({ ms }) => digits(ms)),
      ),
      titled(
        "Largest difference of a gradient from double precision",
        everybodyTable(backward, ({ error }) => small(error)),
      ),
      titled("Who is missing, and why", failureTable(backward)),
    );
  }
  if (steps.length > 0) parts.push(titled("A step of training", stepsTable(steps)));
  if (memory.length > 0) parts.push(titled("Attention forward and backward, 16384 keys", memoryTable(memory)));
  parts.push(titled("Aims, by the worst figure of this run", aimsTable(aims({ backward, steps, memory }))));
  return parts.join("\n\n");
}

/** @param {readonly ShapeStudy[]} backward */
function backwardTable(backward) {
  const rows = backward.map(({ shape, flops, results }) => [
    shape,
    ...[1, 2].flatMap((threads) => {
      const ms = msOf(results, `heed:backward@${threads}`);
      return [
        digits(ms),
        digits(ms === null ? null : (BOTH_DIRECTIONS * flops) / ms / 1e6),
        ...["jax", "tfjs"].map((peer) => times(lead(results, peer, "backward", threads))),
      ];
    }),
    times(scaling(results)),
  ]);
  const heads = [1, 2].flatMap((threads) => [`heed@${threads} ms`, "GFLOP/s", "over jax-js", "over TensorFlow.js"]);
  return table(["shape", ...heads, "2 thr."], rows);
}

/** @param {readonly TrainingStudy[]} steps */
function stepsTable(steps) {
  const rows = steps.flatMap(({ model, flops, results }) =>
    results.map(({ name, ms, firstMs, bytes, taskMs, apart, failure }) => {
      const own = msOf(results, `heed:training@${name.split("@")[1]}`);
      return [
        `${model} ${name}`,
        digits(ms),
        digits(ms === null ? null : (1000 * TOKENS) / ms),
        digits(ms === null ? null : flops / ms / 1e6),
        times(ms === null || own === null ? null : ms / own),
        digits(firstMs),
        digits(bytes === null ? null : bytes / MIB),
        digits(taskMs),
        small(apart),
        failure ?? "",
      ];
    }),
  );
  const heads = ["ms", "tokens/s", "GFLOP/s", "heed's lead", "first ms", "MiB", "longest task ms", "losses apart"];
  return table(["", ...heads, "failure"], rows);
}

/** @param {Pick<Findings, "backward" | "steps" | "memory">} findings */
function aims({ backward, steps, memory }) {
  /** @param {number | null} value @param {string} where */
  const figure = (value, where) => (value === null ? [] : [{ value, where }]);
  const causal = (/** @type {boolean} */ is) => backward.filter(({ shape }) => shape.endsWith("c") === is);
  /** @param {readonly ShapeStudy[]} studies @param {number} threads */
  const leads = (studies, threads) =>
    studies.flatMap(({ shape, results }) => figure(lead(results, "jax", "backward", threads), shape));
  /** @param {string} peer @param {readonly number[]} threads */
  const stepLeads = (peer, threads) =>
    steps.flatMap(({ model, results }) =>
      threads.flatMap((n) => figure(lead(results, peer, "training", n), `${model}@${n}`)),
    );
  const own = steps.flatMap(({ model, results }) =>
    results.flatMap(({ name, taskMs }) => (name.startsWith("heed") ? figure(taskMs, `${model} ${name}`) : [])),
  );
  const shares = steps.flatMap(({ model, results }) => {
    const [ours, theirs] = ["heed", "jax"].map(
      (who) => results.find(({ name }) => name === `${who}:training@1`)?.bytes ?? null,
    );
    return ours && theirs ? figure(ours / theirs, model) : [];
  });
  return [
    least("backward: over jax-js, 1 thread", 2.3, leads(causal(false), 1)),
    least("the same when causal", 4.5, leads(causal(true), 1)),
    least("backward: over jax-js, 2 threads", 4, leads(causal(false), 2)),
    least("the same when causal", 8, leads(causal(true), 2)),
    least(
      "backward: 2 threads over 1",
      1.85,
      backward.flatMap(({ shape, results }) => figure(scaling(results), shape)),
    ),
    least("a step: over jax-js", 2.2, stepLeads("jax", [1, 2])),
    least("a step: over TensorFlow.js", 5, stepLeads("tfjs", [1, 2])),
    most("a step: memory over jax-js's", 0.5, shares),
    most("longest task of the page's thread, ms", 10, own),
    most(
      "16384 keys: MiB beyond inputs, output and gradients",
      32,
      memory.flatMap(({ name, beyondBytes }) =>
        name.startsWith("heed")
          ? figure(beyondBytes === null ? Number.POSITIVE_INFINITY : beyondBytes / MIB, name)
          : [],
      ),
    ),
  ];
}

/** @param {Timed} results @param {string} name */
const msOf = (results, name) => results.find((one) => one.name === name)?.ms ?? null;

/** How many times as fast heed is as a peer, which may know one thread only. @param {Timed} results @param {string} peer @param {string} what @param {number} threads */
function lead(results, peer, what, threads) {
  const own = msOf(results, `heed:${what}@${threads}`);
  const theirs = [threads, 1].map((n) => msOf(results, `${peer}:${what}@${n}`)).find((ms) => ms !== null) ?? null;
  return own === null || theirs === null ? null : theirs / own;
}

/** @param {Timed} results */
function scaling(results) {
  const [one, two] = [1, 2].map((threads) => msOf(results, `heed:backward@${threads}`));
  return one && two ? one / two : null;
}

/** Throws unless everybody trained, with the same losses. @param {readonly TrainingStudy[]} steps */
export function requireAlike(steps) {
  const wrong = steps.flatMap(({ model, results }) =>
    results
      .filter(({ failure, apart }) => failure !== null || !((apart ?? Number.NaN) <= ALIKE))
      .map(({ name, failure, apart }) => `${name} at ${model}: ${failure ?? `losses apart by ${apart}`}`),
  );
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
}
