// What is looked at: the example or what was brought, and which of its heads.

import { choice, slider } from "../../src/ui/controls.js";
import { button } from "../../src/ui/dom.js";
import { whole } from "../../src/ui/numbers.js";
import { bringing } from "./bringing.js";
import { PATCHES } from "./photo.js";
import type { BringScene, Library } from "./scene.js";
import { ALL, type BringState, type BringStore, INITIAL, LOOKING, TOKENS } from "./state.js";

const { order, raced, text, brought, ...EXAMPLE } = INITIAL;

/** What each is first looked at as; fields that it does not decide keep their values. */
const STARTS: Readonly<Record<BringState["source"], Partial<BringState>>> = {
  example: EXAMPLE,
  photo: { ...LOOKING, source: "photo", causal: "no", row: 18 * PATCHES + 8, col: 18 * PATCHES + 8 },
  own: { ...LOOKING, source: "own", causal: "no" },
};

export function controls(store: BringStore, library: Library) {
  const own = bringing(store, (source, isModel) => {
    library.own = source;
    // Another text of a model is looked at in the same head.
    const { layer, head } = isModel && store.state.source === "own" ? store.state : LOOKING;
    const [row, col] = [source.queries >> 1, source.keys >> 1];
    // Nothing says whether the model was causal: what was brought is shown in full until somebody says so.
    store.change({ ...STARTS.own, layer, head, row, col, brought: store.state.brought + 1 }, "new");
  });
  const sources = { example: "an example", photo: "a picture", own: "your own" };
  const source = choice<BringState["source"]>("Look at", sources, (value) => {
    if (value === "own" && library.own === undefined) own.element.open = true;
    store.change(STARTS[value], "new");
  });
  const tokens = slider("Tokens", TOKENS, (value) =>
    store.change({ ...ALL, tokens: value, row: value >> 1, col: value >> 1, chosen: [] }),
  );
  const another = button("Another text", () => store.change({ seed: store.state.seed + 1 }));
  const range = { least: 1, most: 1, step: 1 };
  const layer = slider("Layer", range, (value) => store.change({ layer: value - 1 }));
  const head = slider("Head", range, (value) => store.change({ head: value - 1 }));
  const causal = choice<BringState["causal"]>("Queries see", { yes: "what came before", no: "everything" }, (value) =>
    store.change({ causal: value }),
  );
  return {
    controls: [source.element, layer.element, head.element, own.element],
    more: [tokens.element, another, causal.element],
    show: ({ state, source: shown, at, vectors }: BringScene): void => {
      source.show(state.source);
      for (const element of [tokens.element, another]) element.hidden = state.source !== "example";
      tokens.show(state.tokens, whole(state.tokens));
      for (const [one, place, count] of [
        [layer, at.layer, shown.layers],
        [head, at.head, shown.heads],
      ] as const) {
        one.limit(count);
        one.element.hidden = count === 1;
        one.show(place + 1, `${place + 1} of ${count}`);
      }
      causal.element.hidden = vectors === undefined;
      causal.show(state.causal);
      own.show(state.source === "own" && library.own === undefined);
    },
  };
}
