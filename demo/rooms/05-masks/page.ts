// Room 5, masks and structure: what a query sees, the grid that is painted, the weights that follow, and what is saved.

import type { Engine } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import { at, bestOf, rowsOfAll } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { agreed, agreementLine, furnish } from "../../src/page/furnish.js";
import { runRoom } from "../../src/page/run-room.js";
import { Board } from "../../src/ui/board.js";
import { calm, find, h } from "../../src/ui/dom.js";
import type { Explanation, NamedLight } from "../../src/ui/explanation.js";
import { HeedMask, type MaskView, turnedMask } from "../../src/ui/heed-mask.js";
import { NamedMatrices, weighed } from "../../src/ui/named-matrices.js";
import { toldAsShown } from "../../src/ui/orientation.js";
import { drawer, inColours, picture } from "../../src/ui/picture.js";
import { Teller } from "../../src/ui/teller.js";
import { callOf, type MaskAnswer, readAnswer, structureOf } from "./call.js";
import { heedCode, torchCode } from "./code.js";
import { controls } from "./controls.js";
import { costPicture } from "./cost-picture.js";
import { explain } from "./explain.js";
import { type MaskScene, sceneOf } from "./scene.js";
import { sightOf } from "./sight.js";
import { MASK_STATE } from "./state.js";
import { lostBy, maskText } from "./texts.js";
// After the frame, whose styles a room refines.
import "../../style/board.css";
import "../../style/masks.css";

const MATRICES = ["A", "sum"] as const;

const store = new Store(MASK_STATE);
const isTurned = (): boolean => store.state.by === "columns";

