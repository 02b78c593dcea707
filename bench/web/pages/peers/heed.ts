// heed through its public API. Inputs are tensors that live in the engine, or (with `feed`) arrays given at each call.

import { type AttentionOptions, createHeed, type Heed, type TensorInput } from "heed";
import { type Addition, biasOf, isAddition, maskOf, WINDOW } from "../additions.js";
import type { Inputs, Peer, Problem, Setup } from "../peer.js";

export async function open({ threads, options }: Setup): Promise<Peer> {
  const variant = options.variant === "simd" ? "simd" : "auto";
  const offload = options.here === undefined ? "auto" : false;
  const heed = await createHeed({ threads, variant, offload, backend: backendOf(options) });
  const addition = isAddition(options.with) ? options.with : null;
  let call: Peer["run"] = async () => [];
  let dispose = (): void => {};

  return {
    about: { ...heed.capabilities },
    layout: "bhnd",

    async prepare(problem: Problem, inputs: Inputs) {
      const { heads, kvHeads, queries, keys, dim } = problem;
      const given = (data: Float32Array, shape: readonly number[]): TensorInput =>
        options.feed === undefined ? heed.tensor(data, shape) : { data, shape };
      const query = given(inputs.query, [1, heads, queries, dim]);
      const key = given(inputs.key, [1, kvHeads, keys, dim]);
      const value = given(inputs.value, [1, kvHeads, keys, dim]);
      const added = addition === null ? {} : optionsOf(heed, problem, addition);
      const gradient = options.with === "backward" ? heed.tensor(inputs.gradient, query.shape) : undefined;
      call = async () => {
        if (gradient !== undefined) {
          const { backward } = await heed.attentionVjp(query, key, value, { causal: problem.causal });
          const { dq, dk, dv } = await backward(gradient);
          return [dq, dk, dv].map(({ data }) => data);
        }
        const { output } = await heed.attention(query, key, value, { causal: problem.causal, ...added });
        if (output === undefined || !("data" in output)) throw new Error("heed gave no array");
        return output.data;
      };
      dispose = () => {
        for (const one of [query, key, value, gradient, added.bias]) {
          if (one !== undefined && "dispose" in one) one.dispose();
        }
      };
    },

    run: () => call(),

    async release() {
      dispose();
      dispose = () => {};
    },
  };
}

const BACKENDS = ["wasm", "webgpu"] as const;

function backendOf({ backend }: Setup["options"]): "auto" | (typeof BACKENDS)[number] {
  return BACKENDS.find((one) => one === backend) ?? "auto";
}

/** A bias can live in the engine, as the inputs do; a mask is given at each call. */
function optionsOf(heed: Heed, problem: Problem, addition: Addition): AttentionOptions {
  switch (addition) {
    case "weights":
      return { return: { weights: true } };
    case "mask":
      return { mask: maskOf(problem) };
    case "bias": {
      const { data, shape } = biasOf(problem);
      return { bias: heed.tensor(data, shape) };
    }
    case "window":
      return { window: WINDOW };
  }
}
