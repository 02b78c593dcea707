// One number taken apart: the terms it is the sum of, where they stand, and what they add up to. Pure; drawn by teller.ts.

import { exact, small } from "./numbers.js";

interface Term {
  readonly label: string;
  readonly figures: readonly string[];
  /** Contributes nothing. */
  readonly faint?: boolean;
  /** The one that the cell is about. */
  readonly own?: boolean;
}

/** What to light up: a row or a column of the matrix with this name, or the cell where both are given. */
export interface NamedLight {
  readonly name: string;
  readonly row?: number;
  readonly col?: number;
}

/** A cell, or a whole row or column. */
export const lit = (name: string, row?: number, col?: number): NamedLight => ({
  name,
  ...(row === undefined ? {} : { row }),
  ...(col === undefined ? {} : { col }),
});

export interface Explanation {
  readonly subject: string;
  readonly sentence: string;
  readonly head?: readonly string[];
  readonly terms?: readonly Term[];
  /** The last line of the calculation, ending in the result. */
  readonly last?: string;
  readonly result: number;
  /** The kernel's number for the same cell. */
  readonly kernel?: number | undefined;
  /** Of a gradient: how the loss changes from a point just below to one just above, over their distance. */
  readonly difference?: number;
  readonly lights: readonly NamedLight[];
  /** For cells that can be changed. */
  readonly editable?: boolean;
}

/** What a number adds up to, written out. */
type Sum = Required<Pick<Explanation, "head" | "terms" | "last">>;

type Entry = (index: number) => number;

/** A dot product written out. */
export function products(names: readonly string[], left: Entry, right: Entry, head: readonly string[]): Sum {
  let sum = 0;
  const terms = names.map((label, index) => {
    const [a, b] = [left(index), right(index)];
    sum += a * b;
    return { label, figures: [exact(a), exact(b), exact(a * b)], faint: a * b === 0 };
  });
  return { head: [...head, "product"], terms, last: `sum = ${exact(sum)}` };
}

/** A cosine written out: the products, and the squares that make both lengths. */
export function directions(names: readonly string[], left: Entry, right: Entry): Sum {
  const { terms } = products(names, left, right, []);
  const total = (value: Entry): number => names.reduce((sum, _, index) => sum + value(index), 0);
  const [dot, a, b] = [total((i) => left(i) * right(i)), total((i) => left(i) ** 2), total((i) => right(i) ** 2)];
  const cosine = a * b === 0 ? 0 : dot / Math.sqrt(a * b);
  return {
    head: ["", "q", "k", "product", "q²", "k²"],
    terms: terms.map((term, index) => ({
      ...term,
      figures: [...term.figures, exact(left(index) ** 2), exact(right(index) ** 2)],
    })),
    last: `${exact(dot)} / (√${exact(a)} × √${exact(b)}) = ${exact(cosine)}`,
  };
}

/** A squared distance written out, and the score that it becomes: over 2 b², or its root where there is no bandwidth. */
export function distances(names: readonly string[], left: Entry, right: Entry, bandwidth?: number): Sum {
  const terms = names.map((label, index) => {
    const [a, b] = [left(index), right(index)];
    return { label, square: (a - b) ** 2, figures: [a, b, (a - b) ** 2].map((value) => exact(value)), faint: a === b };
  });
  const sum = terms.reduce((all, { square }) => all + square, 0);
  const [score, written] =
    bandwidth === undefined
      ? [-Math.sqrt(sum), `−√${exact(sum)}`]
      : [-sum / (2 * bandwidth ** 2), `−${exact(sum)} / (2 × ${bandwidth}²)`];
  // There is no minus before a zero.
  const last = sum === 0 ? "0" : `${written} = ${exact(score)}`;
  return { head: ["", "q", "k", "(q − k)²"], terms, last };
}

interface Softened {
  /** Default: the name of the cell. */
  readonly subject?: string;
  readonly at: number;
  readonly kernel?: number | undefined;
  readonly light?: NamedLight;
  /** What stands above the scores. */
  readonly scores?: string;
}

/** One weight of a softmax. */
export function softened(
  scores: readonly number[],
  names: readonly string[],
  { subject = "", at: chosen, kernel, light, scores: name = "score" }: Softened,
): Explanation {
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  const sum = powers.reduce((all, power) => all + power, 0);
  const power = powers[chosen] ?? Number.NaN;
  return {
    subject,
    sentence: `e to the power of each ${name} less the largest, ${exact(most)}; then this one over the sum of all.`,
    head: ["", name, "e^"],
    terms: scores.map((score, index) => ({
      label: names[index] ?? "",
      figures: [exact(score, 3), small(powers[index] ?? Number.NaN)],
      own: index === chosen,
      faint: (powers[index] ?? 0) < 5e-5,
    })),
    last: `${small(power)} / ${exact(sum)} = ${small(power / sum)}`,
    result: power / sum,
    kernel,
    lights: light ? [light] : [],
  };
}
