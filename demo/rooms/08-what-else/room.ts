// Room 8, what else attention is: a convolution, a dense layer, an operation on a set, messages on a graph; and how far it reaches.

import type { Answer, Call } from "../../src/engine/engine.js";
import { agreementLine, furnish, OWN_ARITHMETIC } from "../../src/page/furnish.js";
import { choice } from "../../src/ui/choice.js";
import { atOnce } from "../../src/ui/pieces.js";
import { Teller } from "../../src/ui/teller.js";
import { ConvolutionExhibit } from "./convolution-exhibit.js";
import type { Exhibit, Host } from "./exhibit.js";
import { Gallery } from "./gallery.js";
import { GraphExhibit } from "./graph-exhibit.js";
import { LayerExhibit } from "./layer-exhibit.js";
import { ReachExhibit } from "./reach-exhibit.js";
import { SetExhibit } from "./set-exhibit.js";
import { VIEWS, type ViewName, type WhatElseState, type WhatElseStore } from "./state.js";

const NAMES: Readonly<Record<ViewName, string>> = {
  convolution: "a convolution",
  layer: "a dense layer",
  set: "for sets",
  graph: "message passing",
  reach: "far-reaching",
};
const WITH_PICTURE: readonly ViewName[] = ["convolution", "set"];

export class WhatElseRoom {
  readonly #store: WhatElseStore;
  readonly #choice;
  readonly #gallery: Gallery;
  readonly #exhibits: Readonly<Record<ViewName, Exhibit>>;
  readonly #teller = new Teller({
    keeper: () => this.#store,
    first: () => this.#current.first(),
    explain: (cell) => this.#current.explain(cell),
    light: (lights) => this.#current.light?.(lights),
    retype: (cell, value) => this.#current.retype?.(cell, value),
  });
  readonly #agreement = agreementLine();
  /** What was said last of each part: one that asks nothing new still has its answer. */
  readonly #said = new Map<ViewName, string>([
    ["reach", "Nothing is computed here: steps follow from who is wired to whom."],
  ]);

  constructor(store: WhatElseStore, root: HTMLElement) {
    this.#store = store;
    this.#choice = choice<ViewName>(
      "Attention is",
      VIEWS.map((value) => ({ value, text: NAMES[value] })),
      (view) => store.change({ view }, "new"),
    );
    const host: Host = { change: (...change) => store.change(...change), teller: this.#teller };
    this.#gallery = new Gallery(host.change);
    this.#exhibits = {
      convolution: new ConvolutionExhibit(host, this.#gallery),
      layer: new LayerExhibit(host),
      set: new SetExhibit(host, this.#gallery),
      graph: new GraphExhibit(host),
      reach: new ReachExhibit(host),
    };
    const all = Object.values(this.#exhibits);
    furnish(root, {
      above: [this.#choice.element],
      pictures: all.map(({ element }) => element),
      menu: all.flatMap(({ menu }) => menu ?? []),
      readout: this.#teller.element,
      agreement: this.#agreement,
      heedCode: () => this.#current.heedCode(),
      torchCode: () => this.#current.torchCode(),
    });
  }

  get #current(): Exhibit {
    return this.#exhibits[this.#store.state.view];
  }

  show(state: WhatElseState): void {
    atOnce(this.showing(state));
  }

  *showing(state: WhatElseState): Generator<unknown> {
    this.#choice.show(state.view);
    this.#gallery.show(state);
    for (const view of VIEWS) {
      const { menu, element } = this.#exhibits[view];
      element.hidden = view !== state.view;
      if (menu !== undefined) menu.hidden = element.hidden;
    }
    if (WITH_PICTURE.includes(state.view)) {
      this.#current.element.querySelector(".more > .controls-options")?.append(this.#gallery.element);
    }
    yield;
    yield* this.#current.show(state) ?? [];
    this.#agreement.textContent = this.#said.get(state.view) ?? OWN_ARITHMETIC;
    this.#teller.tell();
  }

  /** Those that are new in what is shown. */
  calls(): readonly Call[] {
    const calls = this.#current.calls();
    if (calls.length > 0) {
      this.#said.delete(this.#store.state.view);
      this.#agreement.textContent = OWN_ARITHMETIC;
    }
    return calls;
  }

  /** Of the part that asked, which need no longer be the one in view. */
  answer(view: ViewName, answers: readonly Answer[]): void {
    this.#said.set(view, this.#exhibits[view].read(answers));
    this.#agreement.textContent = this.#said.get(this.#store.state.view) ?? "";
    this.#teller.tell();
  }
}
