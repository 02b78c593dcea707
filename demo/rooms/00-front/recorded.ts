// Attention weights of "it" in all heads of all-MiniLM-L6-v2, as scripts/record-minilm.js wrote them.

import minilm from "./minilm.json";
import type { Head, Row } from "./reading.js";

export interface Recorded {
  /** All but the last word of the sentence. */
  readonly words: readonly string[];
  /** The last words that it was recorded with. */
  readonly endings: readonly string[];
  /** By ending, layer and head: thousandths of the start mark, then of each word. */
  readonly weights: readonly (readonly (readonly (readonly number[])[])[])[];
}

const [animal, trophy] = minilm;
if (animal === undefined || trophy === undefined) throw new Error("minilm.json lacks a sentence");
export const ANIMAL: Recorded = animal;
export const TROPHY: Recorded = trophy;

/** The animal's. */
export const sentenceWith = (ending: string): string => [...ANIMAL.words, ending].join(" ");

/** The word that attends, counted from 1. */
export const askerIn = ({ words }: Recorded): number => 1 + words.indexOf("it");

/** The weights of a word in a whole sentence; undefined where they were not recorded. */
export function recordedRow(text: string, asker: number, head: Head): Row | undefined {
  const ending = ANIMAL.endings.find((one) => sentenceWith(one) === text);
  return ending === undefined || asker !== askerIn(ANIMAL) ? undefined : weightsOf(ANIMAL, ending, head);
}

/** Whose they are. */
export const MINILM = "all-MiniLM-L6-v2";

export const LAYERS = animal.weights[0]?.length ?? 0;
export const HEADS = animal.weights[0]?.[0]?.length ?? 0;

/** Of "it" on the start mark, then on each word; head after head, layer after layer. */
function rowsOf({ weights, endings }: Recorded, ending: string): readonly Row[] {
  const rows = weights[endings.indexOf(ending)]?.flat() ?? [];
  return rows.map((row) => row.map((thousandths) => thousandths / 1000));
}

export function weightsOf(recorded: Recorded, ending: string, { layer, head }: Head): Row {
  return rowsOf(recorded, ending)[(layer - 1) * HEADS + head - 1] ?? [];
}

/** Of "it" on one word. */
export function weightOn(recorded: Recorded, ending: string, head: Head, word: string): number {
  return weightsOf(recorded, ending, head)[1 + recorded.words.indexOf(word)] ?? 0;
}

/** The same in every head, layer after layer. */
export function weightsOn(recorded: Recorded, ending: string, word: string): readonly number[] {
  const place = 1 + recorded.words.indexOf(word);
  return rowsOf(recorded, ending).map((row) => row[place] ?? 0);
}

/** In how many heads the start mark gets more than any word. */
export function headsAtStart(recorded: Recorded, ending: string): number {
  return rowsOf(recorded, ending).filter(([start = 0, ...rest]) => start > Math.max(...rest)).length;
}
