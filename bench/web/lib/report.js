// The shape of a report: the run, a table for each study that found something, and the aims.

import { digits, quotient, small, table, tableOf } from "../../table.js";

/** @typedef {import("../studies/shapes.js").ShapeStudy} ShapeStudy */
/** @typedef {import("./rounds.js").Result} Result */
/** @typedef {import("./bench.js").Run} Run */
/** @typedef {import("./aims.js").Judged} Judged */

export const GIGA = 1e9;
export const MIB = 2 ** 20;

/**
 * What was found under a title, as the text of a table.
 * @template T
 * @param {string} title @param {readonly T[]} found @param {(found: readonly T[]) => string} show
 */
export const section = (title, found, show) => (found.length === 0 ? [] : [`${title}\n\n${show(found)}`]);

/** @param {Run} run @param {readonly string[]} sections @param {readonly Judged[]} aims */
export function report(run, sections, aims) {
  const samples = run.summary === "median" ? "medians" : "best samples";
  const page = run.isolated ? "" : ", not isolated";
  return [
    `Chromium ${run.browser}, ${run.machine}${page}, ${run.date}, ${samples}`,
    ...notesOn(run.heed),
    ...sections,
    ...section("Aims, by the worst figure of this run", aims, aimsTable),
  ].join("\n\n");
}

/** Notes that a reader of the figures needs. @param {Run["heed"]} engines */
function notesOn(engines) {
  return Object.entries(engines).flatMap(([name, about]) => {
    const asked = Number(name.split("@")[1]);
    const { threads, variant } = about;
    return threads === asked ? [] : [`${name} computed on ${threads} thread (${variant}): read its figures as that.`];
  });
}

/**
 * Everybody at every shape.
 * @param {string} differences what errors are differences from
 * @param {(one: Result) => string} show @param {readonly ShapeStudy[]} shapes
 */
export const everybody = (shapes, differences, show = ({ ms }) => digits(ms)) => [
  ...section("Everybody: ms a call; of the loops, GFLOP/s or GB/s", shapes, (all) =>
    everybodyTable(all, (one) => (one.rate === null ? show(one) : digits(one.rate / GIGA))),
  ),
  ...section(differences, shapes, (all) => everybodyTable(all, ({ error }) => small(error))),
  ...section("Who is missing, and why", failuresOf(shapes), (rows) => table(["who", "why", "where"], rows)),
];

/** @param {readonly ShapeStudy[]} shapes @param {(one: Result) => string} show */
function everybodyTable(shapes, show) {
  const names = [...new Set(shapes.flatMap(({ results }) => results.map(({ name }) => name)))];
  const rows = names.map((name) => [
    name,
    ...shapes.map(({ results }) => {
      const one = results.find((result) => result.name === name);
      return one === undefined ? "" : show(one);
    }),
  ]);
  const filled = rows.filter(([, ...cells]) => cells.some((cell) => cell !== ""));
  return table(["", ...shapes.map(({ shape }) => shape)], filled);
}

/** @param {readonly ShapeStudy[]} shapes */
function failuresOf(shapes) {
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const { shape, results } of shapes) {
    for (const { name, failure } of results) {
      if (failure === null) continue;
      const key = `${failure.startsWith("left out") ? "left out: too slow here" : failure.slice(0, 90)}\n${name}`;
      found.set(key, [...(found.get(key) ?? []), shape]);
    }
  }
  return [...found].map(([key, where]) => [...key.split("\n").reverse(), where.join(" ")]);
}

/** @param {readonly import("../studies/memory.js").MemoryStudy[]} memory */
export const memoryTable = (memory) =>
  tableOf(memory, [
    ["", ({ name }) => name],
    ["shape", ({ shape }) => shape],
    ["ms", ({ ms }) => digits(ms)],
    ["MiB beyond inputs and output", ({ beyondBytes }) => digits(quotient(beyondBytes, MIB))],
    ["error", ({ error }) => small(error)],
    ["failure", ({ failure }) => failure ?? ""],
  ]);

/** @param {readonly Judged[]} aims */
export function aimsTable(aims) {
  const told = aims.filter(({ state }) => state !== "open");
  const rows = told.map(({ aim, wanted, got, state }) => [aim, wanted, got, state]);
  const open = aims.length - told.length;
  const rest = open === 0 ? "" : `\n\n${open} of ${aims.length} aims are open: this run has no figures for them`;
  return `${table(["aim", "wanted", "got", ""], rows)}${rest}`;
}
