// What the reader can choose about the computation: order, width, heads, scale, causal, how many queries, who is hidden.

import { labelsOf, type State, type WalkStore } from "../../src/model/state.js";
import { MOST_TOKENS } from "../../src/model/tokens.js";
import { LEAST_WIDTH, MOST_WIDTH } from "../../src/model/vocabulary.js";
import type { Walk } from "../../src/model/walk.js";
import { boundChoice, chips, choice, slider } from "../../src/ui/controls.js";
import { h } from "../../src/ui/dom.js";
import { byChoice } from "../../src/ui/named-matrices.js";

export const HEADS = ["1", "2", "3", "4"] as const;

export function options(store: WalkStore) {
  const order = choice("Fill", { loop: "one query at a time", whole: "all at once" }, (value) =>
    store.change({ loop: value === "loop" }),
  );
  const width = slider("Width d", { least: LEAST_WIDTH, most: MOST_WIDTH, step: 1 }, (d) => store.change({ width: d }));
  const heads = choice("Heads", HEADS, (value) => store.change({ heads: Number(value), head: 0 }));
  const scales = [{ value: "root", text: "1/√d" } as const, { value: "1", text: "none" } as const];
  const scale = choice("Scale", scales, (value) => store.change({ scale: value === "root" ? "root" : 1 }));
  const causal = boundChoice(store, "causal", "Causal", [
    { value: "none", text: "off", about: "Every word sees every word" },
    { value: "lower-right", text: "on", about: "No word sees a later one; the last query meets the last key" },
    { value: "upper-left", text: "upper left", about: "The first query meets the first key" },
  ]);
  const asking = slider("Queries", { least: 1, most: MOST_TOKENS, step: 1 }, (count) =>
    store.change({ asking: count >= labelsOf(store.state).length ? 0 : count }),
  );
  const hide = chips("Hide words from everybody (padding)", (hidden) => store.change({ hidden }));
  const hiding = h("div", { class: "controls-hide" }, h("span", { class: "small-label" }, "Hide a word"), hide.element);
  const first = [order, width, heads, scale].map(({ element }) => element);

  const show = (state: State, walk: Walk): void => {
    const { labels, askers, headWidth } = walk;
    const differ = askers.length !== labels.length;
    const isFree = state.numbers === null;
    order.show(state.loop ? "loop" : "whole");
    width.show(state.width, state.heads > 1 ? `${state.width} = ${state.heads} × ${headWidth}` : String(state.width));
    width.enable(isFree);
    for (const count of HEADS) heads.enable(count, isFree || state.width % Number(count) === 0);
    heads.show(String(state.heads));
    // An address may have any other.
    scale.show(String(state.scale));
    asking.limit(Math.max(1, labels.length));
    const some = askers.length === 1 ? "the last word" : `last ${askers.length} words`;
    asking.show(askers.length, differ ? some : "every word");
    hide.show(labels, state.hidden);
  };
  return { more: [...first, causal, asking.element, hiding], menu: [byChoice(store, "word")], show };
}
