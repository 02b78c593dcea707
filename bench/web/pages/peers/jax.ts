// jax-js on its wasm backend, or on the GPU (`device`). On wasm it starts as many workers as the machine has cores when the module loads.

import { headsInside } from "../inputs.js";
import type { Inputs, Peer, Problem, Setup } from "../peer.js";

type Jax = typeof import("@jax-js/jax");
type JaxArray = InstanceType<Jax["Array"]>;

export async function open({ threads, options }: Setup): Promise<Peer> {
  const device = options.device === "webgpu" ? "webgpu" : "wasm";
  Object.defineProperty(navigator, "hardwareConcurrency", { value: threads });
  const jax: Jax = await import("@jax-js/jax");
  const found = await jax.init(device);
  if (!found.includes(device)) throw new Error(`jax-js has no ${device} here`);
  jax.defaultDevice(device);
  let operands: readonly JaxArray[] = [];
  let call = async (): Promise<Float32Array> => new Float32Array();
  let dispose = (): void => {};

  return {
    about: { threads },
    layout: "bnhd",

    async prepare({ heads, kvHeads, queries, keys, dim, causal }: Problem, inputs: Inputs) {
      const array = (data: Float32Array, count: number, length: number) =>
        jax.numpy.array(headsInside(data, count, length, dim), { shape: [1, length, count, dim] });
      const query = array(inputs.query, heads, queries);
      const key = array(inputs.key, kvHeads, keys);
      const value = array(inputs.value, kvHeads, keys);
      operands = [query, key, value];
      const attention = jax.jit((q: JaxArray, k: JaxArray, v: JaxArray) =>
        jax.nn.dotProductAttention(q, k, v, { isCausal: causal }),
      );
      call = async () => {
        // A call consumes its arrays; ref adds a reference for it to consume.
        const output = await attention(query.ref, key.ref, value.ref).data();
        if (!(output instanceof Float32Array)) throw new Error("jax-js gave no floats");
        return output;
      };
      dispose = () => attention.dispose();
    },

    run: () => call(),

    async release() {
      for (const operand of operands) operand.dispose();
      operands = [];
      dispose();
      dispose = () => {};
    },
  };
}
