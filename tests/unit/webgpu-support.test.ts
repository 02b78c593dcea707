// What runs on a GPU: whatever has a reason is an operation, an option or a value of one, whatever has none changes the plan of a call,
// and docs/webgpu.md has the table of both.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { check } from "../../web/src/api/attention.js";
import { ROPE_OPTIONS } from "../../web/src/api/operations/options.js";
import { ATTENTION_OPTIONS, NORMALIZERS, SCORE_PARAMETERS, SCORE_STAGES } from "../../web/src/api/options.js";
import type { AttentionProblem } from "../../web/src/backends/backend.js";
import { planAttention } from "../../web/src/backends/webgpu/plan-attention.js";
import { UNSUPPORTED, unsupported } from "../../web/src/backends/webgpu/support.js";
import { equal, mul } from "../../web/src/expr/index.js";
import { type AttentionOptions, createHeed } from "../../web/src/index.js";
import { MACHINE } from "../support/gpu-machine.js";
import { zeros } from "../support/tensors.js";

type Option = (typeof ATTENTION_OPTIONS)[number];

/** The rows of the table: what each is about, its names, and the reasons of some. */
async function rows(): Promise<
  readonly (readonly [string, readonly string[], Readonly<Partial<Record<string, string>>>])[]
> {
  using heed = await createHeed({ backend: "wasm" });
  const methods = [...Object.getOwnPropertyNames(Object.getPrototypeOf(heed)), ...Object.getOwnPropertyNames(heed)];
  const computes = methods.filter((name) => !OTHERS.includes(name));
  return [
    ["operations", [...computes, "heed/layers"], UNSUPPORTED.operation],
    ["options of `attention`", ATTENTION_OPTIONS, UNSUPPORTED.option],
    ["`score`", Object.keys(SCORE_PARAMETERS), {}],
    ["`normalize`", NORMALIZERS, UNSUPPORTED.normalize],
    ["`return.weights`", ["rows", "mean"], {}],
    ["`return.scores`", SCORE_STAGES, {}],
    ["options of `rope`", ROPE_OPTIONS, {}],
    ["numbers of the inputs", ["some", "none"], UNSUPPORTED.size],
    ["tensors", ["f32", "f16"], {}],
  ];
}

/** What an engine does besides. */
const OTHERS = ["constructor", "capabilities", "explain", "tensor", "zeros", "memory", "dispose"];

const [HEADS, LENGTH, DIM] = [2, 8, 4];
const input = zeros(1, HEADS, LENGTH, DIM);
const tensors = { query: input, key: input, value: input };

/** A value of each option that changes what is computed. The others are null: kernels have nothing to do with them. */
const VALUES: { readonly [Name in Option]: AttentionOptions[Name] | null } = {
  scale: 2,
  temperature: 2,
  score: "distance",
  bias: zeros(LENGTH),
  mask: { data: new Uint8Array(LENGTH), shape: [LENGTH] },
  softcap: 4,
  causal: true,
  qOffset: 1,
  window: [1, 0],
  scoreMod: ({ score }) => mul(score, 2),
  maskMod: ({ q, k }) => equal(q, k),
  probMod: ({ prob }) => mul(prob, 2),
  blocks: { size: [LENGTH, 4], keep: { data: Uint8Array.of(1, 0), shape: [1, 2] } },
  qLengths: [3],
  kvLengths: [3],
  cuSeqlensQ: [0, 2, LENGTH],
  cuSeqlensK: [0, 3, LENGTH],
  alibiSlopes: [0.5, 0.25],
  sinks: [1, 2],
  dropout: { p: 0.5, seed: 1 },
  normalize: "sigmoid",
  topK: 2,
  cache: null,
  return: { lse: true },
  layout: "bnhd",
  heads: null,
  kvHeads: null,
  keep: null,
  retry: null,
  out: null,
  signal: null,
};

test("what has a reason exists, and the reason is one", async () => {
  for (const [, names, reasons] of await rows()) {
    expect(names).toEqual(expect.arrayContaining(Object.keys(reasons)));
    for (const why of Object.values(reasons)) expect(why).toMatch(/\w+ \w+ \w+/);
  }
});

test.each(ATTENTION_OPTIONS.filter((name) => VALUES[name] !== null))("%s is computed, or says why not", (name) => {
  // Other sequences of keys need sequences of queries.
  const without = name === "cuSeqlensK" ? { cuSeqlensQ: VALUES.cuSeqlensQ } : {};
  const problemOf = (options: object): AttentionProblem => check("test", null, tensors, options).checked.problem;
  const problem = problemOf({ ...without, [name]: VALUES[name] });
  const reason = Object.entries(UNSUPPORTED.option).find(([option]) => option === name)?.[1];
  expect(unsupported(problem)).toEqual(reason === undefined ? [] : [`${name} runs on wasm: ${reason}`]);
  if (reason === undefined)
    expect(planAttention(problem, MACHINE)).not.toEqual(planAttention(problemOf(without), MACHINE));
});

test("the guide has the table", async () => {
  const lines = (await rows()).map(([about, names, reasons]) => {
    const there = names.filter((name) => reasons[name] === undefined).map((name) => `\`${name}\``);
    const left = Object.entries(reasons).map(([name, why]) => `\`${name}\`: ${why}`);
    return `| ${about} | ${there.join(", ")} | ${left.join("; ")} |\n`;
  });
  const guide = readFileSync(new URL("../../docs/webgpu.md", import.meta.url), "utf8");
  expect(guide).toContain(`| | on the GPU | on WebAssembly, and why |\n| --- | --- | --- |\n${lines.join("")}`);
});
