// TensorFlow.js on its wasm backend. It has no attention operator, so this is a matMul, a softmax and a matMul.

import { causalBias } from "../inputs.js";
import type { Inputs, Peer, Problem, Setup } from "../peer.js";
import type { Tfjs, TfTensor } from "./tfjs-types.js";

const FOLDER = "/peers/@tensorflow/";

export async function openTf(threads: number): Promise<Tfjs> {
  // It starts half as many threads as the machine has cores, whatever it is told.
  Object.defineProperty(navigator, "hardwareConcurrency", { value: 2 * threads });
  await script(`${FOLDER}tfjs-core/dist/tf-core.min.js`);
  await script(`${FOLDER}tfjs-backend-wasm/dist/tf-backend-wasm.min.js`);
  const tf: Tfjs = Reflect.get(window, "tf");
  tf.wasm.setWasmPaths(`${FOLDER}tfjs-backend-wasm/dist/`);
  tf.wasm.setThreadsCount(threads);
  await tf.setBackend("wasm");
  await tf.ready();
  return tf;
}

/** Its scripts for pages have no gradients: these are registered in the same global place. */
export async function openTfWithGradients(threads: number): Promise<Tfjs> {
  const tf = await openTf(threads);
  const gradients = "/bundled/@tensorflow/tfjs-core/dist/register_all_gradients.js";
  await import(gradients);
  return tf;
}

export async function open({ threads, options }: Setup): Promise<Peer> {
  const tf = await (options.with === "backward" ? openTfWithGradients : openTf)(threads);
  let operands: readonly TfTensor[] = [];
  let call: Peer["run"] = async () => [];

  return {
    about: { version: tf.version_core, threads: tf.wasm.getThreadsCount() },
    layout: "bhnd",

    async prepare({ heads, kvHeads, queries, keys, dim, causal }: Problem, inputs: Inputs) {
      if (causal && heads !== kvHeads) throw new Error("no causal grouped heads");
      // Query heads that share K are rows of one matMul.
      const query = tf.tensor3d(inputs.query, [kvHeads, queries * (heads / kvHeads), dim]);
      const key = tf.tensor3d(inputs.key, [kvHeads, keys, dim]);
      const value = tf.tensor3d(inputs.value, [kvHeads, keys, dim]);
      const scale = tf.scalar(1 / Math.sqrt(dim));
      const mask = causal ? tf.tensor2d(causalBias(queries, keys), [queries, keys]) : null;
      const gradient = options.with === "backward" ? tf.tensor3d(inputs.gradient, [heads, queries, dim]) : null;
      operands = [query, key, value, scale, mask, gradient].filter((one) => one !== null);
      const attend = (q: TfTensor, k: TfTensor, v: TfTensor) => {
        const scores = tf.mul(tf.matMul(q, k, false, true), scale);
        return tf.matMul(tf.softmax(mask === null ? scores : tf.add(scores, mask)), v);
      };
      call = async () => {
        if (gradient !== null) {
          const gradients = tf.tidy(() => tf.grads(attend)([query, key, value], gradient));
          const data = await Promise.all(gradients.map((one) => one.data()));
          for (const one of gradients) one.dispose();
          return data;
        }
        const output = tf.tidy(() => attend(query, key, value));
        const data = await output.data();
        output.dispose();
        return data;
      };
    },

    run: () => call(),

    async release() {
      for (const operand of operands) operand.dispose();
      operands = [];
    },
  };
}

function script(source: string): Promise<void> {
  return new Promise((done, fail) => {
    const element = document.createElement("script");
    element.src = source;
    element.onload = () => done();
    element.onerror = () => fail(new Error(`${source} did not load`));
    document.head.append(element);
  });
}
