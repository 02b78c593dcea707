// int8 beside the usual way to compute in 8 bits, ONNX's dynamic quantization with one scale a tensor, which is computed here by its definition:
// heed's is closer to the product of the f32 numbers.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Heed } from "../../../web/src/index.js";
import { Linear } from "../../../web/src/layers/index.js";
import { ENGINE_KINDS, openKind } from "../../support/engines.js";
import { Random } from "../../support/random.js";

const [ROWS, INPUTS, OUTPUTS] = [12, 384, 96];

/** Columns of activations differ in size, as those of language models do; some are many times larger than the others. */
const SPREADS = {
  even: () => 1,
  uneven: (at: number) => 10 ** ((at % 5) / 4),
  outliers: (at: number) => (at % 97 ? 1 : 30),
};

/** [rows, inputs] times [outputs, inputs], transposed, in double precision. */
function product(x: ArrayLike<number>, weight: ArrayLike<number>): Float64Array {
  return Float64Array.from({ length: ROWS * OUTPUTS }, (_, at) => {
    const [row, output] = [Math.floor(at / OUTPUTS), at % OUTPUTS];
    let sum = 0;
    for (let i = 0; i < INPUTS; i++) sum += (x[row * INPUTS + i] ?? 0) * (weight[output * INPUTS + i] ?? 0);
    return sum;
  });
}

/** To the nearest, ties to even. */
function nearest(number: number): number {
  const floor = Math.floor(number);
  const rest = number - floor;
  return rest === 0.5 ? floor + (floor % 2) : Math.round(number);
}

/** DynamicQuantizeLinear, and back. */
function activations(x: Float32Array): Float64Array {
  const [least, most] = [Math.min(0, ...x), Math.max(0, ...x)];
  const scale = (most - least) / 255;
  const zero = Math.min(255, Math.max(0, nearest(-least / scale)));
  return Float64Array.from(x, (number) => (Math.min(255, Math.max(0, nearest(number / scale) + zero)) - zero) * scale);
}

/** Symmetric, 8 bits, one scale. */
function weights(w: Float32Array): Float64Array {
  const scale = w.reduce((most, number) => Math.max(most, Math.abs(number)), 0) / 127;
  return Float64Array.from(w, (number) => nearest(number / scale) * scale);
}

const apart = (exact: Float64Array, found: ArrayLike<number>): number =>
  Math.sqrt(exact.reduce((sum, number, at) => sum + (number - (found[at] ?? Number.NaN)) ** 2, 0) / exact.length);

describe.each(ENGINE_KINDS.slice(0, 1))("$variant", (kind) => {
  let engine: Heed;
  beforeAll(async () => {
    engine = await openKind(kind);
  });
  afterAll(() => engine.dispose());

  test.each(Object.entries(SPREADS))("int8 is closer, %s activations", async (_, spread) => {
    const random = new Random(17);
    const x = random.floats(ROWS * INPUTS).map((number, at) => number * spread(at % INPUTS));
    const weight = random.floats(OUTPUTS * INPUTS);
    const layer = new Linear({ inFeatures: INPUTS, outFeatures: OUTPUTS, bias: false, engine });
    layer.load({ weight: { data: weight, shape: [OUTPUTS, INPUTS] } }, { weights: "int8" });
    const { data } = await layer.forward({ data: x, shape: [ROWS, INPUTS] });
    const exact = product(x, weight);
    const dynamic = apart(exact, product(activations(x), weights(weight)));
    const own = apart(exact, data);
    expect(own).toBeGreaterThan(0);
    expect(own).toBeLessThan(dynamic);
  });
});
