// Room 7, order: words that can be moved, the positions that they are given, and what notices.

import { rowsOfAll, withBlock } from "../../src/model/matrix.js";
import { uniform } from "../../src/model/random.js";
import { Store } from "../../src/model/store.js";
import { GUESSES } from "../../src/page/guesses.js";
import { agreed, type BuiltRoom, type RoomContext, tellingRoom } from "../../src/page/room.js";
import { Board } from "../../src/ui/board.js";
import { button, h, heads, tableFrame } from "../../src/ui/dom.js";
import { guess } from "../../src/ui/guess.js";
import { told, worded } from "../../src/ui/named-matrices.js";
import { endsSwapped, orderBoard } from "../../src/ui/order-board.js";
import { drawer, inColours, legend, picture } from "../../src/ui/picture.js";
import { callsOf, heedCode, type OrderAnswer, readAnswers, torchCode } from "./calls.js";
import { controls } from "./controls.js";
import { LINES, MATRICES, type MatrixName, POSITION_MATRICES, viewOf } from "./matrices.js";
import { morph } from "./morph.js";
import { type OrderScene, sceneOf } from "./scene.js";
import { SLIDE_STEPS, slide, slides, slideTones } from "./slide.js";
import { ORDER_STATE, placesOf } from "./state.js";
import { orderText, TABLE_TEXT, VECTORS_TEXT } from "./texts.js";
import { changesOf, TRIALS, trialRows } from "./trials.js";
import "../../style/order.css";

const store = new Store(ORDER_STATE);

