// Room 4, the matrix walk: X to Q, K, V, to scores, to weights, to the output, on one board; and every cell's arithmetic.

import { callsOf, type KernelAnswer, readAnswer } from "../../src/engine/walk-call.js";
import { MOST_WIDTH } from "../../src/model/embed.js";
import { at, fill, rowsOf, withBlock } from "../../src/model/matrix.js";
import { NOTHING_EDITED, openWalkStore, type Role, type State } from "../../src/model/state.js";
import { MOST_TOKENS } from "../../src/model/tokens.js";
import { type Walk, walk } from "../../src/model/walk.js";
import { agreed, agreementLine, furnish } from "../../src/page/furnish.js";
import { sentenceInput } from "../../src/page/input.js";
import { runRoom } from "../../src/page/run-room.js";
import { sentenceStage } from "../../src/page/stage.js";
import { Board } from "../../src/ui/board.js";
import { choice } from "../../src/ui/choice.js";
import { button, find, h } from "../../src/ui/dom.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { worded } from "../../src/ui/orientation.js";
import { drawer, legend, picture } from "../../src/ui/picture.js";
import { atOnce } from "../../src/ui/pieces.js";
import { Teller } from "../../src/ui/teller.js";
import { heedCode, torchCode } from "./code.js";
import { explain } from "./explain.js";
import { HEADS, options } from "./options.js";
import { PLACES, type Place, placeOf, tellingSpot } from "./places.js";
import { drawWalk } from "./shapes.js";
import { MATRICES, type Scene, viewOf } from "./views.js";
// After the frame, whose styles a room refines.
import "../../style/board.css";
import "../../style/stage.css";
import "../../style/walk.css";

const store = openWalkStore();
/** What stands below the board: the sentence and its arcs. */
const BESIDES = [find("#input", HTMLElement), find("#stage", HTMLElement)] as const;
const [input, stage] = [sentenceInput(store, BESIDES[0]), sentenceStage(store, BESIDES[1])];
const SECONDS_A_PLACE = 4;

