// Attention weights of "it" in all heads of all-MiniLM-L6-v2, as scripts/record-minilm.js wrote them.

import minilm from "./minilm.json";

export interface Recorded {
  /** All but the last word of the sentence. */
  readonly words: readonly string[];
  /** The last words that it was recorded with. */
  readonly endings: readonly string[];
  /** By ending, layer and head: thousandths of the start mark, then of each word. */
  readonly weights: readonly (readonly (readonly (readonly number[])[])[])[];
}

/** Counted from 1. */
export interface Head {
  readonly layer: number;
  readonly head: number;
}

const [animal, trophy] = minilm;
if (animal === undefined || trophy === undefined) throw new Error("minilm.json lacks a sentence");
export const ANIMAL: Recorded = animal;
export const TROPHY: Recorded = trophy;

export const LAYERS = animal.weights[0]?.length ?? 0;
export const HEADS = animal.weights[0]?.[0]?.length ?? 0;

/** Of "it" on the start mark, then on each word. */
export function weightsOf({ weights, endings }: Recorded, ending: string, { layer, head }: Head): readonly number[] {
  const row = weights[endings.indexOf(ending)]?.[layer - 1]?.[head - 1] ?? [];
  return row.map((thousandths) => thousandths / 1000);
}

/** Of "it" on one word. */
export function weightOn(recorded: Recorded, ending: string, head: Head, word: string): number {
  return weightsOf(recorded, ending, head)[1 + recorded.words.indexOf(word)] ?? 0;
}

function allHeads(): readonly Head[] {
  return Array.from({ length: LAYERS * HEADS }, (_, index) => ({
    layer: 1 + Math.floor(index / HEADS),
    head: 1 + (index % HEADS),
  }));
}

/** The same in every head, layer after layer. */
export function weightsOn(recorded: Recorded, ending: string, word: string): readonly number[] {
  return allHeads().map((head) => weightOn(recorded, ending, head, word));
}

/** In how many heads the start mark gets more than any word. */
export function headsAtStart(recorded: Recorded, ending: string): number {
  return allHeads().filter((head) => {
    const [start = 0, ...rest] = weightsOf(recorded, ending, head);
    return start > Math.max(...rest);
  }).length;
}
