// The rules that can be chosen, and masks to start from.

import { boundChoice, boundSlider, chips, presets, slider } from "../../src/ui/controls.js";
import { button, h } from "../../src/ui/dom.js";
import { numbered } from "../../src/ui/named-matrices.js";
import type { Controls } from "../../src/ui/picture.js";
import { BARE, type MaskState, type MaskStore, MOST, OPEN } from "./state.js";

const SIZE = { least: 0, most: MOST, step: 1 };
const reach = { said: (value: number): string => (value === OPEN ? "open" : String(value)) };
const unless =
  (none: string, said: (value: number) => string) =>
  (value: number): string =>
    value === 0 ? none : said(value);

const CAUSAL = [
  { value: "none", text: "off" },
  { value: "lower-right", text: "lower right", about: "The last query meets the last key" },
  { value: "upper-left", text: "upper left", about: "The first query meets the first key" },
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
export function controls(store: MaskStore, chosen: () => void): Controls {
  const examples = Object.entries(PRESETS).map(([name, patch]) => ({ name, patch }));
  const start = presets("Try", examples, ({ patch }) => {
    store.hold(undefined);
    store.change({ ...BARE, hiding: "before", ...patch }, "new");
    chosen();
  });
  const small = (text: string, tag: "p" | "span" = "span") => h(tag, { class: "small-label" }, text);
  // The first token that can begin one is the second.
  const toggled = (pressed: readonly number[]): void => store.change({ cuts: pressed.map((index) => index + 1) });
  const cuts = chips("Documents: tokens that begin one", toggled, "chip plain");
  const noCuts = small("as many queries as keys are needed");
  const unpaint = button("Wipe off the paint", () => store.change({ painted: [] }), "link");
  // Pairs are counted row by row: with other keys the same numbers would hide others.
  const width = slider("Keys S", { ...SIZE, least: 1 }, (keys) => store.change({ keys, painted: [] }));
  const follow = ({ queries, keys, painted, cuts: begun }: MaskState): void => {
    width.show(keys, String(keys));
    unpaint.hidden = painted.length === 0;
    noCuts.hidden = queries === keys;
    cuts.element.hidden = queries !== keys;
    cuts.show(
      numbered("", keys).slice(1),
      begun.map((cut) => cut - 1),
    );
  };
  store.listen(follow);
  follow(store.state);
  return {
    controls: [start],
    more: [
      small("A pair stays visible only if every rule allows it. A prefix opens what causal and window close.", "p"),
      boundChoice(store, "causal", "Causal", CAUSAL),
      boundChoice(store, "scores", "Scores", { next: "look for the next word", equal: "all 0" }),
      boundChoice(store, "hiding", "Hide", {
        before: "−∞ before the softmax",
        minus: "−10000 before it",
        after: "0 after it",
      }),
      boundSlider(store, "queries", "Queries L", { ...SIZE, least: 1 }),
      width.element,
      boundSlider(store, "left", "Window, back", SIZE, reach),
      boundSlider(store, "right", "Window, ahead", SIZE, reach),
      boundSlider(store, "prefix", "Prefix", SIZE, { said: unless("none", (value) => `${value} keys`) }),
      boundSlider(store, "padding", "Padding", SIZE, { said: unless("none", (value) => `last ${value}`) }),
      boundSlider(store, "block", "Blocks of", { ...SIZE, most: 8 }, { said: unless("off", String) }),
      h("div", { class: "controls-hide" }, small("A document begins at"), cuts.element, noCuts, unpaint),
    ],
  };
}
