// Gradients of families of models against PyTorch's: how fast a loss grows with each published parameter.

import { afterAll, expect, test } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import {
  DistilBertModel,
  EmbeddingGemmaModel,
  Gemma3Model,
  ModernBertModel,
  MPNetModel,
  type ParameterTensor,
  Qwen2Model,
  Qwen3Model,
  RobertaModel,
  SmolLM3Model,
} from "../../../web/src/layers/index.js";
import { crossEntropy, gradients, meanSquaredError, type Pass } from "../../../web/src/train/index.js";
import { caseOf } from "../../support/families.js";

const engine = await createHeed();
afterAll(() => engine.dispose());

const CAUSAL = { qwen2: Qwen2Model, qwen3: Qwen3Model, smollm3: SmolLM3Model, gemma3: Gemma3Model } as const;

const ENCODERS = {
  roberta: RobertaModel,
  distilbert: DistilBertModel,
  embeddinggemma: EmbeddingGemmaModel,
  modernbert: ModernBertModel,
  mpnet: MPNetModel,
} as const;

const cosines = (count: number): Float32Array => Float32Array.from({ length: count }, (_, at) => Math.cos(at));

type Made = InstanceType<(typeof CAUSAL)[keyof typeof CAUSAL] | (typeof ENCODERS)[keyof typeof ENCODERS]>;

/**
 * The slope of each published parameter, from gradients under heed's names: a model that loads the direction says where its numbers
 * belong, and one that loads zeros, what a load adds to them. Parameters that are one are counted once.
 */
function slopesOf(
  make: () => Made,
  parameters: ReadonlyMap<string, ParameterTensor>,
  found: ReadonlyMap<string, ParameterTensor>,
): Map<string, number> {
  const zeros = new Map([...parameters].map(([name, { data, shape }]) => [name, { data: data.map(() => 0), shape }]));
  const base = make().load(zeros).parameters();
  return new Map(
    [...parameters].map(([published, { data, shape }]) => {
      const moved = make()
        .load(new Map([...zeros, [published, { data: cosines(data.length), shape }]]))
        .parameters();
      const seen = new Set<Float32Array>();
      let slope = 0;
      for (const [name, { data: gradient }] of found) {
        if (seen.has(gradient)) continue;
        seen.add(gradient);
        const [from, to] = [base.get(name)?.data, moved.get(name)?.data];
        for (const [at, number] of gradient.entries()) slope += number * ((to?.[at] ?? 0) - (from?.[at] ?? 0));
      }
      return [published, slope];
    }),
  );
}

async function expectSlopes(
  { parameters, slopes, loss: wanted }: ReturnType<typeof caseOf>,
  make: () => Made,
  lossOf: (model: never, pass: Pass) => Promise<Awaited<ReturnType<typeof crossEntropy>>>,
): Promise<void> {
  const model = make().load(parameters);
  const { loss } = await gradients(model, async (pass) => ({ loss: await lossOf(model as never, pass) }));
  expect(Math.abs(loss - wanted)).toBeLessThan(1e-5 * Math.max(1, wanted));
  const got = slopesOf(make, parameters, await model.readGradients());
  const names = Object.keys(slopes);
  expect(names.length).toBeGreaterThanOrEqual(20);
  for (const name of names) {
    const slope = slopes[name] ?? Number.NaN;
    // Sums of some hundred products, of gradients that are exact to about 36 sums of 24 products, as results are.
    expect(Math.abs((got.get(name) ?? Number.NaN) - slope), name).toBeLessThan(1e-4 * Math.max(1, Math.abs(slope)));
  }
  // So that no bound is wider than what it bounds.
  expect(names.filter((name) => Math.abs(slopes[name] ?? 0) > 1e-3).length).toBeGreaterThan(names.length / 2);
  model.dispose();
}

test.each(Object.entries(CAUSAL))("%s has PyTorch's gradients", async (name, Model) => {
  const of = caseOf(name);
  const [text = []] = of.texts;
  await expectSlopes(
    of,
    () => new Model(of.config, { engine }),
    async (model: InstanceType<typeof Model>, pass) => {
      const { logits } = await model.forward(text, { pass });
      return crossEntropy(logits, [[...text.slice(1), -100]], { pass });
    },
  );
});

test.each(Object.entries(ENCODERS))("%s has PyTorch's gradients", async (name, Model) => {
  const of = caseOf(name);
  const [text = []] = of.texts;
  await expectSlopes(
    of,
    () => new Model(of.config, { engine }),
    async (model: InstanceType<typeof Model>, pass) => {
      const { hidden } = await model.forward(text, { pass });
      const { shape } = hidden;
      return meanSquaredError(hidden, { data: cosines(text.length * 16), shape }, { pass });
    },
  );
});
