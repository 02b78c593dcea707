// Prints what the bench of models found as tables.

import { digits, percent, quotient, table, times } from "../../table.js";
import { figures, least } from "./aims.js";
import { msOf } from "./findings.js";
import { aimsTable, section } from "./report.js";

/** @typedef {import("../models.js").ModelStudy} ModelStudy */
/** @typedef {import("../studies/loaded.js").LoadedStudy} LoadedStudy */

/** @param {{ date: string, browser: string, machine: string, studies: readonly ModelStudy[], loaded: readonly LoadedStudy[] }} findings */
export function modelsReport({ date, browser, machine, studies, loaded }) {
  const hasBefore = studies.some((one) => msOf(one, "before all") !== null);
  const dists = hasBefore ? ["before", "dist"] : ["dist"];
  const passes = [
    `ms a pass, and the longest task of the page's thread during one\n\n${passTable(studies, dists)}`,
    ...dists.map(
      (dist) => `What the parts of a pass take alone, ms${hasBefore ? `, ${dist}` : ""}\n\n${partTable(studies, dist)}`,
    ),
    `A token beside plain reading of the weights\n\n${tokenTable(studies, dists)}`,
  ];
  return [
    `Chromium ${browser}, ${machine}, ${date}, medians`,
    ...(studies.length === 0 ? [] : passes),
    ...section("Models from their files by heed/models, and peers", loaded, loadedTable),
    ...section("Aims, by the worst figure of this run", judgeLoaded(loaded), aimsTable),
  ].join("\n\n");
}

/** @param {ModelStudy} study */
const place = ({ shape, page, threads }) => [shape, page, String(threads)];

/** @param {readonly ModelStudy[]} studies @param {readonly string[]} dists */
function passTable(studies, dists) {
  const heads = [
    "model",
    "page",
    "threads",
    ...dists,
    ...(dists.length > 1 ? ["speed-up"] : []),
    ...dists.map((dist) => `longest, ${dist}`),
  ];
  const rows = studies.map((one) => {
    const found = dists.map((dist) => msOf(one, `${dist} all`));
    const [before, now] = found;
    const gain = dists.length > 1 ? [times(quotient(before ?? null, now ?? null))] : [];
    return [
      ...place(one),
      ...found.map(digits),
      ...gain,
      ...dists.map((dist) => digits(one.longestTasks[`${dist} all`])),
    ];
  });
  return table(heads, rows);
}

/** @param {readonly ModelStudy[]} studies @param {string} dist */
function partTable(studies, dist) {
  const parts = ["products", "attention", "rest", "copying"];
  const rows = studies.flatMap((one) => {
    const alone = parts.map((part) => msOf(one, `${dist} ${part}`));
    if (alone.includes(null)) return [];
    const whole = msOf(one, `${dist} all`) ?? Number.NaN;
    const between = alone.reduce((/** @type {number} */ left, ms) => left - (ms ?? 0), whole);
    return [
      [
        ...place(one),
        digits(whole),
        ...[...alone, between].map((ms) => `${digits(ms)} (${percent((ms ?? 0) / whole)})`),
      ],
    ];
  });
  return table(["model", "page", "threads", "pass", ...parts, "between them"], rows);
}

/** @param {readonly ModelStudy[]} studies @param {readonly string[]} dists */
function tokenTable(studies, dists) {
  const rows = studies.flatMap((one) => {
    const read = one.results.find(({ rate }) => rate !== null)?.rate ?? null;
    if (read === null || !["gpt2", "llama-token"].includes(one.shape)) return [];
    const floor = (one.weightBytes / read) * 1000;
    return [
      [
        ...place(one),
        digits(read / 1e9),
        digits(floor),
        ...dists.map((dist) => {
          const ms = msOf(one, `${dist} all`);
          return `${digits(ms)} (${percent(floor / (ms ?? Number.NaN))})`;
        }),
      ],
    ];
  });
  return table(["model", "page", "threads", "read GB/s", "floor ms", ...dists], rows);
}

const LOADED_UNITS = { load: "MB/s", "first-token": "ms", tokens: "tokens/s", notes: "ms" };

/** @param {LoadedStudy} study @param {string} name @param {number | null} ms */
function loadedFigure({ task, fileBytes }, name, ms) {
  if (task === "load") return quotient((fileBytes[name] ?? 0) / 1000, ms);
  return task === "tokens" ? quotient(1000, ms) : ms;
}

/** @param {readonly LoadedStudy[]} loaded */
function loadedTable(loaded) {
  const rows = loaded.flatMap((study) => {
    const { task, page, threads, results } = study;
    const [first] = results;
    return results.map(({ name, ms, failure }) => [
      `${task}, ${LOADED_UNITS[task]}`,
      page,
      String(threads),
      name,
      failure ?? digits(loadedFigure(study, name, ms)),
      task === "load" ? "" : times(quotient(ms, first?.ms ?? null)),
    ]);
  });
  return table(["", "page", "threads", "who", "figure", "time, of the first"], rows);
}

/** @param {readonly LoadedStudy[]} loaded */
function judgeLoaded(loaded) {
  const of = (/** @type {LoadedStudy["task"]} */ task) => loaded.filter((one) => one.task === task);
  const where = (/** @type {LoadedStudy} */ { task, page, threads }) => `${task}, ${page}, ${threads} thr.`;
  const lead = (/** @type {string} */ peer, /** @type {string} */ own) => (/** @type {LoadedStudy} */ one) =>
    quotient(msOf(one, `${peer}@${one.threads}`), msOf(one, `${own}@${one.threads}`));
  const rates = of("load").flatMap((study) =>
    figures(
      study.results.filter(({ name }) => !name.includes("first pass")),
      ({ name, ms }) => loadedFigure(study, name, ms),
      ({ name }) => `${name}, ${study.page}`,
    ),
  );
  return [
    least("load from a Blob, MB/s", 300, rates),
    least("notes, f32 over transformers.js", 2, figures(of("notes"), lead("transformers.js f32", "heed f32"), where)),
    least("notes, int8 over its q8", 1.25, figures(of("notes"), lead("transformers.js q8", "heed int8"), where)),
    ...["int8", "int4"].flatMap((format) =>
      /** @type {const} */ (["first-token", "tokens"]).map((task) =>
        least(
          `${task}, ${format}, over wllama`,
          1,
          figures(of(task), lead(`wllama ${format}`, `heed ${format}`), where),
        ),
      ),
    ),
  ];
}
