// tensor.backward(outputGradient): the backward pass begins at a tensor that is no loss. Only where heed/train is loaded.

import type { TensorLike } from "../../api/options.js";
import { Tensor } from "../../api/tensor.js";
import type { Resident } from "../../backends/backend.js";
import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guardAsync } from "../../base/guard.js";
import type { Scope } from "../../layers/scope.js";
import { bringOne, residentOf } from "./values.js";

/** The gradient of what is no loss, with which the backward pass begins. */
export interface Seed {
  readonly x: Resident;
  readonly gradient: Resident;
}

/** A pass, and where its backward pass begins beside the loss. */
interface Home {
  readonly scope: Scope;
  readonly seeds: Seed[];
}

const HOMES = new WeakMap<Tensor, Home>();

export function belongs(tensor: Tensor, home: Home): void {
  HOMES.set(tensor, home);
}

/** Gives the method to tensors. */
export function addBackward(): void {
  Reflect.defineProperty(Tensor.prototype, "backward", { value: backward, writable: true, configurable: true });
}

function backward(this: Tensor, outputGradient: TensorLike): Promise<void> {
  const where = "Tensor.backward";
  return guardAsync("option", `${where}: reading its argument`, async () => {
    const home = HOMES.get(this);
    if (home === undefined) throw new HeedError("option", `${where}: the tensor must be of a pass of gradients`);
    const { scope, seeds } = home;
    const gradient = await bringOne(scope, where, "outputGradient", outputGradient);
    if (this.shape.join() !== gradient.shape.join()) {
      const got = `got ${showShape(gradient.shape)} for ${showShape(this.shape)}`;
      throw new HeedError("shape", `${where}: outputGradient must have the shape of the tensor, ${got}`);
    }
    seeds.push({ x: residentOf(scope, this), gradient: residentOf(scope, gradient) });
  });
}
