// Rotary embedding within a pass.

import { denseView } from "../api/layout.js";
import type { Rotation } from "../api/operations/rotation.js";
import type { Tensor } from "../api/tensor.js";
import { ROPE } from "../operations/rope.js";
import { placed } from "../operations/rows.js";
import type { Scope } from "./scope.js";

/** x is [B, L, heads * head_dim]. */
export function rotate(
  scope: Scope,
  x: Tensor,
  heads: number,
  rotation: Rotation,
  positions: Float64Array<ArrayBuffer> | null,
): Promise<Tensor> {
  const [batch = 0, length = 0, width = 0] = x.shape;
  const { resident } = scope.rows(x);
  const view = { elements: resident.elements, ...denseView("bnhd", [batch, heads, length, width / heads]) };
  const problem = {
    input: placed(view, resident),
    output: view,
    tables: null,
    ...rotation,
    positions,
    positionsByBatch: positions !== null && positions.length !== length,
    inverse: false,
    keep: true,
    retry: false,
  };
  return scope.make(ROPE, problem, x.shape);
}
