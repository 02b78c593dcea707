// Room 6, heads: columns that part into heads, two layers that decide, and heads that share.

import type { KernelAnswer } from "../../src/engine/walk-call.js";
import { rowsOfAll, withBlock } from "../../src/model/matrix.js";
import { type Cell, Store } from "../../src/model/store.js";
import { ENDINGS } from "../../src/model/toy.js";
import { GUESSES } from "../../src/page/guesses.js";
import { agreed, type BuiltRoom, type RoomContext, tellingRoom } from "../../src/page/room.js";
import { Board } from "../../src/ui/board.js";
import { boundChoice } from "../../src/ui/controls.js";
import { h } from "../../src/ui/dom.js";
import { guess } from "../../src/ui/guess.js";
import { byChoice } from "../../src/ui/named-matrices.js";
import { drawer, inColours, legend, picture } from "../../src/ui/picture.js";
import { heedCode, torchCode } from "./code.js";
import { countsPicture } from "./counts.js";
import { LAYER_STEPS, layersOf, layersText, tellingCell, twoLayers } from "./layers.js";
import { explain, MATRICES, type MatrixName, viewsOf } from "./matrices.js";
import { headTones, ribbons, STEP_NAMES, textOf } from "./ribbons.js";
import { callsOf, type HeadsScene, readAnswers, sceneOf } from "./scene.js";
import { HEADS, HEADS_STATE, STEPS } from "./state.js";
import "../../style/heads.css";

const store = new Store(HEADS_STATE);

function headsRoom(room: RoomContext<HeadsScene, KernelAnswer, MatrixName>): BuiltRoom<MatrixName> {
  const { matrices, teller } = room;
  const scene = (): HeadsScene => ({ ...room.scene, kernel: room.answer });
  const layers = () => layersOf(store.state.reason);
  let asker = room.scene.it;
  /** Where the board is, or is going. */
  let place = 0;
  /** The second picture is beside the arithmetic. */
  let isAtLayers = false;
  const rests = STEPS.indexOf("attend");
  const board = new Board({
    steps: STEPS.map((step) => STEP_NAMES[step]),
    rests,
    moved: (at, _, isOwn) => {
      if (!isOwn || at === rests) go(at);
    },
    picked: pick,
  });
  const two = new Board({
    steps: LAYER_STEPS,
    rests: LAYER_STEPS.length - 1,
    moved: (at) => {
      layersPicture.say(layersText(layers(), Math.round(at)));
      teller.tell();
    },
    picked: pick,
  });
  new IntersectionObserver(
    ([seen]) => {
      const isSeen = seen?.isIntersecting === true;
      if (isSeen === isAtLayers) return;
      isAtLayers = isSeen;
      teller.tell();
    },
    { threshold: 0.6 },
  ).observe(two.element);
  const tones = h("p", { class: "small-label" });
  const headsPicture = picture({
    name: "heads",
    title: "One head averages, two split",
    body: [board.element, tones],
    controls: [boundChoice(store, "heads", "Heads h", HEADS, { entry: "new" })],
    numbers: drawer("Numbers", matrices.line(...MATRICES)),
    // Of all steps, whichever is shown.
    data: () => {
      const { walk, words, state, mixed } = room.scene;
      const heads = walk.heads.map(({ q: Q, k: K, v: V, ...own }, index) => {
        const { weights: A, output: O } = room.answer?.heads[index] ?? own;
        return rowsOfAll({ Q, K, V, A, O });
      });
      return { words, heads, ...rowsOfAll({ X: walk.x, WO: state.mix, Y: mixed }) };
    },
  });
  const layersPicture = picture({
    name: "layers",
    title: "Two layers decide",
    body: [
      two.element,
      legend({ key: "weights of layer 1", value: "added to “it”", query: "query and weights of layer 2" }),
    ],
    controls: [boundChoice(store, "reason", "It was too", ENDINGS, { entry: "new" })],
    data: () => {
      const { words, first, second } = layers();
      return { words, layers: [first.row, second.row] };
    },
  });
  const counts = countsPicture(store);

  function paint(): void {
    const [now, both] = [scene(), layers()];
    const step = STEPS.indexOf(now.state.step);
    const isThere = Math.round(place) === step;
    if (!isThere) place = step;
    board.show((at, width) => ribbons(now, asker, at, width), isThere ? board.at : step);
    tones.replaceChildren(...inColours(headTones(now.walk.heads.length)));
    headsPicture.say(textOf(now, asker, now.state.step));
    two.show((at, width) => twoLayers(both, at, width));
    layersPicture.say(layersText(both, Math.round(two.at)));
  }

  function go(at: number): void {
    place = at;
    const step = STEPS[Math.round(at)];
    if (step !== undefined && step !== store.state.step) store.change({ step });
  }

  /** A word asks from now on; of anything else the arithmetic is told. */
  function pick(name: string): void {
    const [matrix = "", row, col] = name.split(".");
    if (matrix !== "word") {
      teller.point({ name: matrix, row: Number(row), col: Number(col) }, true);
      return;
    }
    asker = Number(row);
    paint();
  }

  // Also of a matrix that is not drawn.
  const tell = (cell: Cell) => explain(scene(), layers(), cell);
  return {
    menu: [byChoice(store, "word")],
    guess: guess("heads", GUESSES.heads, () => store.change({ heads: "8" }, "new")),
    pictures: [headsPicture, layersPicture, counts],
    first: () => {
      const { it, words } = room.scene;
      return isAtLayers
        ? tellingCell(layers(), Math.round(two.at))
        : { name: "A-0", row: it, col: words.indexOf("animal") };
    },
    explain: tell,
    explainOther: tell,
    edit: (name, row, col, values) => {
      if (name === "Wo-0") store.change({ mix: withBlock(store.state.mix, row, col, values) });
    },
    show: paint,
    *showRest() {
      yield;
      matrices.showAll(viewsOf(room.scene));
      yield;
      counts.show(store.state);
    },
  };
}

tellingRoom({
  store,
  sceneOf,
  kernel: {
    callsOf,
    read: readAnswers,
    said: (answer) => agreed("Weights and outputs", answer?.difference),
    computedFrom: ["reason", "heads"],
  },
  code: { heed: heedCode, torch: torchCode },
  matrices: MATRICES,
  build: headsRoom,
});
