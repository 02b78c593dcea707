// Combines the partial results (m, l, O) of the KV splits by one more step of the online softmax. A thread computes four elements of a row.

import type { CombineKernel } from "../kernel.js";
import { type Bound, bindings, GROUP_INDEX, NUMBERS, WORKGROUP, when } from "./common.js";
import { ROW_STATE, rowEpilogue, WRITE_OUTPUT } from "./row-epilogue.js";

export function combineBindings({ stats }: CombineKernel): readonly Bound[] {
  return [
    { name: "tables", type: "u32", access: "read" },
    { name: "partials", type: "vec4f", access: "read" },
    { name: "results", type: "u32", access: "read_write" },
    ...(stats ? [{ name: "stats", type: "vec2f", access: "read_write" } as const] : []),
  ];
}

export function combineShader(kernel: CombineKernel): string {
  const isSoftmax = kernel.normalizer === "softmax";
  return `${bindings(combineBindings(kernel))}
${ROW_STATE}
${NUMBERS}
${WRITE_OUTPUT}
${rowEpilogue(kernel)}
${GROUP_INDEX}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let vectors = (P.value_dim + 3u) / 4u;
  let index = group_index(group) * ${WORKGROUP}u + thread;
  if (index >= P.rows * vectors) { return; }
  let row = index / vectors;
  let vector = index % vectors;
  let i = row % P.queries;
  let h = (row / P.queries) % P.heads;
  let b = row / P.queries / P.heads;
  var sums = RowState(${isSoftmax ? "NONE, 0.0" : "0.0, 1.0"}, 0.0);
  ${when(
    isSoftmax,
    `for (var split = 0u; split < P.splits; split++) {
    let row_max = partials[(split * P.rows + row) * P.partial_width].x;
    sums.row_max = select(sums.row_max, row_max, row_max > sums.row_max);
  }`,
  )}
  var output = vec4f();
  for (var split = 0u; split < P.splits; split++) {
    let at = (split * P.rows + row) * P.partial_width;
    ${
      isSoftmax
        ? `let partial = partials[at];
    if (partial.y == 0.0) { continue; }
    let rescale = exp(partial.x - sums.row_max);
    sums.spread += rescale * (partial.z + partial.y * (partial.x - sums.row_max));
    sums.row_sum += rescale * partial.y;
    output += rescale * partials[at + 1u + vector];`
        : "output += partials[at + 1u + vector];"
    }
  }
  let factor = row_epilogue(sums, h, row, vector == 0u);
  write_output(b * P.out_b + h * P.out_h + i * P.out_i, vector * 4u, output * factor);
}`;
}
