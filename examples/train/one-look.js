// One attention matrix that learns to copy, reverse or sort the letters of a word, or which letter comes next in one that repeats itself. The
// answer is read through it alone, so that it becomes the order of the letters; of the last task, an induction head.
//
// Seeds 1 to 5 give all letters right where they are copied or reversed, in 1 to 3 s, 95 to 99 % where they are sorted, in 4 to 10 s, and 99 to
// 100 % of those that come next, in 4 to 5 s, on a machine that other work shared.

import { Embedding, Encoder, Layer, Linear, MultiHeadAttention } from "heed/layers";
import { AdamW, crossEntropy, train as learn, warmupCosine } from "heed/train";
import { largest } from "./largest.js";
import { randomOf } from "./random.js";
import { TASKS as ORDERS } from "./sequences.js";

/** Letters of a word. */
export const LENGTH = 8;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz";
const BATCH = 32;
const DIM = 32;
/** So few that values cannot be told apart in a mixture: attention has to choose. */
const VALUE_DIM = 4;
const STEPS = { copy: 121, reverse: 121, sort: 241, induction: 241 };
const PEAK = { copy: 4e-3, reverse: 4e-3, sort: 1e-2, induction: 1e-2 };
/** Layers that read the word before the look: sorting has to compare letters, and induction has to know the letter before each. */
const READING = { copy: 0, reverse: 0, sort: 2, induction: 1 };
/** Periods of words that repeat themselves. */
const [SHORTEST, LONGEST] = [3, 6];
const IGNORED = -100;

const TASKS = {
  ...ORDERS,
  /** What followed a letter where it stood before; elsewhere nobody can know. */
  induction: (letters) =>
    letters.map((letter, at) => {
      const before = letters.lastIndexOf(letter, at - 1);
      return at === 0 || before < 0 ? IGNORED : letters[before + 1];
    }),
};

/**
 * Queries are places of the answer, or of the letters that come before it, keys letters with their places, values letters. `without`: the
 * parts that it has to do without.
 */
class OneLook extends Layer {
  constructor({ task, without, engine }) {
    super("OneLook", engine);
    this.hasPlaces = !without.includes("positions");
    this.attends = {
      causal: task === "induction" && !without.includes("mask"),
      ...(without.includes("scaling") && { scale: 1 }),
    };
    this.letters = this.part("letters", new Embedding({ count: ALPHABET.length, dim: DIM, engine }));
    this.places = this.part("places", new Embedding({ count: LENGTH, dim: DIM, engine }));
    this.placed = this.part("placed", new Linear({ inFeatures: DIM, outFeatures: DIM, engine }));
    if (task !== "induction") this.queries = this.part("queries", new Embedding({ count: LENGTH, dim: DIM, engine }));
    const attention = { embedDim: DIM, heads: 1, valueDim: VALUE_DIM, engine };
    this.attention = this.part("attention", new MultiHeadAttention(attention));
    this.head = this.part("head", new Linear({ inFeatures: DIM, outFeatures: ALPHABET.length, engine }));
    const layers = READING[task];
    if (layers === 0) return;
    const heads = without.includes("heads") ? 1 : 4;
    this.compare = this.part("compare", new Encoder({ layers, dim: DIM, heads, hidden: 2 * DIM, engine }));
  }

  /** Letters [B, LENGTH] to logits [B, LENGTH, letters], and the matrix: its weights, and its scores before the softmax. */
  async forward(letters, options) {
    const [batch] = letters.shape;
    const data = Int32Array.from({ length: batch * LENGTH }, (_, at) => at % LENGTH);
    const places = { data, shape: [batch, LENGTH] };
    const values = await this.letters.forward(letters, options);
    const where = this.hasPlaces ? await this.places.forward(places, options) : undefined;
    const placed = where ? await this.placed.forward(where, { ...options, addend: values }) : values;
    const read = await this.compare?.forward(placed, { ...options, self: this.attends });
    const keys = read?.output ?? placed;
    const queries = (await this.queries?.forward(places, options)) ?? keys;
    const wanted = options.pass ? { output: true } : { output: true, weights: true, scores: "masked" };
    const looking = { ...options, ...this.attends, return: wanted };
    const { output, ...matrix } = await this.attention.forward(queries, keys, values, looking);
    return { logits: await this.head.forward(output, options), ...matrix };
  }
}

/**
 * `onLook` is told before every `every` steps how the model reads `word`, and awaited.
 *
 * @typedef {"copy" | "reverse" | "sort" | "induction"} Task
 * @typedef {"positions" | "scaling" | "heads" | "mask"} Part
 * @typedef {{ readonly step: number, readonly answer: string, readonly scores: Float32Array, readonly weights: Float32Array }} Look
 * @param {import("./options.js").RecipeOptions & { task?: Task, without?: readonly Part[], word?: string, every?: number, onLook?: (look: Look) => unknown }} [options]
 */
export async function train({ task = "reverse", seed = 0, steps = STEPS[task], signal, onStep, engine, ...more } = {}) {
  const { word = "stressed", every = 1, onLook, without = [] } = more;
  const model = new OneLook({ task, without, engine }).init({ seed });
  const optimizer = new AdamW(model, { weightDecay: 0.01 });
  const random = randomOf(seed);
  await learn(model, {
    optimizer,
    steps,
    batch: async (step) => {
      if (onLook !== undefined && step % every === 0) await onLook({ step, ...(await look(model, word)) });
      return batchOf(task, { random, count: BATCH });
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

/** The share of letters of new words that are right, of those that can be known. */
export async function accuracy({ model, task }, { seed = 1e6, count = 256 } = {}) {
  const { letters, targets } = batchOf(task, { random: randomOf(seed), count });
  const { logits } = await model.forward(letters, {});
  const known = targets.flatMap((target, at) => (target === IGNORED ? [] : [largest(logits, at) === target]));
  return known.filter(Boolean).length / known.length;
}

async function look(model, word) {
  const letters = Array.from(word, (letter) => ALPHABET.indexOf(letter));
  const { logits, scores, weights } = await model.forward({ data: letters, shape: [1, LENGTH] }, {});
  const answer = letters.map((_, at) => ALPHABET[largest(logits, at)]).join("");
  return { answer, scores: scores.data, weights: weights.data };
}

const draw = (random) => Array.from({ length: LENGTH }, () => random.below(ALPHABET.length));

/** Letters that are all different, again and again. */
function drawRepeated(random) {
  const period = SHORTEST + random.below(LONGEST - SHORTEST + 1);
  const letters = draw(random).slice(0, period);
  if (new Set(letters).size < period) return drawRepeated(random);
  return Array.from({ length: LENGTH }, (_, at) => letters[at % period]);
}

function batchOf(task, { random, count }) {
  const words = Array.from({ length: count }, () => (task === "induction" ? drawRepeated(random) : draw(random)));
  return { letters: { data: words.flat(), shape: [count, LENGTH] }, targets: words.flatMap(TASKS[task]) };
}
