// The rules that decide whether a query sees a key, each with its reason in words. A pair is seen where all of them agree.

import { type MaskState, OPEN } from "./state.js";

export type RuleName = "causal" | "window" | "documents" | "padding" | "blocks" | "paint";

/** Whether the query sees the key, and why; undefined where the rule is off. */
type Rule = (state: MaskState, row: number, col: number) => readonly [sees: boolean, why: string] | undefined;

/** What a query's number must be increased by to get its place among the keys. */
export function offsetOf({ causal, queries, keys }: MaskState): number {
  return causal === "upper-left" ? 0 : keys - queries;
}

const IN_PREFIX = [true, "in the prefix"] as const;

const RULES: Readonly<Record<RuleName, Rule>> = {
  causal: (state, row, col) => {
    if (state.causal === "none") return undefined;
    if (col < state.prefix) return IN_PREFIX;
    const place = row + offsetOf(state);
    return [col <= place, `${col + 1} ${col <= place ? "≤" : ">"} ${place + 1}`];
  },
  window: (state, row, col) => {
    const { left, right, prefix } = state;
    if (left === OPEN && right === OPEN) return undefined;
    if (col < prefix) return IN_PREFIX;
    const place = row + offsetOf(state);
    const first = left === OPEN ? Number.NEGATIVE_INFINITY : place - left;
    const last = right === OPEN ? Number.POSITIVE_INFINITY : place + right;
    const bound = (value: number): string => (Number.isFinite(value) ? String(value + 1) : "…");
    return [col >= first && col <= last, `${bound(first)} to ${bound(last)}`];
  },
  documents: ({ cuts }, row, col) => {
    if (cuts.length === 0) return undefined;
    const [own = 0, other = 0] = [row, col].map((token) => cuts.filter((cut) => cut <= token).length + 1);
    return [own === other, own === other ? `both in ${own}` : `${own}, not ${other}`];
  },
  padding: ({ padding, queries, keys }, row, col) => {
    if (padding === 0) return undefined;
    const [noQuery, noKey] = [row >= queries - padding, col >= keys - padding];
    return [!noQuery && !noKey, noQuery ? "no query" : noKey ? "no key" : "both real"];
  },
  /** Its own block, the one before, and the first. */
  blocks: (state, row, col) => {
    if (state.block === 0) return undefined;
    const own = Math.floor((row + offsetOf(state)) / state.block);
    const other = Math.floor(col / state.block);
    const isSeen = other === 0 || other === own || other === own - 1;
    return [isSeen, `${own + 1} sees ${isSeen ? "" : "not "}${other + 1}`];
  },
  paint: ({ painted, keys }, row, col) => {
    if (painted.length === 0) return undefined;
    const isHidden = painted.includes(row * keys + col);
    return [!isHidden, isHidden ? "hidden by hand" : "left alone"];
  },
};

const NAMES = Object.keys(RULES) as RuleName[];

/** Only of the rules that are on. */
export function verdictsOn(state: MaskState, row: number, col: number) {
  return NAMES.flatMap((rule) => {
    const verdict = RULES[rule](state, row, col);
    return verdict === undefined ? [] : [{ rule, sees: verdict[0], why: verdict[1] }];
  });
}

export function sees(state: MaskState, row: number, col: number): boolean {
  return verdictsOn(state, row, col).every((verdict) => verdict.sees);
}
