// What the reader can choose about the computation: order, width, heads, scale, causal, how many queries, who is hidden.

import { LEAST_WIDTH, MOST_WIDTH } from "../../src/model/embed.js";
import { labelsOf, type State, type WalkStore } from "../../src/model/state.js";
import { MOST_TOKENS } from "../../src/model/tokens.js";
import type { Walk } from "../../src/model/walk.js";
import { chips } from "../../src/ui/chips.js";
import { choice } from "../../src/ui/choice.js";
import { h } from "../../src/ui/dom.js";
import { exact } from "../../src/ui/numbers.js";
import { byChoice } from "../../src/ui/orientation.js";
import { slider } from "../../src/ui/slider.js";

export const HEADS = ["1", "2", "3", "4"] as const;

export class Options {
  readonly more: readonly HTMLElement[];
  readonly #store: WalkStore;
  readonly #hide = chips("Hide words from everybody (padding)", (hidden) => this.#store.change({ hidden }));
  readonly #order = choice("Fill", { loop: "one query at a time", whole: "all at once" }, (value) =>
    this.#store.change({ loop: value === "loop" }),
  );
  readonly #width = slider("Width d", { least: LEAST_WIDTH, most: MOST_WIDTH, step: 1 }, (width) =>
    this.#store.change({ width }),
  );
  readonly #heads = choice("Heads", HEADS, (value) => this.#store.change({ heads: Number(value), head: 0 }));
  readonly #scale = choice("Scale", { root: "1/√d", one: "none", own: "own" }, (value) => this.#chooseScale(value));
  readonly #ownScale = slider("× scale", { least: 0, most: 3, step: 0.01 }, (scale) => this.#store.change({ scale }));
  readonly #causal = choice(
    "Causal",
    [
      { value: "none", text: "off", about: "Every word sees every word" },
      { value: "lower-right", text: "on", about: "No word sees a later one; the last query meets the last key" },
      { value: "upper-left", text: "upper left", about: "The first query meets the first key" },
    ],
    (value) => this.#store.change({ causal: value }),
  );
  readonly by = byChoice("word", (by) => this.#store.change({ columns: by === "columns" }));
  readonly #asking = slider("Queries", { least: 1, most: MOST_TOKENS, step: 1 }, (count) =>
    this.#store.change({ asking: count >= labelsOf(this.#store.state).length ? 0 : count }),
  );
  #ownChosen = false;

  constructor(store: WalkStore) {
    this.#store = store;
    const about = h("span", { class: "small-label" }, "Hide a word");
    const hide = h("div", { class: "controls-hide" }, about, this.#hide.element);
    const parts = [this.#order, this.#width, this.#heads, this.#scale, this.#ownScale, this.#causal, this.#asking];
    this.more = [...parts.map(({ element }) => element), hide];
  }

  show(state: State, { labels, askers, scale, headWidth }: Walk): void {
    const differ = askers.length !== labels.length;
    const { width, heads, numbers } = state;
    this.#order.show(state.loop ? "loop" : "whole");
    this.#width.show(width, heads > 1 ? `${width} = ${heads} × ${headWidth}` : String(width));
    this.#width.enable(numbers === null);
    for (const count of HEADS) this.#heads.enable(count, numbers === null || width % Number(count) === 0);
    this.#heads.show(String(heads));
    const isOwn = state.scale !== "root" && (state.scale !== 1 || this.#ownChosen);
    this.#scale.show(isOwn ? "own" : state.scale === "root" ? "root" : "one");
    this.#ownScale.show(scale, `× ${exact(scale, 3)}`);
    this.#ownScale.enable(isOwn);
    this.by.show(state.columns ? "columns" : "rows");
    this.#causal.show(state.causal === "upper-left" && !differ ? "lower-right" : state.causal);
    this.#causal.label("lower-right", differ ? "lower right" : "on");
    this.#causal.element.classList.toggle("aligned", !differ);
    this.#asking.limit(Math.max(1, labels.length));
    const some = askers.length === 1 ? "the last word" : `last ${askers.length} words`;
    this.#asking.show(askers.length, differ ? some : "every word");
    this.#hide.show(labels, state.hidden);
  }

  #chooseScale(value: "root" | "one" | "own"): void {
    this.#ownChosen = value === "own";
    const now = this.#store.state.scale;
    this.#store.change({ scale: value === "root" ? "root" : value === "one" ? 1 : now === "root" ? 0.35 : now });
  }
}
