// The page of `npm run bench -- report`: what README and docs claim beside what one run measured, its plots, and all its tables. One file
// without programs, to be read on paper and on a phone.

import { marked } from "marked";
import { times } from "../../table.js";
import { msOf } from "../lib/findings.js";
import { modelsReport } from "../lib/models-report.js";
import { trainingReport } from "../lib/training-report.js";
import { webReport } from "../lib/web-report.js";
import { weightsReport } from "../lib/weights-report.js";
import { claimsOf, peers } from "./claims.js";
import { bars, escaped } from "./plot.js";

/** @typedef {Readonly<Record<string, string>>} Documents texts by their paths */
/**
 * What a run found; null where it did not look.
 * @typedef {object} Found
 * @property {Readonly<Record<string, string | number>>} about the machine, by name
 * @property {{ readonly index?: number, readonly runners?: Record<string, number>, readonly variants?: Record<string, { chunk: number }> } & Readonly<Record<string, any>>} sizes
 * @property {import("../lib/web-report.js").Findings | null} web
 * @property {import("../lib/training-report.js").Findings | null} train
 * @property {Parameters<typeof modelsReport>[0] | null} models
 * @property {import("../lib/weights-report.js").Findings | null} weights
 * @property {Readonly<Record<string, string>> | null} programs what benches in Node printed, by title
 * @property {Readonly<Record<string, string>> | null} numerics tables by name
 * @property {{ passed: number, failed: number, skipped: number } | null} conformance
 */

