// Layers one after the other.

import type { Heed } from "../api/heed.js";
import type { TensorInput } from "../api/options.js";
import { type ArrayTensor, Tensor } from "../api/tensor.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guard } from "../base/guard.js";
import { listOf } from "../base/typed-array.js";
import type { IndexInput } from "./embedding.js";
import {
  FORWARD_OPTIONS,
  type Forwarded,
  type ForwardOptions,
  Layer,
  type LayerOptions,
  type NoOptions,
} from "./layer.js";
import type { Pass } from "./pass.js";
import { readOnce } from "./read.js";

/** A layer of one input and one output. */
export interface Step extends Layer {
  forward(x: never, options: ForwardOptions & { readonly pass: Pass }): Promise<unknown>;
}

type Input = TensorInput | IndexInput;

const MOST = 1024;

/** What each layer gives goes into the next. Its parameters begin with the numbers of the layers, from "0". */
export class Sequential extends Layer {
  readonly #steps: readonly Step[];

  constructor(steps: readonly Step[], options?: LayerOptions) {
    super("Sequential", readOnce("Sequential", "options", options, ["engine"])["engine"] as Heed | undefined);
    const isStep = (one: unknown): boolean => Layer.is(one) && "forward" in one && typeof one.forward === "function";
    const given = guard("option", "Sequential: reading steps", () => listOf<Step>(steps, MOST, isStep));
    if (given === null || given.length === 0) {
      throw new HeedError("option", `Sequential: steps must be layers in an array, got ${showValue(steps)}`);
    }
    this.#steps = given.map((step, at) => this.part(String(at), step));
  }

  /** The first layer tells what x is, such as indices for an Embedding. */
  forward<const O extends ForwardOptions = NoOptions>(x: Input, options?: O): Forwarded<O>;
  async forward(x: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    const given = readOnce(this.where, "options", options, FORWARD_OPTIONS);
    let made = x;
    for (const [at, step] of this.#steps.entries()) {
      const isKept = at < this.#steps.length - 1 && given["pass"] === undefined;
      const input = made;
      let output: unknown;
      try {
        output = await step.forward(input as never, (isKept ? { ...given, keep: true } : given) as never);
      } finally {
        // Outside of a pass what goes from layer to layer is nobody else's.
        if (Tensor.is(input) && input !== x && input !== output && given["pass"] === undefined) input.dispose();
      }
      made = output;
    }
    return made as Tensor | ArrayTensor;
  }
}
