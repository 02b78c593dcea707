// onnxruntime-web on the CPU, or on the GPU (`device`); `op` names the graph. Inputs live in the model, as initializers that a call could
// override, because only that keeps them in its memory. With `feed` they are given at each call, as its users do.

import type { InferenceSession, Tensor } from "onnxruntime-web/wasm";
import { encodeModel, type OperandData } from "../onnx/encode.js";
import { GRAPHS, isGraphName } from "../onnx/graphs.js";
import type { Inputs, Peer, Problem, Setup } from "../peer.js";

export async function open({ threads, options }: Setup): Promise<Peer> {
  const { op } = options;
  if (op === undefined || !isGraphName(op)) throw new Error(`no graph is called ${op}`);
  const graph = GRAPHS[op];
  const device = options.device === "webgpu" ? "webgpu" : "wasm";
  const ort = device === "webgpu" ? await import("onnxruntime-web/webgpu") : await import("onnxruntime-web/wasm");
  ort.env.wasm.numThreads = threads;
  ort.env.logLevel = "error";
  let session: InferenceSession | null = null;
  let feeds: Record<string, Tensor> = {};

  return {
    about: { version: ort.env.versions.web, threads },
    layout: graph.layout,

    async prepare(problem: Problem, inputs: Inputs) {
      const model = graph.model(problem, inputs);
      const isFed = options.feed !== undefined;
      session = await ort.InferenceSession.create(encodeModel(model, isFed), { executionProviders: [device] });
      feeds = isFed
        ? Object.fromEntries(model.inputs.map(({ name, data, shape }) => [name, tensorOf(ort, data, shape)]))
        : {};
    },

    async run() {
      if (session === null) throw new Error("no session");
      const { output } = await session.run(feeds);
      if (!(output?.data instanceof Float32Array)) throw new Error("no output");
      return output.data;
    },

    async release() {
      await session?.release();
      session = null;
    },
  };
}

function tensorOf(
  { Tensor: Made }: Pick<typeof import("onnxruntime-web/wasm"), "Tensor">,
  data: OperandData,
  shape: readonly number[],
): Tensor {
  if (data instanceof Float32Array) return new Made("float32", data, shape);
  if (data instanceof Int32Array) return new Made("int32", data, shape);
  throw new Error("inputs of attention are f32 or int32");
}
