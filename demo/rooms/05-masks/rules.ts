// The rules that decide whether a query sees a key, each with its reason in words. A pair is seen where all of them agree.

import { type MaskState, OPEN } from "./state.js";

export type RuleName = "causal" | "window" | "documents" | "padding" | "blocks" | "paint";

interface Verdict {
  readonly rule: RuleName;
  readonly sees: boolean;
  readonly why: string;
}

type Rule = (state: MaskState, row: number, col: number) => Verdict | undefined;

/** Only the rules that are on. */
export function verdictsOn(state: MaskState, row: number, col: number): readonly Verdict[] {
  return RULES.map((rule) => rule(state, row, col)).filter((verdict) => verdict !== undefined);
}

export function sees(state: MaskState, row: number, col: number): boolean {
  return verdictsOn(state, row, col).every((verdict) => verdict.sees);
}

/** What a query's number must be increased by to get its place among the keys. */
export function offsetOf({ causal, queries, keys }: MaskState): number {
  return causal === "upper-left" ? 0 : keys - queries;
}

function documentOf({ cuts }: MaskState, token: number): number {
  return cuts.filter((cut) => cut <= token).length;
}

const inPrefix = ({ prefix }: MaskState, col: number): boolean => col < prefix;

const causal: Rule = (state, row, col) => {
  if (state.causal === "none") return undefined;
  const place = row + offsetOf(state);
  if (inPrefix(state, col)) return { rule: "causal", sees: true, why: "in the prefix" };
  return { rule: "causal", sees: col <= place, why: `${col + 1} ${col <= place ? "≤" : ">"} ${place + 1}` };
};

const window: Rule = (state, row, col) => {
  const { left, right } = state;
  if (left === OPEN && right === OPEN) return undefined;
  if (inPrefix(state, col)) return { rule: "window", sees: true, why: "in the prefix" };
  const place = row + offsetOf(state);
  const [first, last] = [
    left === OPEN ? Number.NEGATIVE_INFINITY : place - left,
    right === OPEN ? Infinity : place + right,
  ];
  const bound = (value: number): string => (Number.isFinite(value) ? String(value + 1) : "…");
  return { rule: "window", sees: col >= first && col <= last, why: `${bound(first)} to ${bound(last)}` };
};

const documents: Rule = (state, row, col) => {
  if (state.cuts.length === 0) return undefined;
  const [own, other] = [documentOf(state, row), documentOf(state, col)];
  return {
    rule: "documents",
    sees: own === other,
    why: own === other ? `both in ${own + 1}` : `${own + 1}, not ${other + 1}`,
  };
};

const padding: Rule = ({ padding: count, queries, keys }, row, col) => {
  if (count === 0) return undefined;
  const [noQuery, noKey] = [row >= queries - count, col >= keys - count];
  return { rule: "padding", sees: !noQuery && !noKey, why: noQuery ? "no query" : noKey ? "no key" : "both real" };
};

/** Its own block, the one before, and the first. */
const blocks: Rule = (state, row, col) => {
  if (state.block === 0) return undefined;
  const own = Math.floor((row + offsetOf(state)) / state.block);
  const other = Math.floor(col / state.block);
  const seen = other === 0 || other === own || other === own - 1;
  return { rule: "blocks", sees: seen, why: `${own + 1} sees ${seen ? "" : "not "}${other + 1}` };
};

const paint: Rule = ({ painted, keys }, row, col) => {
  if (painted.length === 0) return undefined;
  const hidden = painted.includes(row * keys + col);
  return { rule: "paint", sees: !hidden, why: hidden ? "hidden by hand" : "left alone" };
};

const RULES: readonly Rule[] = [causal, window, documents, padding, blocks, paint];
