// A gated recurrent unit over sequences, as PyTorch's nn.GRU of one layer with batch_first, forwards or backwards.

import type { TensorInput } from "../api/options.js";
import type { NoOptions, Returned } from "../api/results.js";
import type { Tensor } from "../api/tensor.js";
import { showShape } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { readBoolean } from "../base/read-values.js";
import { GRU as RECURRENCE } from "../operations/gru.js";
import { NARROW_GRU } from "../operations/narrow/narrow-gru.js";
import { affine } from "./affine.js";
import { checkWidth } from "./axes.js";
import { boundOf, type Draw } from "./draw.js";
import { handOut } from "./hand-out.js";
import { type ForwardOptions, Layer, type LayerOptions } from "./layer.js";
import { Parameter } from "./parameters.js";
import { readSize, readSizes } from "./read.js";
import type { Scope } from "./scope.js";

/** The sizes of a `GRU`. */
export interface GRUOptions extends LayerOptions {
  readonly inputSize: number;
  readonly hiddenSize: number;
  /** Default true. */
  readonly bias?: boolean | undefined;
  /** Computes from the last step to the first. Default false. */
  readonly reverse?: boolean | undefined;
}

/** The options of a call of a `GRU`. */
export interface GRUForwardOptions extends ForwardOptions {
  /** The state before the first step, [B, hiddenSize]. Default zeros. */
  readonly state?: TensorInput | undefined;
}

/** What a `GRU` gives: the state after each step, and after the last. */
export interface GRUResult<O> {
  /** The states of every step, [B, T, hiddenSize]. */
  readonly output: Returned<O>;
  /** The state that was computed last, [B, hiddenSize]. */
  readonly state: Returned<O>;
}

/**
 * Parameters: `weight_ih_l0` [3 H, inputSize], `weight_hh_l0` [3 H, H], `bias_ih_l0`, `bias_hh_l0` [3 H], gates in the order r, z, n;
 * with the suffix `_reverse` where `reverse` is true.
 */
export class GRU extends Layer {
  readonly inputSize: number;
  readonly hiddenSize: number;
  readonly #isReversed: boolean;
  readonly #suffix: "_l0" | "_l0_reverse";

  constructor(options: GRUOptions) {
    const where = "GRU";
    const given = readSizes(where, options, ["inputSize", "hiddenSize", "bias", "reverse", "engine"]);
    super(where, given.engine);
    this.inputSize = readSize(where, "inputSize", given["inputSize"]);
    this.hiddenSize = readSize(where, "hiddenSize", given["hiddenSize"]);
    this.#isReversed = readBoolean(where, "reverse", given["reverse"], false);
    this.#suffix = this.#isReversed ? "_l0_reverse" : "_l0";
    const gates = 3 * this.hiddenSize;
    this.parameter(`weight_ih${this.#suffix}`, new Parameter([gates, this.inputSize], { matrices: 1 }));
    this.parameter(`weight_hh${this.#suffix}`, new Parameter([gates, this.hiddenSize], { matrices: 3 }));
    this.without("weight_ih_l1");
    const hasBias = readBoolean(where, "bias", given["bias"], true);
    for (const name of [`bias_ih${this.#suffix}`, `bias_hh${this.#suffix}`]) {
      if (hasBias) this.parameter(name, new Parameter([gates]));
      else this.without(name);
    }
  }

  protected override draw(draw: Draw): void {
    this.drawBy((_name, shape) => draw.uniform(shape, boundOf(this.hiddenSize)));
  }

  /** x [B, T, inputSize]. */
  forward<const O extends GRUForwardOptions = NoOptions>(x: TensorInput, options?: O): Promise<GRUResult<O>>;
  forward(x: unknown, options?: unknown): Promise<GRUResult<{ readonly keep: boolean }>> {
    return this.pass(options, ["state"], async (scope, given, keep) => {
      const input = await scope.take(this.where, "x", x);
      const before = given["state"];
      const state = before === undefined ? null : await scope.take(this.where, "state", before);
      const { states, last } = await this.compute(scope, input, state);
      return { output: await handOut(scope, states, keep), state: await handOut(scope, last, keep) };
    });
  }

  /** @internal */
  async compute(
    scope: Scope,
    x: Tensor,
    state: Tensor | null,
  ): Promise<{ readonly states: Tensor; readonly last: Tensor }> {
    checkWidth(this.where, "x", x, this.inputSize);
    const [batch = 0, steps = 0] = x.shape;
    if (x.shape.length !== 3 || batch === 0 || steps === 0) {
      throw new HeedError(
        "shape",
        `GRU: x must be [B, T, ${this.inputSize}], at least one of each, got ${showShape(x.shape)}`,
      );
    }
    if (
      state !== null &&
      (state.shape.length !== 2 || state.shape[0] !== batch || state.shape[1] !== this.hiddenSize)
    ) {
      throw new HeedError("shape", `GRU: state must be [${batch}, ${this.hiddenSize}], got ${showShape(state.shape)}`);
    }
    const weights = {
      input: await this.resident(scope, `weight_ih${this.#suffix}`),
      state: await this.resident(scope, `weight_hh${this.#suffix}`),
    };
    const bias = {
      input: await this.residentOrNull(scope, `bias_ih${this.#suffix}`),
      state: await this.residentOrNull(scope, `bias_hh${this.#suffix}`),
    };
    return scope.inner(
      async (inner) => {
        // The inputs' part of the gates is one product for all steps.
        const gates = await affine(inner, x, weights.input, bias.input);
        const inputs = {
          gates: inner.rows(gates),
          bias: bias.state,
          state: state && inner.rows(state),
          batch,
          isReversed: this.#isReversed,
        };
        const shapes = [
          [batch, steps, this.hiddenSize],
          [batch, this.hiddenSize],
        ];
        const parameters = [weights.state, bias.state];
        const { resident, format } = weights.state;
        const [states, last] =
          format === "f32"
            ? await inner.run(RECURRENCE, { ...inputs, weights: resident }, shapes, parameters)
            : await inner.run(NARROW_GRU, { ...inputs, weights: { resident, format } }, shapes, parameters);
        if (states === undefined || last === undefined) throw new TypeError("a call of two results had fewer");
        return { states, last };
      },
      ({ states, last }) => [states, last],
    );
  }
}
