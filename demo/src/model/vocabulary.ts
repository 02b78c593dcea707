// Words as vectors, and the matrices that ask for them: all made by hand, not learned; the page says so.

import { fill, identity, type Matrix } from "./matrix.js";
import { twoDecimals } from "./random.js";

/** In order of importance, so that a narrower X keeps the most telling ones. */
export const FEATURE_MEANING = {
  thing: "names a thing",
  alive: "is alive (below zero: lifeless)",
  points: "stands for something else",
  acts: "is something one does",
  tells: "says how something is",
  body: "has to do with a body and its feelings",
  place: "has to do with places and their extent",
  glue: "is a small word that holds the sentence together",
  joins: "joins two statements",
  moves: "has to do with motion",
  gives: "has to do with giving",
  "she/he": "is female (above zero) or male (below)",
  food: "has to do with eating",
  good: "is pleasant (below zero: unpleasant)",
  not: "turns a statement round",
  many: "is more than one",
};

export type Feature = keyof typeof FEATURE_MEANING;

const isFeature = (name: string): name is Feature => name in FEATURE_MEANING;
export const FEATURES: readonly Feature[] = Object.keys(FEATURE_MEANING).filter(isFeature);

type Words = Readonly<Record<string, string>>;

/** Words by what their kind means. */
const KINDS: Words = {
  "thing 1 alive 1 body .8 moves .4": "animal cat dog bird horse mouse fish fox bear wolf cow rabbit owl bee",
  "thing .9 alive 1 body .7":
    "man woman boy girl child people student teacher friend doctor robot king queen susan mary john alice bob owner",
  "thing 1 alive -.4 place 1":
    "road street house home park city school river mountain forest sea room garden bridge kitchen world field",
  "thing 1 alive -.3":
    "mat ball book car tree trophy suitcase key door table letter roses rose flower tail word sentence bench box sun moon",
  "thing .9 alive -.2 food 1 good .3": "apple bread cheese cake soup milk honey pizza tea coffee",
  "points 1": "it he she they him her them i we you who this that which his its their",
  "acts 1":
    "sat is saw see sees reads read wrote write thought knows think loves likes love heeds heed looks look asked fits fit was were",
  "acts 1 moves .9": "cross crossed ran run runs walked walk went go goes jumped jump jumps flew swam chased wagged",
  "acts 1 gives 1": "gave give gives sent took brought handed",
  "acts 1 food .7 body .3": "ate eat eats drank cooked",
  "tells 1 body 1": "tired hungry happy sad angry afraid sleepy lazy quick brown old young sick thirsty fluffy",
  "tells 1 place 1": "wide long narrow big small large deep high far near busy",
  "tells 1": "red blue green new good bad cold warm beautiful slow loud heavy quiet",
  "glue 1": "the a an to of in on at over for with by too very so as into under , . ; : ! ? - ( ) [pad]",
  "glue .6 joins 1": "because and but when while or if then since",
};

/** What some words mean instead. */
const INSTEAD: Words = {
  "points 1": "it",
  "acts .3 glue .8": "was is",
  "acts .3 glue .8 many .5": "were",
  "not 1 glue .6": "didn't not never no",
  "": "[pad]",
};

/** What some words mean besides. */
const BESIDES: Words = {
  "she/he 1": "she her susan mary alice woman girl queen",
  "she/he -1": "he him his john bob man boy king",
  "many 1": "they them we people",
  "many 1 good .6 gives .5": "roses",
  "good .5": "flower likes",
  "good 1": "happy good",
  "good .8": "beautiful loves love",
  "good -1": "sad bad",
  "good -.8": "angry",
  "good -.3": "tired",
  "food .8": "hungry",
  "gives .3": "owner",
};

type Meaning = Readonly<Record<string, number>>;

const readMeaning = (line: string): Meaning =>
  Object.fromEntries(Array.from(line.matchAll(/(\S+) (\S+)/g), ([, name = "", amount]) => [name, Number(amount)]));

function byWord(...groups: readonly Words[]): ReadonlyMap<string, string> {
  const lists = groups.flatMap((words) => Object.entries(words));
  return new Map(lists.flatMap(([meaning, list]) => list.split(" ").map((word) => [word, meaning] as const)));
}

