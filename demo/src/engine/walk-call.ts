// The present walk as a call of heed, and what heed answers beside the walk's own arithmetic.

import { type Matrix, stack, unstack, widestGap } from "../model/matrix.js";
import type { State } from "../model/state.js";
import type { Walk } from "../model/walk.js";
import type { Answer, Call } from "./engine.js";

export type KernelAnswer = ReturnType<typeof readAnswer>;
export type KernelHead = KernelAnswer["heads"][number];

/** None for an empty sentence: there is nothing to ask. */
export function callsOf(walk: Walk, state: State): readonly Call[] {
  return walk.labels.length === 0 ? [] : [callOf(walk, state)];
}

export function callOf(walk: Walk, state: State): Call {
  const hidden = new Set(state.hidden);
  const mask = {
    data: Uint8Array.from(walk.labels, (_, key) => (hidden.has(key) ? 0 : 1)),
    shape: [1, 1, 1, walk.labels.length],
  };
  return {
    q: stack(walk.heads.map((head) => head.q)),
    k: stack(walk.heads.map((head) => head.k)),
    v: stack(walk.heads.map((head) => head.v)),
    options: {
      scale: walk.scale,
      ...(state.causal === "none" ? {} : { causal: state.causal }),
      ...(hidden.size > 0 ? { mask } : {}),
    },
  };
}

/** `difference`: the largest to the page's arithmetic, over weights and output. */
export function readAnswer(walk: Walk, answer: Answer) {
  let difference = 0;
  const heads = walk.heads.map((own, index) => {
    const part = (like: Matrix, { data }: { readonly data: Float32Array }): Matrix =>
      unstack(like.rows, like.cols, data, index);
    const [weights, output] = [part(own.weights, answer.weights), part(own.output, answer.output)];
    difference = Math.max(difference, widestGap(weights, own.weights), widestGap(output, own.output));
    return { weights, output, lse: part(own.lse, answer.lse) };
  });
  return { heads, difference };
}
