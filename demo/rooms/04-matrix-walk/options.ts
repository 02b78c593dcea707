// What the reader can choose about the computation: who is hidden, width, heads, scale, causal, who asks.

import { LEAST_WIDTH, MOST_WIDTH } from "../../src/model/embed.js";
import { labelsOf, type State } from "../../src/model/state.js";
import type { WalkStore } from "../../src/model/url.js";
import type { Walk } from "../../src/model/walk.js";
import { choice } from "../../src/ui/choice.js";
import { h } from "../../src/ui/dom.js";
import { exact } from "../../src/ui/numbers.js";
import { byChoice } from "../../src/ui/orientation.js";

export class Options {
  readonly more: readonly HTMLElement[];
  readonly #store: WalkStore;
  #hide = h("div", { class: "chips", dir: "auto", role: "group", "aria-label": "Hide words from everybody (padding)" });
  #width = h("input", { type: "range", id: "width", min: LEAST_WIDTH, max: MOST_WIDTH, step: 1 });
  #widthSaid = h("output", { for: "width" });
  #heads = choice(
    "Heads",
    ["1", "2", "3", "4"].map((value) => ({ value, text: value })),
    (value) => this.#store.change({ heads: Number(value), head: 0 }),
  );
  #scale = choice(
    "Scale",
    [
      { value: "root", text: "1/√d" },
      { value: "one", text: "none" },
      { value: "own", text: "own" },
    ],
    (value) => this.#chooseScale(value),
  );
  #ownScale = h("input", { type: "range", id: "own-scale", min: 0, max: 3, step: 0.01, "aria-label": "Scale" });
  #ownScaleSaid = h("output", { for: "own-scale" });
  #causal = choice(
    "Causal",
    [
      { value: "none", text: "off", about: "Every word sees every word" },
      { value: "lower-right", text: "on", about: "No word sees a later one; the last query meets the last key" },
      { value: "upper-left", text: "upper left", about: "The first query meets the first key" },
    ],
    (value) => this.#store.change({ causal: value }),
  );
  readonly by = byChoice("word", (by) => this.#store.change({ columns: by === "columns" }));
  #asking = h("input", { type: "range", id: "asking", min: 1, step: 1 });
  #askingSaid = h("output", { for: "asking" });

  constructor(store: WalkStore) {
    this.#store = store;
    this.#width.addEventListener("input", () => this.#store.change({ width: Number(this.#width.value) }));
    this.#ownScale.addEventListener("input", () => this.#store.change({ scale: Number(this.#ownScale.value) }));
    this.#asking.addEventListener("input", () => {
      const count = Number(this.#asking.value);
      this.#store.change({ asking: count >= Number(this.#asking.max) ? 0 : count });
    });
    const widthBox = h(
      "div",
      { class: "slider" },
      h("label", { for: "width" }, "Width d"),
      this.#width,
      this.#widthSaid,
    );
    const askingBox = h(
      "div",
      { class: "slider" },
      h("label", { for: "asking" }, "Who asks"),
      this.#asking,
      this.#askingSaid,
    );
    const scaleBox = h(
      "div",
      { class: "with-slider" },
      this.#scale.element,
      h("div", { class: "slider bare" }, this.#ownScale, this.#ownScaleSaid),
    );
    this.more = [
      widthBox,
      this.#heads.element,
      scaleBox,
      this.#causal.element,
      askingBox,
      h("div", { class: "controls-hide" }, h("span", { class: "small-label" }, "Hide a word"), this.#hide),
    ];
  }

  show(state: State, walk: Walk): void {
    this.#width.value = String(state.width);
    this.#width.disabled = state.numbers !== null;
    for (const heads of [2, 3, 4])
      this.#heads.enable(String(heads), state.numbers === null || state.width % heads === 0);
    this.#width.step = String(state.heads);
    this.#width.min = String(Math.ceil(LEAST_WIDTH / state.heads) * state.heads);
    this.#widthSaid.textContent =
      state.heads > 1 ? `${state.width} = ${state.heads} × ${walk.headWidth}` : String(state.width);
    this.#heads.show(String(state.heads));
    this.#showScale(state, walk);
    this.by.show(state.columns ? "columns" : "rows");
    const differ = walk.askers.length !== walk.labels.length;
    this.#causal.show(state.causal === "upper-left" && !differ ? "lower-right" : state.causal);
    this.#causal.label("lower-right", differ ? "lower right" : "on");
    this.#causal.element.classList.toggle("aligned", !differ);
    this.#asking.max = String(Math.max(1, walk.labels.length));
    this.#asking.value = String(walk.askers.length);
    this.#askingSaid.textContent = !differ
      ? "every word"
      : walk.askers.length === 1
        ? "the last word"
        : `last ${walk.askers.length} words`;
    this.#showHide(state);
  }

  #showScale(state: State, walk: Walk): void {
    this.#scale.show(state.scale === "root" ? "root" : state.scale === 1 && !this.#ownChosen ? "one" : "own");
    const own = state.scale !== "root" && (state.scale !== 1 || this.#ownChosen);
    this.#ownScale.disabled = !own;
    this.#ownScale.value = String(walk.scale);
    this.#ownScaleSaid.textContent = `× ${exact(walk.scale, 3)}`;
  }

  #ownChosen = false;

  #chooseScale(value: "root" | "one" | "own"): void {
    this.#ownChosen = value === "own";
    const now = this.#store.state.scale;
    this.#store.change({ scale: value === "root" ? "root" : value === "one" ? 1 : now === "root" ? 0.35 : now });
  }

  #showHide(state: State): void {
    const labels = labelsOf(state);
    const same =
      labels.length === this.#hide.childElementCount &&
      labels.every((label, i) => this.#hide.children[i]?.textContent === label);
    if (!same) {
      this.#hide.replaceChildren(
        ...labels.map((label, index) => {
          const chip = h("button", { type: "button", class: "chip" }, label);
          chip.addEventListener("click", () => this.#toggleHidden(index));
          return chip;
        }),
      );
    }
    Array.from(this.#hide.children).forEach((chip, index) => {
      chip.setAttribute("aria-pressed", String(state.hidden.includes(index)));
    });
  }

  #toggleHidden(index: number): void {
    const { hidden } = this.#store.state;
    const next = hidden.includes(index) ? hidden.filter((other) => other !== index) : [...hidden, index];
    this.#store.change({ hidden: [...next].sort((a, b) => a - b) });
  }
}
