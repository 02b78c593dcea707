// Products with stored weights: within their error of the dequantized product, and of the same bits in every variant, on every kind of worker.

import { afterAll, expect, test } from "vitest";
import { Linear } from "../../web/src/layers/index.js";
import { PATIENCE, tried } from "../support/drawn.js";
import { ENGINE_KINDS, nameOf, openKind } from "../support/engines.js";
import { decoded, exactProduct, product, productBounds, randomStored } from "../support/stored-weights.js";

const engines = await Promise.all(
  ENGINE_KINDS.map(async (kind) => ({ name: nameOf(kind), heed: await openKind(kind) })),
);
afterAll(() => {
  for (const { heed } of engines) heed.dispose();
});

const FORMATS = ["int8", "int4", "int4-min", "q4-k", "f16", "bf16"] as const;

test(
  "any product has the bits of its definition everywhere",
  async () => {
    await tried("narrow", 15, async (random) => {
      const format = random.pick(FORMATS);
      const inputs = format === "q4-k" ? 256 : 32 * random.whole(1, 9);
      const [outputs, count] = [random.whole(1, 40), random.whole(1, 3)];
      const weight = randomStored(random, format, outputs, inputs);
      const sizes = [1, 1e-3, 100, 1e-30, 1e30, 1e-42] as const;
      const rows = Array.from({ length: count }, () => random.floats(inputs, random.pick(sizes)));
      const x = { data: Float32Array.from(rows.flatMap((row) => [...row])), shape: [count, inputs] };
      let bits: Float32Array | null = null;
      for (const { name, heed } of engines) {
        const layer = new Linear({ inFeatures: inputs, outFeatures: outputs, bias: false, engine: heed });
        const { data } = await layer.load({ weight }, { weights: "as stored" }).forward(x);
        layer.dispose();
        bits ??= data;
        expect(data, `${format}, [${count}, ${outputs}, ${inputs}], ${name}`).toEqual(bits);
      }
      for (const [at, row] of rows.entries()) {
        const [wanted, bounds] = [product(decoded(weight), inputs, row), productBounds(weight, row)];
        const exact = format === "f16" || format === "bf16" ? null : exactProduct(weight, row);
        for (const [output, number] of wanted.entries()) {
          const got = bits?.[at * outputs + output] ?? Number.NaN;
          expect(Math.abs(got - number)).toBeLessThanOrEqual(bounds[output] ?? 0);
          // Zeros may have either sign.
          if (exact !== null) expect(got === exact[output], `${format}, row ${at}, output ${output}`).toBe(true);
        }
      }
    });
  },
  PATIENCE,
);
