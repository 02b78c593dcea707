// scoreMod and probMod in a pass: the gradients of attentionVjp, and of the options that say the same.

import { describe, expect, test } from "vitest";
import { add, div, floor, mul, sub, table, tanh } from "../../../web/src/expr/index.js";
import type { AttentionOptions, Heed } from "../../../web/src/index.js";
import { Decoder, MultiHeadAttention, type ParameterTensor } from "../../../web/src/layers/index.js";
import { gradients, meanSquaredError } from "../../../web/src/train/index.js";
import { FEW_KINDS, openKind } from "../../support/engines.js";
import { worstDifference } from "../../support/fixtures.js";

type Mods = Pick<AttentionOptions, "scoreMod" | "maskMod" | "probMod" | "softcap">;

const DIM = 8;
const waves = (from: number, ...shape: readonly number[]): ParameterTensor => {
  const length = shape.reduce((a, b) => a * b, 1);
  return { data: Float32Array.from({ length }, (_, at) => 2 * Math.sin(from + 1.7 * at)), shape };
};
const zerosLike = ({ shape }: { readonly shape: readonly number[] }) => {
  return { data: new Float32Array(shape.reduce((a, b) => a * b, 1)), shape };
};

/** The sums of a backward pass, each as deep as those of the forward pass. */
const DEPTH = 16;

/** Gradients of the mean square of a layer's output; a mean makes them small. */
function expectNear(got: ParameterTensor | undefined, wanted: ParameterTensor, name: string): void {
  const size = Math.max(...wanted.data.map(Math.abs));
  expect(size, name).toBeGreaterThan(0);
  const scaled = ({ data, shape }: ParameterTensor) => ({ data: data.map((number) => number / size), shape });
  expect(worstDifference(got && scaled(got), scaled(wanted), DEPTH), name).toBeLessThan(1);
}

/** A layer whose projections change nothing. */
function bare(engine: Heed): MultiHeadAttention {
  const eye = {
    data: Float32Array.from({ length: DIM * DIM }, (_, at) => Number(at % (DIM + 1) === 0)),
    shape: [DIM, DIM],
  };
  const names = ["q_proj", "k_proj", "v_proj", "out_proj"].map((name) => [`${name}.weight`, eye] as const);
  return new MultiHeadAttention({ embedDim: DIM, heads: 2, bias: false, engine }).load(new Map(names));
}

describe.each(FEW_KINDS)("$variant, $worker worker", (kind) => {
  test("attention between projections that change nothing has the gradients of attentionVjp", async () => {
    using engine = await openKind(kind);
    const byDistance = table({ data: Float32Array.from({ length: 12 }, (_, at) => Math.cos(at)), shape: [12] });
    const mods: Mods = {
      scoreMod: ({ score, h, q, k }) => add(mul(tanh(score), add(h, 0.5)), byDistance.at(add(sub(q, k), 6))),
      probMod: ({ prob, k }) => mul(prob, add(prob, byDistance.at(k))),
    };
    const given = [waves(1, 2, 5, DIM), waves(2, 2, 6, DIM), waves(3, 2, 6, DIM)] as const;
    const layer = bare(engine);
    for (const one of [mods, { scoreMod: mods.scoreMod }, { probMod: mods.probMod }] as Mods[]) {
      const { output, inputGradients } = await gradients(layer, async (pass) => {
        const [query, key, value] = [
          await pass.input(given[0]),
          await pass.input(given[1]),
          await pass.input(given[2]),
        ];
        const { output } = await layer.forward(query, key, value, { ...one, pass });
        return { loss: await meanSquaredError(output, zerosLike(output), { pass }), output };
      });
      const packed = { layout: "packed", heads: 2, kvHeads: 2, ...one } as const;
      const alone = await engine.attentionVjp(...given, packed);
      expectNear(output, alone.output, "output");
      const slopes = alone.output.data.map((number) => (2 * number) / alone.output.data.length);
      const { dq, dk, dv } = await alone.backward({ data: slopes, shape: alone.output.shape });
      for (const [at, wanted] of [dq, dk, dv].entries()) expectNear(inputGradients[at], wanted, `input ${at}`);
    }
  });

  test("a stack with a scoreMod that caps has the gradients of softcap, its blocks kept or computed again", async () => {
    using engine = await openKind(kind);
    const stack = new Decoder({ layers: 2, dim: DIM, heads: 2, engine }).init({ seed: 6 });
    const run = async (self: Mods, checkpointing = false) => {
      const { loss } = await gradients(
        stack,
        async (pass) => {
          const { output } = await stack.forward(waves(4, 2, 5, DIM), { self, pass });
          return { loss: await meanSquaredError(output, waves(5, 2, 5, DIM), { pass }) };
        },
        { checkpointing },
      );
      const read = await stack.readGradients();
      stack.load(stack.parameters());
      return { loss, read };
    };
    const scoreMod: NonNullable<Mods["scoreMod"]> = ({ score }) => mul(tanh(div(score, 2)), 2);
    const [option, mod] = [await run({ softcap: 2 }), await run({ scoreMod })];
    expect(Math.abs(mod.loss - option.loss)).toBeLessThan(1e-5);
    const most = Math.max(...[...option.read.values()].flatMap(({ data }) => [...data].map(Math.abs)));
    for (const [name, { data }] of option.read) {
      const got = mod.read.get(name)?.data ?? [];
      for (const [at, number] of data.entries())
        expect(Math.abs((got[at] ?? 0) - number), name).toBeLessThan(1e-5 * most);
    }
    expect(mod.read.size).toBe(option.read.size);
    expect(await run({ scoreMod }, true)).toEqual(mod);
  });
});

test("a function without a derivative is refused by name", async () => {
  using engine = await openKind({ variant: "relaxed", worker: "shared-memory" });
  const layer = bare(engine);
  const run = gradients(layer, async (pass) => {
    const scoreMod: NonNullable<Mods["scoreMod"]> = ({ score }) => floor(score);
    const { output } = await layer.forward(waves(1, 2, 5, DIM), undefined, undefined, { scoreMod, pass });
    return { loss: await meanSquaredError(output, zerosLike(output), { pass }) };
  });
  await expect(run).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringMatching(/^gradients: scoreMod has no derivative, because floor/),
  });
});
