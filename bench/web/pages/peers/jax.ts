// jax-js on its wasm backend, or on the GPU (`device`). On wasm it starts as many workers as the machine has cores when the module loads.

import { headsInside } from "../inputs.js";
import type { Inputs, Peer, Problem, Setup } from "../peer.js";

export type Jax = typeof import("@jax-js/jax");
export type JaxArray = InstanceType<Jax["Array"]>;

export async function openJax(threads: number, device: "wasm" | "webgpu"): Promise<Jax> {
  Object.defineProperty(navigator, "hardwareConcurrency", { value: threads });
  const jax: Jax = await import("@jax-js/jax");
  const found = await jax.init(device);
  if (!found.includes(device)) throw new Error(`jax-js has no ${device} here`);
  jax.defaultDevice(device);
  return jax;
}

export async function open({ threads, options }: Setup): Promise<Peer> {
  const jax = await openJax(threads, options.device === "webgpu" ? "webgpu" : "wasm");
  let operands: readonly JaxArray[] = [];
  let call: Peer["run"] = async () => [];
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
      const attend = (q: JaxArray, k: JaxArray, v: JaxArray) =>
        jax.nn.dotProductAttention(q, k, v, { isCausal: causal });
      // A call consumes its arrays; ref adds a reference for it to consume.
      if (options.with === "backward") {
        const gradient = array(inputs.gradient, heads, queries);
        operands = [...operands, gradient];
        const product = (q: JaxArray, k: JaxArray, v: JaxArray, g: JaxArray) => jax.numpy.sum(attend(q, k, v).mul(g));
        const backward = jax.jit(jax.grad(product, { argnums: [0, 1, 2] }));
        call = () => Promise.all(backward(query.ref, key.ref, value.ref, gradient.ref).map(floatsOf));
        dispose = () => backward.dispose();
      } else {
        const attention = jax.jit(attend);
        call = () => floatsOf(attention(query.ref, key.ref, value.ref));
        dispose = () => attention.dispose();
      }
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

async function floatsOf(array: JaxArray): Promise<Float32Array> {
  const data = await array.data();
  if (!(data instanceof Float32Array)) throw new Error("jax-js gave no floats");
  return data;
}