const touches = byWord(BESIDES);
const TABLE = new Map(
  Array.from(byWord(KINDS, INSTEAD), ([word, line]) => [word, readMeaning(`${line} ${touches.get(word) ?? ""}`)]),
);

/** Signs are no words. */
export const WORDS_KNOWN = Array.from(TABLE.keys()).filter((word) => /^\p{L}/u.test(word)).length;

/** The properties set by hand for this word, or undefined. */
export const meaningOf = (word: string): Meaning | undefined => TABLE.get(word.toLowerCase().replace("’", "'"));

export const LEAST_WIDTH = 4;
export const MOST_WIDTH = 16;

/** From the table where it knows the word, else from the word’s letters, always the same for the same word. */
export function embed(words: readonly string[], width: number): Matrix {
  const vectors = words.map(vectorOf);
  return fill(words.length, width, (row, col) => vectors[row]?.[col] ?? 0);
}

/** The table lacks it. */
export const isUnknown = (word: string): boolean => meaningOf(word) === undefined;

function vectorOf(word: string): readonly number[] {
  const meaning = meaningOf(word);
  return FEATURES.map((feature, index) => (meaning ? (meaning[feature] ?? 0) : fromLetters(word, index)));
}

/** Two decimals in [-0.4, 0.4] that its letters decide. */
function fromLetters(word: string, index: number): number {
  const letters = Array.from(word.toLowerCase(), (letter) => letter.codePointAt(0) ?? 0);
  const wave = letters.reduce((sum, code, place) => sum + Math.sin(code * (index + 1) * 0.37 + place + 1), 0);
  return twoDecimals((0.4 * wave) / (letters.length + 1));
}

type Amounts = Readonly<Partial<Record<Feature, number>>>;

/**
 * By the name of its column, as short as a column is wide: which properties make a word ask, how strongly, and which make it answer.
 * The order matters twice: a narrower X keeps the first ones, and h heads cut the list into h equal parts. At width 8 the first
 * head of two looks for living things and the second for places, which is what splits "it" between the animal and the road.
 */
const QUESTIONS: Readonly<Record<string, Readonly<Record<"asks" | "answers", Amounts>>>> = {
  who: { asks: { points: 4 }, answers: { alive: 1.5, thing: 0.5 } },
  doer: { asks: { acts: 2.5 }, answers: { alive: 1.2, thing: 0.6 } },
  feels: { asks: { body: 1.5, tells: 1 }, answers: { body: 1.5 } },
  how: { asks: { thing: 1.5 }, answers: { tells: 1.2 } },
  what: { asks: { points: 4 }, answers: { place: 1.2, thing: 0.8, alive: -0.6 } },
  where: { asks: { acts: 2.5 }, answers: { place: 1.2, thing: 0.3 } },
  extent: { asks: { place: 2 }, answers: { place: 1.4 } },
  which: { asks: { glue: 1.2 }, answers: { thing: 1.2 } },
  why: { asks: { joins: 2 }, answers: { acts: 1.2, tells: 0.8 } },
  mover: { asks: { moves: 1.5 }, answers: { alive: 1.2 } },
  gift: { asks: { gives: 2 }, answers: { thing: 1, alive: -1 } },
  "she/he": { asks: { "she/he": 2 }, answers: { "she/he": 1.5 } },
  eats: { asks: { food: 1.5 }, answers: { food: 1.5 } },
  mood: { asks: { good: 1.5 }, answers: { good: 1.5 } },
  denied: { asks: { not: 2 }, answers: { acts: 1.2 } },
  all: { asks: { many: 1.5 }, answers: { many: 1.5 } },
};

export const QUESTION_NAMES = Object.keys(QUESTIONS);

/** W_Q, W_K and W_V as they stand before anybody edits them. */
export function givenProjections(width: number) {
  const questions = Object.values(QUESTIONS);
  const amounts = (of: "asks" | "answers"): Matrix =>
    fill(width, width, (row, col) => questions[col]?.[of][FEATURES[row] ?? "thing"] ?? 0);
  return { q: amounts("asks"), k: amounts("answers"), v: identity(width) };
}
