// A linear layer of heed/layers with random weights, kept in some format.

import type { Tensor } from "heed";
import type { Linear, Weights } from "heed/layers";
import { dotClass } from "../dot-class.js";
import { normalNumbers } from "../inputs.js";
import type { Peer, Setup } from "../peer.js";

const WARM_UP = 20;

export async function open({ threads, options }: Setup): Promise<Peer> {
  const { weights = "f32", rows = "1", features = "1024" } = options;
  const [{ createHeed }, layers] = await Promise.all([import("heed"), import("heed/layers")]);
  const engine = await createHeed({ backend: "wasm", threads });
  const size = Number(features);
  let layer: Linear | null = null;
  let x: Tensor | null = null;
  const run = async (): Promise<Float32Array> => {
    if (layer === null || x === null) throw new Error("nothing was prepared");
    (await layer.forward(x, { keep: true })).dispose();
    return new Float32Array();
  };

  return {
    about: { ...engine.capabilities, dotClass: dotClass() },
    layout: "bnhd",

    async prepare() {
      const some = normalNumbers(size, 1);
      const data = Float32Array.from(
        { length: size * size },
        (_, at) => some[(at * 7 + Math.floor(at / size)) % size] ?? 0,
      );
      layer = new layers.Linear({ inFeatures: size, outFeatures: size, bias: false, engine });
      layer.load({ weight: { data, shape: [size, size] } }, { weights: weights as Weights });
      x = engine.tensor(normalNumbers(Number(rows) * size, 2), [Number(rows), size]);
      // So many calls it takes until their code is the optimised one.
      for (let call = 0; call < WARM_UP; call++) await run();
    },

    run,

    async release() {
      layer?.dispose();
      x?.dispose();
    },
  };
}
