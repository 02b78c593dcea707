// Room 7, order: words that can be moved, the positions that they are given, and what notices.

import { at, rowsOf, withBlock } from "../../src/model/matrix.js";
import { uniform } from "../../src/model/random.js";
import { agreement, agreementLine, furnish, OWN_ARITHMETIC } from "../../src/page/furnish.js";
import { button, h } from "../../src/ui/dom.js";
import { HeedOrder } from "../../src/ui/heed-order.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { magnitude } from "../../src/ui/numbers.js";
import { worded } from "../../src/ui/orientation.js";
import { picture } from "../../src/ui/picture.js";
import { atOnce } from "../../src/ui/pieces.js";
import { Teller } from "../../src/ui/teller.js";
import type { OrderAnswer } from "./calls.js";
import { heedCode, torchCode } from "./code.js";
import { controls } from "./controls.js";
import { explain } from "./explain.js";
import type { OrderScene } from "./scene.js";
import { type OrderStore, placesOf } from "./state.js";
import { KIND_TEXTS, orderText, ROUNDING, TABLE_TEXT } from "./texts.js";
import { residualsOf, trialRows } from "./trials.js";
import { MATRICES, type MatrixName, POSITION_MATRICES, VECTOR_MATRICES, viewOf } from "./views.js";

