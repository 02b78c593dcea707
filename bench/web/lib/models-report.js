// Prints what the bench of models found as tables.

import { digits, percent, quotient, table, times } from "../../table.js";
import { msOf } from "./findings.js";

/** @typedef {import("../models.js").ModelStudy} ModelStudy */

/** @param {{ date: string, browser: string, machine: string, studies: readonly ModelStudy[] }} findings */
export function modelsReport({ date, browser, machine, studies }) {
  const hasBefore = studies.some((one) => msOf(one, "before all") !== null);
  const dists = hasBefore ? ["before", "dist"] : ["dist"];
  return [
    `Chromium ${browser}, ${machine}, ${date}, medians`,
    `ms a pass, and the longest task of the page's thread during one\n\n${passTable(studies, dists)}`,
    ...dists.map(
      (dist) => `What the parts of a pass take alone, ms${hasBefore ? `, ${dist}` : ""}\n\n${partTable(studies, dist)}`,
    ),
    `A token beside plain reading of the weights\n\n${tokenTable(studies, dists)}`,
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
