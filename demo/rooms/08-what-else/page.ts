// Room 8, what else attention is: a convolution, a dense layer, an operation on a set, messages on a graph; and how far it reaches.

import { Engine } from "../../src/engine/engine.js";
import { GUESSES } from "../../src/page/guesses.js";
import { furnish, OWN_ARITHMETIC, startPage } from "../../src/page/room.js";
import { boundChoice } from "../../src/ui/controls.js";
import { find } from "../../src/ui/dom.js";
import { guess } from "../../src/ui/guess.js";
import { atOnce, inPieces, pause } from "../../src/ui/pieces.js";
import { Teller } from "../../src/ui/teller.js";
import { convolutionExhibit } from "./convolution-exhibit.js";
import type { Exhibit } from "./exhibit.js";
import { graphExhibit } from "./graph-exhibit.js";
import { gallery } from "./images.js";
import { layerExhibit } from "./layer-exhibit.js";
import { reachExhibit } from "./reach-exhibit.js";
import { setExhibit } from "./set-exhibit.js";
import { store, VIEWS, type ViewName, type WhatElseState } from "./state.js";
import "../../style/masks.css";
import "../../style/pixels.css";
import "../../style/what-else.css";

const NAMES: Readonly<Record<ViewName, string>> = {
  convolution: "a convolution",
  layer: "a dense layer",
  set: "for sets",
  graph: "message passing",
  reach: "far-reaching",
};

const engine = new Engine();
const place = find("#room", HTMLElement);

void startPage(engine, place, async () => {
  const { showing, ask } = whatElseRoom();
  await pause();
  let shown = 0;
  store.listen((state) => {
    shown += 1;
    atOnce(showing(state));
    ask();
  });
  await inPieces(showing(store.state), () => shown > 0);
  if (shown === 0) ask();
});

function whatElseRoom() {
  const current = (): Exhibit => exhibits[store.state.view];
  const teller: Teller = new Teller({
    keeper: () => store,
    first: () => current().first(),
    explain: (cell) => current().explain(cell),
    light: (lights) => current().light(lights),
    retype: (cell, value) => current().retype(cell, value),
  });
  const pictured = gallery();
  const exhibits: Readonly<Record<ViewName, Exhibit>> = {
    convolution: convolutionExhibit(teller, pictured),
    layer: layerExhibit(teller),
    set: setExhibit(teller, pictured),
    graph: graphExhibit(teller),
    reach: reachExhibit(teller),
  };
  const all = Object.values(exhibits);
  /** What was said last of each part: one that asks nothing new still has its answer. */
  const said = new Map<ViewName, string>([
    ["reach", "Nothing is computed here: steps follow from who is wired to whom."],
  ]);
  let asked = 0;
  const agreement = furnish(place, {
    above: [boundChoice(store, "view", "Attention is", NAMES, { entry: "new" })],
    pictures: all,
    menu: all.flatMap(({ menu }) => menu ?? []),
    readout: teller.element,
    guess: guess("what-else", GUESSES["what-else"], () => store.change({ view: "convolution" }, "new")),
    heedCode: () => current().heedCode(),
    torchCode: () => current().torchCode(),
  });

  function* showing(state: WhatElseState): Generator<unknown> {
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
  }

  /** A state that asks nothing new leaves an answer that is under way to come. */
  function ask(): void {
    const { view } = store.state;
    const calls = current().calls();
    if (calls.length === 0) return;
    said.delete(view);
    agreement.textContent = OWN_ARITHMETIC;
    const question = ++asked;
    engine.ask(calls, (answers) => {
      if (question !== asked) return;
      // Of the part that asked, which need no longer be the one in view.
      said.set(view, exhibits[view].read(answers));
      agreement.textContent = said.get(store.state.view) ?? "";
      teller.tell();
    });
  }
  return { showing, ask };
}
