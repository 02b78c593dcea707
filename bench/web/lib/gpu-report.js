// A run on the GPU in words and tables.

import { digits, small, table, times } from "../../table.js";
import { figures, least, most } from "./aims.js";
import { msOf, rateOf, speedOf } from "./findings.js";
import { autoOverBetter, bestGpuPeer, gpuLead, HEED, isWrong, rooflineMsOf } from "./gpu-findings.js";
import { aimsTable, everybodyTable, failureTable, titled } from "./report.js";

/** @typedef {import("../studies/shapes.js").ShapeStudy} ShapeStudy */
/** @typedef {import("../studies/gpu-memory.js").GpuMemory} GpuMemory */
/** @typedef {import("../studies/crossover.js").Crossover} Crossover */

/**
 * @typedef {object} GpuFindings
 * @property {{ date: string, browser: string, machine: string, heed: Readonly<Record<string, unknown>> }} run
 * @property {readonly ShapeStudy[]} shapes
 * @property {readonly Crossover[]} crossover
 * @property {readonly GpuMemory[]} memory
 */

const GIGA = 1e9;
const MIB = 2 ** 20;

/** @param {GpuFindings} findings */
export function gpuReport({ run, shapes, crossover, memory }) {
  const parts = [`Chromium ${run.browser}, ${JSON.stringify(run.heed.webgpu)}, ${run.machine}, ${run.date}`];
  if (shapes.length > 0) {
    parts.push(
      titled("heed beside the best peer that is right", shapesTable(shapes)),
      titled(
        "Everybody: ms a call; of the loops, GFLOP/s or GB/s",
        everybodyTable(shapes, (one) => {
          if (one.rate !== null) return digits(one.rate / GIGA);
          return one.ms !== null && isWrong(one) ? `wrong: ${digits(one.ms)}` : digits(one.ms);
        }),
      ),
      titled(
        "Largest difference from heed/reference",
        everybodyTable(shapes, ({ error }) => small(error)),
      ),
      titled("Who is missing, and why", failureTable(shapes)),
    );
  }
  if (crossover.length > 0)
    parts.push(titled("`auto` beside either backend, 2 threads, ms", crossoverTable(crossover)));
  if (memory.length > 0) parts.push(titled("GPU buffers, the first call in a page", memoryTable(memory)));
  parts.push(titled("Aims, by the worst figure of this run", aimsTable(judgeGpuAims(shapes, crossover, memory))));
  return parts.join("\n\n");
}

/** @param {readonly ShapeStudy[]} shapes */
function shapesTable(shapes) {
  const rows = shapes.map((study) => {
    const [ms, speed, best, roofline] = [
      msOf(study, HEED),
      speedOf(study, HEED),
      bestGpuPeer(study),
      rooflineMsOf(study),
    ];
    return [
      study.shape,
      digits(ms),
      digits(speed === null ? null : speed / GIGA),
      best?.name ?? "",
      digits(best?.ms),
      times(gpuLead(study)),
      digits((rateOf(study, "chain-webgpu@1") ?? Number.NaN) / GIGA),
      digits(roofline),
      times(ms === null || roofline === null ? null : ms / roofline),
    ];
  });
  return table(
    ["shape", "heed ms", "GFLOP/s", "best peer", "ms", "lead", "chain GFLOP/s", "roofline ms", "over roofline"],
    rows,
  );
}

/** @param {readonly Crossover[]} crossover */
function crossoverTable(crossover) {
  const names = ["heed-wasm@2", "heed-webgpu@2", "heed-auto@2"];
  const rows = crossover.map((study) => [
    study.shape,
    ...names.map((name) => digits(study.results.find((one) => one.name === name)?.ms)),
    times(autoOverBetter(study)),
  ]);
  return table(["shape", "wasm", "webgpu", "auto", "auto over the better"], rows);
}

/** @param {readonly GpuMemory[]} memory */
function memoryTable(memory) {
  const rows = memory.map(({ shape, name, ms, bytes, error, failure }) => [
    name,
    shape,
    digits(ms),
    bytes === null ? "" : digits(bytes / MIB),
    small(error),
    failure ?? "",
  ]);
  return table(["", "shape", "ms", "MiB of buffers", "error", "failure"], rows);
}

/** @param {readonly ShapeStudy[]} shapes @param {readonly Crossover[]} crossover @param {readonly GpuMemory[]} memory */
function judgeGpuAims(shapes, crossover, memory) {
  const auto = crossover.flatMap((study) => {
    const value = autoOverBetter(study);
    return value === null ? [] : [{ value, where: study.shape }];
  });
  return [
    least("over the best peer that is right", 1, figures(shapes, gpuLead)),
    most("`auto` over the better backend", 1.15, auto),
    most("buffers of twice the length, over those of the length", 2.05, growth(memory)),
  ];
}

/** Of heed's buffers, from each length to the next, which is twice as long. @param {readonly GpuMemory[]} memory */
function growth(memory) {
  const own = memory.filter(({ name }) => name === HEED);
  return own.slice(1).map(({ bytes, shape }, index) => {
    const before = own[index]?.bytes ?? null;
    return { value: bytes === null || before === null ? Number.POSITIVE_INFINITY : bytes / before, where: shape };
  });
}
