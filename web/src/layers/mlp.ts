// The feed-forward part of a transformer.

import type { TensorInput } from "../api/options.js";
import type { ArrayTensor, Tensor } from "../api/tensor.js";
import { readBoolean, readChoice } from "../base/read-values.js";
import type { Activation } from "../operations/pointwise.js";
import type { Epilogue } from "./affine.js";
import { checkWidth } from "./axes.js";
import { type Forwarded, type ForwardOptions, Layer, type LayerOptions, type NoOptions } from "./layer.js";
import { Linear } from "./linear.js";
import { readSize, readSizes } from "./read.js";
import type { Scope } from "./scope.js";

/** "swiglu" is silu(gate) * up, "geglu" gelu(gate) * up. The others apply their activation to the output of `up_proj`. */
export type MLPActivation = "gelu" | "gelu-tanh" | "silu" | "relu" | "swiglu" | "geglu" | "geglu-tanh";

/** By their names, what gated linear units apply to the gate. */
const GATES: { readonly [Name in MLPActivation]?: "silu" | "gelu" | "gelu-tanh" } = {
  swiglu: "silu",
  geglu: "gelu",
  "geglu-tanh": "gelu-tanh",
};

const MLP_ACTIVATIONS = ["gelu", "gelu-tanh", "silu", "relu", "swiglu", "geglu", "geglu-tanh"] as const;

export const isGated = (activation: unknown): boolean => Object.hasOwn(GATES, String(activation));

/** The sizes and the activation of an `MLP`. */
export interface MLPOptions extends LayerOptions {
  readonly dim: number;
  readonly hidden: number;
  /** Default "gelu". */
  readonly activation?: MLPActivation | undefined;
  /** Default true, except for gated units, as "swiglu". */
  readonly bias?: boolean | undefined;
}

/** Parameters: those of `up_proj` and `down_proj`, and of `gate_proj` for gated units. */
export class MLP extends Layer {
  readonly #up: Linear;
  readonly #down: Linear;
  readonly #gate: Linear | null;
  readonly #activation: Activation;

  constructor(options: MLPOptions) {
    const where = "MLP";
    const given = readSizes(where, options, ["dim", "hidden", "activation", "bias", "engine"]);
    const { engine } = given;
    super(where, engine);
    const dim = readSize(where, "dim", given["dim"]);
    const hidden = readSize(where, "hidden", given["hidden"]);
    const activation = readChoice(where, "activation", given["activation"], MLP_ACTIVATIONS, "gelu");
    const ofGate = GATES[activation];
    this.#activation = ofGate ?? (activation as Activation);
    const bias = readBoolean(where, "bias", given["bias"], ofGate === undefined);
    const widen = { inFeatures: dim, outFeatures: hidden, bias, engine };
    this.#gate = ofGate === undefined ? this.without("gate_proj.weight") : this.part("gate_proj", new Linear(widen));
    this.#up = this.part("up_proj", new Linear(widen));
    this.#down = this.part("down_proj", new Linear({ inFeatures: hidden, outFeatures: dim, bias, engine }));
  }

  /** x [..., dim] to the same shape. */
  forward<const O extends ForwardOptions = NoOptions>(x: TensorInput, options?: O): Forwarded<O>;
  forward(x: unknown, options?: unknown): Promise<Tensor | ArrayTensor> {
    return this.passOne(x, options, (scope, input) => {
      checkWidth(this.where, "x", input, this.#up.inFeatures);
      return this.compute(scope, input);
    });
  }

  /** @internal */
  async compute(scope: Scope, x: Tensor, rule: Epilogue = {}): Promise<Tensor> {
    return scope.one(async (inner) => this.#down.compute(inner, await this.#widen(inner, x), rule));
  }

  async #widen(scope: Scope, x: Tensor): Promise<Tensor> {
    const activation = this.#activation;
    if (this.#gate === null) return this.#up.compute(scope, x, { activation });
    return this.#gate.compute(scope, x, { activation, factor: await this.#up.compute(scope, x) });
  }
}
