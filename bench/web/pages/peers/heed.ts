// heed, through its public API: tensors that live in the engine, or (with `feed`) arrays given at each call.

import { type AttentionOptions, createHeed, type TensorInput } from "heed";
import { maskBytes, normalNumbers } from "../inputs.js";
import type { Inputs, Peer, Problem, Setup } from "../peer.js";

const VARIANTS = { auto: "auto", simd: "simd", relaxed: "relaxed" } as const;

/** The keys that a query sees with `with=window`, itself among them. */
const WINDOW = 256;

export async function open({ threads, options }: Setup): Promise<Peer> {
  const variant = options.variant === "simd" || options.variant === "relaxed" ? options.variant : VARIANTS.auto;
  const heed = await createHeed({ threads, variant, offload: options.offload !== "false" });
  let call = async (): Promise<Float32Array> => new Float32Array();
  let dispose = (): void => {};

  const additions = (problem: Problem): { attention: AttentionOptions; dispose(): void } => {
    const { heads, queries, keys, causal } = problem;
    const attention: AttentionOptions = { causal };
    const count = heads * queries * keys;
    const shape = [1, heads, queries, keys];
    const none = () => {};
    switch (options.with) {
      case "weights":
        return { attention: { ...attention, return: { weights: true } }, dispose: none };
      case "mask":
        return { attention: { ...attention, mask: { data: maskBytes(count, 4), shape } }, dispose: none };
      case "bias": {
        const bias = heed.tensor(normalNumbers(count, 5), shape);
        return { attention: { ...attention, bias }, dispose: () => bias.dispose() };
      }
      case "window":
        return { attention: { ...attention, window: [WINDOW - 1, 0] }, dispose: none };
      default:
        return { attention, dispose: none };
    }
  };

  return {
    get about() {
      return { ...heed.capabilities };
    },
    layout: "bhnd",

    async prepare(problem: Problem, inputs: Inputs) {
      const { heads, kvHeads, queries, keys, dim } = problem;
      const given = (data: Float32Array, shape: readonly number[]): TensorInput =>
        options.feed === undefined ? heed.tensor(data, shape) : { data, shape };
      const operands = [
        given(inputs.query, [1, heads, queries, dim]),
        given(inputs.key, [1, kvHeads, keys, dim]),
        given(inputs.value, [1, kvHeads, keys, dim]),
      ] as const;
      const added = additions(problem);
      call = async () => {
        const { output } = await heed.attention(...operands, added.attention);
        if (output === undefined || !("data" in output)) throw new Error("heed gave no array");
        return output.data;
      };
      dispose = () => {
        for (const operand of operands) if ("dispose" in operand) operand.dispose();
        added.dispose();
      };
    },

    run: () => call(),

    async release() {
      dispose();
      dispose = () => {};
    },
  };
}
