// Room 4, the matrix walk: X to Q, K, V, to scores, to weights, to the output, on one board; and every cell's arithmetic.

import { callsOf, type KernelAnswer, readAnswer } from "../../src/engine/walk-call.js";
import { at, fill, rowsOfAll, withBlock } from "../../src/model/matrix.js";
import { INITIAL, NOTHING_EDITED, type State, WALK_STATE } from "../../src/model/state.js";
import { type Entry, Store } from "../../src/model/store.js";
import { MOST_TOKENS } from "../../src/model/tokens.js";
import { MOST_WIDTH } from "../../src/model/vocabulary.js";
import { type Walk, walk } from "../../src/model/walk.js";
import { GUESSES } from "../../src/page/guesses.js";
import { agreed, type BuiltRoom, type RoomContext, tellingRoom } from "../../src/page/room.js";
import { Board } from "../../src/ui/board.js";
import { choice } from "../../src/ui/controls.js";
import { button, find, h } from "../../src/ui/dom.js";
import { guess } from "../../src/ui/guess.js";
import { worded } from "../../src/ui/named-matrices.js";
import { drawer, legend, picture } from "../../src/ui/picture.js";
import { explain, MATRICES, type MatrixName, type Scene, viewOf } from "../../src/ui/walk-matrices.js";
import { heedCode, torchCode } from "./code.js";
import { HEADS, options } from "./options.js";
import { PLACES, type Place, placeOf, tellingSpot } from "./places.js";
import { sentenceInput, sentenceStage } from "./sentence.js";
import { drawWalk } from "./shapes.js";
import "../../style/walk.css";

/** The projections that can be edited, by the names of their matrices. */
const EDITED = { Wq: "wq", Wk: "wk", Wv: "wv" } as const;
const isEditable = (name: string): name is keyof typeof EDITED => name in EDITED;
const SECONDS_A_PLACE = 4;
const RESTS = PLACES.findIndex(({ step }) => step === "softmax");

const store = new Store(WALK_STATE, ["step", "role", "all"]);
/** What stands below the board: the sentence and its arcs. */
const BESIDES = [find("#input", HTMLElement), find("#stage", HTMLElement)] as const;
const [input, stage] = [sentenceInput(store, BESIDES[0]), sentenceStage(store, BESIDES[1])];
const placeNow = (): Place => PLACES[placeOf(store.state)] ?? (PLACES[0] as Place);

