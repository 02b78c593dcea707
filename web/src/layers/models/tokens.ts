// The shape of token ids.

import { showShape } from "../../api/describe.js";
import { HeedError } from "../../api/errors.js";
import type { Indices } from "../embedding.js";

/** [B, L], or [L] as a batch of one. */
export function asBatch(where: string, indices: Indices): Indices {
  const [length = 0] = indices.shape;
  const shape = indices.shape.length === 1 ? [1, length] : indices.shape;
  if (shape.length === 2 && shape.every((size) => size > 0)) return { data: indices.data, shape };
  throw new HeedError(
    "shape",
    `${where}: tokens must be [B, L] or [L], at least one of each, got ${showShape(indices.shape)}`,
  );
}