function orderRoom(room: RoomContext<OrderScene, OrderAnswer, MatrixName>): BuiltRoom<MatrixName> {
  const { matrices, teller } = room;
  const { show: showControls, menu, ...below } = controls(store);
  const order = orderBoard({
    move: (places) => store.change({ order: places }, "run"),
    choose: (word) => store.change({ asker: word }),
    pick,
  });
  const sliding = new Board({ steps: SLIDE_STEPS, rests: SLIDE_STEPS.length - 1, picked: pick });
  /** Below the words, which it must not move. */
  const verdict = h("p", { class: "picture-text verdict" });
  const swap = button("", puts(endsSwapped));
  const moves = Object.entries({
    "←": ["Move the word in the light to the left", () => order.shift(store.state.asker, -1)],
    "→": ["Move the word in the light to the right", () => order.shift(store.state.asker, 1)],
    Shuffle: ["Shuffle the words", puts(shuffled)],
    "As written": ["Put the words as written", () => store.change({ order: [], shift: 0 }, "new")],
  } as const).map(([text, [label, press]]) => {
    const made = button(text, press);
    made.setAttribute("aria-label", label);
    return made;
  });
  const trials = h("tbody");
  const trialsTable = h("table", { class: "plain-table trials" }, heads("positions", ...TRIALS), trials);
  const colours = h("p", { class: "small-label" });
  const vectors = h("p", { class: "picture-text" });
  const added = drawer("Numbers", matrices.line("P", "angle", "Q", "K", "b", "B"));
  const lines = LINES.map((names) => matrices.line(...names));
  const words = picture({
    name: "words",
    title: "The same words in any order",
    body: [
      order.element,
      legend({ share: "attention weights", value: "output above 0", below: "below 0", line: "as written" }),
      h("div", { class: "menu-line" }, swap, ...moves),
      verdict,
    ],
    ...below,
    numbers: drawer("Numbers", ...lines.slice(0, 2), vectors, ...lines.slice(2)),
    data: () => numbersOf(LINES.flat()),
  });
  words.say(
    "Drag a word, or press Shift and an arrow key. Press a word to see its attention weights and its output. In an output, “glue” marks small words that join others, and “hash” is made from the letters.",
  );
  const positions = picture({
    name: "positions",
    title: "What positions add",
    body: [sliding.element, colours],
    numbers: added,
    data: () => numbersOf(POSITION_MATRICES[store.state.kind]),
  });
  const tried = picture({
    name: "trials",
    title: "Which encodings notice?",
    body: [tableFrame("Which encodings notice", trialsTable)],
    data: () => Object.fromEntries(changesOf(room.scene)),
  });
  tried.say(TABLE_TEXT);

  function puts(reordered: (now: readonly number[]) => readonly number[]) {
    return () => store.change({ order: reordered(placesOf(store.state)) }, "new");
  }

  /** A word asks from now on; of anything else the arithmetic is told. */
  function pick(name: string): void {
    const [matrix = "", row, col] = name.split(".");
    if (matrix === "word") store.change({ asker: Number(row) });
    else teller.point({ name: matrix, row: Number(row), col: Number(col) }, true);
  }

  function numbersOf(names: readonly MatrixName[]): unknown {
    const { state, labels } = room.scene;
    const views = names.map((name) => [name, viewOf(name, room.scene, room.answer)] as const);
    return { state, words: labels, ...rowsOfAll(Object.fromEntries(views)) };
  }

  return {
    menu,
    guess: guess("order", GUESSES.order, () => {
      const { text, kind, shift, numbers } = ORDER_STATE.initial;
      const written = placesOf({ ...store.state, text, order: [] });
      store.change({ text, kind, shift, numbers, order: endsSwapped(written) }, "new");
    }),
    pictures: [words, positions, tried],
    first: () => ({ name: "O", row: Math.max(0, room.scene.places.indexOf(store.state.asker)), col: 1 }),
    explain: (spot) => told(viewOf(spot.name, room.scene, room.answer), spot),
    edit: (name, row, col, values) => {
      if (name === "X") store.change({ numbers: withBlock(room.scene.vectors, row, col, values) });
      if (name === "b") store.change({ biases: withBlock(store.state.biases, row, col, values) });
    },
    show: () => {
      const { scene } = room;
      const { state, words, places, labels } = scene;
      showControls();
      order.show({ words, places, asker: state.asker, draw: (way) => morph(scene, way) });
      positions.element.hidden = !slides(scene);
      sliding.show((by, width) => slide(scene, by, width));
      added.hidden = POSITION_MATRICES[state.kind].length === 0;
      swap.textContent = words.length < 2 ? "Swap the ends" : `Swap “${labels[0]}” and “${labels.at(-1)}”`;
      swap.disabled = words.length < 2;
      const [left, right] = moves;
      const asker = words[state.asker] ?? "";
      if (left !== undefined && right !== undefined) {
        [left.textContent, right.textContent] = [`← ${asker}`, `${asker} →`];
        left.ariaLabel = `← ${asker}: Move the word in the light to the left`;
        right.ariaLabel = `${asker} →: Move the word in the light to the right`;
      }
    },
    *showRest() {
      const { scene, answer } = room;
      yield;
      const shown = new Set<MatrixName>([...LINES.flat(), ...POSITION_MATRICES[scene.state.kind]]);
      matrices.show((name) => (shown.has(name) ? { name, ...viewOf(name, scene, answer) } : undefined));
      yield;
      trials.replaceChildren(...trialRows(scene));
      verdict.textContent = orderText(scene, answer);
      vectors.textContent = (matrices.isTurned ? worded : String)(VECTORS_TEXT);
      colours.replaceChildren(...inColours(slideTones(scene)));
    },
  };
}

/** Another order than the present one, where there is one; the same each time it is asked for from the same order. */
function shuffled(places: readonly number[]): readonly number[] {
  const next = uniform(places.reduce((seed, word) => seed * 31 + word + 1, 7));
  const left = [...places];
  const taken = places.map(() => left.splice(Math.floor(next() * left.length), 1)[0] ?? 0);
  return taken.join() === places.join() ? [...places.slice(1), ...places.slice(0, 1)] : taken;
}

tellingRoom({
  store,
  sceneOf,
  kernel: { callsOf, read: readAnswers, said: (answer) => agreed("Weights and outputs", answer?.apart) },
  code: { heed: heedCode, torch: torchCode },
  matrices: MATRICES,
  build: orderRoom,
});
