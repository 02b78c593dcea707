// The numbers of the room: the same sentence through one head, through two, and through as many as are chosen; and the mix.

import type { Answer, Call } from "../../src/engine/engine.js";
import { callsOf as callsOfWalk, type KernelAnswer, readAnswer } from "../../src/engine/walk-call.js";
import { at, fill, type Matrix, multiply } from "../../src/model/matrix.js";
import { INITIAL, type State } from "../../src/model/state.js";
import { type Walk, walk } from "../../src/model/walk.js";
import { type HeadsState, WIDTH } from "./state.js";

/** A sentence through so many heads. */
export interface Pass {
  readonly state: State;
  readonly walk: Walk;
  readonly kernel: KernelAnswer | undefined;
}

export interface HeadsScene {
  readonly state: HeadsState;
  readonly words: readonly string[];
  /** Where "it" stands. */
  readonly it: number;
  readonly one: Pass;
  readonly two: Pass;
  readonly chosen: Pass;
  /** The outputs of the chosen pass side by side. */
  readonly joined: Matrix;
  readonly mixed: Matrix;
}

export function sceneOf(state: HeadsState): HeadsScene {
  const text = INITIAL.text.replace("tired", state.reason);
  const pass = (heads: number): Pass => {
    // The walk offers no more than four heads; eight are the same arithmetic.
    const own: State = { ...INITIAL, text, width: WIDTH, heads };
    return { state: own, walk: walk(own), kernel: undefined };
  };
  const chosen = pass(Number(state.heads));
  const joined = joinedOf(chosen);
  const { labels } = chosen.walk;
  return {
    state,
    words: labels,
    it: labels.indexOf("it"),
    one: pass(1),
    two: pass(2),
    chosen,
    joined,
    mixed: multiply(joined, state.mix),
  };
}

export function callsOf(scene: HeadsScene): readonly Call[] {
  return passesOf(scene).flatMap((pass) => callsOfWalk(pass.walk, pass.state));
}

/** With what the kernel gave for each pass. */
export function answered(scene: HeadsScene, answers: readonly Answer[]): HeadsScene {
  const read = (pass: Pass, answer: Answer | undefined): Pass =>
    answer === undefined ? pass : { ...pass, kernel: readAnswer(pass.walk, answer) };
  return {
    ...scene,
    one: read(scene.one, answers[0]),
    two: read(scene.two, answers[1]),
    chosen: read(scene.chosen, answers[2]),
  };
}

export function passesOf({ one, two, chosen }: HeadsScene): readonly Pass[] {
  return [one, two, chosen];
}

function joinedOf({ walk: { labels, heads, headWidth } }: Pass): Matrix {
  return fill(labels.length, WIDTH, (row, col) => {
    const head = heads[Math.floor(col / headWidth)];
    return head === undefined ? Number.NaN : at(head.output, row, col % headWidth);
  });
}
