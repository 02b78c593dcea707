// A run on the GPU in words and tables.

import { digits, quotient, small, tableOf, times } from "../../table.js";
import { figures, least, most } from "./aims.js";
import { msOf, rateOf, speedOf } from "./findings.js";
import { autoOverBetter, bestGpuPeer, gpuLead, HEED, isWrong, rooflineMsOf } from "./gpu-findings.js";
import { everybody, GIGA, MIB, report, section } from "./report.js";

/** @typedef {import("../studies/shapes.js").ShapeStudy} ShapeStudy */
/** @typedef {import("../studies/gpu-memory.js").GpuMemory} GpuMemory */
/** @typedef {import("../studies/crossover.js").Crossover} Crossover */

/** @param {{ run: import("./bench.js").Run, shapes: readonly ShapeStudy[], crossover: readonly Crossover[], memory: readonly GpuMemory[] }} findings */
export function gpuReport({ run, shapes, crossover, memory }) {
  const sections = [
    `The adapter: ${JSON.stringify(run.heed[HEED]?.["webgpu"])}`,
    ...section("heed beside the best peer that is right", shapes, shapesTable),
    ...everybody(shapes, "Largest difference from heed/reference", (one) =>
      one.ms !== null && isWrong(one) ? `wrong: ${digits(one.ms)}` : digits(one.ms),
    ),
    ...section("`auto` beside either backend, 2 threads, ms", crossover, crossoverTable),
    ...section("GPU buffers, the first call in a page", memory, memoryTable),
  ];
  return report(run, sections, [
    least("over the best peer that is right", 1, figures(shapes, gpuLead)),
    most("`auto` over the better backend", 1.15, figures(crossover, autoOverBetter)),
    most("buffers of twice the length, over those of the length", 2.05, growth(memory)),
  ]);
}

/** @param {readonly ShapeStudy[]} shapes */
const shapesTable = (shapes) =>
  tableOf(shapes, [
    ["shape", ({ shape }) => shape],
    ["heed ms", (study) => digits(msOf(study, HEED))],
    ["GFLOP/s", (study) => digits(quotient(speedOf(study, HEED), GIGA))],
    ["best peer", (study) => bestGpuPeer(study)?.name ?? ""],
    ["ms", (study) => digits(bestGpuPeer(study)?.ms)],
    ["lead", (study) => times(gpuLead(study))],
    ["chain GFLOP/s", (study) => digits(quotient(rateOf(study, "chain-webgpu@1"), GIGA))],
    ["roofline ms", (study) => digits(rooflineMsOf(study))],
    ["over roofline", (study) => times(quotient(msOf(study, HEED), rooflineMsOf(study)))],
  ]);

/** @param {readonly Crossover[]} crossover */
const crossoverTable = (crossover) =>
  tableOf(crossover, [
    ["shape", ({ shape }) => shape],
    ["wasm", (study) => digits(msOf(study, "heed-wasm@2"))],
    ["webgpu", (study) => digits(msOf(study, "heed-webgpu@2"))],
    ["auto", (study) => digits(msOf(study, "heed-auto@2"))],
    ["auto over the better", (study) => times(autoOverBetter(study))],
  ]);

/** @param {readonly GpuMemory[]} memory */
const memoryTable = (memory) =>
  tableOf(memory, [
    ["", ({ name }) => name],
    ["shape", ({ shape }) => shape],
    ["ms", ({ ms }) => digits(ms)],
    ["MiB of buffers", ({ bytes }) => digits(quotient(bytes, MIB))],
    ["error", ({ error }) => small(error)],
    ["failure", ({ failure }) => failure ?? ""],
  ]);

/** Of heed's buffers, from each length to the next, which is twice as long. @param {readonly GpuMemory[]} memory */
function growth(memory) {
  const own = memory.filter(({ name }) => name === HEED);
  return own.slice(1).map(({ bytes, shape }, index) => ({
    value: quotient(bytes, own[index]?.bytes ?? null) ?? Number.POSITIVE_INFINITY,
    where: shape,
  }));
}
