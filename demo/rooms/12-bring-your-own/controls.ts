// What is looked at: the example or what was brought, and which of its heads.

import { choice } from "../../src/ui/choice.js";
import { button } from "../../src/ui/dom.js";
import { whole } from "../../src/ui/numbers.js";
import type { Controls } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { Bringing } from "./bringing.js";
import type { Library } from "./library.js";
import { PATCHES } from "./photo.js";
import type { BringScene } from "./scene.js";
import { type BringState, type BringStore, EXAMPLE, LOOKING, type SourceName, TOKENS } from "./state.js";

/** What each is first looked at as. */
const STARTS: Readonly<Record<SourceName, Partial<BringState>>> = {
  example: EXAMPLE,
  photo: { ...LOOKING, source: "photo", causal: "no", row: 18 * PATCHES + 8, col: 18 * PATCHES + 8 },
  own: { ...LOOKING, source: "own", causal: "no" },
};

export interface BringControls extends Controls {
  readonly show: (scene: BringScene) => void;
}

export function controls(store: BringStore, library: Library): BringControls {
  const source = choice<SourceName>(
    "Look at",
    { example: "an example", photo: "a picture", own: "your own" },
    (value) => {
      if (value === "own" && library.own === undefined) bringing.element.setAttribute("open", "");
      store.change(STARTS[value], "new");
    },
  );
  const tokens = slider("Tokens", TOKENS, (value) =>
    store.change({ tokens: value, top: 0, left: 0, span: 0, row: value >> 1, col: value >> 1, chosen: [] }),
  );
  const another = button("Another text", () => store.change({ seed: store.state.seed + 1 }));
  const layer = slider("Layer", { least: 1, most: 1, step: 1 }, (value) => store.change({ layer: value - 1 }));
  const head = slider("Head", { least: 1, most: 1, step: 1 }, (value) => store.change({ head: value - 1 }));
  const causal = choice<"yes" | "no">("Queries see", { yes: "what came before", no: "everything" }, (value) =>
    store.change({ causal: value }),
  );
  const bringing = new Bringing(store, (own, isModel) => {
    library.own = own;
    const [row, col] = [own.queries >> 1, own.keys >> 1];
    // Another text of a model is looked at in the same head.
    const { layer, head } = isModel && store.state.source === "own" ? store.state : LOOKING;
    // Nothing says whether the model was causal: what was brought is shown in full until somebody says so.
    const brought = store.state.brought + 1;
    store.change({ ...LOOKING, source: "own", causal: "no", layer, head, row, col, brought }, "new");
  });
  return {
    controls: [source.element, layer.element, head.element, bringing.element],
    more: [tokens.element, another, causal.element],
    show: ({ state, source: shown, at, vectors }) => {
      source.show(state.source);
      const isExample = state.source === "example";
      tokens.element.hidden = !isExample;
      another.hidden = !isExample;
      tokens.show(state.tokens, whole(state.tokens));
      layer.limit(shown.layers);
      layer.element.hidden = shown.layers === 1;
      layer.show(at.layer + 1, `${at.layer + 1} of ${shown.layers}`);
      head.limit(shown.heads);
      head.element.hidden = shown.heads === 1;
      head.show(at.head + 1, `${at.head + 1} of ${shown.heads}`);
      causal.element.hidden = vectors === undefined;
      causal.show(state.causal);
      bringing.show(state.source === "own" && library.own === undefined);
    },
  };
}
