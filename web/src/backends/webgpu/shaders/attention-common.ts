// What the kernels that compute outputs share: bindings, functions, and the indices of a workgroup and of its rows.

import type { AttentionKernel } from "../kernel.js";
import { type Bound, bindings, GROUP_INDEX, loader, operandType, when } from "./common.js";
import { ROW_STATE, rowEpilogue, WRITE_OUTPUT } from "./row-epilogue.js";
import { scoreFunctions } from "./scores.js";

export function attentionBindings(kernel: AttentionKernel): readonly Bound[] {
  return [
    { name: "q_data", type: operandType(kernel.query), access: "read" },
    { name: "k_data", type: operandType(kernel.key), access: "read" },
    { name: "v_data", type: operandType(kernel.value), access: "read" },
    ...(kernel.mask ? [{ name: "mask_data", type: "u32", access: "read" } as const] : []),
    ...(kernel.bias ? [{ name: "bias_data", type: "u32", access: "read" } as const] : []),
    { name: "tables", type: "u32", access: "read" },
    ...(kernel.split
      ? [{ name: "partials", type: "vec4f", access: "read_write" } as const]
      : [{ name: "results", type: "u32", access: "read_write" } as const]),
    ...(kernel.stats && !kernel.split ? [{ name: "stats", type: "vec2f", access: "read_write" } as const] : []),
  ];
}

/** What their shaders begin with. */
export function attentionHead(kernel: AttentionKernel): string {
  return `${bindings(attentionBindings(kernel))}
${ROW_STATE}
${scoreFunctions(kernel)}
${loader("v", kernel.value)}
${when(!kernel.split, `${WRITE_OUTPUT}\n${rowEpilogue(kernel)}`)}
${GROUP_INDEX}`;
}

/** Splits of the keys: how many there are for workgroups to take, and which of them a thread has of its workgroup's. */
export interface Splitting {
  readonly count: string;
  readonly own: (taken: string) => string;
}

const ONE_SPLIT: Splitting = { count: "P.splits", own: (taken) => taken };

/** The workgroup's values, rows, split, batch entry and key head, where those lie, and the keys that some row of it sees. */
export function groupIndices({ ranges, valueVectors }: AttentionKernel, { count, own }: Splitting = ONE_SPLIT): string {
  return `let index = group_index(group);
  if (index >= P.groups) { return; }
  let chunk = index % P.chunks;
  let row_tile = (index / P.chunks) % P.row_tiles;
  let rest = index / P.chunks / P.row_tiles;
  let split_groups = ${count};
  let split = ${own("rest % split_groups")};
  let b = rest / split_groups / P.key_heads;
  let key_head = (rest / split_groups) % P.key_heads;
  let keys_at = b * P.k_b + key_head * P.k_h;
  let values_at = b * P.v_b + (key_head * P.pack / P.group) * P.v_h;
  let first_vector = chunk * ${valueVectors}u;
  var begin = split * P.split_keys;
  var end = min(begin + P.split_keys, P.keys);
  ${when(
    ranges,
    `let tile_at = P.tiles_at + (b * P.row_tiles + row_tile) * 2u;
  begin = max(begin, tables[tile_at]);
  end = min(end, tables[tile_at + 1u]);`,
  )}`;
}

/** `packed`, the row's place among those that share keys, as `i` and `h`, `row` and where its query is, `q_at`; names end as given. */
export function rowIndices(packed: string, ending = ""): string {
  return `let packed${ending} = ${packed};
  let i${ending} = min(packed${ending} / P.pack, P.queries - 1u);
  let h${ending} = key_head * P.pack + packed${ending} % P.pack;
  let row${ending} = row_of(b, h${ending}, i${ending});
  let q_at${ending} = b * P.q_b + h${ending} * P.q_h + i${ending} * P.q_i;`;
}
