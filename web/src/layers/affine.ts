// Products with a parameter, and what is elementwise, within a pass.

import type { Tensor } from "../api/tensor.js";
import { AFFINE } from "../operations/affine.js";
import { NARROW_AFFINE } from "../operations/narrow/narrow-affine.js";
import { type Activation, POINTWISE, type PointwiseRule } from "../operations/pointwise.js";
import type { Rows } from "../operations/rows.js";
import { checkWidth } from "./axes.js";
import type { ResidentParameter } from "./parameters.js";
import type { Scope } from "./scope.js";

/** What follows a product: an activation, then a factor, then an addend. */
export interface Epilogue {
  readonly activation?: Activation;
  readonly factor?: Tensor | null;
  readonly addend?: Tensor | null;
  /** The axes of the result before its last, where they differ from those of x. */
  readonly leading?: readonly number[];
}

/** activation(x W^T + b) * factor + addend. */
export async function affine(
  scope: Scope,
  x: Tensor,
  weights: ResidentParameter,
  bias: ResidentParameter | null,
  epilogue: Epilogue = {},
): Promise<Tensor> {
  const { leading = x.shape.slice(0, -1), activation, factor } = epilogue;
  if (scope.tape !== null && (activation !== undefined || factor !== undefined)) {
    // The backward pass reads what comes before the activation, and one call would not leave it in memory.
    return pointwise(scope, await affine(scope, x, weights, bias, { leading }), epilogue);
  }
  const [outputs = 0, inputs = 0] = weights.parameter.shape;
  checkWidth("heed/layers", "the input of a product", x, inputs);
  const rule = ruleOf(scope, epilogue, bias);
  const [input, shape, parameters] = [scope.rows(x), [...leading, outputs], [weights, bias]];
  const { resident, format } = weights;
  if (format === "f32") return scope.make(AFFINE, { input, weights: resident, outputs, rule }, shape, parameters);
  return scope.make(NARROW_AFFINE, { input, weights: { resident, format }, outputs, rule }, shape, parameters);
}

/** activation(x) * factor + addend. */
export function pointwise(scope: Scope, x: Tensor, epilogue: Epilogue): Promise<Tensor> {
  return scope.make(POINTWISE, { input: scope.rows(x), rule: ruleOf(scope, epilogue, null) }, x.shape);
}

/** A copy of a tensor, or of a parameter, in another shape. */
export function copied(
  scope: Scope,
  input: Rows,
  shape: readonly number[],
  parameter: ResidentParameter | null = null,
): Promise<Tensor> {
  return scope.make(POINTWISE, { input, rule: ruleOf(scope, {}, null) }, shape, [parameter]);
}

function ruleOf(
  scope: Scope,
  { activation = "none", factor = null, addend = null }: Epilogue,
  bias: Rows | null,
): PointwiseRule {
  return { activation, bias, factor: factor && scope.rows(factor), addend: addend && scope.rows(addend) };
}
