// The backward pass on an engine with a GPU: WebAssembly computes it, and says why.

import { afterAll, expect, test } from "vitest";
import { createHeed, type TensorInput } from "../../web/src/index.js";
import { openTested } from "../support/gpu-engine.js";
import { Random } from "../support/random.js";

const { heed, close } = await openTested();
const wasm = await createHeed({ backend: "wasm" });
afterAll(() => {
  wasm.dispose();
  close();
});

test.each(["arrays", "tensors"])("attentionVjp of %s has the bits of WebAssembly, and the reason", async (kind) => {
  const random = new Random(402);
  const draw = (...shape: number[]) => ({ data: random.floats(shape.reduce((a, b) => a * b, 1)), shape });
  const [q, k, v, bias, g] = [draw(2, 33, 8), draw(2, 40, 8), draw(2, 40, 8), draw(33, 40), draw(2, 33, 8)] as const;
  const given = (one: ReturnType<typeof draw>): TensorInput =>
    kind === "arrays" ? one : heed.tensor(one.data, one.shape);
  const onWasm = await wasm.attentionVjp(q, k, v, { bias });
  const { output, backward } = await heed.attentionVjp(given(q), given(k), given(v), { bias: given(bias) });
  expect(output.data).toEqual(onWasm.output.data);
  expect(await backward(given(g))).toEqual(await onWasm.backward(g));
  expect(heed.capabilities.reasons.join()).toMatch(/attentionVjp runs on wasm: /);
});