class MaskRoom {
  #scene: MaskScene;
  #answer: MaskAnswer | undefined;
  readonly #controls = controls(store, () => {
    this.#look(1);
    if (!calm()) this.#board.play();
  });
  readonly #mask = new HeedMask();
  readonly #matrices = new NamedMatrices(MATRICES, isTurned);
  readonly #teller = new Teller({
    keeper: () => store,
    first: () => {
      const row = tellingRow(this.#scene);
      return { name: "A", row, col: bestOf(this.#scene.plain, row) };
    },
    explain: (cell) => this.#explain(cell),
    light: (lights) => this.#light(lights),
  });
  readonly #colours = h("p", { class: "small-label" });
  readonly #withSums = h("div", { class: "with-sums" }, ...this.#matrices.of(...MATRICES));
  readonly #board = new Board({
    steps: ["no mask", "masked"],
    picked: (row) => this.#teller.point({ name: "A", row: Number(row), col: 0 }, true),
  });
  #row = 0;
  readonly #hint = h("p", { class: "small-label" }, "Click or drag to hide pairs; Space on the keyboard.");
  readonly #picture = picture({
    name: "mask",
    title: "What a query may see",
    body: [h("div", { class: "sight" }, this.#board.element, h("div", {}, this.#mask, this.#hint, this.#colours))],
    ...this.#controls,
    numbers: drawer("Numbers", this.#withSums),
    data: () => this.#numbers(),
  });
  readonly #cost;
  readonly #agreement = agreementLine();

  constructor(scene: MaskScene, engine: Engine) {
    this.#scene = scene;
    this.#mask.handlers = {
      inspect: (row, col, held) => this.#teller.point({ name: "mask", ...this.#asStored(row, col) }, held),
      leave: () => this.#teller.leave(),
      paint: (row, col, hide) => this.#paint(this.#asStored(row, col), hide),
    };
    this.#matrices.listen(this.#teller);
    this.#cost = costPicture(store, engine);
    this.#look(1);
    furnish(find("#room", HTMLElement), {
      pictures: [this.#picture.element, this.#cost.element],
      menu: this.#controls.menu,
      readout: this.#teller.element,
      agreement: this.#agreement,
      heedCode: () => heedCode(this.#scene),
      torchCode: () => torchCode(this.#scene),
    });
  }

  show(scene: MaskScene, answer: MaskAnswer | undefined): void {
    this.#scene = scene;
    this.#answer = answer;
    const { state, seen } = scene;
    this.#controls.show();
    const mask: MaskView = {
      name: "mask",
      label: `Mask, ${state.queries} queries by ${state.keys} keys; space paints`,
      rows: state.queries,
      cols: state.keys,
      rowName: (row) => `q${row + 1}`,
      colName: (col) => `k${col + 1}`,
      sees: (row, col) => at(seen, row, col) === 1,
      painted: (row, col) => state.painted.includes(row * state.keys + col),
      tile: state.tile,
    };
    const tiles = `tiles of ${state.tile} × ${state.tile}, each computed or skipped`;
    this.#colours.replaceChildren(...inColours({ share: "seen", below: "hidden by hand", line: tiles }));
    this.#mask.show(isTurned() ? turnedMask(mask) : mask);
    this.#withSums.classList.toggle("by-columns", isTurned());
    for (const matrix of this.#matrices.of("sum")) matrix.classList.toggle("rows-shared", !isTurned());
    this.#matrices.showAll(viewsOf(scene, answer));
    this.#cost.show(scene);
    const isRounded = answer !== undefined && state.hiding === "minus";
    const rounded = isRounded ? " In single precision −10000 swallows most decimals of a score." : "";
    this.#agreement.textContent = agreed("Weights", answer?.difference) + rounded;
    this.#teller.tell();
  }

  #look(place?: number): void {
    this.#board.show(sightOf(this.#scene, this.#answer?.weights ?? this.#scene.weights, this.#row), place);
    this.#picture.say(maskText(this.#scene, this.#row));
  }

  /** A place on the grid as the pair that it shows. */
  #asStored(row: number, col: number): { readonly row: number; readonly col: number } {
    return isTurned() ? { row: col, col: row } : { row, col };
  }

  #explain(cell: Cell): Explanation | undefined {
    const isThere = cell.name === "mask" || this.#matrices.find(cell) !== undefined;
    return isThere ? toldAsShown(explain(this.#scene, cell, this.#answer), isTurned()) : undefined;
  }

  #paint({ row, col }: Pick<Cell, "row" | "col">, hide: boolean): void {
    const { painted, keys } = store.state;
    const pair = row * keys + col;
    const next = hide ? [...painted, pair] : painted.filter((other) => other !== pair);
    store.change({ painted: next.sort((a, b) => a - b) });
  }

  #light(lights: readonly NamedLight[]): void {
    this.#matrices.light(lights);
    this.#row = lights.find((light) => light.row !== undefined)?.row ?? 0;
    this.#look();
    const { row = -1, col = -1 } = lights.find(({ name }) => name === "mask") ?? {};
    const place = this.#asStored(row, col);
    this.#mask.light(place.row, place.col);
  }

  #numbers(): unknown {
    const { state, seen, q, k, scale, given, weights } = this.#scene;
    return { state, scale, heed: structureOf(state), ...rowsOfAll({ sees: seen, q, k, given, weights }) };
  }
}

/** The query that would see most of what is hidden. */
function tellingRow(scene: MaskScene): number {
  const { queries, padding } = scene.state;
  const rows = Array.from({ length: queries - padding }, (_, row) => row);
  return rows.reduce((best, row) => (lostBy(scene, row) > lostBy(scene, best) ? row : best), (queries - padding) >> 1);
}

function viewsOf({ state, weights, seen, sums }: MaskScene, answer: MaskAnswer | undefined) {
  const names = (letter: string, count: number) => Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
  const [queries, keys] = [names("q", state.queries), names("k", state.keys)];
  const about = "weights: a row a query, a column a key";
  const struck = (row: number, col: number): boolean => at(seen, row, col) === 0;
  return {
    A: { ...weighed("A", about, answer?.weights ?? weights, queries, keys), struck },
    sum: weighed("sum", "", sums, queries, ["sum"]),
  };
}

runRoom({
  store,
  sceneOf,
  callsOf: (scene) => [callOf(scene)],
  read: (scene, [found]) => (found === undefined ? undefined : readAnswer(scene, found)),
  build: (scene, engine) => new MaskRoom(scene, engine),
});
