// A run of the main bench in words and tables.

import { digits, percent, quotient, table, tableOf, times } from "../../table.js";
import { judgeAims } from "./aims.js";
import { bestPeer, lead, msOf, ofBandwidth, ofPeak, rateOf, scaling, speedOf } from "./findings.js";
import { everybody, GIGA, memoryTable, report, section } from "./report.js";

/** @typedef {import("../studies/shapes.js").ShapeStudy} ShapeStudy */
/** @typedef {import("./rounds.js").Result} Result */

/**
 * @typedef {object} Findings
 * @property {import("./bench.js").Run} run
 * @property {readonly Result[]} machine
 * @property {readonly ShapeStudy[]} shapes
 * @property {readonly import("../studies/costs.js").CostStudy[]} costs
 * @property {readonly import("../studies/first-call.js").FirstCall[]} firstCalls
 * @property {readonly import("../studies/first-result.js").FirstResult[]} firstResults
 * @property {readonly import("../studies/stalls.js").Stall[]} stalls
 * @property {readonly import("../studies/memory.js").MemoryStudy[]} memory
 */

/** @param {Findings} findings */
export function webReport(findings) {
  const { run, machine, shapes, costs, firstCalls, firstResults, stalls, memory } = findings;
  const sections = [
    ...section("The machine, in workers of this browser", machine, machineTable),
    ...section("heed beside the best peer", shapes, shapesTable),
    ...everybody(shapes, "Largest difference from heed/reference"),
    ...section("What options cost", costs, costTable),
    ...section("The first call in a fresh browser, 8x2048x64", firstCalls, firstCallTable),
    ...section("From the import to the first result in a fresh page, 8x128x64", firstResults, millisecondsTable),
    ...section("The longest task of the page's thread during a call, 8x2048x64", stalls, millisecondsTable),
    ...section("32768 keys", memory, memoryTable),
  ];
  return report(run, sections, judgeAims(findings));
}

/** @param {readonly Result[]} results */
function machineTable(results) {
  const rate = (/** @type {string} */ name) => digits((rateOf({ results }, name) ?? Number.NaN) / GIGA);
  return tableOf(
    [...new Set(results.map(({ name }) => name.split("@")[0] ?? ""))],
    [
      ["loop", (name) => name],
      ["1 thread", (name) => rate(`${name}@1`)],
      ["2 threads", (name) => rate(`${name}@2`)],
      ["unit", (name) => (name === "read" ? "GB/s" : "GFLOP/s")],
    ],
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
      return [
        digits(msOf(study, `heed@${n}`)),
        digits(quotient(speedOf(study, `heed@${n}`), GIGA)),
        percent(ofBandwidth(study, n) ?? ofPeak(study, n, "relaxed")),
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

/** @param {Findings["costs"]} costs */
function costTable(costs) {
  const rows = costs.flatMap((study) =>
    study.options.map(({ name, keptShare }) => {
      const [without, given] = [msOf(study, "heed@1"), msOf(study, name)];
      const ratio = quotient(given, without);
      return [name, study.shape, digits(without), digits(given), times(ratio), times(quotient(ratio, keptShare))];
    }),
  );
  return table(["", "shape", "without ms", "with ms", "ratio", "over its share"], rows);
}

/** @param {Findings["firstCalls"]} calls */
const firstCallTable = (calls) =>
  tableOf(calls, [
    ["", ({ name }) => name],
    ["prepare ms", ({ prepareMs }) => digits(prepareMs)],
    ["first ms", ({ firstMs }) => digits(firstMs)],
    ["warm ms", ({ warmMs }) => digits(warmMs)],
    ["ratio", ({ ratio }) => times(ratio)],
  ]);

/** @param {readonly { name: string, ms: number | null, failure: string | null }[]} found */
const millisecondsTable = (found) =>
  tableOf(found, [
    ["", ({ name }) => name],
    ["ms", ({ ms }) => digits(ms)],
    ["failure", ({ failure }) => failure ?? ""],
  ]);
