// A pass that is to be differentiated, as callers see it.

import type { TensorInput } from "../api/options.js";
import type { Tensor } from "../api/tensor.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guardAsync } from "../base/guard.js";
import type { Scope } from "./scope.js";

/**
 * What `gradients` of heed/train gives to the function that computes a loss. Every `forward` takes it as `pass`: its results are then tensors
 * of the pass, which ends with that function.
 */
export class Pass {
  /** @internal The class's name in messages, which a minifier would shorten. */
  static readonly name: string = "Pass";
  readonly #scope: Scope;
  readonly #want: (x: Tensor) => void;

  /** @internal `want` asks for the gradient of a tensor. */
  constructor(scope: Scope, want: (x: Tensor) => void) {
    this.#scope = scope;
    this.#want = want;
  }

  /** Brings an array into the pass and asks for its gradient, which `gradients` then gives among `inputGradients`. What is computed from it before is not part of that. */
  async input(x: TensorInput): Promise<Tensor> {
    const where = "Pass.input";
    const tensor = await guardAsync("option", `${where}: reading its argument`, async () => {
      return this.#scope.take(where, "x", x);
    });
    if (this.#scope.needs(tensor)) {
      throw new HeedError("option", `${where}: x must come from outside of the pass, got a tensor that it made`);
    }
    this.#want(tensor);
    return tensor;
  }

  /** @internal Throws unless `pass` is one. */
  static scopeOf(where: string, pass: unknown): Scope {
    if (typeof pass === "object" && pass !== null && #scope in pass) return pass.#scope;
    throw new HeedError("option", `${where}: pass must be the one that gradients gives, got ${showValue(pass)}`);
  }
}
