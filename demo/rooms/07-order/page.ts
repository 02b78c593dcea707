// Room 7, order: words that can be moved, the positions that they are given, and what notices.

import { rowsOf, withBlock } from "../../src/model/matrix.js";
import { uniform } from "../../src/model/random.js";
import { Store } from "../../src/model/store.js";
import { agreed, agreementLine, furnish } from "../../src/page/furnish.js";
import { runRoom } from "../../src/page/run-room.js";
import { Board } from "../../src/ui/board.js";
import { button, find, h } from "../../src/ui/dom.js";
import { endsSwapped, HeedOrder } from "../../src/ui/heed-order.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { worded } from "../../src/ui/orientation.js";
import { drawer, inColours, legend, picture } from "../../src/ui/picture.js";
import { atOnce } from "../../src/ui/pieces.js";
import { heads, tableFrame } from "../../src/ui/table.js";
import { Teller } from "../../src/ui/teller.js";
import { callsOf, heedCode, type OrderAnswer, readAnswers, torchCode } from "./calls.js";
import { controls } from "./controls.js";
import { explain } from "./explain.js";
import { morph } from "./morph.js";
import { type OrderScene, sceneOf } from "./scene.js";
import { SLIDE_STEPS, slide, slides, slideTones } from "./slide.js";
import { ORDER_STATE, placesOf } from "./state.js";
import { orderText, TABLE_TEXT, VECTORS_TEXT } from "./texts.js";
import { changesOf, TRIALS, trialRows } from "./trials.js";
import { LINES, MATRICES, type MatrixName, POSITION_MATRICES, viewOf } from "./views.js";
// After the frame, whose styles a room refines.
import "../../style/board.css";
import "../../style/order.css";

const store = new Store(ORDER_STATE);
const isTurned = (): boolean => store.state.by === "columns";

