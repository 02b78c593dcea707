// Which tokens stay where a text, or a pair of texts, has more than fit.

import { HeedError } from "../../base/errors.js";

export const STRATEGIES = ["longest_first", "only_first", "only_second"] as const;
/** Which text of a pair is cut where both do not fit: the longer one first, the first or the second. */
export type TruncationStrategy = (typeof STRATEGIES)[number];

export const SIDES = ["right", "left"] as const;
/** The side of a text that is cut off. */
export type TruncationSide = (typeof SIDES)[number];

/** How many tokens of each text stay. `second` is undefined where there is no pair. */
export function shares(
  where: string,
  strategy: TruncationStrategy,
  first: number,
  second: number | undefined,
  room: number,
): [number, number] {
  const other = second ?? 0;
  const excess = first + other - room;
  if (excess <= 0) return [first, other];
  if (strategy === "longest_first") return longestFirst(first, other, room);
  if (strategy === "only_second" && second === undefined) {
    throw new HeedError("option", `${where}: truncation "only_second" must have a pair, got one text`);
  }
  const isFirst = strategy === "only_first";
  const length = isFirst ? first : other;
  if (length <= excess) {
    const rule = `truncation "${strategy}" must leave a token of its text, from which ${excess} must go`;
    throw new HeedError("option", `${where}: ${rule}, got a text of ${length}`);
  }
  return isFirst ? [first - excess, other] : [first, other - excess];
}

/** All of the shorter text, if it takes at most half of the room. */
function longestFirst(first: number, second: number, room: number): [number, number] {
  const [short, long] = [Math.min(first, second), Math.max(first, second)];
  const isTight = short + Math.max(short, room - short) > room;
  const [kept, keptOfLong] = isTight
    ? [Math.floor(room / 2), Math.ceil(room / 2)]
    : [short, Math.min(long, room - short)];
  return first > second ? [keptOfLong, kept] : [kept, keptOfLong];
}

/** `kept` tokens at the start, or at the end where the left side is cut. */
export function cut<T>(tokens: readonly T[], kept: number, side: TruncationSide): readonly T[] {
  return side === "right" ? tokens.slice(0, kept) : tokens.slice(tokens.length - kept);
}