/** @param {Found} found @param {Documents} documents */
export function reportPage(found, documents) {
  const sections = [
    ["The machine", facts(found.about)],
    ["Claims, and what this run measured", claims(found, documents)],
    ["Plots", plots(found, documents)],
    ["Conformance", conformance(found, documents)],
    ["Attention beside its peers", found.web && tables(webReport(found.web))],
    ["Training beside its peers", found.train && tables(trainingReport(found.train))],
    ["Models and tokens", found.models && tables(modelsReport(found.models))],
    ["Weights of 32, 16, 8 and 4 bits", found.weights && tables(weightsReport(found.weights))],
    ["Kernels, decode and expressions in Node", found.programs && printed(found.programs)],
    ["Errors, by docs/numerics.md", found.numerics && tables(named(found.numerics))],
    ["Downloads", sizesTable(found.sizes)],
  ];
  const shown = sections.map(
    ([title, body]) => `<section><h2>${title}</h2>\n${body ?? "<p>This run did not look at it.</p>"}</section>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>heed ${escaped(`${found.about["heed"]}`)}: a report of its benches</title>
<style>${STYLE}</style>
</head>
<body>
<h1>heed: what it claims, and what was measured here</h1>
<p>Made by <code>npm run bench -- report</code>. Ratios travel between machines, milliseconds do not: a claim was measured on another machine, and other work on this one slows
whatever runs. How each figure is measured is in bench/README.md.</p>
${shown.join("\n")}
</body>
</html>
`;
}

/** @param {Found["about"]} about */
const facts = (about) =>
  `<dl>${Object.entries(about)
    .map(([name, value]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(String(value))}</dd></div>`)
    .join("")}</dl>`;

/** @param {Found} found @param {Documents} documents */
function claims(found, documents) {
  const rows = claimsOf(found, documents).map(
    ({ where, what, claimed, measured }) =>
      `<tr><td>${escaped(what === "" ? claimed : `${what}: ${claimed}`)} <small>${escaped(where)}</small></td><td>${measured === null ? "<small>not measured in this run</small>" : escaped(measured)}</td></tr>`,
  );
  return frame(
    `<table><thead><tr><th>claimed</th><th>measured</th></tr></thead><tbody>${rows.join("\n")}</tbody></table>`,
  );
}

/** @param {Found} found @param {Documents} documents */
function plots(found, documents) {
  const leads = peers(found, documents).flatMap(({ what, claims: [one = 0, two = 0], is }) => {
    const [shape = what] = what.split(", over");
    return [
      { name: `${shape}, 1 thread`, values: [is[0] ?? null, one] },
      { name: `${shape}, 2 threads`, values: [is[1] ?? null, two] },
    ];
  });
  const measured = leads.filter(({ values }) => values[0] !== null);
  const steps = found.train?.steps.map((study) => ({
    name: `${study.model}, 2 threads`,
    values: ["heed:training@2", "jax:training@1", "tfjs:training@1"].map((name) => msOf(study, name)),
  }));
  const { runners: _, variants: __, full: ___, training: ____, narrow: _____, ...entries } = found.sizes;
  return [
    measured.length === 0
      ? ""
      : bars("How many times as fast as onnxruntime-web", ["measured here", "claimed"], measured, times),
    steps === undefined || steps.length === 0
      ? ""
      : bars("A step of training, ms", ["heed", "jax-js", "TensorFlow.js"], steps, (ms) => ms.toFixed(0)),
    bars(
      "Downloads of each entry beside the first, kB (brotli)",
      ["kB"],
      Object.entries(entries).map(([name, bytes]) => ({ name, values: [Number(bytes) / 1000] })),
      (kb) => kb.toFixed(1),
    ),
  ].join("\n");
}

/** @param {Found} found @param {Documents} documents */
function conformance({ conformance: counts }, documents) {
  const [claimed = ""] = /\d+ cases of \d+ operators/.exec(documents["docs/conformance.md"] ?? "") ?? [];
  if (counts === null) return null;
  const { passed, failed, skipped } = counts;
  return `<p>docs/conformance.md names ${claimed}. In Node, on every variant with and without workers: ${passed} tests passed, ${failed} failed, ${skipped} were left out.</p>`;
}

/** @param {Readonly<Record<string, string>>} programs */
const printed = (programs) =>
  Object.entries(programs)
    .map(([title, text]) => `<h3>${escaped(title)}</h3>\n${frame(`<pre>${escaped(text.trim())}</pre>`)}`)
    .join("\n");

/** @param {Record<string, string>} found */
const named = (found) =>
  Object.entries(found)
    .map(([name, table]) => `${name}\n\n${table}`)
    .join("\n\n");

/** A report's Markdown, in which a line above a table is its title. @param {string} text */
function tables(text) {
  const markdown = text.replaceAll(/^([^|\n].*)\n\n(?=\|)/gm, "### $1\n\n");
  const html = /** @type {string} */ (marked.parse(markdown, { async: false }));
  return html.replaceAll("<table>", '<div class="frame"><table>').replaceAll("</table>", "</table></div>");
}

/** @param {Found["sizes"]} sizes */
function sizesTable(sizes) {
  const rows = Object.entries(sizes).flatMap(([name, size]) =>
    typeof size === "number"
      ? [[name, size]]
      : Object.entries(size).map(([part, bytes]) => [
          `${name}, ${part}`,
          typeof bytes === "number" ? bytes : bytes.chunk,
        ]),
  );
  const lines = rows.map(([name, bytes]) => `<tr><td>${name}</td><td>${(Number(bytes) / 1000).toFixed(1)}</td></tr>`);
  return frame(
    `<table><thead><tr><th>file</th><th>kB, brotli</th></tr></thead><tbody>${lines.join("")}</tbody></table>`,
  );
}

/** What may be wider than a phone. @param {string} content */
const frame = (content) => `<div class="frame">${content}</div>`;

const STYLE = `
:root { color-scheme: light dark; --ink: #1d1f27; --soft: #5a5d68; --paper: #fcfbf8; --line: #d9d6cc; --one: #4b4fc4; --two: #9a9fb3; --three: #b65a2e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9e7e1; --soft: #a9acb6; --paper: #121419; --line: #363a45; --one: #9da1ff; --two: #6d7283; --three: #e08a5b; } }
@media print { :root { --ink: #000; --soft: #333; --paper: #fff; --line: #999; --one: #000; --two: #aaa; --three: #666; } section { break-inside: auto; } tr, svg { break-inside: avoid; } }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1, h2, h3 { font-family: Georgia, serif; font-weight: 500; line-height: 1.25; }
h2 { margin-top: 2.2em; border-top: 1px solid var(--line); padding-top: 0.6em; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 0.6rem 1.6rem; }
dt, small { color: var(--soft); font-size: 0.85rem; }
dd { margin: 0; }
.frame { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.88rem; font-variant-numeric: tabular-nums; }
pre { font-size: 0.8rem; line-height: 1.35; }
th, td { padding: 0.25rem 0.7rem 0.25rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
figure { margin: 1rem 0; overflow-x: auto; }
svg { width: 100%; min-width: 34rem; height: auto; font: 13px system-ui, sans-serif; }
@media print { svg { min-width: 0; } }
svg text { fill: var(--ink); }
svg .soft { fill: var(--soft); }
.s0 { fill: var(--one); } .s1 { fill: var(--two); } .s2 { fill: var(--three); }
`;
