// One attention matrix that learns to copy, reverse or sort the letters of a word. The answer is read through it alone, so that it becomes
// the order of the letters.
//
// Seeds 1 to 5 give all letters right where they are copied or reversed, in 1 to 3 s, and 95 to 99 % where they are sorted, in 4 to 10 s,
// on a machine that other work shared.

import { Embedding, Encoder, Layer, Linear, MultiHeadAttention } from "heed/layers";
import { AdamW, crossEntropy, train as learn, warmupCosine } from "heed/train";
import { largest } from "./largest.js";
import { randomOf } from "./random.js";
import { TASKS } from "./sequences.js";

/** Letters of a word. */
export const LENGTH = 8;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz";
const BATCH = 32;
const DIM = 32;
/** So few that values cannot be told apart in a mixture: attention has to choose. */
const VALUE_DIM = 4;
/** Sorting has to compare letters first. */
const STEPS = { copy: 121, reverse: 121, sort: 241 };
const PEAK = { copy: 4e-3, reverse: 4e-3, sort: 1e-2 };

/** Queries are places of the answer, keys letters with their places, values letters. */
class OneLook extends Layer {
  constructor(task, engine) {
    super("OneLook", engine);
    this.letters = this.part("letters", new Embedding({ count: ALPHABET.length, dim: DIM, engine }));
    this.places = this.part("places", new Embedding({ count: LENGTH, dim: DIM, engine }));
    this.placed = this.part("placed", new Linear({ inFeatures: DIM, outFeatures: DIM, engine }));
    this.queries = this.part("queries", new Embedding({ count: LENGTH, dim: DIM, engine }));
    const attention = { embedDim: DIM, heads: 1, valueDim: VALUE_DIM, engine };
    this.attention = this.part("attention", new MultiHeadAttention(attention));
    this.head = this.part("head", new Linear({ inFeatures: DIM, outFeatures: ALPHABET.length, engine }));
    if (task !== "sort") return;
    this.compare = this.part("compare", new Encoder({ layers: 2, dim: DIM, heads: 4, hidden: 2 * DIM, engine }));
  }

  /** Letters [B, LENGTH] to logits [B, LENGTH, letters], and the matrix: its weights, and its scores before the softmax. */
  async forward(letters, options) {
    const [batch] = letters.shape;
    const data = Int32Array.from({ length: batch * LENGTH }, (_, at) => at % LENGTH);
    const places = { data, shape: [batch, LENGTH] };
    const values = await this.letters.forward(letters, options);
    const where = await this.places.forward(places, options);
    const placed = await this.placed.forward(where, { ...options, addend: values });
    const keys = this.compare === undefined ? placed : (await this.compare.forward(placed, options)).output;
    const queries = await this.queries.forward(places, options);
    const wanted = options.pass ? { output: true } : { output: true, weights: true, scores: "masked" };
    const { output, ...matrix } = await this.attention.forward(queries, keys, values, { ...options, return: wanted });
    return { logits: await this.head.forward(output, options), ...matrix };
  }
}

/**
 * `onLook` is told before every `every` steps how the model reads `word`.
 *
 * @typedef {"copy" | "reverse" | "sort"} Task
 * @typedef {{ readonly step: number, readonly answer: string, readonly scores: Float32Array, readonly weights: Float32Array }} Look
 * @param {import("./options.js").RecipeOptions & { task?: Task, word?: string, every?: number, onLook?: (look: Look) => void }} [options]
 */
export async function train({
  task = "reverse",
  seed = 0,
  steps = STEPS[task],
  signal,
  onStep,
  engine,
  ...looks
} = {}) {
  const { word = "stressed", every = 1, onLook } = looks;
  const model = new OneLook(task, engine).init({ seed });
  const optimizer = new AdamW(model, { weightDecay: 0.01 });
  const random = randomOf(seed);
  await learn(model, {
    optimizer,
    steps,
    batch: async (step) => {
      if (onLook !== undefined && step % every === 0) onLook({ step, ...(await look(model, word)) });
      return batchOf(
        Array.from({ length: BATCH }, () => draw(random)),
        task,
      );
    },
    loss: async (model, { letters, targets }, pass) => {
      const { logits } = await model.forward(letters, { pass });
      return crossEntropy(logits, targets, { pass });
    },
    schedule: (step) => warmupCosine(step, { peak: PEAK[task], warmup: 10, total: steps }),
    clip: 1,
    signal,
    onStep,
  });
  optimizer.dispose();
  return { model, task, look: (word) => look(model, word) };
}

/** The share of letters of new words that are right. */
export async function accuracy({ model, task }, { seed = 1e6, count = 256 } = {}) {
  const random = randomOf(seed);
  const { letters, targets } = batchOf(
    Array.from({ length: count }, () => draw(random)),
    task,
  );
  const { logits } = await model.forward(letters, {});
  return targets.filter((target, at) => largest(logits, at) === target).length / targets.length;
}

async function look(model, word) {
  const letters = Array.from(word, (letter) => ALPHABET.indexOf(letter));
  const { logits, scores, weights } = await model.forward({ data: letters, shape: [1, LENGTH] }, {});
  const answer = letters.map((_, at) => ALPHABET[largest(logits, at)]).join("");
  return { answer, scores: scores.data, weights: weights.data };
}

const draw = (random) => Array.from({ length: LENGTH }, () => random.below(ALPHABET.length));

function batchOf(words, task) {
  const letters = { data: words.flat(), shape: [words.length, LENGTH] };
  return { letters, targets: words.flatMap(TASKS[task]) };
}
