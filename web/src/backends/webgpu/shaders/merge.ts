// Parts of rows, one a split of the keys, into rows: the step of the online softmax once more. A thread has four numbers of a row.

import type { MergeKernel } from "../kernel.js";
import { type Bound, bindings, GROUP_INDEX, NUMBERS, WORKGROUP, when } from "./common.js";
import { finishRow, ROW_SUMS, WRITE_OUTPUT } from "./finish-row.js";

export function mergeBindings({ stats }: MergeKernel): readonly Bound[] {
  return [
    { name: "tables", type: "u32", access: "read" },
    { name: "parts", type: "vec4f", access: "read" },
    { name: "results", type: "u32", access: "read_write" },
    ...(stats ? [{ name: "stats", type: "vec2f", access: "read_write" } as const] : []),
  ];
}

export function mergeShader(kernel: MergeKernel): string {
  const isSoftmax = kernel.normalizer === "softmax";
  return `${bindings(mergeBindings(kernel))}
${ROW_SUMS}
${NUMBERS}
${WRITE_OUTPUT}
${finishRow(kernel)}
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
  var sums = RowSums(${isSoftmax ? "NONE, 0.0" : "0.0, 1.0"}, 0.0);
  ${when(
    isSoftmax,
    `for (var split = 0u; split < P.splits; split++) {
    let most = parts[(split * P.rows + row) * P.part_width].x;
    sums.most = select(sums.most, most, most > sums.most);
  }`,
  )}
  var output = vec4f();
  for (var split = 0u; split < P.splits; split++) {
    let at = (split * P.rows + row) * P.part_width;
    ${
      isSoftmax
        ? `let part = parts[at];
    if (part.y == 0.0) { continue; }
    let shrink = exp(part.x - sums.most);
    sums.spread += shrink * (part.z + part.y * (part.x - sums.most));
    sums.sum += shrink * part.y;
    output += shrink * parts[at + 1u + vector];`
        : "output += parts[at + 1u + vector];"
    }
  }
  let factor = finish_sums(sums, h, row, vector == 0u);
  write_output(b * P.out_b + h * P.out_h + i * P.out_i, vector * 4u, output * factor);
}`;
}
