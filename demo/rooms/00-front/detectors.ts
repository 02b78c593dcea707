// What a head does, by its weights alone: names for those in which something simple is found.

import { type Head, type Reading, type Row, rowOf } from "./reading.js";

export interface Found {
  readonly name: string;
  /** The weight that speaks for it, as a mean over the words that it is about. */
  readonly weight: number;
  /** It is about all words, and not about one. */
  readonly isMean?: boolean;
}

/** The mean weight from which on a head has the name. */
const ENOUGH = 0.4;
const NOUN = 0.25;
const PRONOUN = /^(?:it|he|she|they|him|her|them|its|his|their)$/i;
const DETERMINER = /^(?:the|a|an|my|your|his|her|its|our|their|this|that)$/i;

/** The last pronoun, counted from 1; 0: there is none. */
export const pronounIn = (words: readonly string[]): number =>
  words.reduce((found, word, index) => (PRONOUN.test(word) ? index + 1 : found), 0);

/** What may be meant by it: what comes after "the". */
const nounsIn = (words: readonly string[]): readonly number[] =>
  words.flatMap((_, index) => (DETERMINER.test(words[index - 1] ?? "") ? [index + 1] : []));

export function findOf(reading: Reading, head: Head): Found | undefined {
  const words = reading.words.map((word) => word.toLowerCase());
  const rows = words.map((_, index) => rowOf(reading, head, index + 1));
  /** Over the words for which there are such keys. */
  const mean = (keysOf: (place: number) => readonly number[]): number => {
    const all = rows.flatMap((row, index) => {
      const keys = keysOf(index + 1);
      return keys.length === 0 ? [] : [weightOn(row, keys)];
    });
    return all.reduce((sum, weight) => sum + weight, 0) / Math.max(1, all.length);
  };
  const isWord = (place: number): boolean => place >= 1 && place <= words.length;
  const noun = nounOf(reading, head);
  const simple: readonly Found[] = [
    { name: "previous word", weight: mean((place) => [place - 1].filter(isWord)) },
    { name: "next word", weight: mean((place) => [place + 1].filter(isWord)) },
    { name: "same word", weight: mean((place) => samePlaces(words, place)) },
    { name: "rests on the start", weight: mean(() => [0]) },
  ];
  const found = simple.find(({ weight }) => weight >= ENOUGH);
  return noun ?? (found && { ...found, isMean: true });
}

const weightOn = (row: Row, places: readonly number[]): number =>
  places.reduce((sum, place) => sum + (row[place] ?? 0), 0);

/** With its own place, where it stands more than once. */
function samePlaces(words: readonly string[], place: number): readonly number[] {
  const places = words.flatMap((word, index) => (word === words[place - 1] ? [index + 1] : []));
  return places.length > 1 ? places : [];
}

/** A pronoun that looks for its noun more than at any other word. */
function nounOf(reading: Reading, head: Head): Found | undefined {
  const pronoun = pronounIn(reading.words);
  if (pronoun === 0) return undefined;
  const row = rowOf(reading, head, pronoun);
  const place = row.indexOf(Math.max(...row.slice(1)), 1);
  const weight = row[place] ?? 0;
  if (weight < NOUN || place >= pronoun || !nounsIn(reading.words).includes(place)) return undefined;
  return { name: `“${reading.words[pronoun - 1]}” → ${reading.words[place - 1]}`, weight };
}
