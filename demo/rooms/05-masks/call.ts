// The present mask as a call of heed: structure where heed has a name for it, a boolean mask for the rest. And what heed answers beside the
// page's own arithmetic.

import type { Answer, Call } from "../../src/engine/engine.js";
import { at, fill, identity, stack, unstack, widestGap } from "../../src/model/matrix.js";
import { type RuleName, verdictsOn } from "./rules.js";
import { LARGE, type MaskScene } from "./scene.js";
import { type MaskState, OPEN } from "./state.js";

/** `mask`: row-major, 1 = attend; only what the others do not say. */
export function structureOf(state: MaskState) {
  const { causal, left, right, prefix, cuts, padding, queries, keys } = state;
  const windowed = left !== OPEN || right !== OPEN;
  // A prefix opens what causal and window close, and masks only take away: those two go into the mask then.
  const opened = prefix > 0 && (causal !== "none" || windowed);
  const byLength = padding > 0 && cuts.length === 0;
  const inMask = new Set<RuleName>(["blocks", "paint"]);
  if (opened) inMask.add("causal").add("window");
  if (!byLength) inMask.add("padding");
  const verdicts = Array.from({ length: queries * keys }, (_, pair) =>
    verdictsOn(state, Math.floor(pair / keys), pair % keys).filter(({ rule }) => inMask.has(rule)),
  );
  const mask = verdicts.map((own) => (own.every((verdict) => verdict.sees) ? 1 : 0));
  return {
    ...(opened || causal === "none" ? {} : { causal }),
    ...(opened || !windowed ? {} : { window: [left, right] as const }),
    ...(cuts.length === 0 ? {} : { cuSeqlensQ: [0, ...cuts, queries] }),
    ...(byLength ? { qLengths: [queries - padding], kvLengths: [keys - padding] } : {}),
    ...(verdicts.every((own) => own.length === 0) ? {} : { mask }),
  };
}

/** With the identity as values: what comes out are the weights. */
export function callOf(scene: MaskScene): Call {
  const { q, k, scale, state } = scene;
  const options = { scale, ...hidingOptions(scene) };
  return { q: stack([q]), k: stack([k]), v: stack([identity(state.keys)]), options };
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

export type MaskAnswer = ReturnType<typeof readAnswer>;

export function readAnswer(scene: MaskScene, answer: Answer) {
  const { queries, keys, hiding } = scene.state;
  const plain = unstack(queries, keys, answer.weights.data);
  // Hiding after the softmax is nothing that heed offers: the page strikes out what it was given.
  const struck = fill(queries, keys, (row, col) => (at(scene.seen, row, col) === 1 ? at(plain, row, col) : 0));
  const weights = hiding === "after" ? struck : plain;
  return { weights, difference: widestGap(weights, scene.weights) };
}
