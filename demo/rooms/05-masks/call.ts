// The present mask as a call of heed, and what heed answers beside the page's own arithmetic.

import type { Answer, Call } from "../../src/engine/engine.js";
import { at, fill, identity, type Matrix, stack, unstack, widestGap } from "../../src/model/matrix.js";
import { structureOf } from "./options.js";
import { LARGE, type MaskScene } from "./scene.js";

export interface MaskAnswer {
  readonly weights: Matrix;
  readonly difference: number;
}

/** With the identity as values: what comes out are the weights. */
export function callOf(scene: MaskScene): Call {
  const { q, k, scale, state } = scene;
  return {
    q: stack([q]),
    k: stack([k]),
    v: stack([identity(state.keys)]),
    options: { scale, ...hidingOptions(scene) },
  };
}

function hidingOptions({ state, seen }: MaskScene): Call["options"] {
  const { queries, keys, hiding } = state;
  const shape = [1, 1, queries, keys];
  if (hiding === "after") return {};
  if (hiding === "minus")
    return { bias: { data: Float32Array.from(seen.data, (sees) => (sees === 1 ? 0 : LARGE)), shape } };
  const { mask, ...structure } = structureOf(state);
  return { ...structure, ...(mask === undefined ? {} : { mask: { data: Uint8Array.from(mask), shape } }) };
}

export function readAnswer(scene: MaskScene, answer: Answer): MaskAnswer {
  const { queries, keys, hiding } = scene.state;
  const plain = unstack(queries, keys, answer.weights.data);
  // Hiding after the softmax is nothing that heed offers: the page strikes out what it was given.
  const struck = fill(queries, keys, (row, col) => (at(scene.seen, row, col) === 1 ? at(plain, row, col) : 0));
  const weights = hiding === "after" ? struck : plain;
  return { weights, difference: widestGap(weights, scene.weights) };
}
