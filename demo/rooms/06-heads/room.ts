// Room 6, heads: one against two, the multiplication step by step, and heads that share.

import { HeedMatrix } from "heed/viz";
import type { Cell } from "../../src/model/cell.js";
import { at, rowsOf, withBlock } from "../../src/model/matrix.js";
import { agreement, agreementLine, furnish, OWN_ARITHMETIC } from "../../src/page/furnish.js";
import { choice } from "../../src/ui/choice.js";
import { h } from "../../src/ui/dom.js";
import type { Explanation, NamedLight } from "../../src/ui/explanation.js";
import { handle, type MatrixHandlers, shows } from "../../src/ui/matrix-handlers.js";
import { percent } from "../../src/ui/numbers.js";
import { byChoice, toldAsShown, turned, turnedLight, turningHandlers, worded } from "../../src/ui/orientation.js";
import { picture } from "../../src/ui/picture.js";
import { atOnce } from "../../src/ui/pieces.js";
import { Teller } from "../../src/ui/teller.js";
import { heedCode, torchCode } from "./code.js";
import { CountsPicture } from "./counts-picture.js";
import { explain } from "./explain.js";
import { Multiplication, partsOf } from "./multiplication.js";
import { type HeadsScene, passesOf } from "./scene.js";
import type { HeadsStore, Reason } from "./state.js";
import { nameOf, viewOf } from "./views.js";

export class HeadsRoom {
  readonly #store: HeadsStore;
  #scene: HeadsScene;
  readonly #shares = new HeedMatrix();
  readonly #taken = new HeedMatrix();
  readonly #pair = h("div", { class: "matrices" }, this.#shares, this.#taken);
  readonly #teller = new Teller({
    keeper: () => this.#store,
    first: () => ({ name: nameOf("shares"), row: 0, col: this.#scene.words.indexOf("animal") }),
    explain: (cell) => this.#explain(cell),
    light: (lights) => this.#light(lights),
    retype: ({ name, row, col }, value) => this.#edit(name, row, col, [[value]]),
  });
  readonly #multiplication: Multiplication;
  readonly #counts: CountsPicture;
  readonly #split;
  readonly #agreement = agreementLine();
  readonly #reason = choice<Reason>(
    "… because it was too",
    [
      { value: "tired", text: "tired" },
      { value: "wide", text: "wide" },
    ],
    (reason) => this.#store.change({ reason }, "new"),
  );

  readonly #by = byChoice("word", (by) => this.#store.change({ by }));

  constructor(store: HeadsStore, root: HTMLElement, scene: HeadsScene) {
    this.#store = store;
    this.#scene = scene;
    const handlers: MatrixHandlers = {
      inspect: (name, row, col, held) => this.#teller.point({ name, row, col }, held),
      leave: () => this.#teller.leave(),
      edit: (name, row, col, values) => this.#edit(name, row, col, values),
    };
    const turning = turningHandlers(handlers, () => this.#isTurned);
    handle(this.#shares, turning);
    handle(this.#taken, turning);
    this.#multiplication = new Multiplication(store, handlers);
    this.#counts = new CountsPicture(store);
    this.#split = picture({
      name: "split",
      title: "One head must average, two can split",
      body: [this.#pair],
      controls: [this.#reason.element],
      data: () => this.#numbers(),
    });
    furnish(root, {
      menu: [this.#by.element],
      pictures: [this.#split.element, this.#multiplication.element, this.#counts.element],
      readout: this.#teller.element,
      agreement: this.#agreement,
      heedCode: () => heedCode(this.#scene),
      torchCode: () => torchCode(this.#scene),
    });
  }

  /** `answered`: the same scene with what the kernel gave. */
  show(bare: HeadsScene, answered: HeadsScene | undefined): void {
    atOnce(this.showing(bare, answered));
  }

  *showing(bare: HeadsScene, answered: HeadsScene | undefined): Generator<undefined> {
    const scene = answered ?? bare;
    this.#scene = scene;
    this.#reason.show(scene.state.reason);
    this.#by.show(scene.state.by);
    this.#pair.classList.toggle("by-columns", this.#isTurned);
    for (const [kind, matrix] of [
      ["shares", this.#shares],
      ["taken", this.#taken],
    ] as const) {
      const view = viewOf(kind, 0, scene);
      matrix.show(this.#isTurned ? turned(view) : view);
    }
    const text = splitText(scene);
    this.#split.say(this.#isTurned ? worded(text) : text);
    yield;
    this.#multiplication.show(scene);
    yield;
    this.#counts.show(scene.state);
    yield;
    this.#agreement.textContent = agreementOf(scene);
    this.#teller.tell();
  }

  get #isTurned(): boolean {
    return this.#store.state.by === "columns";
  }

  #explain(cell: Cell): Explanation | undefined {
    const [kind, head] = partsOf(cell.name);
    const told = this.#shows(cell) ? explain(this.#scene, { kind, head, row: cell.row, col: cell.col }) : undefined;
    return toldAsShown(told, this.#isTurned);
  }

  #shows(cell: Cell): boolean {
    const own = [this.#shares, this.#taken].find(({ view }) => view?.name === cell.name);
    return shows(own, cell, this.#isTurned) || this.#multiplication.shows(cell);
  }

  #light(lights: readonly NamedLight[]): void {
    this.#multiplication.light(lights);
    for (const matrix of [this.#shares, this.#taken]) {
      const own = lights.filter(({ name }) => name === matrix.view?.name);
      matrix.light(this.#isTurned ? own.map(turnedLight) : own);
    }
  }

  #edit(name: string, row: number, col: number, values: readonly (readonly number[])[]): void {
    if (partsOf(name)[0] !== "Wo") return;
    const { mix } = this.#store.state;
    this.#store.change({ mix: withBlock(mix, row, col, values) });
  }

  #numbers(): unknown {
    const { words } = this.#scene;
    const of = (kind: "shares" | "taken") => {
      const { rowLabels, matrix } = viewOf(kind, 0, this.#scene);
      const rows = rowsOf(matrix);
      return Object.fromEntries(rowLabels.map((label, row) => [label, rows[row]]));
    };
    return { words, shares: of("shares"), taken: of("taken") };
  }
}

function splitText(scene: HeadsScene): string {
  const shares = viewOf("shares", 0, scene).matrix;
  const [animal, road] = [scene.words.indexOf("animal"), scene.words.indexOf("road")];
  const share = (row: number, word: number): string => percent(at(shares, row, word));
  return `With one head, “it” gives ${share(0, animal)} to the animal and ${share(0, road)} to the road: it takes in half a living thing and half a place, which is neither. With two heads, head 1 asks who (${share(1, animal)} animal) and head 2 asks where (${share(2, road)} road), so both readings arrive whole, in columns of their own. Which of them is meant, “${scene.state.reason}” decides later: a later layer can pick either. In an average, both have lost half.`;
}

function agreementOf(scene: HeadsScene): string {
  const gaps = passesOf(scene).map(({ kernel }) => kernel?.difference);
  if (gaps.some((gap) => gap === undefined)) return OWN_ARITHMETIC;
  const most = Math.max(...gaps.map((gap) => gap ?? 0));
  return `Shares and the heads’ outputs come from the kernel. It and the arithmetic by hand ${agreement(most)}.`;
}
