// Small calls of every kind, as a page may begin them together. Each gives numbers that depend on no other call, or none.

import type { Heed, KVCache } from "../../web/src/index.js";
import { Linear, MultiHeadAttention } from "../../web/src/layers/index.js";
import { AdamW, gradients, meanSquaredError } from "../../web/src/train/index.js";

export const x = { data: Float32Array.from({ length: 8 }, (_, at) => Math.sin(at)), shape: [1, 1, 2, 4] };
const rows = { data: x.data, shape: [1, 2, 4] };

export interface Scene {
  readonly heed: Heed;
  readonly cache: KVCache;
  readonly signal: AbortSignal;
}

export type Numbers = Float32Array<ArrayBufferLike> | null;

const linear = ({ heed }: Scene): Linear => new Linear({ inFeatures: 4, outFeatures: 4, engine: heed }).init();

export const CALLS = {
  attention: async ({ heed, signal }) => {
    const { output } = await heed.attention(x, x, x, { keep: true, signal });
    return output.read();
  },
  linear: async ({ heed, signal }) => (await heed.linearAttention(x, x, x, { rule: "linear", signal })).output.data,
  vjp: async ({ heed, signal }) => {
    const { backward } = await heed.attentionVjp(x, x, x, { signal });
    return (await backward(x, { signal })).dq.data;
  },
  layer: async (scene) => (await linear(scene).forward(rows, { signal: scene.signal })).data,
  cached: async ({ heed, cache, signal }) => {
    await heed.attention(x, x, x, { cache, signal });
    return null;
  },
  "cached layer": async ({ heed, cache, signal }) => {
    const layer = new MultiHeadAttention({ embedDim: 4, heads: 1, engine: heed }).init();
    await layer.forward(rows, rows, rows, { cache, signal });
    return null;
  },
  "disposed layer": async (scene) => {
    const layer = linear(scene);
    const { data } = await layer.forward(rows, { signal: scene.signal });
    layer.dispose();
    return data;
  },
  training: async (scene) => {
    const { heed, signal } = scene;
    const layer = linear(scene);
    const pass = gradients(
      layer,
      async (pass) => {
        await heed.linearAttention(x, x, x, { rule: "linear" });
        return { loss: await meanSquaredError(await layer.forward(rows, { pass }), rows, { pass }) };
      },
      { signal },
    );
    const { loss } = await pass;
    await new AdamW(layer).step();
    return Float32Array.of(loss);
  },
} satisfies Record<string, (scene: Scene) => Promise<Numbers>>;

export type Name = keyof typeof CALLS;
export const NAMES = Object.keys(CALLS) as [Name, ...Name[]];
