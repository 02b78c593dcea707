// ONNX's cases of attention, flex attention and rotary embedding that run on a GPU, on the backend of an adapter.

import { set } from "virtual:conformance";
import { attend, check } from "../../web/src/api/attention.js";
import { ropeOnGpu } from "../../web/src/api/extra/rope.js";
import type { GpuBackend } from "../../web/src/backends/webgpu/gpu-backend.js";
import type { TensorLike } from "../../web/src/index.js";
import { attentionCases, callOf, firstDifference, whyNot } from "../conformance/onnx.js";
import { extraCases, ropeCaseOf } from "../conformance/onnx-extra.js";
import { flexCallOf, flexCases } from "../conformance/onnx-flex.js";

/** The first difference of each case, or null. Empty if the cases are not there. */
export async function conformanceOf(backend: GpuBackend): Promise<readonly (string | null)[]> {
  if (set === null) return [];
  const present = set;
  const found: (string | null)[] = [];
  const compare = (name: string, ...results: (readonly [what: string, got: unknown, wanted: TensorLike | null])[]) => {
    const differences = results.map(
      ([what, got, wanted]) => wanted && firstDifference(`${name}: ${what}`, got as TensorLike, wanted, present),
    );
    found.push(differences.find((difference) => difference !== null) ?? null);
  };
  const attention = async (tensors: readonly unknown[], options: object) => {
    const [query, key, value] = tensors;
    const given = { query, key, value };
    const { problem } = check("attention", backend, given, options).checked;
    if (backend.explain(problem).backend !== "webgpu") throw new Error("a case would not run on the GPU");
    return attend(backend, given, options);
  };
  for (const one of attentionCases(present).filter((each) => whyNot(each) === null)) {
    const { name, query, key, value, options, stage, output, weights, scores } = callOf(one, present);
    const wanted = { weights: weights !== null, ...(scores === null ? {} : { scores: stage ?? "raw" }) };
    const got = await attention([query, key, value], { ...options, return: wanted });
    compare(name, ["output", got.output, output], ["weights", got.weights, weights], ["scores", got.scores, scores]);
  }
  for (const one of flexCases(present)) {
    const { tensors, options, output } = flexCallOf(one, present);
    compare(one.name, ["output", (await attention(tensors, options)).output, output]);
  }
  for (const one of extraCases(present, "RotaryEmbedding")) {
    const { x, options, output } = ropeCaseOf(one, present);
    const again = (): never => {
      throw new Error("the device was lost");
    };
    const turned = await ropeOnGpu(backend, backend, { tensors: [x], options }, again);
    compare(one.name, ["output", turned, output]);
  }
  return found;
}
