// The table of trials: which kinds of position notice that words were reversed, or that all of them moved.

import { h } from "../../src/ui/dom.js";
import { apart } from "../../src/ui/numbers.js";
import { type OrderAnswer, ownResiduals, type Residuals } from "./calls.js";
import { KIND_NAMES } from "./controls.js";
import type { OrderScene } from "./scene.js";
import { KINDS, type Kind } from "./state.js";
import { noticed } from "./texts.js";

export function residualsOf(
  scene: OrderScene,
  answer: OrderAnswer | undefined,
): readonly (readonly [Kind, Residuals])[] {
  return KINDS.map((kind) => [kind, answer?.residuals.get(kind) ?? ownResiduals(scene, kind)]);
}

export function trialRows(scene: OrderScene, answer: OrderAnswer | undefined): HTMLElement[] {
  return residualsOf(scene, answer).map(([kind, { swapped, reversed, moved }]) =>
    h(
      "tr",
      { class: kind === scene.state.kind ? "own" : undefined, "data-kind": kind },
      h("th", { scope: "row" }, KIND_NAMES[kind]),
      verdict(swapped),
      verdict(reversed),
      verdict(moved),
    ),
  );
}

function verdict(residual: number): HTMLElement {
  const seen = noticed(residual);
  return h(
    "td",
    { class: seen ? "noticed" : undefined },
    h("b", {}, seen ? "notices" : "blind"),
    " ",
    h("span", {}, apart(residual)),
  );
}
