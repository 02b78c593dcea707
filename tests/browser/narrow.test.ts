// Narrow weights in a real page: the bits that follow from their definition, by every variant and worker that the page has, and a model
// that writes the same tokens with each of them.

import { expect, inject, test } from "vitest";
import { createHeed, type Heed } from "../../web/src/index.js";
import { Linear, LlamaModel } from "../../web/src/layers/index.js";
import { Random } from "../support/random.js";
import { exactProduct, type Narrow, randomStored } from "../support/stored-weights.js";

const FORMATS = ["int8", "int4", "int4-min", "q4-k"] as const satisfies readonly Narrow[];

/** An engine of each variant that the page has, and of several threads. */
async function* engines(): AsyncGenerator<readonly [string, Heed]> {
  using own = await createHeed();
  const { relaxedSimd } = own.capabilities;
  for (const variant of ["simd", "relaxed"] as const) {
    if (variant === "relaxed" && !relaxedSimd) continue;
    for (const threads of [1, 3]) {
      using engine = await createHeed({ variant, threads, offload: true });
      yield [`${variant}, ${threads} threads`, engine];
    }
  }
}

test(`products have the bits that JavaScript computes (isolated: ${inject("isolated")})`, async () => {
  for await (const [name, engine] of engines()) {
    const random = new Random(17);
    for (const format of FORMATS) {
      const [outputs, inputs] = [53, 768];
      const weight = randomStored(random, format, outputs, inputs);
      const layer = new Linear({ inFeatures: inputs, outFeatures: outputs, bias: false, engine });
      layer.load({ weight }, { weights: "as stored" });
      for (const count of [1, 2, 7, 40]) {
        const x = { data: random.floats(count * inputs), shape: [count, inputs] };
        const { data } = await layer.forward(x);
        for (let row = 0; row < count; row++) {
          const wanted = exactProduct(weight, x.data.subarray(row * inputs, (row + 1) * inputs));
          const first = wanted.findIndex((number, at) => number !== data[row * outputs + at]);
          expect(first, `${format}, ${name}, row ${row} of ${count}`).toBe(-1);
        }
      }
    }
  }
});

test(`a model writes the same (isolated: ${inject("isolated")})`, async () => {
  const sizes = {
    hidden_size: 64,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    intermediate_size: 128,
    vocab_size: 90,
  };
  const config = { model_type: "llama", ...sizes, max_position_embeddings: 128, tie_word_embeddings: true };
  for (const weights of ["int8", "int4"] as const) {
    const written: string[] = [];
    for await (const [name, engine] of engines()) {
      const model = new LlamaModel(config, { engine }).init({ seed: 6 });
      model.load(model.parameters(), { weights });
      const caches = [];
      for (let layer = 0; layer < 2; layer++) {
        caches.push(await engine.createCache({ kvHeads: 4, headDim: 16, maxLength: 80 }));
      }
      const bits: number[] = [];
      let token = 5;
      for (let step = 0; step < 64; step++) {
        const { logits } = await model.forward([token], { caches });
        bits.push(...new Int32Array(logits.data.slice().buffer));
        token = logits.data.indexOf(Math.max(...logits.data));
      }
      written.push(bits.join());
      expect(written.at(-1) === written[0], `${weights}, ${name}`).toBe(true);
      model.dispose();
    }
    expect(written.length).toBeGreaterThan(1);
  }
});
