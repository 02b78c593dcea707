// What a stranger's page does, for a production build: computes, compares, and leaves the outcome where the test finds it.
import { createHeed } from "heed";
import { attention as reference } from "heed/reference";

const values = (count) => Float32Array.from({ length: count }, (_, i) => Math.sin(i + 1));
const q = { data: values(2 * 5 * 8), shape: [1, 2, 5, 8] };
const k = { data: values(2 * 7 * 8), shape: [1, 2, 7, 8] };

async function outcome() {
  const hosted = { variant: "simd", wasm: { url: "hosted/wasm-simd.wasm", workerUrl: "hosted/worker.js" } };
  const heed = await createHeed(location.search === "?hosted" ? hosted : {});
  const { output } = await heed.attention(q, k, k, { causal: true });
  const expected = reference(q, k, k, { causal: true }).output.data;
  const { worker, variant, reasons } = heed.capabilities;
  return { error: Math.max(...output.data.map((value, i) => Math.abs(value - expected[i]))), worker, variant, reasons };
}

outcome().then(
  (result) => Object.assign(globalThis, { outcome: result }),
  (error) => Object.assign(globalThis, { outcome: { failure: String(error) } }),
);
