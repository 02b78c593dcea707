// docs/conformance.md, made of the lists of what is tested.

import { ENGINE_KINDS, FEW_KINDS, nameOf } from "../support/engines.js";
import { countCases, FIXTURES, type Fixture } from "./fixtures.js";
import notCovered from "./not-covered.json";
import { OPERATORS, type Operator } from "./operators.js";

const ENGINES: Readonly<Record<Fixture["engines"], string>> = {
  all: `all ${ENGINE_KINDS.length}`,
  three: `${FEW_KINDS.length} of ${ENGINE_KINDS.length}`,
  default: "default",
  Chromium: "default, in Chromium",
  none: "computes nothing",
};

const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;

const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

export function conformanceDocument(): string {
  const operators = Object.entries<Operator>(OPERATORS);
  const all = total(operators.map(([, { cases }]) => cases));
  const uncovered = Object.entries<string>(notCovered);
  return `<!-- Made by \`npm run conformance\` of tests/conformance; tests/conformance/document.node.test.ts compares. -->
# Conformance

What heed computes is compared with numbers that others published or computed: ONNX's own cases for its operators, and cases made with PyTorch and the libraries around it. This page is made of the lists that the
tests run by, so it says what is tested. How far results are from double precision is in [numerics.md](numerics.md).

## ONNX's operators

${all} cases of ${operators.length} operators, from ONNX's backend tests, by ONNX's own tolerance (0.001 of a number, and 1e-7). Each case is computed on every backend of the next table.

| operator | cases | computed by | C++ alone (tests/cpp) |
| --- | ---: | --- | --- |
${operators.map(([name, { cases, as, native }]) => row(name, cases, as, native ?? "")).join("\n")}

The cases are no part of the repository (\`HEED_CONFORMANCE\` names their folder); a run that lacks them says so, and with \`HEED_CONFORMANCE_REQUIRED=1\` it fails. ONNX's two cases of calls that must be refused are covered
otherwise: a window below -1 by \`tests/cases/attention-rejects.json\`, and keys of the past without their values cannot be said, since a cache has both.

## Backends

| where | backends |
| --- | --- |
| Node (project \`conformance\`) | ${ENGINE_KINDS.map(nameOf).join("; ")} |
| Chromium, Firefox, WebKit, with cross-origin isolation | plain and relaxed SIMD; workers on shared memory, and none |
| Chromium, Firefox, WebKit, without | plain SIMD, and relaxed where the browser has it; workers with memories of their own, and none |
| WebGPU | Chromium's software adapter (project \`chromium-webgpu\`). What no GPU computes, such as linear attention, runs as WebAssembly, as it does for users |
| C++ | native, under sanitizers, with emulated vectors of 256 and 512 bits, and as WebAssembly: attention, linear attention, rotary embedding, norms |

Other GPU adapters run calls that are compared with double precision (\`tests/adapters\`), not these cases.

## What is not covered

${
  uncovered.length === 0
    ? "Every case of every operator above is computed; `tests/conformance/not-covered.json`, which lists the others, is empty, and the tests fail if a case is in it wrongly or missing from it."
    : ["| case | reason |", "| --- | --- |", ...uncovered.map(([name, why]) => row(name, why))].join("\n")
}
Out of scope, with the reason:

- **\`softmax_precision\` other than float32**: heed computes in single precision, whatever the tensors are stored in.
- **float64 and bfloat16 tensors**: kernels compute on f32, from f32, f16 and int8. A FlexAttention case of float64 is computed in f32 and passes.
- **\`Mean\` and \`InvStdDev\` of LayerNormalization**, which serve a backward pass elsewhere; heed's computes them again.
- **TensorScatter with \`mode: "circular"\`**: a cache with a \`window\` lets go of pages instead of writing over tokens, and attention gives the same.
- **All other operators of ONNX**: heed is no runtime for ONNX files.

## PyTorch and others

Cases computed in double precision, or by the library itself, kept in \`tests/fixtures\` with the scripts that made them. Bounds are an error model's, not a tolerance that fits. The engines of Node are those of the table above.

| fixture | cases | of | computed by | test (tests/) | engines |
| --- | ---: | --- | --- | --- | --- |
${FIXTURES.map((one) => row(one.name, countCases(one), one.of, one.by, one.test, ENGINES[one.engines])).join("\n")}
`;
}
