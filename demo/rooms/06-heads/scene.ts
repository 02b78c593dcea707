// The numbers of the room: the sentence through as many heads as are chosen, and their mix.

import type { Answer, Call } from "../../src/engine/engine.js";
import { callOf, type KernelAnswer, readAnswer } from "../../src/engine/walk-call.js";
import { at, fill, type Matrix, multiply } from "../../src/model/matrix.js";
import { INITIAL, type State } from "../../src/model/state.js";
import { type Walk, walk } from "../../src/model/walk.js";
import { type HeadsState, WIDTH } from "./state.js";

export interface HeadsScene {
  readonly state: HeadsState;
  readonly words: readonly string[];
  /** Where "it" stands. */
  readonly it: number;
  /** As the matrix walk knows it. */
  readonly walked: State;
  readonly walk: Walk;
  readonly kernel?: KernelAnswer | undefined;
  /** The heads' outputs side by side. */
  readonly joined: Matrix;
  readonly mixed: Matrix;
}

export function sceneOf(state: HeadsState): HeadsScene {
  // The walk offers no more than four heads; eight are the same arithmetic.
  const text = INITIAL.text.replace("tired", state.reason);
  const walked: State = { ...INITIAL, text, width: WIDTH, heads: Number(state.heads) };
  const own = walk(walked);
  const { labels, heads, headWidth } = own;
  const joined = fill(labels.length, WIDTH, (row, col) => {
    const head = heads[Math.floor(col / headWidth)];
    return head === undefined ? Number.NaN : at(head.output, row, col % headWidth);
  });
  return {
    state,
    words: labels,
    it: labels.indexOf("it"),
    walked,
    walk: own,
    joined,
    mixed: multiply(joined, state.mix),
  };
}

/** One head as the matrix walk knows it; undefined: there is none. */
export function headOf({ walk, walked, kernel }: HeadsScene, index: number) {
  const head = walk.heads[index];
  return head === undefined ? undefined : { walk, state: walked, head, kernel: kernel?.heads[index] };
}

/** One: the sentence is never empty. */
export function callsOf({ walk, walked }: HeadsScene): readonly [Call] {
  return [callOf(walk, walked)];
}

export function readAnswers({ walk }: HeadsScene, [answer]: readonly Answer[]): KernelAnswer | undefined {
  return answer === undefined ? undefined : readAnswer(walk, answer);
}
