// An engine that was given attention's binary, and computes everything else as well.
import { leave } from "./compute.js";

async function outcome() {
  const [{ createHeed }, { Linear }] = await Promise.all([import("/heed/assets.js"), import("/heed/layers.js")]);
  const engine = await createHeed({ variant: "simd", wasm: { url: "/copy/wasm-simd.wasm" } });
  const x = { data: new Float32Array(32), shape: [1, 4, 8] };
  const linear = new Linear({ inFeatures: 8, outFeatures: 8, bias: false, engine });
  linear.load({ weight: { data: new Float32Array(64), shape: [8, 8] } });
  const results = [
    (await engine.attention(x, x, x)).output,
    (await engine.linearAttention(x, x, x, { rule: "linear" })).output,
    await engine.rope(x),
    await linear.forward(x),
  ];
  return { shapes: results.map(({ shape }) => shape) };
}

leave(outcome());
