// The rules that can be chosen, and masks to start from.

import { chips, choice, presets, slider } from "../../src/ui/controls.js";
import { button, h } from "../../src/ui/dom.js";
import { byChoice, numbered } from "../../src/ui/named-matrices.js";
import { BARE, type MaskState, type MaskStore, MOST, OPEN } from "./state.js";

type Sized = "queries" | "keys" | "left" | "right" | "prefix" | "padding" | "block";
type Size = Readonly<{ label: string; least?: number; most?: number; said?: (value: number) => string }>;

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

const CAUSAL = [
  { value: "none", text: "off" },
  { value: "lower-right", text: "lower right", about: "The last query meets the last key" },
  { value: "upper-left", text: "upper left", about: "The first query meets the first key" },
];
const CHOICES = [
  ["causal", "Causal", CAUSAL],
  ["scores", "Scores", { next: "look for the next word", equal: "all 0" }],
  ["hiding", "Hide", { before: "−∞ before the softmax", minus: "−10000 before it", after: "0 after it" }],
] as const;

/** Masks worth starting from, by what they hide. */
export const PRESETS: Readonly<Record<string, Partial<MaskState>>> = {
  "No mask": {},
  Causal: { causal: "lower-right" },
  "Causal with a cache": { causal: "lower-right", queries: 4 },
  "Sliding window": { causal: "lower-right", left: 3 },
  Prefix: { causal: "lower-right", prefix: 5 },
  Documents: { causal: "lower-right", cuts: [5, 9] },
  Padding: { padding: 3 },
  Blocks: { causal: "lower-right", block: 3 },
  "A row that sees nothing": { painted: Array.from({ length: 12 }, (_, col) => 6 * 12 + col) },
};

/** `chosen`: a mask to start from was taken. */
export function controls(store: MaskStore, chosen: () => void) {
  const choices = CHOICES.map(([name, legend, offered]) => {
    const made = choice<string>(legend, offered, (value) => store.change({ [name]: value }));
    return { element: made.element, show: () => made.show(store.state[name]) };
  });
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
  // The first token that can begin one is the second.
  const toggled = (pressed: readonly number[]): void => store.change({ cuts: pressed.map((index) => index + 1) });
  const cuts = chips("Documents: tokens that begin one", toggled, "chip plain");
  const noCuts = h("span", { class: "small-label" }, "as many queries as keys are needed");
  const unpaint = button("Wipe off the paint", () => store.change({ painted: [] }), "link");
  const examples = Object.entries(PRESETS).map(([name, patch]) => ({ name, patch }));
  const documents = h("span", { class: "small-label" }, "A document begins at");
  const rule = "A pair stays visible only if every rule allows it. A prefix opens what causal and window close.";
  const about = h("p", { class: "small-label" }, rule);
  return {
    controls: [
      presets("Try", examples, ({ patch }) => {
        store.hold(undefined);
        store.change({ ...BARE, hiding: "before", ...patch }, "new");
        chosen();
      }),
    ],
    more: [
      about,
      ...[...choices, ...sizes].map(({ element }) => element),
      h("div", { class: "controls-hide" }, documents, cuts.element, noCuts, unpaint),
    ],
    menu: [byChoice(store, "query")],
    show: () => {
      const { state } = store;
      for (const one of [...choices, ...sizes]) one.show();
      unpaint.hidden = state.painted.length === 0;
      const { cuts: begun, keys, queries } = state;
      noCuts.hidden = queries === keys;
      cuts.element.hidden = queries !== keys;
      const beginnings = begun.map((cut) => cut - 1);
      cuts.show(numbered("", keys).slice(1), beginnings);
    },
  };
}
