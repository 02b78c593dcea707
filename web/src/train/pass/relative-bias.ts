// T5's bias of attention in a pass.

import { relativeBias as biasOf, type RelativeBiasOptions } from "../../api/positions/relative-bias.js";
import type { Tensor } from "../../api/tensor.js";
import type { Scope } from "../../layers/scope.js";
import { GATHER } from "../../operations/gather.js";
import { residentOf } from "./values.js";

/** The bias of a table [buckets, H], [H, length, keyLength]. */
export function relativeBias(scope: Scope, table: Tensor, options: RelativeBiasOptions): Promise<Tensor> {
  const resident = residentOf(scope, table);
  // That of a table which counts its numbers tells for each head, query and key where its number is.
  const counted = { data: Float32Array.from({ length: resident.elements }, (_, at) => at), shape: table.shape };
  const { data, shape } = biasOf(counted, options);
  const rows = { resident, count: resident.elements, length: 1 };
  return scope.make(GATHER, { table: rows, indices: Int32Array.from(data) }, shape);
}
