// Labels of one's own for sentences: a small BERT reads sentences without labels, then low-rank adapters (LoRA) learn from a few with labels.
//
// The labels say what "it" is, an animal or a place. Half of the words that tell stand in no labelled sentence: what they have in common with
// the others, the encoder knows from reading.
//
// Seeds 1 to 5 give 100 % of the labels right, each in some 30 s of computing on one thread. An encoder that has not read gets 20 to 70 %.

import { Layer, Linear, quantize } from "heed/layers";
import { AdamW, crossEntropy, train as learn, lora, warmupCosine } from "heed/train";
import { draw, PAD, WORDS } from "./grammar.js";
import * as language from "./language.js";
import { largest } from "./largest.js";
import { randomOf } from "./random.js";

const LENGTH = 16;
const BATCH = 16;
const EXAMPLES = 48;
export const LABELS = ["animal", "place"];
/** Words that stand in labelled sentences. */
const LABELLED = ["tired", "hungry", "wide", "busy"];

class Labeller extends Layer {
  constructor(bert, seed, engine) {
    super("Labeller", engine);
    this.bert = this.part("bert", bert);
    const { shape } = bert.parameters().get("pooler.bias");
    this.head = this.part("head", new Linear({ inFeatures: shape[0], outFeatures: LABELS.length, engine }));
    this.head.init({ seed });
  }

  /** Texts to logits [B, labels]. */
  async forward(texts, options) {
    const tokens = texts.flatMap(tokensOf);
    const mask = Uint8Array.from(tokens, (token) => Number(token !== PAD));
    const { pooled } = await this.bert.forward({ data: tokens, shape: [texts.length, LENGTH] }, { ...options, mask });
    return this.head.forward(pooled, options);
  }
}

/**
 * `readingSteps` are those of the encoder, on sentences without labels, and come first; none where `encoder`, the parameters of one that has
 * read, are given. With `weights` the encoder is then rounded to int8 or int4, and the adapters learn beside that (QLoRA).
 *
 * @param {import("./options.js").RecipeOptions & {
 *   readingSteps?: number,
 *   encoder?: import("heed/layers").ParameterSource,
 *   weights?: import("heed/layers").RoundedFormat | undefined,
 * }} [options]
 */
export async function train(options = {}) {
  const { seed = 0, steps = 80, encoder, weights, signal, onStep, engine } = options;
  const readingSteps = encoder === undefined ? (options.readingSteps ?? 500) : 0;
  const { model: bert } =
    encoder === undefined
      ? await language.train({ kind: "masked", seed, steps: readingSteps, signal, onStep, engine })
      : language.restore(encoder, { kind: "masked", engine });
  if (weights !== undefined) quantize(bert, weights);
  const model = new Labeller(bert, seed, engine);
  const adapters = lora(model, { rank: 4, alpha: 8, targets: ["q_proj", "v_proj", "up_proj", "down_proj"], seed });
  model.unfreeze(["head"]);
  const optimizer = new AdamW(model, { weightDecay: 0.01 });
  const random = randomOf(seed);
  const examples = Array.from({ length: EXAMPLES }, () => example(random, true));
  await learn(model, {
    optimizer,
    steps,
    batch: () => Array.from({ length: BATCH }, () => random.pick(examples)),
    loss: async (model, batch, pass) => {
      const logits = await model.forward(
        batch.map(({ text }) => text),
        { pass },
      );
      return crossEntropy(
        logits,
        batch.map(({ label }) => LABELS.indexOf(label)),
        { pass },
      );
    },
    schedule: (step) => warmupCosine(step, { peak: 5e-3, warmup: 10, total: steps }),
    clip: 1,
    signal,
    onStep: (report) => onStep?.({ ...report, step: report.step + readingSteps }),
  });
  optimizer.dispose();
  return { model, adapters, examples, label: async (text) => (await labelsOf(model, [text]))[0] };
}

/** The share of right labels of new sentences, with words that stand in no labelled one. */
export async function accuracy({ model }, { seed = 1e6, count = 256, isLabelled = false } = {}) {
  const random = randomOf(seed);
  const examples = Array.from({ length: count }, () => example(random, isLabelled));
  const labels = await labelsOf(
    model,
    examples.map(({ text }) => text),
  );
  return labels.filter((label, at) => label === examples[at].label).length / count;
}

async function labelsOf(model, texts) {
  const logits = await model.forward(texts, {});
  return texts.map((_, row) => LABELS[largest(logits, row)]);
}

/** A sentence and its label, with one of the words of labelled sentences or with another. */
function example(random, isLabelled) {
  for (;;) {
    const { text, answer } = draw(random, "it");
    const [sentence] = text.split(" . ");
    const words = sentence.split(" ");
    if (LABELLED.includes(words.at(-1)) !== isLabelled) continue;
    return { text: sentence, label: words[1] === answer ? "animal" : "place" };
  }
}

/** Words as tokens, with padding behind. */
function tokensOf(text) {
  const words = text.split(" ");
  return Array.from({ length: LENGTH }, (_, at) => (at < words.length ? WORDS.indexOf(words[at]) : PAD));
}
