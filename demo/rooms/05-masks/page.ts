// Room 5, masks and structure: what a query sees, the grid that is painted, the weights that follow, and what is saved.

import { at, bestOf, rowsOfAll } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { GUESSES } from "../../src/page/guesses.js";
import { agreed, type BuiltRoom, type RoomContext, tellingRoom } from "../../src/page/room.js";
import { Board } from "../../src/ui/board.js";
import { calm, h } from "../../src/ui/dom.js";
import { guess } from "../../src/ui/guess.js";
import { HeedMask, type MaskView, turnedMask } from "../../src/ui/heed-mask.js";
import { numbered, weighed } from "../../src/ui/named-matrices.js";
import { drawer, inColours, picture } from "../../src/ui/picture.js";
import { callOf, heedCode, type MaskAnswer, readAnswer, structureOf, torchCode } from "./call.js";
import { controls, PRESETS } from "./controls.js";
import { costPicture } from "./cost-picture.js";
import { explain } from "./explain.js";
import { type MaskScene, sceneOf } from "./scene.js";
import { sightOf } from "./sight.js";
import { BARE, MASK_STATE } from "./state.js";
import { lostBy, maskText } from "./texts.js";
import "../../style/masks.css";

const MATRICES = ["A", "sum"] as const;
type MatrixName = (typeof MATRICES)[number];

const store = new Store(MASK_STATE);

function maskRoom(room: RoomContext<MaskScene, MaskAnswer, MatrixName>): BuiltRoom<MatrixName> {
  const { matrices, teller } = room;
  const {
    show: showControls,
    menu,
    ...below
  } = controls(store, () => {
    look(1);
    if (!calm()) board.play();
  });
  const colours = h("p", { class: "small-label" });
  const withSums = h("div", { class: "with-sums" }, ...matrices.of(...MATRICES));
  const board = new Board({
    steps: ["no mask", "masked"],
    rests: 1,
    picked: (row) => teller.point({ name: "A", row: Number(row), col: 0 }, true),
    moved: (at) => {
      place = at;
      teller.tell();
    },
  });
  /** Where the board is, or is going. */
  let place = 1;
  /** The query that the board shows. */
  let shown = 0;
  const mask = new HeedMask();
  mask.handlers = {
    inspect: (row, col, held) => teller.point({ name: "mask", ...asStored(row, col) }, held),
    leave: () => teller.leave(),
    paint,
  };
  const hint = h("p", { class: "small-label" }, "Click or drag to hide pairs; Space on the keyboard.");
  const { element, say } = picture({
    name: "mask",
    title: "What a query may see",
    body: [h("div", { class: "sight" }, board.element, h("div", {}, mask, hint, colours))],
    ...below,
    numbers: drawer("Numbers", withSums),
    data: () => {
      const { state, seen, q, k, scale, given, weights } = room.scene;
      return { state, scale, heed: structureOf(state), ...rowsOfAll({ sees: seen, q, k, given, weights }) };
    },
  });
  const cost = costPicture(store, room.engine);
  look(1);

  function look(to?: number): void {
    place = to ?? place;
    board.show(sightOf(room.scene, room.answer?.weights ?? room.scene.weights, shown), to);
    say(maskText(room.scene, shown));
  }

  /** A place on the grid as the pair that it shows. */
  function asStored(row: number, col: number): { readonly row: number; readonly col: number } {
    return matrices.isTurned ? { row: col, col: row } : { row, col };
  }

  function paint(gridRow: number, gridCol: number, hide: boolean): void {
    const { painted, keys } = store.state;
    const { row, col } = asStored(gridRow, gridCol);
    const pair = row * keys + col;
    const next = hide ? [...painted, pair] : painted.filter((other) => other !== pair);
    store.change({ painted: next.sort((a, b) => a - b) });
  }

  return {
    guess: guess("masks", GUESSES.masks, () =>
      store.change({ ...BARE, ...PRESETS["A row that sees nothing"], hiding: "before" }, "new"),
    ),
    pictures: [element, cost.element],
    menu,
    first: () => {
      const row = tellingRow(room.scene);
      return { name: "A", row, col: bestOf(room.scene.plain, row) };
    },
    explain: (spot) => explain(room.scene, spot, room.answer, place),
    explainOther: (cell) => (cell.name === "mask" ? explain(room.scene, cell, room.answer, place) : undefined),
    light: (lights) => {
      matrices.light(lights);
      shown = lights.find((light) => light.row !== undefined)?.row ?? 0;
      look();
      const { row = -1, col = -1 } = lights.find(({ name }) => name === "mask") ?? {};
      const place = asStored(row, col);
      mask.light(place.row, place.col);
    },
    show: () => {
      const { scene, answer } = room;
      const { queries, keys, painted, tile } = scene.state;
      showControls();
      const view: MaskView = {
        label: `Mask, ${queries} queries by ${keys} keys; space paints`,
        rows: queries,
        cols: keys,
        rowName: (row) => `q${row + 1}`,
        colName: (col) => `k${col + 1}`,
        sees: (row, col) => at(scene.seen, row, col) === 1,
        painted: (row, col) => painted.includes(row * keys + col),
        tile,
      };
      const tiles = `tiles of ${tile} × ${tile}, each computed or skipped`;
      colours.replaceChildren(...inColours({ share: "seen", below: "hidden by hand", line: tiles }));
      mask.show(matrices.isTurned ? turnedMask(view) : view);
      withSums.classList.toggle("by-columns", matrices.isTurned);
      for (const matrix of matrices.of("sum")) matrix.classList.toggle("rows-shared", !matrices.isTurned);
      matrices.showAll(viewsOf(scene, answer));
      cost.show(scene);
    },
  };
}

function agreementOf(answer: MaskAnswer | undefined, { state }: MaskScene): string {
  const isRounded = answer !== undefined && state.hiding === "minus";
  const rounded = isRounded ? " In single precision −10000 swallows most decimals of a score." : "";
  return agreed("Weights", answer?.difference) + rounded;
}

/** The query that would see most of what is hidden. */
function tellingRow(scene: MaskScene): number {
  const { queries, padding } = scene.state;
  const rows = Array.from({ length: queries - padding }, (_, row) => row);
  return rows.reduce((best, row) => (lostBy(scene, row) > lostBy(scene, best) ? row : best), (queries - padding) >> 1);
}

function viewsOf({ state, weights, seen, sums }: MaskScene, answer: MaskAnswer | undefined) {
  const [queries, keys] = [numbered("q", state.queries), numbered("k", state.keys)];
  const about = "weights: a row a query, a column a key";
  const struck = (row: number, col: number): boolean => at(seen, row, col) === 0;
  return {
    A: { ...weighed("A", about, answer?.weights ?? weights, queries, keys), struck },
    sum: weighed("sum", "", sums, queries, ["sum"]),
  };
}

tellingRoom({
  store,
  sceneOf,
  kernel: {
    callsOf: (scene) => [callOf(scene)],
    read: (scene, [found]) => found && readAnswer(scene, found),
    said: agreementOf,
  },
  code: { heed: heedCode, torch: torchCode },
  matrices: MATRICES,
  build: maskRoom,
});
