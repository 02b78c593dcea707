// Notes that are found by questions in other words: an encoder of random start learns from pairs of both, by contrast.
//
// A question has no word of its note that tells but the name of who did it, and must find its own among 256 notes, of which none was trained on.
//
// Seeds 1 to 5 find 100 % of the notes, and 0.4 to 2.7 % before they learn, in 8 to 13 s on a machine that other work shared.

import { BertModel, Layer, Pooling } from "heed/layers";
import { AdamW, contrastive, train as learn, warmupCosine } from "heed/train";
import { randomOf } from "./random.js";

const BATCH = 64;
const DIM = 64;

const NAMES = "susan mary john peter anna paul ruth tom".split(" ");
const DAYS = "monday tuesday wednesday thursday friday saturday sunday".split(" ");
/** As notes have it, and as questions have it. */
const ACTIONS = [
  ["mended", "repair"],
  ["bought", "purchase"],
  ["lost", "misplace"],
  ["painted", "colour"],
  ["hid", "conceal"],
  ["cleaned", "wash"],
  ["found", "discover"],
  ["broke", "damage"],
];
const THINGS = [
  ["bicycle", "bike"],
  ["sofa", "couch"],
  ["car", "automobile"],
  ["rug", "carpet"],
  ["telephone", "phone"],
  ["cup", "mug"],
  ["picture", "photograph"],
  ["coat", "jacket"],
  ["rucksack", "backpack"],
  ["lamp", "light"],
  ["stone", "rock"],
  ["boat", "ship"],
];
const PLACES = [
  ["garage", "carport"],
  ["cellar", "basement"],
  ["wood", "forest"],
  ["shop", "store"],
  ["loft", "attic"],
  ["garden", "yard"],
  ["office", "bureau"],
  ["road", "street"],
];

const NOTES = [
  ({ who, did, thing, place, day }) => `on ${day} ${who} ${did} the ${thing} in the ${place}`,
  ({ who, did, thing, place, day }) => `the ${thing} : ${who} ${did} it in the ${place} on ${day}`,
];
const QUESTIONS = [
  ({ who, did, thing, place }) => `when did ${who} ${did} a ${thing} at this ${place} ?`,
  ({ who, did, thing, place }) => `what day at this ${place} did ${who} ${did} a ${thing} ?`,
];

const FILLING = "on the in : it when did a at this what day ?";
const WORDS = [...new Set([FILLING.split(" "), NAMES, DAYS, ACTIONS.flat(), THINGS.flat(), PLACES.flat()].flat())];
const LENGTH = 12;

const CONFIG = {
  model_type: "bert",
  vocab_size: WORDS.length,
  hidden_size: DIM,
  intermediate_size: 2 * DIM,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  max_position_embeddings: LENGTH,
};

class Embedder extends Layer {
  constructor(engine) {
    super("Embedder", engine);
    this.bert = this.part("bert", new BertModel(CONFIG, { engine }));
    this.pool = this.part("pool", new Pooling({ kind: "mean", engine }));
  }

  /** Texts to vectors [texts, DIM]. */
  async forward(texts, options) {
    const tokens = texts.map((text) => text.split(" ").map((word) => WORDS.indexOf(word)));
    const { hidden } = await this.bert.forward(tokens, { ...options, keep: true });
    return this.pool.forward(hidden, options);
  }
}

/** @param {import("./options.js").RecipeOptions} [options] */
export async function train({ seed = 0, steps = 200, signal, onStep, engine } = {}) {
  const model = new Embedder(engine).init({ seed });
  const before = await accuracy({ model });
  const optimizer = new AdamW(model, { weightDecay: 0.01 });
  const random = randomOf(seed);
  await learn(model, {
    optimizer,
    steps,
    batch: () => Array.from({ length: BATCH }, () => draw(random)),
    loss: async (model, pairs, pass) => {
      const questions = await model.forward(
        pairs.map(({ question }) => question),
        { pass },
      );
      const notes = await model.forward(
        pairs.map(({ note }) => note),
        { pass },
      );
      return contrastive(questions, notes, { pass, symmetric: true });
    },
    schedule: (step) => warmupCosine(step, { peak: 3e-3, warmup: 20, total: steps }),
    clip: 1,
    signal,
    onStep,
  });
  optimizer.dispose();
  return { model, before, find: (question, notes) => find(model, [question], notes) };
}

/** The share of questions about new notes whose nearest note is their own. */
export async function accuracy({ model }, { seed = 1e6, count = 256 } = {}) {
  const random = randomOf(seed);
  const pairs = Array.from({ length: count }, () => draw(random, { isNew: true }));
  const found = await find(
    model,
    pairs.map(({ question }) => question),
    pairs.map(({ note }) => note),
  );
  // Notes that tell of the same may stand for each other.
  return found.filter((at, own) => pairs[at].key === pairs[own].key).length / count;
}

export const figures = async (trained) => ({ before: trained.before, after: await accuracy(trained) });

/** For each question, which note is nearest by its cosine. */
async function find(model, questions, notes) {
  const [asked, kept] = [await unitsOf(model, questions), await unitsOf(model, notes)];
  const cosine = (a, b) => a.reduce((sum, number, at) => sum + number * b[at], 0);
  return asked.map((one) => {
    const cosines = kept.map((other) => cosine(one, other));
    return cosines.indexOf(Math.max(...cosines));
  });
}

async function unitsOf(model, texts) {
  const { data } = await model.forward(texts, {});
  return texts.map((_, row) => {
    const vector = data.subarray(row * DIM, (row + 1) * DIM);
    const length = Math.hypot(...vector);
    return vector.map((number) => number / length);
  });
}

/** One combination in ten is never trained on. */
export function draw(random, { isNew = false } = {}) {
  const all = [NAMES, ACTIONS, THINGS, PLACES];
  const [who, did, thing, place] = all.map(({ length }) => random.below(length));
  const key = ((who * ACTIONS.length + did) * THINGS.length + thing) * PLACES.length + place;
  if (((who + did + thing + place) % 10 === 0) !== isNew) return draw(random, { isNew });
  const say = (at) => ({ who: NAMES[who], did: ACTIONS[did][at], thing: THINGS[thing][at], place: PLACES[place][at] });
  const note = random.pick(NOTES)({ ...say(0), day: random.pick(DAYS) });
  return { key, note, question: random.pick(QUESTIONS)(say(1)) };
}
