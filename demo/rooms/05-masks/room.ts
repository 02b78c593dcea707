// Room 5, masks and structure: the grid that is painted, the shares that follow, and what is saved.

import type { MatrixView } from "heed/viz";
import type { Engine } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import { at, rowsOf } from "../../src/model/matrix.js";
import { agreement, agreementLine, furnish, OWN_ARITHMETIC } from "../../src/page/furnish.js";
import { h } from "../../src/ui/dom.js";
import type { Explanation, NamedLight } from "../../src/ui/explanation.js";
import { HeedMask, type MaskView, turnedMask } from "../../src/ui/heed-mask.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { toldAsShown, worded } from "../../src/ui/orientation.js";
import { below, picture } from "../../src/ui/picture.js";
import { Teller } from "../../src/ui/teller.js";
import type { MaskAnswer } from "./call.js";
import { heedCode, torchCode } from "./code.js";
import { controls } from "./controls.js";
import { CostPicture } from "./cost-picture.js";
import { explain } from "./explain.js";
import { structureOf } from "./options.js";
import { type MaskScene, sumOf } from "./scene.js";
import type { MaskStore } from "./state.js";
import { gridText, sharesText } from "./texts.js";

const MATRICES = ["A", "sum"] as const;

export class MaskRoom {
  readonly #store: MaskStore;
  #scene: MaskScene;
  #answer: MaskAnswer | undefined;
  readonly #controls: ReturnType<typeof controls>;
  readonly #mask = new HeedMask();
  readonly #matrices = new NamedMatrices(MATRICES, () => this.#isTurned);
  readonly #teller = new Teller({
    keeper: () => this.#store,
    first: () => ({ name: "mask", row: this.#scene.state.queries >> 1, col: this.#scene.state.keys >> 1 }),
    explain: (cell) => this.#explain(cell),
    light: (lights) => this.#light(lights),
  });
  readonly #withSums = h("div", { class: "with-sums" }, ...this.#matrices.of(...MATRICES));
  readonly #grid;
  readonly #softmax;
  readonly #cost: CostPicture;
  readonly #agreement = agreementLine();

  constructor(store: MaskStore, root: HTMLElement, scene: MaskScene, engine: Engine) {
    this.#store = store;
    this.#scene = scene;
    this.#controls = controls(store);
    this.#mask.handlers = {
      inspect: (row, col, held) => this.#teller.point({ name: "mask", ...this.#asStored(row, col) }, held),
      leave: () => this.#teller.leave(),
      paint: (row, col, hide) => this.#paint(this.#asStored(row, col), hide),
    };
    this.#matrices.listen(this.#teller);
    this.#grid = picture({
      name: "mask",
      title: "Who may see whom",
      body: [this.#mask],
      data: () => ({ state: this.#scene.state, sees: rowsOf(this.#scene.seen), heed: structureOf(this.#scene.state) }),
    });
    this.#softmax = picture({
      name: "shares",
      title: "How the shares come out",
      body: [this.#withSums],
      data: () => this.#numbers(),
    });
    this.#cost = new CostPicture(store, engine);
    furnish(root, {
      pictures: [
        h("div", { class: "two-grids" }, this.#grid.element, this.#softmax.element),
        h("div", { class: "below-picture" }, ...below(this.#controls)),
        this.#cost.element,
      ],
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
    this.#mask.show(this.#isTurned ? turnedMask(mask) : mask);
    this.#withSums.classList.toggle("by-columns", this.#isTurned);
    for (const matrix of this.#matrices.of("sum")) matrix.classList.toggle("rows-shared", !this.#isTurned);
    const views = { A: sharesView(scene, answer), sum: sumsView(scene) };
    this.#matrices.show((name) => views[name]);
    this.#grid.say(gridText(scene));
    const text = sharesText(scene);
    this.#softmax.say(this.#isTurned ? worded(text) : text);
    this.#cost.show(scene);
    this.#agreement.textContent = agreementOf(scene, answer);
    this.#teller.tell();
  }

  get #isTurned(): boolean {
    return this.#store.state.by === "columns";
  }

  /** A place on the grid as the pair that it shows. */
  #asStored(row: number, col: number): { readonly row: number; readonly col: number } {
    return this.#isTurned ? { row: col, col: row } : { row, col };
  }

  #explain(cell: Cell): Explanation | undefined {
    const spot = cell.name === "mask" ? { ...cell, name: "mask" as const } : this.#matrices.find(cell);
    const told = spot === undefined ? undefined : explain(this.#scene, spot, this.#answer);
    return toldAsShown(told, this.#isTurned);
  }

  #paint({ row, col }: Pick<Cell, "row" | "col">, hide: boolean): void {
    const { painted, keys } = this.#store.state;
    const pair = row * keys + col;
    const next = hide ? [...painted, pair] : painted.filter((other) => other !== pair);
    this.#store.change({ painted: next.sort((a, b) => a - b) });
  }

  #light(lights: readonly NamedLight[]): void {
    this.#matrices.light(lights);
    const { row = -1, col = -1 } = lights.find(({ name }) => name === "mask") ?? {};
    const place = this.#asStored(row, col);
    this.#mask.light(place.row, place.col);
  }

  #numbers(): unknown {
    const { state, q, k, scale, given, shares } = this.#scene;
    return { state, q: rowsOf(q), k: rowsOf(k), scale, given: rowsOf(given), shares: rowsOf(shares) };
  }
}

function sharesView({ state, shares, seen }: MaskScene, answer: MaskAnswer | undefined): MatrixView {
  return {
    name: "A",
    title: "A",
    about: "rows ask, columns answer",
    matrix: answer?.shares ?? shares,
    rowLabels: Array.from({ length: state.queries }, (_, row) => `q${row + 1}`),
    colLabels: Array.from({ length: state.keys }, (_, col) => `k${col + 1}`),
    tone: "share",
    full: 1,
    struck: (row, col) => at(seen, row, col) === 0,
  };
}

function sumsView({ state, sums }: MaskScene): MatrixView {
  return {
    name: "sum",
    title: "sum",
    about: "",
    matrix: sums,
    rowLabels: Array.from({ length: state.queries }, (_, row) => `q${row + 1}`),
    colLabels: ["sum"],
    tone: "share",
    full: 1,
  };
}

function agreementOf(scene: MaskScene, answer: MaskAnswer | undefined): string {
  if (answer === undefined) return OWN_ARITHMETIC;
  const apart = `it and the arithmetic by hand ${agreement(answer.difference)}.`;
  const blind = Array.from({ length: scene.state.queries }, (_, row) => sumOf(scene.seen, row)).some(
    (sum) => sum === 0,
  );
  if (scene.state.hiding === "minus" && blind) {
    return `Shares come from the kernel; ${apart} In single precision −10000 has eaten most decimals of the scores beside it.`;
  }
  return `Shares come from the kernel; ${apart}`;
}
