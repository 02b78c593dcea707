// The numbers of the room: the sentence through as many heads as are chosen, and their mix.

import type { Answer } from "../../src/engine/engine.js";
import { callOf, type KernelAnswer, readAnswer } from "../../src/engine/walk-call.js";
import { at, fill, multiply } from "../../src/model/matrix.js";
import { INITIAL, type State } from "../../src/model/state.js";
import { walk } from "../../src/model/walk.js";
import { type HeadsState, WIDTH } from "./state.js";

export type HeadsScene = ReturnType<typeof sceneOf> & { readonly kernel?: KernelAnswer | undefined };

export function sceneOf(state: HeadsState) {
  // The matrix walk offers no more than four heads; eight are the same arithmetic.
  const text = INITIAL.text.replace("tired", state.reason);
  const walked: State = { ...INITIAL, text, width: WIDTH, heads: Number(state.heads) };
  const own = walk(walked);
  const { labels: words, heads, headWidth } = own;
  /** The heads' outputs side by side. */
  const joined = fill(words.length, WIDTH, (row, col) => {
    const head = heads[Math.floor(col / headWidth)];
    return head === undefined ? Number.NaN : at(head.output, row, col % headWidth);
  });
  return { state, words, it: words.indexOf("it"), walked, walk: own, joined, mixed: multiply(joined, state.mix) };
}

/** The columns of the heads' outputs side by side, with the heads' numbers where there are several. */
export function joinedNames({ walk: { heads, headWidth, featureNames } }: HeadsScene): readonly string[] {
  return featureNames.map((name, col) => (heads.length > 1 ? `${Math.floor(col / headWidth) + 1} ${name}` : name));
}

/** One head as the matrix walk knows it; undefined: there is none. */
export function headOf({ walk, walked, kernel }: HeadsScene, index: number) {
  const head = walk.heads[index];
  return head === undefined ? undefined : { walk, state: walked, head, kernel: kernel?.heads[index] };
}

/** One: the sentence is never empty. */
export const callsOf = ({ walk, walked }: HeadsScene) => [callOf(walk, walked)] as const;

export function readAnswers({ walk }: HeadsScene, [answer]: readonly Answer[]): KernelAnswer | undefined {
  return answer === undefined ? undefined : readAnswer(walk, answer);
}
