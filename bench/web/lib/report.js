// Prints the findings as tables.

import { digits, percent, small, table, times } from "../../table.js";
import { judgeAims } from "./aims.js";
import { bestPeer, lead, msOf, ofBandwidth, ofPeak, scaling, speedOf } from "./findings.js";

/** @typedef {import("../studies/shapes.js").ShapeStudy} ShapeStudy */
/** @typedef {import("./rounds.js").Result} Result */

/**
 * @typedef {object} Findings
 * @property {{ date: string, browser: string, isolated: boolean, machine: string, summary: import("./summary.js").Summary, heed: Record<string, Readonly<Record<string, unknown>>> }} run
 * @property {readonly Result[]} machine
 * @property {readonly ShapeStudy[]} shapes
 * @property {readonly import("../studies/costs.js").CostStudy[]} costs
 * @property {readonly import("../studies/first-call.js").FirstCall[]} firstCalls
 * @property {readonly import("../studies/first-result.js").FirstResult[]} firstResults
 * @property {readonly import("../studies/stalls.js").Stall[]} stalls
 * @property {readonly import("../studies/memory.js").MemoryStudy[]} memory
 */

const GIGA = 1e9;
const MIB = 2 ** 20;

/** @param {Findings} findings */
export function report(findings) {
  const { run, machine, shapes, costs, firstCalls, firstResults, stalls, memory } = findings;
  const samples = run.summary === "median" ? "medians" : "best samples";
  const page = run.isolated ? "" : ", not isolated";
  const parts = [`Chromium ${run.browser}, ${run.machine}${page}, ${run.date}, ${samples}`];
  parts.push(...notesOn(run.heed));
  if (machine.length > 0) parts.push(titled("The machine, in workers of this browser", machineTable(machine)));
  if (shapes.length > 0) {
    parts.push(
      titled("heed beside the best peer", shapesTable(shapes)),
      titled(
        "Everybody: ms a call; of the loops, GFLOP/s or GB/s",
        everybodyTable(shapes, ({ ms, rate }) => (rate === null ? digits(ms) : digits(rate / GIGA))),
      ),
      titled(
        "Largest difference from heed/reference",
        everybodyTable(shapes, ({ error }) => small(error)),
      ),
    );
    if (shapes.some(({ results }) => results.some(({ failure }) => failure !== null))) {
      parts.push(titled("Who is missing, and why", failureTable(shapes)));
    }
  }
  if (costs.length > 0) parts.push(titled("What options cost", costTable(costs)));
  if (firstCalls.length > 0)
    parts.push(titled("The first call in a fresh browser, 8x2048x64", firstCallTable(firstCalls)));
  if (firstResults.length > 0) {
    parts.push(
      titled("From the import to the first result in a fresh page, 8x128x64", millisecondsTable(firstResults)),
    );
  }
  if (stalls.length > 0) {
    parts.push(titled("The longest task of the page's thread during a call, 8x2048x64", millisecondsTable(stalls)));
  }
  if (memory.length > 0) parts.push(titled("32768 keys", memoryTable(memory)));
  parts.push(titled("Aims, by the worst figure of this run", aimsTable(judgeAims(findings))));
  return parts.join("\n\n");
}

/** @param {string} title @param {string} body */
export const titled = (title, body) => `${title}\n\n${body}`;

/** Notes that a reader of the figures needs. @param {Findings["run"]["heed"]} engines */
function notesOn(engines) {
  return Object.entries(engines).flatMap(([name, about]) => {
    const asked = Number(name.split("@")[1]);
    const { threads, variant } = about;
    return threads === asked ? [] : [`${name} computed on ${threads} thread (${variant}): read its figures as that.`];
  });
}

/** @param {readonly Result[]} machine */
function machineTable(machine) {
  const names = [...new Set(machine.map(({ name }) => name.split("@")[0] ?? ""))];
  const rate = (/** @type {string} */ name) =>
    digits((machine.find((one) => one.name === name)?.rate ?? Number.NaN) / GIGA);
  return table(
    ["loop", "1 thread", "2 threads", "unit"],
    names.map((name) => [name, rate(`${name}@1`), rate(`${name}@2`), name === "read" ? "GB/s" : "GFLOP/s"]),
  );
}

