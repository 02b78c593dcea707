// Room 12, bring your own: attention of any length, from above and down to single multiply-adds.

import type { Engine } from "../../src/engine/engine.js";
import { rowsOfAll } from "../../src/model/matrix.js";
import type { Cell } from "../../src/model/store.js";
import { agreed, furnish } from "../../src/page/room.js";
import { NamedMatrices, type NamedSpot } from "../../src/ui/named-matrices.js";
import { whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { atOnce } from "../../src/ui/pieces.js";
import { Teller } from "../../src/ui/teller.js";
import { answerPicture } from "./answer-picture.js";
import { heedCode, saveButton, torchCode } from "./code.js";
import { controls } from "./controls.js";
import { explain } from "./explain.js";
import { headPicture } from "./head-picture.js";
import { modelPicture } from "./model-picture.js";
import { type BringAnswer, type BringScene, type Library, MATRICES, type MatrixName, viewsOf } from "./scene.js";
import type { BringStore } from "./state.js";

export function bringRoom(store: BringStore, library: Library, root: HTMLElement, first: BringScene, engine: Engine) {
  let scene = first;
  let answer: BringAnswer | undefined;
  let shown: BringScene | undefined;
  const matrices = new NamedMatrices(MATRICES);

  const teller = new Teller({
    keeper: () => ({
      cell: store.cell,
      // The address says the cell in the light as it is, by row and column.
      hold: (cell) => {
        const isInTheLight = cell.name === "A" && cell.row === scene.row && cell.col === scene.col;
        store.hold(isInTheLight ? undefined : cell);
      },
    }),
    first: () => ({ name: "A", row: scene.row, col: scene.col }),
    explain: (cell) => explain(scene, cell, answer),
    light: (lights) => matrices.light(lights),
  });
  const leave = (): void => teller.leave();
  /** At a cell of the map: in the light, or only told about. */
  const inspect = (row: number, col: number, held: boolean): void => {
    if (held) store.change({ row, col });
    teller.point({ name: "A", row, col }, held);
  };
  matrices.listen({ point: (spot, held) => teller.point(placed(spot, scene), held), leave });

  const { show: showControls, panel, ...below } = controls(store, library);
  const own = answerPicture(store, panel);
  const head = headPicture(first, engine, below, { zoom: (span) => store.change({ span }), inspect, leave });
  const model = modelPicture(store, engine, first);
  const data = (): unknown => {
    const { state, source, at, row, col, cells } = scene;
    const { top, left } = cells;
    return { state, source: source.name, ...at, row, col, top, left, ...rowsOfAll(viewsOf(scene, answer)) };
  };
  const cells = picture({ name: "cells", title: "Down to single cells", body: [matrices.line("Z", "A")], data });
  cells.say("The cells around the chosen one. Choose another on the map, or point at one to see what it is made of.");

  function* showing(next: BringScene, answered: BringAnswer | undefined): Generator<undefined> {
    const isOther = next !== shown;
    [scene, answer, shown] = [next, answered, next];
    if (isOther) {
      head.show(next);
      yield;
      showControls(next);
      own.show(next);
      // Below a model's answer, whose heads it switches, or after the cells of one head.
      const before = next.source.model === undefined ? cells : own;
      if (before.element.nextElementSibling !== model.element) before.element.after(model.element);
      model.show(next);
      yield;
    }
    matrices.showAll(viewsOf(next, answered));
    agreement.textContent = agreementOf(next, answered);
    teller.tell();
  }

  const agreement = furnish(root, {
    pictures: [own, head, cells, model].map(({ element }) => element),
    readout: teller.element,
    heedCode: () => heedCode(scene),
    torchCode: () => torchCode(scene),
  });
  root.querySelector(".code-buttons")?.prepend(saveButton(() => scene));
  void engine.opened.then(() => {
    for (const { begin } of [head, model]) begin();
  });
  return { showing, show: (...now: Parameters<typeof showing>) => atOnce(showing(...now)) };
}

/** From its place in the small window to that in the whole. */
function placed({ name, row, col }: NamedSpot<MatrixName>, { cells }: BringScene): Cell {
  return { name, row: row + cells.top, col: col + cells.left };
}

function agreementOf({ vectors, source }: BringScene, answer?: BringAnswer): string {
  if (vectors === undefined) return `Shown: the weights ${source.origin}. Nothing more is computed but sums.`;
  return agreed(`${whole(answer?.compared ?? 0)} attention weights`, answer?.difference);
}
