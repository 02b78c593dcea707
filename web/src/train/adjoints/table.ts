// The adjoint of each operation. A page that does not train loads none of them.

import type { Step } from "../../layers/tape.js";
import { AFFINE } from "../../operations/affine.js";
import { ATTENTION } from "../../operations/attention.js";
import { GATHER } from "../../operations/gather.js";
import { GRU } from "../../operations/gru.js";
import { NARROW_AFFINE } from "../../operations/narrow/narrow-affine.js";
import { NORM } from "../../operations/norm.js";
import { POINTWISE } from "../../operations/pointwise.js";
import { ROPE } from "../../operations/rope.js";
import { DROPOUT, ELEMENTWISE } from "../../operations/training/elementwise.js";
import { CROSS_ENTROPY, ELEMENT_LOSSES } from "../../operations/training/losses.js";
import { JOIN, MOVE } from "../../operations/training/move.js";
import { PRODUCT } from "../../operations/training/product.js";
import { ROW_SUMS } from "../../operations/training/row-sums.js";
import { SOFTMAX } from "../../operations/training/softmax.js";
import type { Adjoint } from "../backward-step.js";
import { APPLY } from "../pass/apply.js";
import { affine } from "./affine.js";
import { apply } from "./apply.js";
import { attention } from "./attention.js";
import { dropout, elementwise } from "./elementwise.js";
import { gather } from "./gather.js";
import { gru } from "./gru.js";
import { crossEntropy, elementLoss } from "./loss.js";
import { join, move } from "./move.js";
import { narrowAffine } from "./narrow-affine.js";
import { norm } from "./norm.js";
import { pointwise } from "./pointwise.js";
import { product } from "./product.js";
import { rowSums, softmax } from "./reduce.js";
import { rope } from "./rope.js";

export const ADJOINTS: ReadonlyMap<Step["operation"], Adjoint<never>> = new Map<Step["operation"], Adjoint<never>>([
  [AFFINE, affine],
  [ATTENTION, attention],
  [GATHER, gather],
  [GRU, gru],
  [NARROW_AFFINE, narrowAffine],
  [NORM, norm],
  [POINTWISE, pointwise],
  [ROPE, rope],
  [APPLY, apply],
  [CROSS_ENTROPY, crossEntropy],
  [DROPOUT, dropout],
  [ELEMENTWISE, elementwise],
  [ELEMENT_LOSSES, elementLoss],
  [JOIN, join],
  [MOVE, move],
  [PRODUCT, product],
  [ROW_SUMS, rowSums],
  [SOFTMAX, softmax],
]);
