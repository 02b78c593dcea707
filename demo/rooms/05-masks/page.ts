// Room 5, masks and structure: what a query sees, the grid that is painted, the weights that follow, and what is saved.

import { at, bestOf, rowsOfAll } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { GUESSES } from "../../src/page/guesses.js";
import { agreed, type BuiltRoom, type RoomContext, tellingRoom } from "../../src/page/room.js";
import { Board } from "../../src/ui/board.js";
import { calm, h } from "../../src/ui/dom.js";
import { guess } from "../../src/ui/guess.js";
import { numbered, weighed } from "../../src/ui/named-matrices.js";
import { drawer, inColours, picture } from "../../src/ui/picture.js";
import { callOf, heedCode, type MaskAnswer, readAnswer, structureOf, torchCode } from "./call.js";
import { controls, PRESETS } from "./controls.js";
import { costPicture } from "./cost-picture.js";
import { explain } from "./explain.js";
import { maskGrid } from "./mask-grid.js";
import { type MaskScene, sceneOf } from "./scene.js";
import { sightOf } from "./sight.js";
import { BARE, MASK_STATE } from "./state.js";
import { lostBy, maskText } from "./texts.js";
import "../../style/masks.css";

const store = new Store(MASK_STATE);

function maskRoom(room: RoomContext<MaskScene, MaskAnswer, "A">): BuiltRoom<"A"> {
  const { matrices, teller } = room;
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
  const mask = maskGrid({
    inspect: (row, col, held) => teller.point({ name: "mask", row, col }, held),
    leave: () => teller.leave(),
    paint: (row, col, hide) => {
      const { painted, keys } = store.state;
      const pair = row * keys + col;
      const next = hide ? [...painted, pair] : painted.filter((other) => other !== pair);
      store.change({ painted: next.sort((a, b) => a - b) });
    },
  });
  const hint = h("p", { class: "small-label" }, "Click or drag to hide pairs; Space on the keyboard.");
  const colours = h("p", { class: "small-label" });
  const { element, say } = picture({
    name: "mask",
    title: "What a query may see",
    body: [h("div", { class: "sight" }, board.element, h("div", {}, mask.element, hint, colours))],
    ...controls(store, () => {
      look(1);
      if (!calm()) board.play();
    }),
    numbers: drawer("Numbers", ...matrices.of("A")),
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

  return {
    guess: guess("masks", GUESSES.masks, () =>
      store.change({ ...BARE, ...PRESETS["A row that sees nothing"], hiding: "before" }, "new"),
    ),
    pictures: [element, cost.element],
    first: () => {
      const row = tellingRow(room.scene);
      return { name: "A", row, col: bestOf(room.scene.plain, row) };
    },
    explain: (spot) => explain(room.scene, spot, room.answer, place),
    explainOther: (cell) => (cell.name === "mask" ? explain(room.scene, cell, room.answer, place) : undefined),
    light: (lights) => {
      matrices.light(lights);
      shown = lights[0]?.row ?? 0;
      look();
      mask.light(shown, lights[0]?.col ?? 0);
    },
    show: () => {
      const { seen, state, weights } = room.scene;
      const { queries, keys, painted, tile } = state;
      const tiles = `tiles of ${tile} × ${tile}, each computed or skipped`;
      colours.replaceChildren(...inColours({ share: "seen", below: "hidden by hand", line: tiles }));
      mask.show({
        rows: queries,
        cols: keys,
        tile,
        sees: (row, col) => at(seen, row, col) === 1,
        painted: (row, col) => painted.includes(row * keys + col),
      });
      const about = "weights: a row a query, a column a key";
      const struck = (row: number, col: number): boolean => at(seen, row, col) === 0;
      const names = [numbered("q", queries), numbered("k", keys)] as const;
      matrices.showAll({ A: { ...weighed("A", about, room.answer?.weights ?? weights, ...names), struck } });
      cost.show(room.scene);
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

tellingRoom({
  store,
  sceneOf,
  kernel: {
    callsOf: (scene) => [callOf(scene)],
    read: (scene, [found]) => found && readAnswer(scene, found),
    said: agreementOf,
  },
  code: { heed: heedCode, torch: torchCode },
  matrices: ["A"],
  build: maskRoom,
});
