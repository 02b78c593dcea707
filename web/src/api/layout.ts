// Layouts as strides: the caller's shape to and from [batch, heads, length, dim] with strides. Nothing is copied.

import type { Dims4 } from "../backends/backend.js";
import { showShape } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { readChoice } from "../base/read-values.js";
import type { Layout } from "./inputs.js";

/** A shape [batch, heads, length, dim] and its strides in elements. */
export interface View {
  readonly shape: Dims4;
  readonly strides: Dims4;
}

export function readLayout(where: string, value: unknown): Layout {
  return readChoice(where, "layout", value, ["bhnd", "bnhd", "packed"], "bhnd");
}

/**
 * Reads the caller's shape. Rank 2 is [L, D]; rank 3 is [H, L, D] (bhnd), [L, H, D] (bnhd) or [B, L, H*D] (packed); rank 4 is
 * [B, H, L, D] or [B, L, H, D]. Only packed needs `heads`.
 */
export function viewOf(where: string, name: string, shape: readonly number[], layout: Layout, heads: number): View {
  const [a = 0, b = 0, c = 0, d = 0] = shape;
  if (layout === "packed") {
    if (shape.length !== 3) {
      throw new HeedError("shape", `${where}: ${name} must be [B, L, H*D] in layout "packed", got ${showShape(shape)}`);
    }
    if (c % heads !== 0) {
      throw new HeedError(
        "shape",
        `${where}: the last axis of ${name} must be a multiple of its ${heads} heads, got ${showShape(shape)}`,
      );
    }
    return denseView("bnhd", [a, heads, b, c / heads]);
  }
  if (shape.length === 2) return denseView("bhnd", [1, 1, a, b]);
  const [first, second, third, fourth] = shape.length === 3 ? [1, a, b, c] : [a, b, c, d];
  return denseView(layout, layout === "bhnd" ? [first, second, third, fourth] : [first, third, second, fourth]);
}

/** A view of a dense array of [batch, heads, length, dim], stored in that order or as [batch, length, heads, dim]. */
export function denseView(order: "bhnd" | "bnhd", shape: Dims4): View {
  const [batch, heads, length, dim] = shape;
  // Strides of an empty tensor are never used, and might not fit in 32 bits.
  if (batch * heads * length * dim === 0) return { shape, strides: [0, 0, 0, 1] };
  const outer = heads * length * dim;
  if (order === "bhnd") return { shape, strides: [outer, length * dim, dim, 1] };
  return { shape, strides: [outer, dim, heads * dim, 1] };
}

/** The shape that the caller sees: the inverse of `viewOf` for a tensor of this rank and layout. */
export function userShape(shape: Dims4, rank: number, layout: Layout): readonly number[] {
  const [batch, heads, length, dim] = shape;
  if (layout === "packed") return [batch, length, heads * dim];
  if (rank === 2) return [length, dim];
  const inner = layout === "bhnd" ? [heads, length, dim] : [length, heads, dim];
  return rank === 3 ? inner : [batch, ...inner];
}

/** The shape of per-head results (weights, lse), always heads first: [B, H, …], [H, …] or […] by the query's rank. */
export function perHeadShape(shape: readonly number[], rank: number, layout: Layout): readonly number[] {
  if (rank === 4 || layout === "packed") return shape;
  return shape.slice(rank === 3 ? 1 : 2);
}