function matrixWalk(room: RoomContext<Walk, KernelAnswer, MatrixName>): BuiltRoom<MatrixName> {
  const { matrices, teller } = room;
  for (const one of BESIDES) one.hidden = false;
  const scene = (): Scene => sceneOf(room.scene, room.answer);
  const { show: showOptions, menu, more } = options(store);
  const board = new Board({
    steps: PLACES.map(({ title }) => title),
    ticks: PLACES.map(({ tick }) => tick),
    seconds: SECONDS_A_PLACE,
    rests: RESTS,
    moved: (at, leaps, isOwn) => {
      if (!isOwn) go(Math.round(at), leaps ? "new" : "run");
      else if (at === RESTS) go(at, "same");
    },
    picked: pick,
  });
  /** Where the board stands or goes, to the nearest place. */
  let here: number | undefined;
  const heads = choice("Head", HEADS, (value) => store.change({ head: Number(value) - 1 }));
  const restore = button(
    "Undo all edits",
    () => store.change({ ...NOTHING_EDITED, ...(store.state.text === "" ? {} : { numbers: null }) }),
    "link restore",
  );
  const later = button("Hide later words", () => store.change({ causal: "lower-right" }, "new"), "link");
  const formula = h("div", { class: "step-formula" });
  const every = button("All steps", () => store.change({ all: !store.state.all }, "new"));
  const numbers = drawer("Numbers", h("div", { class: "controls-options" }, every), matrices.line(...MATRICES));
  numbers.open = store.state.all;
  const { element, say } = picture({
    name: "walk",
    title: "From words to outputs",
    body: [
      board.element,
      legend({ query: "above 0", below: "below 0; the stronger, the larger", share: "attention weights" }),
    ],
    controls: [heads.element, later, restore],
    more,
    aside: formula,
    // Of all steps, whichever are shown.
    data: () => {
      const views = MATRICES.map((name) => [name, viewOf(name, scene())] as const);
      const { labels, askers, featureNames, scale } = room.scene;
      return { labels, askers, featureNames, scale, head: store.state.head, ...rowsOfAll(Object.fromEntries(views)) };
    },
  });

  /** What is dragged or played is one entry of the history. */
  function go(at: number, entry: Entry): void {
    if (at === here) return;
    here = at;
    // What was pointed at belongs to another place.
    teller.forget();
    store.change(stateAt(PLACES[at]), entry);
  }

  /** A cell on the board tells its arithmetic, with the numbers around it. */
  function pick(picked: string): void {
    const [said, row, col] = picked.split(".");
    const name = MATRICES.find((known) => known === said);
    if (name === undefined) return;
    numbers.open = true;
    const isHere = store.state.all || placeNow().numbers.includes(name);
    if (!isHere) store.change(stateAt(PLACES.find(({ numbers }) => numbers.includes(name))), "new");
    teller.point({ name, row: Number(row), col: Number(col) }, true);
    teller.forget();
  }

  const question = guess("matrix-walk", GUESSES["matrix-walk"], () => store.change({ step: "softmax" }, "new"));

  return {
    guess: question,
    // Numbers come last: opened by a press on the board, they move nothing.
    pictures: [element, h("div", { class: "below-picture" }, ...BESIDES, numbers)],
    menu,
    first: () => (room.scene.labels.length === 0 ? undefined : tellingSpot(scene(), placeNow())),
    explain: (spot) => explain(scene(), spot),
    // X becomes numbers, which a pasted block may make more of; a projection becomes an edited one of the same size.
    edit: (name, row, col, values) => {
      const { x, projections, headWidth } = room.scene;
      if (name !== "X" && !isEditable(name)) return;
      store.hold({ name, row, col });
      if (name !== "X") {
        const given = { Wq: projections.q, Wk: projections.k, Wv: projections.v }[name];
        store.change({ [EDITED[name]]: withBlock(given, row, col + store.state.head * headWidth, values) });
        return;
      }
      const rows = Math.min(MOST_TOKENS, Math.max(x.rows, row + values.length));
      const cols = Math.min(MOST_WIDTH, Math.max(x.cols, ...values.map((line) => col + line.length)));
      const grown = fill(rows, cols, (r, c) => (r < x.rows && c < x.cols ? at(x, r, c) : 0));
      store.change({ numbers: withBlock(grown, row, col, values) });
    },
    show: () => {
      const { head } = store.state;
      stage.show(room.scene, (room.answer?.heads[head] ?? room.scene.heads[head])?.weights);
    },
    *showRest() {
      yield;
      input.show(store.state);
      yield;
      const now = scene();
      const { state } = now;
      const [place, at] = [placeNow(), placeOf(state)];
      showOptions(state, now.walk);
      // It is about this sentence.
      question.hidden = state.text !== INITIAL.text || state.numbers !== null;
      heads.element.hidden = state.heads === 1;
      heads.element.dataset["heads"] = String(state.heads);
      heads.show(String(state.head + 1));
      restore.hidden = !isEdited(state);
      later.hidden = place.step !== "mask" || state.causal !== "none";
      every.setAttribute("aria-pressed", String(state.all));
      say((matrices.isTurned ? worded : String)(place.text(now.walk, state)));
      formula.replaceChildren(place.formula(matrices.isTurned));
      matrices.show((name) => (state.all || place.numbers.includes(name) ? viewOf(name, now) : undefined));
      // At the first place it may play by itself already.
      board.show(drawWalk(now), here === undefined && at > 0 ? at : board.at);
      if (here !== undefined && here !== at) board.goTo(at);
      here = at;
    },
  };
}

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

function isEdited({ wq, wk, wv, numbers, text }: State): boolean {
  return [wq, wk, wv].some((one) => one !== null) || (numbers !== null && text !== "");
}

tellingRoom({
  store,
  sceneOf: walk,
  kernel: {
    callsOf: (now) => callsOf(now, store.state),
    read: (asked, [found]) => found && readAnswer(asked, found),
    said: (answer) => agreed("Weights and outputs", answer?.difference),
    // All else in the state only decides what is looked at.
    computedFrom: ["text", "numbers", "width", "heads", "scale", "causal", "asking", "hidden", "wq", "wk", "wv"],
  },
  code: { heed: (now) => heedCode(sceneOf(now)), torch: (now) => torchCode(sceneOf(now)) },
  matrices: MATRICES,
  build: matrixWalk,
});
