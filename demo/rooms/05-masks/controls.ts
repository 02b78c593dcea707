// The rules that can be chosen, and masks to start from.

import { choice } from "../../src/ui/choice.js";
import { button, h } from "../../src/ui/dom.js";
import { byChoice } from "../../src/ui/orientation.js";
import { presets } from "../../src/ui/presets.js";
import { slider } from "../../src/ui/slider.js";
import { PRESETS } from "./presets.js";
import { type Causal, type Hiding, type MaskState, type MaskStore, MOST, OPEN } from "./state.js";

type Sized = "queries" | "keys" | "left" | "right" | "prefix" | "padding" | "block";

interface Size {
  readonly label: string;
  readonly least?: number;
  readonly most?: number;
  readonly said?: (value: number) => string;
}

const reach = (value: number): string => (value === MOST ? "open" : String(value));
const SIZES: readonly (readonly [Sized, Size])[] = [
  ["queries", { label: "Queries L", least: 1 }],
  ["keys", { label: "Keys S", least: 1 }],
  ["left", { label: "Window, back", said: reach }],
  ["right", { label: "Window, ahead", said: reach }],
  ["prefix", { label: "Prefix", said: (value) => (value === 0 ? "none" : `${value} keys`) }],
  ["padding", { label: "Padding", said: (value) => (value === 0 ? "none" : `last ${value}`) }],
  ["block", { label: "Blocks of", most: 8, said: (value) => (value === 0 ? "off" : String(value)) }],
];

/** `chosen`: a mask to start from was taken. */
export function controls(store: MaskStore, chosen: () => void) {
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
  const scores = choice<MaskState["scores"]>(
    "Scores",
    [
      { value: "next", text: "look for the next word" },
      { value: "equal", text: "all 0" },
    ],
    (value) => store.change({ scores: value }),
  );
  const by = byChoice("query", (value) => store.change({ by: value }));
  const sizes = SIZES.map(([name, { label, least = 0, most = MOST, said = String }]) => {
    const isReach = said === reach;
    const made = slider(label, { least, most, step: 1 }, (value) => {
      const size = { [name]: isReach && value === MOST ? OPEN : value };
      // Pairs are counted row by row: another size would hide others.
      store.change(least === 1 ? { ...size, painted: [] } : size);
    });
    const show = (): void => {
      const { state } = store;
      if (name === "prefix") made.limit(state.keys);
      if (name === "padding") made.limit(Math.min(state.queries, state.keys));
      const value = state[name] === OPEN ? MOST : state[name];
      made.show(value, said(value));
    };
    return { element: made.element, show };
  });
  const cuts = h("div", { class: "chips", role: "group", "aria-label": "Documents: tokens that begin one" });
  const noCuts = h("span", { class: "small-label" }, "as many queries as keys are needed");
  const unpaint = button("Wipe off the paint", () => store.change({ painted: [] }), "link");
  const showCuts = ({ keys, queries, cuts: chosenCuts }: MaskState): void => {
    noCuts.hidden = queries === keys;
    cuts.hidden = queries !== keys;
    if (cuts.childElementCount !== keys - 1) {
      const chip = (_: unknown, index: number) =>
        button(String(index + 2), () => toggleCut(store, index + 1), "chip plain");
      cuts.replaceChildren(...Array.from({ length: keys - 1 }, chip));
    }
    Array.from(cuts.children).forEach((chip, index) => {
      chip.setAttribute("aria-pressed", String(chosenCuts.includes(index + 1)));
      chip.setAttribute("aria-label", `A document begins at ${index + 2}`);
    });
  };
  const documents = h("span", { class: "small-label" }, "A document begins at");
  return {
    controls: [
      presets("Try", PRESETS, ({ patch }) => {
        store.hold(undefined);
        store.change(patch, "new");
        chosen();
      }),
    ],
    more: [
      causal.element,
      ...sizes.map(({ element }) => element),
      scores.element,
      hiding.element,
      h("div", { class: "controls-hide" }, documents, cuts, noCuts, unpaint),
    ],
    menu: [by.element],
    show: () => {
      const { state } = store;
      for (const size of sizes) size.show();
      causal.show(state.causal);
      hiding.show(state.hiding);
      scores.show(state.scores);
      by.show(state.by);
      unpaint.hidden = state.painted.length === 0;
      showCuts(state);
    },
  };
}

function toggleCut(store: MaskStore, at: number): void {
  const { cuts } = store.state;
  const next = cuts.includes(at) ? cuts.filter((cut) => cut !== at) : [...cuts, at];
  store.change({ cuts: [...next].sort((a, b) => a - b) });
}
