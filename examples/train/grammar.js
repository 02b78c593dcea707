// Sentences of a small grammar, each with a question that only who knows what "it" is, or who did what, can answer.

import { randomOf } from "./random.js";

const ANIMALS = "animal dog cat horse sheep hen duck fox mouse goat cow deer".split(" ");
const PLACES = "road street river bridge field yard square path lake park rail stream".split(" ");
const NAMES = "susan mary john peter anna paul ruth tom lucy mark jane adam".split(" ");
const GIFTS = "roses book ring cake letter map".split(" ");
/** What is said of animals alone, and of places alone. */
const OF_ANIMALS = "tired hungry afraid sleepy".split(" ");
const OF_PLACES = "wide busy wet closed".split(" ");

/** Each form gives the sentence with its question, the right answer, and the noun that it must be told from. */
const FORMS = {
  it: (random, isFirst = random.next() < 0.5) => {
    const [animal, place] = [random.pick(ANIMALS), random.pick(PLACES)];
    const why = random.pick(isFirst ? OF_ANIMALS : OF_PLACES);
    const text = `the ${animal} didn't cross the ${place} because it was ${why} . it was the`;
    return { text, answer: isFirst ? animal : place, other: isFirst ? place : animal };
  },
  gift: (random, isFirst = random.next() < 0.5) => {
    const giver = random.pick(NAMES);
    const taker = random.pick(NAMES.filter((name) => name !== giver));
    const gift = random.pick(GIFTS);
    const text = `${giver} gave ${taker} the ${gift} . who ${isFirst ? "gave" : "got"} the ${gift} ?`;
    return { text, answer: isFirst ? giver : taker, other: isFirst ? taker : giver };
  },
  owner: (random, isFirst = random.next() < 0.5) => {
    const [pet, owner] = [random.pick(ANIMALS), random.pick(NAMES)];
    const did = isFirst ? "wagged its tail" : "waved a hand";
    const text = `the ${pet} saw its owner ${owner} and one ${did} . that was`;
    return { text, answer: isFirst ? pet : owner, other: isFirst ? owner : pet };
  },
};

export const FORM_NAMES = Object.keys(FORMS);

export function draw(random, form = random.pick(FORM_NAMES)) {
  return FORMS[form](random);
}

/** Two texts that differ in what is said of one of two, by which their answers are exchanged. */
export function drawPair(seed, form) {
  return [true, false].map((isFirst) => FORMS[form](randomOf(seed), isFirst));
}

const FILLING =
  "[pad] [mask] . ? the didn't cross because it was who gave got saw its owner and one wagged tail waved a hand that";
export const WORDS = [
  ...new Set([...FILLING.split(" "), ...ANIMALS, ...PLACES, ...NAMES, ...GIFTS, ...OF_ANIMALS, ...OF_PLACES]),
];

export const PAD = 0;
export const MASK = 1;

/** Text and answer as tokens, the answer last, with padding to `length` behind. */
export function tokensOf({ text, answer }, length) {
  const words = `${text} ${answer}`.split(" ");
  return Array.from({ length }, (_, at) => (at < words.length ? WORDS.indexOf(words[at]) : PAD));
}
