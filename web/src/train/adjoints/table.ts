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
import type { Adjoint } from "../backward-step.js";
import { affine } from "./affine.js";
import { attention } from "./attention.js";
import { gather } from "./gather.js";
import { gru } from "./gru.js";
import { narrowAffine } from "./narrow-affine.js";
import { norm } from "./norm.js";
import { pointwise } from "./pointwise.js";
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
]);
