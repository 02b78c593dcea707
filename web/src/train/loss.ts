// The gradients that losses make with themselves.

import type { Tensor } from "../api/tensor.js";
import type { Resident } from "../backends/backend.js";
import type { Tape } from "../layers/tape.js";

/** A loss's gradient in its predictions, with which the backward pass begins. */
export interface Loss {
  /** Of the pass that made it. */
  readonly tape: Tape | null;
  readonly x: Resident;
  readonly gradient: Resident;
}

const LOSSES = new WeakMap<Tensor, Loss>();

export function noteLoss(tensor: Tensor, loss: Loss): void {
  LOSSES.set(tensor, loss);
}

/** Null: no loss. */
export function lossOf(tensor: Tensor): Loss | null {
  return LOSSES.get(tensor) ?? null;
}
