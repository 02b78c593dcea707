// The present mask as options of heed: structure where heed has a name for it, a boolean mask for the rest.

import { type RuleName, verdictsOn } from "./rules.js";
import { type MaskState, OPEN } from "./state.js";

interface Structure {
  readonly causal?: "lower-right" | "upper-left";
  readonly window?: readonly [number, number];
  readonly cuSeqlensQ?: readonly number[];
  readonly qLengths?: readonly number[];
  readonly kvLengths?: readonly number[];
  /** Row-major, 1 = attend; only what the others do not say. */
  readonly mask?: readonly number[];
}

export function structureOf(state: MaskState): Structure {
  const { causal, left, right, prefix, cuts, padding, queries, keys } = state;
  const windowed = left !== OPEN || right !== OPEN;
  // A prefix opens what causal and window close, and masks only take away: those two go into the mask then.
  const opened = prefix > 0 && (causal !== "none" || windowed);
  const byLength = padding > 0 && cuts.length === 0;
  const inMask = new Set<RuleName>(["blocks", "paint"]);
  if (opened) inMask.add("causal").add("window");
  if (!byLength) inMask.add("padding");
  return {
    ...(opened || causal === "none" ? {} : { causal }),
    ...(opened || !windowed ? {} : { window: [left, right] as const }),
    ...(cuts.length === 0 ? {} : { cuSeqlensQ: [0, ...cuts, queries] }),
    ...(byLength ? { qLengths: [queries - padding], kvLengths: [keys - padding] } : {}),
    ...maskOf(state, inMask),
  };
}

/** Every pair that one of these rules hides; nothing where none of them is on. */
function maskOf(state: MaskState, rules: ReadonlySet<RuleName>): Pick<Structure, "mask"> {
  const { queries, keys } = state;
  const verdicts = Array.from({ length: queries * keys }, (_, pair) =>
    verdictsOn(state, Math.floor(pair / keys), pair % keys).filter(({ rule }) => rules.has(rule)),
  );
  if (verdicts.every((own) => own.length === 0)) return {};
  return { mask: verdicts.map((own) => (own.every((verdict) => verdict.sees) ? 1 : 0)) };
}
