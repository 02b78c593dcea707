// The shader that prepares rows of the query or of K: projected, of length one, or with their part of a gate.

import type { PrepareKernel } from "../kernel.js";
import { type Bound, bindings, loader, operand, WORKGROUP } from "./common.js";
import { compose } from "./compose.js";
import grid from "./grid.wgsl?raw";
import prepare from "./prepare.wgsl?raw";
import gate from "./prepare-gate.wgsl?raw";
import matrix from "./prepare-matrix.wgsl?raw";
import normalise from "./prepare-normalize.wgsl?raw";

/** Its own numbers, since query and key are prepared apart. */
export const PREPARE_FIELDS = [
  "heads",
  "length",
  "dim",
  "source_b",
  "source_h",
  "source_l",
  "source_group",
  "made_dim",
  "row_stride",
  "matrix_h",
  "offset_at",
  "offset_h",
  "rows",
  "groups_x",
] as const;

export function prepareBindings({ source }: PrepareKernel): readonly Bound[] {
  return [
    operand("x", source),
    { name: "matrix", type: "f32", access: "read" },
    { name: "made", type: "f32", access: "read_write" },
  ];
}

export function prepareShader(kernel: PrepareKernel): string {
  const { source, what, transposed, identity, offset } = kernel;
  const x = loader("x", source);
  const own = { matrix, normalise, gate }[what];
  return compose([bindings(prepareBindings(kernel), PREPARE_FIELDS), grid, ...x.files, prepare, own], {
    ...x.constants,
    WORKGROUP,
    TRANSPOSED: transposed,
    IDENTITY: identity,
    OFFSET: offset,
  });
}
