// Two sentences that differ in a word or two: what each head gave before and gives now.

import { type Head, headsOf, type Reading, type Row, rowOf } from "./reading.js";

const MOST_CHANGED = 2;

/** Where they differ, counted from 1; none where they are the same, or no longer the same sentence. */
export function changed(before: readonly string[], now: readonly string[]): readonly number[] {
  if (before.length !== now.length) return [];
  const places = now.flatMap((word, index) => (word === before[index] ? [] : [index + 1]));
  return places.length <= MOST_CHANGED ? places : [];
}

export interface Change {
  readonly head: Head;
  /** All differences on words. */
  readonly moved: number;
  /** The word that lost most, and what it lost. */
  readonly place: number;
  readonly lost: number;
}

/** How a word's weights change in each head, from the head that lost most on a word. */
export function changesOf(before: Reading, now: Reading, asker: number): readonly Change[] {
  const all = headsOf(now).map((head) => changeOf(head, rowOf(before, head, asker), rowOf(now, head, asker)));
  return all.sort((a, b) => b.lost - a.lost);
}

function changeOf(head: Head, before: Row, now: Row): Change {
  const losses = before.map((weight, place) => weight - (now[place] ?? 0));
  const lost = Math.max(...losses.slice(1));
  return {
    head,
    moved: losses.slice(1).reduce((sum, one) => sum + Math.abs(one), 0),
    place: losses.indexOf(lost, 1),
    lost,
  };
}

/** The head that moves most; without a change, the one with the largest weight between words that are no neighbours. */
export function telling(now: Reading, asker: number, before: Reading | undefined): Head {
  const heads = headsOf(now);
  const sizes = heads.map((head) => {
    const row = rowOf(now, head, asker);
    if (before !== undefined) return changeOf(head, rowOf(before, head, asker), row).moved;
    return Math.max(...row.filter((_, place) => place > 0 && Math.abs(place - asker) > 1));
  });
  return heads[sizes.indexOf(Math.max(...sizes))] ?? { layer: 1, head: 1 };
}
