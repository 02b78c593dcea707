// The present mask as options of heed: structure where heed has a name for it, a boolean mask for the rest.

import { offsetOf, sees } from "./rules.js";
import { type MaskState, OPEN } from "./state.js";

export interface Structure {
  readonly causal?: "lower-right" | "upper-left";
  readonly window?: readonly [number, number];
  readonly cuSeqlensQ?: readonly number[];
  readonly qLengths?: readonly number[];
  readonly kvLengths?: readonly number[];
  /** Row-major, 1 = attend; only what the others do not say. */
  readonly mask?: readonly number[];
}

export function structureOf(state: MaskState): Structure {
  const { causal, left, right, prefix, cuts, padding, block, painted, queries, keys } = state;
  const windowed = left !== OPEN || right !== OPEN;
  // A prefix opens what causal and window close, and masks only take away: those two go into the mask then.
  const opened = prefix > 0 && (causal !== "none" || windowed);
  const byLength = padding > 0 && cuts.length === 0;
  const rest: MaskState = {
    ...state,
    ...(opened ? {} : { causal: "none", left: OPEN, right: OPEN }),
    cuts: [],
    padding: byLength ? 0 : padding,
  };
  const needsMask = opened || block > 0 || painted.length > 0 || rest.padding > 0;
  // Blocks count places as causal does, which "none" would take away.
  const placed = { ...rest, ...(opened ? {} : { block: 0 }) };
  const mask = Array.from({ length: queries * keys }, (_, pair) => {
    const [row, col] = [Math.floor(pair / keys), pair % keys];
    return sees(placed, row, col) && inBlocks(state, row, col) ? 1 : 0;
  });
  return {
    ...(opened || causal === "none" ? {} : { causal }),
    ...(opened || !windowed ? {} : { window: [left, right] as const }),
    ...(cuts.length === 0 ? {} : { cuSeqlensQ: [0, ...cuts, queries] }),
    ...(byLength ? { qLengths: [queries - padding], kvLengths: [keys - padding] } : {}),
    ...(needsMask ? { mask } : {}),
  };
}

function inBlocks(state: MaskState, row: number, col: number): boolean {
  if (state.block === 0) return true;
  const only: MaskState = { ...state, left: OPEN, right: OPEN, cuts: [], padding: 0, painted: [], prefix: 0 };
  const shifted = row + offsetOf(state) - offsetOf({ ...only, causal: "upper-left" });
  return sees({ ...only, causal: "none", queries: only.keys }, shifted, col);
}
