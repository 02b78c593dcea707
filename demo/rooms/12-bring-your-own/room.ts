// Room 12, bring your own: attention of any length, from above and down to single multiply-adds.

import type { Engine } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import { rowsOf } from "../../src/model/matrix.js";
import { agreed, agreementLine, furnish } from "../../src/page/furnish.js";
import { NamedMatrices, type NamedSpot } from "../../src/ui/named-matrices.js";
import { whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { drawn } from "../../src/ui/pieces.js";
import { Teller } from "../../src/ui/teller.js";
import type { BringAnswer } from "./calls.js";
import { heedCode, saveButton, torchCode } from "./code.js";
import { type BringControls, controls } from "./controls.js";
import { DevicePicture } from "./device-picture.js";
import { explain, type Spot, TOLD } from "./explain.js";
import { HeadPicture } from "./head-picture.js";
import type { Library } from "./library.js";
import { ModelPicture } from "./model-picture.js";
import { PhotoPicture } from "./photo-picture.js";
import type { BringScene } from "./scene.js";
import type { BringStore } from "./state.js";
import { TokensPicture } from "./tokens-picture.js";
import { MATRICES, type MatrixName, viewOf } from "./views.js";

export class BringRoom {
  readonly #store: BringStore;
  #scene: BringScene;
  #answer: BringAnswer | undefined;
  /** All of which is to be seen; undefined while it is on its way. */
  #whole: BringScene | undefined;
  /** What is on its way, or comes instead of it. */
  #next: { readonly scene: BringScene; readonly answer: BringAnswer | undefined } | undefined;
  #shown = Promise.resolve();
  readonly #controls: BringControls;
  readonly #matrices = new NamedMatrices(MATRICES);
  readonly #teller = new Teller({
    keeper: () => ({
      cell: this.#store.cell,
      hold: (cell) => this.#store.hold(this.#isInTheLight(cell) ? undefined : cell),
    }),
    first: () => ({ name: "A", row: this.#scene.row, col: this.#scene.col }),
    explain: (cell) => {
      const name = TOLD.find((known) => known === cell.name);
      return name === undefined ? undefined : explain(this.#scene, { ...cell, name }, this.#answer);
    },
    light: (lights) => this.#matrices.light(lights),
  });
  readonly #head: HeadPicture;
  readonly #model: ModelPicture;
  readonly #tokens: TokensPicture;
  readonly #device: DevicePicture;
  readonly #photo: PhotoPicture;
  readonly #cells;
  readonly #neurons;
  readonly #agreement = agreementLine();

  constructor(store: BringStore, library: Library, root: HTMLElement, scene: BringScene, engine: Engine) {
    this.#store = store;
    this.#scene = scene;
    this.#controls = controls(store, library);
    this.#head = new HeadPicture({
      store,
      engine,
      controls: this.#controls,
      inspect: (row, col, held) => this.#look(row, col, held),
      leave: () => this.#teller.leave(),
    });
    this.#model = new ModelPicture(store, engine);
    this.#tokens = new TokensPicture({
      store,
      engine,
      tell: (key) => this.#teller.point({ name: "sum", row: 0, col: key }, true),
      // What fails to be shown is reported where it does.
      shown: async () => void (await Promise.allSettled([this.#shown])),
    });
    this.#device = new DevicePicture(store, engine);
    this.#photo = new PhotoPicture(
      library,
      (row, col) => this.#look(row ?? this.#scene.row, col, true),
      () => store.change({ source: "photo", brought: store.state.brought + 1 }),
    );
    this.#matrices.listen({
      point: (spot, held) => this.#teller.point(this.#placed(spot), held),
      leave: () => this.#teller.leave(),
    });
    const data = (): unknown => this.#numbers();
    this.#cells = picture({
      name: "cells",
      title: "Down to single cells",
      body: [this.#matrices.line("Z", "A")],
      data,
    });
    this.#neurons = picture({
      name: "neurons",
      title: "Which parts of the vectors did it",
      body: this.#matrices.of("q", "K", "P"),
      data,
    });
    const all = [this.#photo, this.#head, this.#cells, this.#neurons, this.#model, this.#tokens, this.#device];
    furnish(root, {
      pictures: all.map(({ element }) => element),
      readout: this.#teller.element,
      agreement: this.#agreement,
      heedCode: () => heedCode(this.#scene),
      torchCode: () => torchCode(this.#scene),
    });
    root.querySelector(".code-buttons")?.prepend(saveButton(() => this.#scene));
    void engine.opened.then(() => {
      for (const part of [this.#head, this.#model, this.#device]) part.begin();
    });
  }

  show(scene: BringScene, answer: BringAnswer | undefined): void {
    const isUnderWay = this.#next !== undefined;
    this.#next = { scene, answer };
    if (!isUnderWay) this.#shown = this.#showNext();
  }

  /** At once, but for what has other cells nearly everywhere, which are laid out in a frame for each part. */
  async #showNext(): Promise<void> {
    const pictures = this.#head.element.parentElement;
    try {
      for (let next = this.#next; next !== undefined; next = this.#next) {
        const isAnother = this.#whole === undefined || extent(next.scene) !== extent(this.#whole);
        if (isAnother) pictures?.setAttribute("aria-busy", "true");
        for (const _ of this.showing(next.scene, next.answer)) {
          if (isAnother) await drawn();
          if (this.#next !== next) break;
        }
        if (this.#next === next) this.#next = undefined;
      }
    } finally {
      this.#next = undefined;
      pictures?.removeAttribute("aria-busy");
    }
  }

  *showing(scene: BringScene, answer: BringAnswer | undefined): Generator<undefined> {
    const before = this.#whole;
    this.#whole = undefined;
    this.#scene = scene;
    this.#answer = answer;
    if (scene !== before) this.#head.show(scene);
    // Many times a second, and none of the rest changes.
    if (before === undefined || scene === before || scene.source !== before.source || !isMove(scene, before)) {
      yield;
      if (scene !== before) yield* this.#showingScene(scene);
      this.#matrices.show((name) => viewOf(name, scene, answer), ["A"]);
      this.#agreement.textContent = agreementOf(scene, answer);
      this.#teller.tell();
    }
    this.#whole = scene;
  }

  /** All that no answer of the kernel changes. */
  *#showingScene(scene: BringScene): Generator<undefined> {
    this.#controls.show(scene);
    yield;
    for (const part of [this.#photo, this.#model, this.#tokens]) {
      part.show(scene);
      yield;
    }
    this.#device.show(scene.state.raced);
    yield;
    for (const name of MATRICES) {
      this.#matrices.show((one) => viewOf(one, scene, undefined), [name]);
      yield;
    }
    this.#cells.say(
      "The cells around the chosen one. Choose another on the map, or point at one here to see what it is made of.",
    );
    this.#neurons.say(
      `Query ${scene.row + 1} beside the keys of the window, part by part, and their products. A row of products adds up to a score, before it is divided by the root of the width.`,
    );
    this.#neurons.element.hidden = scene.vectors === undefined;
  }

  /** A cell of the map: in the light, or only told about. */
  #look(row: number, col: number, held: boolean): void {
    if (held) this.#store.change({ row, col });
    this.#teller.point({ name: "A", row, col }, held);
  }

  /** The address says it as it is, by row and column. */
  #isInTheLight({ name, row, col }: Cell): boolean {
    return name === "A" && row === this.#scene.row && col === this.#scene.col;
  }

  /** From its place in the small window to that in the whole. */
  #placed({ name, row, col }: NamedSpot<MatrixName>): Spot {
    const { cells, row: query } = this.#scene;
    if (name === "q") return { name, row: query, col };
    if (name === "K" || name === "P") return { name, row: row + cells.left, col };
    return { name, row: row + cells.top, col: col + cells.left };
  }

  #numbers(): unknown {
    const { state, source, at, row, col, cells } = this.#scene;
    const matrices = MATRICES.flatMap((name) => {
      const view = viewOf(name, this.#scene, this.#answer);
      return view === undefined ? [] : [[name, rowsOf(view.matrix)] as const];
    });
    const { top, left } = cells;
    return { state, source: source.name, ...at, row, col, top, left, ...Object.fromEntries(matrices) };
  }
}

/** By which a room has other cells, not only other numbers in them. */
function extent({ source, vectors }: BringScene): string {
  return `${source.layers} ${source.heads} ${vectors?.width}`;
}

/** Only another part of the map is looked at. */
function isMove(now: BringScene, before: BringScene): boolean {
  const rest = ({ state }: BringScene): string => JSON.stringify({ ...state, top: 0, left: 0, span: 0 });
  return rest(now) === rest(before);
}

function agreementOf({ vectors, source }: BringScene, answer: BringAnswer | undefined): string {
  if (vectors === undefined) return `Shown: the weights ${source.origin}. Nothing more is computed but sums.`;
  return agreed(`${whole(answer?.compared ?? 0)} attention weights`, answer?.difference);
}
