// Layers one after the other.

import type { Heed } from "../api/heed.js";
import type { TensorInput } from "../api/options.js";
import type { Tensor } from "../api/tensor.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { listOf } from "../base/typed-array.js";
import { Layer } from "../layers/layer.js";
import type { Pass } from "./pass/pass.js";

/** A layer of one input and one output. */
export interface Step extends Layer {
  forward(x: TensorInput, options: { readonly pass: Pass }): Promise<unknown>;
}

const MOST = 1024;

/** What each layer gives goes into the next. Its parameters begin with the numbers of the layers, from "0". */
export class Sequential extends Layer {
  readonly #steps: readonly Step[];

  constructor(steps: readonly Step[], options: { readonly engine?: Heed | undefined } = {}) {
    super("Sequential", options.engine);
    const isStep = (one: unknown): boolean => Layer.is(one) && "forward" in one && typeof one.forward === "function";
    const given = listOf<Step>(steps, MOST, isStep);
    if (given === null || given.length === 0) {
      throw new HeedError("option", `Sequential: steps must be layers in an array, got ${showValue(steps)}`);
    }
    this.#steps = given.map((step, at) => this.part(String(at), step));
  }

  async forward(x: TensorInput, { pass }: { readonly pass: Pass }): Promise<Tensor> {
    let made: TensorInput = x;
    for (const step of this.#steps) made = (await step.forward(made, { pass })) as Tensor;
    return made as Tensor;
  }
}
