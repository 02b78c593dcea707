// Beam search: of all characters that may follow, the likeliest few beginnings stay. Pure but for what the network says.

import { ANSWER } from "./reading.js";

export interface Following {
  readonly character: string;
  readonly probability: number;
}

export interface Branch {
  /** The date so far. */
  readonly date: string;
  /** Of each of its characters, after those before it. */
  readonly probabilities: readonly number[];
  /** Of all of them: the product. */
  readonly total: number;
  readonly isKept: boolean;
}

export const WIDEST = 5;

/** For each character, the branches that stay and the likeliest that don't: WIDEST in all. A date that begins with `begun` goes on from there. */
export async function growBeam(
  follow: (beginnings: readonly string[]) => Promise<readonly (readonly Following[])[]>,
  { width, begun }: { readonly width: number; readonly begun: string },
): Promise<readonly (readonly Branch[])[]> {
  const grown: Branch[][] = [];
  let kept: readonly Branch[] = [{ date: "", probabilities: [], total: 1, isKept: true }];
  for (let at = 0; at < ANSWER; at++) {
    const follows = await follow(kept.map(({ date }) => date));
    const isWanted = ({ date }: Branch): boolean => date === begun.slice(0, at + 1);
    const all = kept
      .flatMap(({ date, probabilities, total }, index) =>
        (follows[index] ?? []).map(({ character, probability }) => ({
          date: date + character,
          probabilities: [...probabilities, probability],
          total: total * probability,
          isKept: false,
        })),
      )
      .sort((a, b) => (at < begun.length ? Number(isWanted(b)) - Number(isWanted(a)) : 0) || b.total - a.total);
    const stay = at < begun.length ? 1 : width;
    const column = all.slice(0, WIDEST).map((branch, place) => ({ ...branch, isKept: place < stay }));
    kept = column.slice(0, stay);
    grown.push(column);
  }
  return grown;
}
