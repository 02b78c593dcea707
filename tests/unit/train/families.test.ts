// Gradients of families of models against PyTorch's: how fast a loss grows with each published parameter.

import { afterAll, expect, test } from "vitest";
import { createHeed } from "../../../web/src/index.js";
import {
  DistilBertModel,
  EmbeddingGemmaModel,
  Gemma3Model,
  type ModelConfig,
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

type LossOf = (model: never, text: readonly number[], pass: Pass) => ReturnType<typeof crossEntropy>;

const nextTokens = async (model: Pick<Qwen2Model, "forward">, text: readonly number[], pass: Pass) => {
  const { logits } = await model.forward(text, { pass });
  return crossEntropy(logits, [[...text.slice(1), -100]], { pass });
};

const statesByCosines = async (model: Pick<RobertaModel, "forward">, text: readonly number[], pass: Pass) => {
  const { hidden } = await model.forward(text, { pass });
  const { shape } = hidden;
  return meanSquaredError(hidden, { data: cosines(text.length * 16), shape }, { pass });
};

const ALL: readonly (readonly [string, new (config: ModelConfig, options: object) => Made, LossOf])[] = [
  ...Object.entries(CAUSAL).map(([name, Model]) => [name, Model, nextTokens] as const),
  ...Object.entries(ENCODERS).map(([name, Model]) => [name, Model, statesByCosines] as const),
];

test.each(ALL)("%s has PyTorch's gradients", async (name, Model, lossOf) => {
  const { config, texts, parameters, slopes, loss: wanted } = caseOf(name);
  // PyTorch's numbers are of models without dropout.
  const none = Object.keys(config).filter((field) => field.includes("drop"));
  const still = { ...config, ...Object.fromEntries(none.map((field) => [field, 0])) };
  const make = () => new Model(still, { engine });
  const model = make().load(parameters);
  const { loss } = await gradients(model, async (pass) => ({
    loss: await lossOf(model as never, texts[0] ?? [], pass),
  }));
  expect(Math.abs(loss - wanted)).toBeLessThan(1e-5 * Math.max(1, wanted));
  const got = slopesOf(make, parameters, await model.readGradients());
  const names = Object.keys(slopes);
  expect(names.length).toBeGreaterThanOrEqual(20);
  for (const one of names) {
    const slope = slopes[one] ?? Number.NaN;
    // Sums of some hundred products, of gradients that are exact to about 36 sums of 24 products, as results are.
    expect(Math.abs((got.get(one) ?? Number.NaN) - slope), one).toBeLessThan(1e-4 * Math.max(1, Math.abs(slope)));
  }
  // So that no bound is wider than what it bounds.
  expect(names.filter((one) => Math.abs(slopes[one] ?? 0) > 1e-3).length).toBeGreaterThan(names.length / 2);
  model.dispose();
});