class MatrixWalk {
  #scene: Scene;
  readonly #options = options(store);
  readonly #numbers = new NamedMatrices(MATRICES, () => store.state.columns);
  readonly #teller = new Teller({
    keeper: () => store,
    first: () => (this.#scene.walk.labels.length === 0 ? undefined : tellingSpot(this.#scene, this.#place)),
    explain: (cell) => this.#numbers.told(cell, (spot) => explain(this.#scene, spot)),
    light: (lights) => this.#numbers.light(lights),
    retype: ({ name, row, col }, value) => this.#edit(name, row, col, [[value]]),
  });
  readonly #board = new Board({
    steps: PLACES.map(({ title }) => title),
    ticks: PLACES.map(({ tick }) => tick),
    seconds: SECONDS_A_PLACE,
    moved: (at, leaps) => this.#go(Math.round(at), leaps),
    picked: (name) => this.#pick(name),
  });
  /** Where the board stands or goes, to the nearest place. */
  #at: number | undefined;
  readonly #agreement = agreementLine();
  readonly #heads = choice("Head", HEADS, (value) => store.change({ head: Number(value) - 1 }));
  readonly #restore = button(
    "Undo all edits",
    () => store.change({ edited: NOTHING_EDITED, ...(store.state.text === "" ? {} : { numbers: null }) }),
    "link restore",
  );
  readonly #later = button("Hide later words", () => store.change({ causal: "lower-right" }, "new"), "link");
  readonly #formula = h("div", { class: "step-formula" });
  readonly #every = button("All steps", () => store.change({ all: !store.state.all }, "new"));
  readonly #drawer = drawer(
    "Numbers",
    h("div", { class: "controls-options" }, this.#every),
    this.#numbers.line(...MATRICES),
  );

  readonly #picture = picture({
    name: "walk",
    title: "From words to outputs",
    body: [
      this.#board.element,
      legend({ query: "above 0", below: "below 0, the darker the larger", share: "attention weights" }),
    ],
    controls: [this.#heads.element, this.#later, this.#restore],
    more: this.#options.more,
    aside: this.#formula,
    data: () => this.#data(),
  });

  constructor(walk: Walk) {
    for (const one of BESIDES) one.hidden = false;
    this.#scene = sceneOf(walk);
    this.#numbers.listen(this.#teller, (...edit) => this.#edit(...edit));
    this.#drawer.open = store.state.all;
    furnish(find("#room", HTMLElement), {
      pictures: [this.#picture.element, h("div", { class: "below-picture" }, this.#drawer, ...BESIDES)],
      menu: this.#options.menu,
      readout: this.#teller.element,
      agreement: this.#agreement,
      heedCode: () => heedCode(this.#scene),
      torchCode: () => torchCode(this.#scene),
    });
  }

  /** `answer`: the kernel's, or undefined as long as there is none for this walk. */
  show(walk: Walk, answer: KernelAnswer | undefined): void {
    const scene = sceneOf(walk, answer);
    const { state } = scene;
    const [place, at] = [this.#place, placeOf(state)];
    const say = state.columns ? worded : String;
    this.#scene = scene;
    this.#options.show(state, walk);
    this.#heads.element.hidden = state.heads === 1;
    this.#heads.element.dataset["heads"] = String(state.heads);
    this.#heads.show(String(state.head + 1));
    this.#restore.hidden = !isEdited(state);
    this.#later.hidden = place.step !== "mask" || state.causal !== "none";
    this.#every.setAttribute("aria-pressed", String(state.all));
    this.#picture.say(say(place.text(walk, state)));
    this.#formula.replaceChildren(place.formula(state.columns));
    this.#numbers.show((name) => (state.all || place.numbers.includes(name) ? viewOf(name, scene) : undefined));
    this.#board.show(drawWalk(scene), this.#at === undefined ? at : this.#board.at);
    if (this.#at !== undefined && this.#at !== at) this.#board.goTo(at);
    this.#at = at;
    this.#agreement.textContent = agreed("Weights and outputs", answer?.difference);
    this.#teller.tell();
  }

  get #place(): Place {
    return PLACES[placeOf(store.state)] ?? (PLACES[0] as Place);
  }

  /** What is dragged or played is one entry of the history. */
  #go(at: number, leaps: boolean): void {
    if (at === this.#at) return;
    this.#at = at;
    // What was pointed at belongs to another place.
    this.#teller.forget();
    store.change(stateAt(PLACES[at]), leaps ? "new" : "run");
  }

  /** A cell on the board tells its arithmetic, with the numbers around it. */
  #pick(picked: string): void {
    const [said, row, col] = picked.split(".");
    const name = MATRICES.find((known) => known === said);
    if (name === undefined) return;
    this.#drawer.open = true;
    const isHere = store.state.all || this.#place.numbers.includes(name);
    if (!isHere) store.change(stateAt(PLACES.find(({ numbers }) => numbers.includes(name))), "new");
    this.#teller.point({ name, row: Number(row), col: Number(col) }, true);
    this.#teller.forget();
  }

  /** Of all steps, whichever are shown. */
  #data(): unknown {
    const matrices = MATRICES.map((name) => [name, rowsOf(viewOf(name, this.#scene).matrix)] as const);
    const { labels, askers, featureNames, scale } = this.#scene.walk;
    return { labels, askers, featureNames, scale, head: store.state.head, ...Object.fromEntries(matrices) };
  }

  /** X becomes numbers, which a pasted block may make more of; a projection becomes an edited one of the same size. */
  #edit(name: string, row: number, col: number, values: readonly (readonly number[])[]): void {
    const { x, projections, headWidth } = this.#scene.walk;
    const { edited, head } = store.state;
    const role = ROLES[name];
    if (name !== "X" && role === undefined) return;
    store.hold({ name, row, col });
    if (role !== undefined) {
      const own = withBlock(projections[role], row, col + head * headWidth, values);
      store.change({ edited: { ...edited, [role]: own } });
      return;
    }
    const rows = Math.min(MOST_TOKENS, Math.max(x.rows, row + values.length));
    const cols = Math.min(MOST_WIDTH, Math.max(x.cols, ...values.map((line) => col + line.length)));
    const grown = fill(rows, cols, (r, c) => (r < x.rows && c < x.cols ? at(x, r, c) : 0));
    store.change({ numbers: withBlock(grown, row, col, values) });
  }
}

const ROLES: Readonly<Record<string, Role>> = { Wq: "q", Wk: "k", Wv: "v" };

function sceneOf(walk: Walk, answer?: KernelAnswer): Scene {
  const { state } = store;
  // While the page starts, the address may already ask for more heads than this walk has.
  const head = walk.heads[Math.min(state.head, walk.heads.length - 1)];
  if (head === undefined) throw new Error("a walk has a head");
  return { walk, state, head, kernel: answer?.heads[state.head] };
}

function stateAt(place: Place | undefined): Partial<State> {
  return place === undefined ? {} : { step: place.step, ...(place.role === undefined ? {} : { role: place.role }) };
}

function isEdited({ edited, numbers, text }: State): boolean {
  return Object.values(edited).some((one) => one !== null) || (numbers !== null && text !== "");
}

runRoom({
  store,
  sceneOf: walk,
  callsOf: (now) => callsOf(now, store.state),
  read: (asked, [found]) => (found === undefined ? undefined : readAnswer(asked, found)),
  // All else in the state only decides what is looked at.
  computedFrom: ["text", "numbers", "width", "heads", "scale", "causal", "asking", "hidden", "edited"],
  build: (first) => {
    const room = new MatrixWalk(first);
    function* showing(now: Walk, answer: KernelAnswer | undefined): Generator<undefined> {
      const { head } = store.state;
      stage.show(now, (answer?.heads[head] ?? now.heads[head])?.weights);
      yield;
      input.show(store.state, now);
      yield;
      room.show(now, answer);
    }
    return { showing, show: (now, answer) => atOnce(showing(now, answer)) };
  },
});