/** @param {readonly ShapeStudy[]} shapes */
function shapesTable(shapes) {
  const threads = /** @type {const} */ ([1, 2]);
  const heads = [
    "shape",
    ...threads.flatMap((n) => [`heed@${n} ms`, "GFLOP/s", "of roofline", "best peer", "ms", "lead"]),
    "2 thr.",
  ];
  const rows = shapes.map((study) => [
    study.shape,
    ...threads.flatMap((n) => {
      const best = bestPeer(study, n);
      const speed = speedOf(study, `heed@${n}`);
      const share = ofBandwidth(study, n) ?? ofPeak(study, n, "relaxed");
      return [
        digits(msOf(study, `heed@${n}`)),
        digits(speed === null ? null : speed / GIGA),
        percent(share),
        best?.name ?? "",
        digits(best?.ms),
        times(lead(study, n)),
      ];
    }),
    times(scaling(study)),
  ]);
  const legend =
    "of roofline: % of peak, the rate of the tile loop; in decode, % of the read bandwidth over the same K and V";
  return `${table(heads, rows)}\n\n${legend}`;
}

/** @param {readonly ShapeStudy[]} shapes @param {(one: Result) => string} show */
export function everybodyTable(shapes, show) {
  const names = [...new Set(shapes.flatMap(({ results }) => results.map(({ name }) => name)))];
  const filled = names.filter((name) =>
    shapes.some(({ results }) => results.some((one) => one.name === name && show(one) !== "")),
  );
  const rows = filled.map((name) => [
    name,
    ...shapes.map(({ results }) => {
      const one = results.find((result) => result.name === name);
      return one === undefined ? "" : show(one);
    }),
  ]);
  return table(["", ...shapes.map(({ shape }) => shape)], rows);
}

/** @param {readonly ShapeStudy[]} shapes */
export function failureTable(shapes) {
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const { shape, results } of shapes) {
    for (const { name, failure } of results) {
      if (failure === null) continue;
      const key = `${failure.startsWith("left out") ? "left out: too slow here" : failure.slice(0, 90)}\n${name}`;
      found.set(key, [...(found.get(key) ?? []), shape]);
    }
  }
  const rows = [...found].map(([key, where]) => [...key.split("\n").reverse(), where.join(" ")]);
  return table(["who", "why", "where"], rows);
}

/** @param {Findings["costs"]} costs */
function costTable(costs) {
  const rows = costs.flatMap(({ shape, options, results }) => {
    const msAt = (/** @type {string} */ name) => results.find((one) => one.name === name)?.ms ?? null;
    return options.map(({ name, keptShare }) => {
      const [without, given] = [msAt("heed@1"), msAt(name)];
      const ratio = without === null || given === null ? null : given / without;
      return [
        name,
        shape,
        digits(without),
        digits(given),
        times(ratio),
        ratio === null ? "" : times(ratio / keptShare),
      ];
    });
  });
  return table(["", "shape", "without ms", "with ms", "ratio", "over its share"], rows);
}

/** @param {Findings["firstCalls"]} calls */
function firstCallTable(calls) {
  const rows = calls.map((one) => [
    one.name,
    digits(one.prepareMs),
    digits(one.firstMs),
    digits(one.warmMs),
    times(one.ratio),
  ]);
  return table(["", "prepare ms", "first ms", "warm ms", "ratio"], rows);
}

/** @param {readonly { name: string, ms: number | null, failure: string | null }[]} found */
function millisecondsTable(found) {
  return table(
    ["", "ms", "failure"],
    found.map(({ name, ms, failure }) => [name, digits(ms), failure ?? ""]),
  );
}

/** @param {Findings["memory"]} memory */
export function memoryTable(memory) {
  const rows = memory.map(({ shape, name, ms, error, beyondBytes, failure }) => [
    name,
    shape,
    digits(ms),
    beyondBytes === null ? "" : digits(beyondBytes / MIB),
    small(error),
    failure ?? "",
  ]);
  return table(["", "shape", "ms", "MiB beyond inputs and output", "error", "failure"], rows);
}

/** @param {readonly import("./aims.js").Judged[]} aims */
export function aimsTable(aims) {
  const told = aims.filter(({ state }) => state !== "open");
  const rows = told.map(({ aim, wanted, got, state }) => [aim, wanted, got, state]);
  const open = aims.length - told.length;
  const rest = open === 0 ? "" : `\n\n${open} of ${aims.length} aims are open: this run has no figures for them`;
  return `${table(["aim", "wanted", "got", ""], rows)}${rest}`;
}
