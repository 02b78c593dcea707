// What is looked at: the example or what was brought, and which of its heads.

import { Helper } from "../../src/brought/helper.js";
import { choice, slider } from "../../src/ui/controls.js";
import { whole } from "../../src/ui/numbers.js";
import { bringing } from "./bringing.js";
import { modelPanel } from "./model-panel.js";
import type { BringScene, Library } from "./scene.js";
import { firstLook, type Source } from "./source.js";
import { type BringState, type BringStore, INITIAL, LOOKING, TOKENS } from "./state.js";

const { text, brought, ...EXAMPLE } = INITIAL;

/** What each is first looked at as; fields that it does not decide keep their values. */
const STARTS: Readonly<Record<BringState["source"], Partial<BringState>>> = {
  example: EXAMPLE,
  // Nothing says whether a model was causal: what was brought is shown in full until somebody says so.
  own: { ...LOOKING, source: "own", causal: "no", off: [] },
};

export function controls(store: BringStore, library: Library) {
  const take = (own: Source, where: Partial<BringState>): void => {
    library.own = own;
    store.change({ ...STARTS.own, ...where, brought: store.state.brought + 1 }, "new");
  };
  const helper = new Helper();
  const panel = modelPanel(store, helper, (own) => {
    const { source, layer, head, off } = store.state;
    // Another text of a model is looked at in the same head.
    take(own, source === "own" ? { ...firstLook(own, { layer, head }), off } : firstLook(own));
  });
  const own = bringing(store, helper, panel, (own) => take(own, { row: own.queries >> 1, col: own.keys >> 1 }));
  const sources = { example: "an example", own: "your own" };
  const source = choice<BringState["source"]>("Look at", sources, (value) => {
    if (value === "own" && library.own === undefined) own.element.open = true;
    store.change(STARTS[value], "new");
  });
  const tokens = slider("Tokens", TOKENS, (value) => store.change({ tokens: value, row: value >> 1, col: value >> 1 }));
  const range = { least: 1, most: 1, step: 1 };
  const layer = slider("Layer", range, (value) => store.change({ layer: value - 1 }));
  const head = slider("Head", range, (value) => store.change({ head: value - 1 }));
  const causal = choice<BringState["causal"]>("Queries see", { yes: "what came before", no: "everything" }, (value) =>
    store.change({ causal: value }, "new"),
  );
  return {
    controls: [source.element, layer.element, head.element, causal.element, tokens.element, own.element],
    panel,
    show: ({ state, source: shown, at, vectors }: BringScene): void => {
      source.show(state.source);
      tokens.element.hidden = state.source !== "example";
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
