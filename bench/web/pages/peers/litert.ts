// LiteRT.js: TFLite's runtime with XNNPACK, on the CPU. Inputs live in its memory, and so does the mask of a causal call.

import { causalBias } from "../inputs.js";
import type { Inputs, Peer, Problem, Setup } from "../peer.js";
import { encodeAttention } from "../tflite/graph.js";

type LiteRt = typeof import("@litertjs/core");
type Model = Awaited<ReturnType<LiteRt["loadAndCompile"]>>;
type Tensor = InstanceType<LiteRt["Tensor"]>;

const FOLDER = "/peers/@litertjs/core/wasm/";

export async function open({ threads }: Setup): Promise<Peer> {
  const litert: LiteRt = await import("@litertjs/core");
  // Its build for several threads is slower on one.
  await litert.loadLiteRt(FOLDER, { threads: threads > 1 });
  const environment = await litert.Environment.create({ webGpuDevice: null });
  let model: Model | null = null;
  let inputs: readonly Tensor[] = [];

  return {
    about: { threads },
    layout: "bhnd",

    async prepare(problem: Problem, given: Inputs) {
      const { heads, kvHeads, queries, keys, dim, causal } = problem;
      if (causal && heads !== kvHeads) throw new Error("the graph has no causal grouped heads");
      model = await litert.loadAndCompile(encodeAttention(problem), {
        accelerator: "wasm",
        environment,
        cpuOptions: { numThreads: threads },
      });
      const tensor = (data: Float32Array, shape: readonly number[]) => new litert.Tensor(data, shape, environment);
      const named: Record<string, Tensor> = {
        query: tensor(given.query, [1, kvHeads, queries * (heads / kvHeads), dim]),
        key: tensor(given.key, [1, kvHeads, keys, dim]),
        value: tensor(given.value, [1, kvHeads, keys, dim]),
        ...(causal ? { mask: tensor(causalBias(queries, keys), [1, 1, queries, keys]) } : {}),
      };
      inputs = model.getInputDetails().flatMap(({ name }) => named[name] ?? []);
    },

    async run() {
      const [output] = (await model?.run(inputs)) ?? [];
      if (output === undefined) throw new Error("no output");
      const data = output.toTypedArray();
      output.delete();
      if (!(data instanceof Float32Array)) throw new Error("LiteRT.js gave no floats");
      return data;
    },

    async release() {
      for (const one of inputs) one.delete();
      inputs = [];
      model?.delete();
      model = null;
    },
  };
}