class OrderRoom {
  #scene: OrderScene;
  #answer: OrderAnswer | undefined;
  readonly #controls = controls(store);
  readonly #order = new HeedOrder();
  readonly #sliding = new Board({ steps: SLIDE_STEPS, picked: (name) => this.#pick(name) });
  /** Below the words, which it must not move. */
  readonly #verdict = h("p", { class: "picture-text verdict" });
  readonly #swap = button("", this.#puts(endsSwapped));
  readonly #matrices = new NamedMatrices(MATRICES, isTurned);
  readonly #teller = new Teller({
    keeper: () => store,
    first: () => ({ name: "O", row: Math.max(0, this.#scene.places.indexOf(this.#scene.state.asker)), col: 1 }),
    explain: (cell) => this.#matrices.told(cell, (spot) => explain(this.#scene, spot, this.#answer)),
    light: (lights) => this.#matrices.light(lights),
    retype: ({ name, row, col }, value) => this.#edit(name, row, col, [[value]]),
  });
  readonly #trials = h("tbody");
  readonly #colours = h("p", { class: "small-label" });
  readonly #vectors = h("p", { class: "picture-text" });
  readonly #added = drawer("Numbers", this.#matrices.line("P", "angle", "Q", "K", "b", "B"));
  readonly #agreement = agreementLine();
  readonly #words = picture({
    name: "words",
    title: "The same words in any order",
    body: [
      this.#order,
      legend({ share: "attention weights", value: "output above 0", below: "below 0", line: "as written" }),
      this.#moves(),
      this.#verdict,
    ],
    ...this.#controls,
    numbers: drawer(
      "Numbers",
      ...LINES.slice(0, 2).map((names) => this.#matrices.line(...names)),
      this.#vectors,
      ...LINES.slice(2).map((names) => this.#matrices.line(...names)),
    ),
    data: () => this.#numbers(LINES.flat()),
  });
  readonly #positions = picture({
    name: "positions",
    title: "What positions add",
    body: [this.#sliding.element, this.#colours],
    numbers: this.#added,
    data: () => this.#numbers(POSITION_MATRICES[this.#scene.state.kind]),
  });
  readonly #tried = picture({
    name: "trials",
    title: "Which encodings notice?",
    body: [
      tableFrame(
        "Which encodings notice",
        h("table", { class: "plain-table trials" }, heads("positions", ...TRIALS), this.#trials),
      ),
    ],
    data: () => Object.fromEntries(changesOf(this.#scene)),
  });

  constructor(scene: OrderScene) {
    this.#scene = scene;
    this.#order.handlers = {
      move: (places) => store.change({ order: places }, "run"),
      choose: (word) => store.change({ asker: word }),
      pick: (name) => this.#pick(name),
    };
    this.#matrices.listen(this.#teller, (...edit) => this.#edit(...edit));
    furnish(find("#room", HTMLElement), {
      menu: this.#controls.menu,
      pictures: [this.#words, this.#positions, this.#tried].map(({ element }) => element),
      readout: this.#teller.element,
      agreement: this.#agreement,
      heedCode: () => heedCode(this.#scene),
      torchCode: () => torchCode(this.#scene),
    });
    this.#words.say(
      "Drag a word, or press Shift and an arrow key. Press a word to see its attention weights and its output. In an output, “glue” marks small words that join others, and “hash” is made from the letters.",
    );
    this.#tried.say(TABLE_TEXT);
  }

  #puts(reordered: (now: readonly number[]) => readonly number[]) {
    return () => store.change({ order: reordered(placesOf(store.state)) }, "new");
  }

  #moves(): HTMLElement {
    const shift = (by: number) => () => this.#order.shift(store.state.asker, by);
    const moves: readonly (readonly [string, string, () => void])[] = [
      ["←", "Move the word in the light to the left", shift(-1)],
      ["→", "Move the word in the light to the right", shift(1)],
      ["Shuffle", "Shuffle the words", this.#puts(shuffled)],
      ["As written", "Put the words as written", () => store.change({ order: [], shift: 0 }, "new")],
    ];
    const buttons = moves.map(([text, label, press]) => {
      const made = button(text, press);
      made.setAttribute("aria-label", label);
      return made;
    });
    return h("div", { class: "menu-line" }, this.#swap, ...buttons);
  }

  show(scene: OrderScene, answer: OrderAnswer | undefined): void {
    atOnce(this.showing(scene, answer));
  }

  *showing(scene: OrderScene, answer: OrderAnswer | undefined): Generator<undefined> {
    this.#scene = scene;
    this.#answer = answer;
    const { state, words, places, labels } = scene;
    this.#controls.show();
    this.#order.show({ words, places, asker: state.asker, draw: (way) => morph(scene, way) });
    this.#positions.element.hidden = !slides(scene);
    this.#sliding.show((by, width) => slide(scene, by, width));
    this.#added.hidden = POSITION_MATRICES[state.kind].length === 0;
    this.#swap.textContent = words.length < 2 ? "Swap the ends" : `Swap “${labels[0]}” and “${labels.at(-1)}”`;
    this.#swap.disabled = words.length < 2;
    yield;
    const shown = new Set<MatrixName>([...LINES.flat(), ...POSITION_MATRICES[state.kind]]);
    this.#matrices.show((name) => (shown.has(name) ? viewOf(name, scene, answer) : undefined));
    yield;
    this.#trials.replaceChildren(...trialRows(scene));
    this.#verdict.textContent = orderText(scene, answer);
    const say = isTurned() ? worded : (text: string): string => text;
    this.#vectors.textContent = say(VECTORS_TEXT);
    this.#colours.replaceChildren(...inColours(slideTones(scene)));
    this.#agreement.textContent = agreed("Weights and outputs", answer?.apart);
    this.#teller.tell();
  }

  /** A word asks from now on; of anything else the arithmetic is told. */
  #pick(name: string): void {
    const [matrix = "", row, col] = name.split(".");
    if (matrix === "word") store.change({ asker: Number(row) });
    else this.#teller.point({ name: matrix, row: Number(row), col: Number(col) }, true);
  }

  #edit(name: string, row: number, col: number, values: readonly (readonly number[])[]): void {
    if (name === "X") store.change({ numbers: withBlock(this.#scene.vectors, row, col, values) });
    if (name === "b") store.change({ biases: withBlock(store.state.biases, row, col, values) });
  }

  #numbers(names: readonly MatrixName[]): unknown {
    const { state, labels } = this.#scene;
    const matrices = names.map((name) => [name, rowsOf(viewOf(name, this.#scene, this.#answer).matrix)] as const);
    return { state, words: labels, ...Object.fromEntries(matrices) };
  }
}

/** Another order than the present one, where there is one; the same each time it is asked for from the same order. */
function shuffled(places: readonly number[]): readonly number[] {
  const next = uniform(places.reduce((seed, word) => seed * 31 + word + 1, 7));
  const left = [...places];
  const taken = places.map(() => left.splice(Math.floor(next() * left.length), 1)[0] ?? 0);
  return taken.join() === places.join() ? [...places.slice(1), ...places.slice(0, 1)] : taken;
}

runRoom({
  store,
  sceneOf,
  callsOf,
  read: readAnswers,
  build: (scene) => new OrderRoom(scene),
});
