// The rules that can be chosen, and masks to start from.

import { choice } from "../../src/ui/choice.js";
import { button, h } from "../../src/ui/dom.js";
import { byChoice } from "../../src/ui/orientation.js";
import { presets } from "../../src/ui/presets.js";
import { slider } from "../../src/ui/slider.js";
import { PRESETS } from "./presets.js";
import { type Causal, type Hiding, type MaskStore, MOST, OPEN } from "./state.js";

export function controls(store: MaskStore) {
  const upTo = (least: number, most: number) => ({ least, most, step: 1 });
  const causal = choice<Causal>(
    "Causal",
    [
      { value: "none", text: "off" },
      { value: "lower-right", text: "lower right", about: "The last query meets the last key" },
      { value: "upper-left", text: "upper left", about: "The first query meets the first key" },
    ],
    (value) => store.change({ causal: value }),
  );
  const hiding = choice<Hiding>(
    "Hide",
    [
      { value: "before", text: "−∞ before the softmax" },
      { value: "minus", text: "−10000 before it" },
      { value: "after", text: "0 after it" },
    ],
    (value) => store.change({ hiding: value }),
  );
  const scores = choice<"random" | "equal">(
    "Scores",
    [
      { value: "random", text: "random" },
      { value: "equal", text: "all 0" },
    ],
    (value) => store.change({ scores: value }),
  );
  const by = byChoice("query", (value) => store.change({ by: value }));
  const queries = slider("Queries L", upTo(1, MOST), (value) => store.change({ queries: value, painted: [] }));
  const keys = slider("Keys S", upTo(1, MOST), (value) => store.change({ keys: value, painted: [] }));
  const left = slider("Window, back", upTo(0, MOST), (value) => store.change({ left: value === MOST ? OPEN : value }));
  const right = slider("Window, ahead", upTo(0, MOST), (value) =>
    store.change({ right: value === MOST ? OPEN : value }),
  );
  const prefix = slider("Prefix", upTo(0, MOST), (value) => store.change({ prefix: value }));
  const padding = slider("Padding", upTo(0, MOST), (value) => store.change({ padding: value }));
  const block = slider("Blocks of", upTo(0, 8), (value) => store.change({ block: value }));
  const cuts = h("div", { class: "chips", role: "group", "aria-label": "Documents: tokens that begin one" });
  const noCuts = h("span", { class: "small-label" }, "as many queries as keys are needed");
  const unpaint = button("Wipe off the paint", () => store.change({ painted: [] }), "link");

  const showCuts = (): void => {
    const { state } = store;
    const square = state.queries === state.keys;
    noCuts.hidden = square;
    cuts.hidden = !square;
    if (cuts.childElementCount !== state.keys - 1) {
      cuts.replaceChildren(
        ...Array.from({ length: state.keys - 1 }, (_, index) => {
          return button(String(index + 2), () => toggleCut(store, index + 1), "chip plain");
        }),
      );
    }
    Array.from(cuts.children).forEach((chip, index) => {
      chip.setAttribute("aria-pressed", String(state.cuts.includes(index + 1)));
      chip.setAttribute("aria-label", `A document begins at ${index + 2}`);
    });
  };

  return {
    controls: [presets("Try", PRESETS, ({ patch }) => store.change(patch, "new"))],
    more: [
      queries.element,
      keys.element,
      causal.element,
      left.element,
      right.element,
      prefix.element,
      padding.element,
      block.element,
      scores.element,
      hiding.element,
      h(
        "div",
        { class: "controls-hide" },
        h("span", { class: "small-label" }, "A document begins at"),
        cuts,
        noCuts,
        unpaint,
      ),
    ],
    menu: [by.element],
    show: () => {
      const { state } = store;
      queries.show(state.queries, String(state.queries));
      keys.show(state.keys, String(state.keys));
      causal.show(state.causal);
      hiding.show(state.hiding);
      scores.show(state.scores);
      by.show(state.by);
      for (const [bound, value] of [
        [left, state.left],
        [right, state.right],
      ] as const) {
        bound.show(value === OPEN ? MOST : value, value === OPEN ? "open" : String(value));
      }
      prefix.limit(state.keys);
      prefix.show(state.prefix, state.prefix === 0 ? "none" : `${state.prefix} keys`);
      padding.limit(Math.min(state.queries, state.keys));
      padding.show(state.padding, state.padding === 0 ? "none" : `last ${state.padding}`);
      block.show(state.block, state.block === 0 ? "off" : String(state.block));
      unpaint.hidden = state.painted.length === 0;
      showCuts();
    },
  };
}

function toggleCut(store: MaskStore, at: number): void {
  const { cuts } = store.state;
  const next = cuts.includes(at) ? cuts.filter((cut) => cut !== at) : [...cuts, at];
  store.change({ cuts: [...next].sort((a, b) => a - b) });
}
