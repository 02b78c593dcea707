// The table of trials: which kinds of position notice that words changed places, or that all of them moved.

import { largest } from "../../src/model/matrix.js";
import { h, line } from "../../src/ui/dom.js";
import { apart } from "../../src/ui/numbers.js";
import { KIND_NAMES } from "./controls.js";
import { attend, gap, type OrderScene, reordered } from "./scene.js";
import { KINDS, type Kind } from "./state.js";
import { ROUNDING } from "./texts.js";

export const TRIALS = ["first two swapped", "reversed", "moved by 7"] as const;
const MOVED_BY = 7;

/** The largest change of any word's output, trial by trial. */
export function changesOf({ vectors, state, words }: OrderScene): readonly (readonly [Kind, readonly number[]])[] {
  const written = words.map((_, word) => word);
  const swapped = [...written.slice(0, 2).reverse(), ...written.slice(2)];
  return KINDS.map((kind) => {
    const outputOf = (places: readonly number[], shift = 0) =>
      attend(reordered(vectors, places), { ...state, kind }, shift).output;
    const change = (places: readonly number[], shift?: number): number =>
      largest(gap(outputOf(places, shift), outputOf(written), places));
    return [kind, [change(swapped), change([...written].reverse()), change(written, MOVED_BY)]];
  });
}

export function trialRows(scene: OrderScene): HTMLElement[] {
  return changesOf(scene).map(([kind, changes]) => {
    const row = line(KIND_NAMES[kind], changes.map(apart), kind === scene.state.kind ? "own" : undefined);
    row.dataset["kind"] = kind;
    for (const [index, cell] of Array.from(row.cells).slice(1).entries()) {
      const isSeen = (changes[index] ?? 0) >= ROUNDING;
      cell.classList.toggle("noticed", isSeen);
      cell.prepend(h("b", {}, isSeen ? "notices" : "blind"), " ");
    }
    return row;
  });
}