export class OrderRoom {
  readonly #store: OrderStore;
  #scene: OrderScene;
  #answer: OrderAnswer | undefined;
  readonly #controls: ReturnType<typeof controls>;
  readonly #order = new HeedOrder();
  /** Below the words, which it must not move. */
  readonly #verdict = h("p", { class: "picture-text order-verdict" });
  readonly #swap = h("button", { type: "button", class: "button" });
  readonly #matrices = new NamedMatrices(MATRICES, () => this.#isTurned);
  readonly #teller = new Teller({
    keeper: () => this.#store,
    first: () => ({ name: "O", row: Math.max(0, this.#scene.places.indexOf(this.#scene.state.asker)), col: 1 }),
    explain: (cell) => this.#matrices.told(cell, (spot) => explain(this.#scene, spot, this.#answer)),
    light: (lights) => this.#matrices.light(lights),
    retype: ({ name, row, col }, value) => this.#edit(name, row, col, [[value]]),
  });
  readonly #trials = h("tbody");
  readonly #pictures;
  readonly #agreement = agreementLine();

  constructor(store: OrderStore, root: HTMLElement, scene: OrderScene) {
    this.#store = store;
    this.#scene = scene;
    this.#controls = controls(store);
    this.#order.handlers = {
      move: (places) => store.change({ order: places }, "run"),
      choose: (word) => store.change({ asker: word }),
    };
    this.#matrices.listen(this.#teller, (...edit) => this.#edit(...edit));
    this.#pictures = this.#build();
    furnish(root, {
      menu: this.#controls.menu,
      pictures: Object.values(this.#pictures).map(({ element }) => element),
      readout: this.#teller.element,
      agreement: this.#agreement,
      heedCode: () => heedCode(this.#scene),
      torchCode: () => torchCode(this.#scene),
    });
  }

  #build() {
    const line = this.#matrices.line.bind(this.#matrices);
    const head = ["positions", "first two swapped", "reversed", "moved by 7"].map((name) =>
      h("th", { scope: "col" }, name),
    );
    return {
      words: picture({
        name: "words",
        title: "The same words in any order",
        body: [this.#order, this.#moves(), this.#verdict],
        ...this.#controls,
        data: () => ({ state: this.#scene.state, words: this.#scene.labels, shares: rowsOf(this.#scene.now.shares) }),
      }),
      output: picture({
        name: "output",
        title: "What comes out",
        body: [line("O", "D")],
        data: () => this.#numbers(["O", "D"]),
      }),
      positions: picture({
        name: "positions",
        title: "What positions add",
        body: [line("P", "angle", "Q", "K", "b", "B")],
        data: () => this.#numbers(POSITION_MATRICES[this.#scene.state.kind]),
      }),
      shares: picture({
        name: "shares",
        title: "Who listens to whom",
        body: [line("Z", "A")],
        data: () => this.#numbers(["Z", "A"]),
      }),
      trials: picture({
        name: "trials",
        title: "Who notices what",
        body: [
          h(
            "div",
            { class: "table-frame", tabindex: 0, role: "region", "aria-label": "Who notices what" },
            h("table", { class: "plain-table trials" }, h("thead", {}, h("tr", {}, ...head)), this.#trials),
          ),
        ],
        data: () => Object.fromEntries(residualsOf(this.#scene, this.#answer)),
      }),
      vectors: picture({
        name: "vectors",
        title: "Where queries and keys come from",
        body: [line("X"), line("Wq", "Wk"), line("Qp", "Kp")],
        data: () => this.#numbers(VECTOR_MATRICES),
      }),
    };
  }

  #moves(): HTMLElement {
    const move = (text: string, label: string, press: () => void): HTMLButtonElement => {
      const made = button(text, press);
      made.setAttribute("aria-label", label);
      return made;
    };
    this.#swap.addEventListener("click", () =>
      this.#store.change({ order: endsSwapped(placesOf(this.#store.state)) }, "new"),
    );
    return h(
      "div",
      { class: "order-moves" },
      this.#swap,
      move("←", "Move the word in the light to the left", () => this.#order.shift(this.#store.state.asker, -1)),
      move("→", "Move the word in the light to the right", () => this.#order.shift(this.#store.state.asker, 1)),
      move("Shuffle", "Shuffle the words", () =>
        this.#store.change({ order: shuffled(placesOf(this.#store.state)) }, "new"),
      ),
      move("As written", "Put the words as written", () => this.#store.change({ order: [], shift: 0 }, "new")),
    );
  }

  show(scene: OrderScene, answer: OrderAnswer | undefined): void {
    atOnce(this.showing(scene, answer));
  }

  *showing(scene: OrderScene, answer: OrderAnswer | undefined): Generator<undefined> {
    this.#scene = scene;
    this.#answer = answer;
    const { state, words, places, labels } = scene;
    this.#controls.show();
    const shares = answer?.shares ?? scene.now.shares;
    const asker = places.indexOf(state.asker);
    this.#order.show({ words, places, shares: places.map((_, place) => at(shares, asker, place)), asker: state.asker });
    this.#swap.textContent = words.length < 2 ? "Swap the ends" : `Swap “${labels[0]}” and “${labels.at(-1)}”`;
    this.#swap.disabled = words.length < 2;
    yield;
    const shown = new Set<MatrixName>(["Z", "A", "O", "D", ...VECTOR_MATRICES, ...POSITION_MATRICES[state.kind]]);
    this.#matrices.show((name) => (shown.has(name) ? viewOf(name, scene, answer) : undefined));
    yield;
    this.#trials.replaceChildren(...trialRows(scene, answer));
    this.#pictures.words.say(
      "Drag a word to another place, or move it with Shift and the arrow keys. Click one to see whom it listens to.",
    );
    this.#verdict.textContent = orderText(scene, answer);
    const say = this.#isTurned ? worded : (text: string): string => text;
    this.#pictures.positions.say(say(KIND_TEXTS[state.kind]));
    this.#pictures.trials.say(TABLE_TEXT);
    this.#pictures.output.say(
      say(
        `One row for each word, where it stands now. D is what changed against the order as written; less than ${magnitude(ROUNDING)} is rounding, and shown as 0.`,
      ),
    );
    this.#pictures.vectors.say(
      say(
        "Six properties set by hand, and two numbers made from the letters, so that Susan and Mary are alike but not the same. Nothing is trained. Two matrices turn vectors into queries and keys, one question a column; values are the vectors themselves.",
      ),
    );
    this.#agreement.textContent =
      answer === undefined
        ? OWN_ARITHMETIC
        : `Shares and outputs come from the kernel. It and the arithmetic by hand ${agreement(answer.apart)}.`;
    this.#teller.tell();
  }

  get #isTurned(): boolean {
    return this.#store.state.by === "columns";
  }

  #edit(name: string, row: number, col: number, values: readonly (readonly number[])[]): void {
    if (name === "X") this.#store.change({ numbers: withBlock(this.#scene.vectors, row, col, values) });
    if (name === "b") this.#store.change({ biases: withBlock(this.#store.state.biases, row, col, values) });
  }

  #numbers(names: readonly MatrixName[]): unknown {
    const { state, labels } = this.#scene;
    const matrices = names.map((name) => [name, rowsOf(viewOf(name, this.#scene, this.#answer).matrix)] as const);
    return { state, words: labels, ...Object.fromEntries(matrices) };
  }
}

function endsSwapped(places: readonly number[]): readonly number[] {
  const [first, last] = [places[0], places.at(-1)];
  if (first === undefined || last === undefined || places.length < 2) return places;
  return [last, ...places.slice(1, -1), first];
}

/** Another order than the present one, where there is one; the same each time it is asked for from the same order. */
function shuffled(places: readonly number[]): readonly number[] {
  const next = uniform(places.reduce((seed, word) => seed * 31 + word + 1, 7));
  const left = [...places];
  const taken = places.map(() => left.splice(Math.floor(next() * left.length), 1)[0] ?? 0);
  return taken.join() === places.join() ? [...places.slice(1), ...places.slice(0, 1)] : taken;
}
