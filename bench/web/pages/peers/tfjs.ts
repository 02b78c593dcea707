// TensorFlow.js on its wasm backend. It has no attention operator, so this is a matMul, a softmax and a matMul.

import { causalBias } from "../inputs.js";
import type { Inputs, Peer, Problem, Setup } from "../peer.js";
import type { Tfjs, TfTensor } from "./tfjs-types.js";

const FOLDER = "/peers/@tensorflow/";

export async function open({ threads }: Setup): Promise<Peer> {
  // It starts half as many threads as the machine has cores, whatever it is told.
  Object.defineProperty(navigator, "hardwareConcurrency", { value: 2 * threads });
  await script(`${FOLDER}tfjs-core/dist/tf-core.min.js`);
  await script(`${FOLDER}tfjs-backend-wasm/dist/tf-backend-wasm.min.js`);
  const tf: Tfjs = Reflect.get(window, "tf");
  tf.wasm.setWasmPaths(`${FOLDER}tfjs-backend-wasm/dist/`);
  tf.wasm.setThreadsCount(threads);
  await tf.setBackend("wasm");
  await tf.ready();
  let operands: readonly TfTensor[] = [];
  let call = async (): Promise<Float32Array> => new Float32Array();

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
      operands = [query, key, value, scale, ...(mask === null ? [] : [mask])];
      call = async () => {
        const output = tf.tidy(() => {
          const scores = tf.mul(tf.matMul(query, key, false, true), scale);
          return tf.matMul(tf.softmax(mask === null ? scores : tf.add(scores, mask)), value);
        });
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
