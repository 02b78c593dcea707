// Room 8, what else attention is: a convolution, a dense layer, an operation on a set, messages on a graph; and how far it reaches.

import type { Answer, Call } from "../../src/engine/engine.js";
import { agreementLine, furnish, OWN_ARITHMETIC } from "../../src/page/furnish.js";
import { choice } from "../../src/ui/choice.js";
import { Teller } from "../../src/ui/teller.js";
import { convolutionExhibit } from "./convolution-exhibit.js";
import type { Exhibit } from "./exhibit.js";
import { gallery } from "./gallery.js";
import { graphExhibit } from "./graph-exhibit.js";
import { layerExhibit } from "./layer-exhibit.js";
import { reachExhibit } from "./reach-exhibit.js";
import { setExhibit } from "./set-exhibit.js";
import { VIEWS, type ViewName, type WhatElseState, type WhatElseStore } from "./state.js";

const NAMES: Readonly<Record<ViewName, string>> = {
  convolution: "a convolution",
  layer: "a dense layer",
  set: "for sets",
  graph: "message passing",
  reach: "far-reaching",
};

export function whatElseRoom(store: WhatElseStore, root: HTMLElement) {
  const current = (): Exhibit => exhibits[store.state.view];
  const teller: Teller = new Teller({
    keeper: () => store,
    first: () => current().first(),
    explain: (cell) => current().explain(cell),
    light: (lights) => current().light(lights),
    retype: (cell, value) => current().retype(cell, value),
  });
  const host = { store, teller };
  const pictured = gallery(store);
  const exhibits: Readonly<Record<ViewName, Exhibit>> = {
    convolution: convolutionExhibit(host, pictured),
    layer: layerExhibit(host),
    set: setExhibit(host, pictured),
    graph: graphExhibit(host),
    reach: reachExhibit(host),
  };
  const all = Object.values(exhibits);
  const views = choice<ViewName>("Attention is", NAMES, (view) => store.change({ view }, "new"));
  const agreement = agreementLine();
  /** What was said last of each part: one that asks nothing new still has its answer. */
  const said = new Map<ViewName, string>([
    ["reach", "Nothing is computed here: steps follow from who is wired to whom."],
  ]);
  furnish(root, {
    above: [views.element],
    pictures: all.map(({ element }) => element),
    menu: all.flatMap(({ menu }) => menu ?? []),
    readout: teller.element,
    agreement,
    heedCode: () => current().heedCode(),
    torchCode: () => current().torchCode(),
  });
  return {
    *showing(state: WhatElseState): Generator<unknown> {
      views.show(state.view);
      pictured.show(state);
      for (const view of VIEWS) {
        const { menu, element } = exhibits[view];
        element.hidden = view !== state.view;
        if (menu !== undefined) menu.hidden = element.hidden;
      }
      if (state.view === "convolution" || state.view === "set")
        current().element.querySelector(".more > .controls-options")?.append(pictured.element);
      yield;
      yield* current().show(state);
      agreement.textContent = said.get(state.view) ?? OWN_ARITHMETIC;
      teller.tell();
    },
    /** Those that are new in what is shown. */
    calls(): readonly Call[] {
      const calls = current().calls();
      if (calls.length > 0) {
        said.delete(store.state.view);
        agreement.textContent = OWN_ARITHMETIC;
      }
      return calls;
    },
    /** Of the part that asked, which need no longer be the one in view. */
    answer(view: ViewName, answers: readonly Answer[]): void {
      said.set(view, exhibits[view].read(answers));
      agreement.textContent = said.get(store.state.view) ?? "";
      teller.tell();
    },
  };
}
