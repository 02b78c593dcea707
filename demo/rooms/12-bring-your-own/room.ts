// Room 12, bring your own: attention of any length, from above and down to single multiply-adds.

import type { Engine } from "../../src/engine/engine.js";
import { rowsOfAll } from "../../src/model/matrix.js";
import type { Cell } from "../../src/model/store.js";
import { agreed, furnish } from "../../src/page/room.js";
import { NamedMatrices, type NamedSpot } from "../../src/ui/named-matrices.js";
import { whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { drawn } from "../../src/ui/pieces.js";
import { Teller } from "../../src/ui/teller.js";
import { answerPicture } from "./answer-picture.js";
import { heedCode, saveButton, torchCode } from "./code.js";
import { controls } from "./controls.js";
import { explain } from "./explain.js";
import { headPicture } from "./head-picture.js";
import { modelPicture } from "./model-picture.js";
import { type BringAnswer, type BringScene, type Library, MATRICES, type MatrixName, viewsOf } from "./scene.js";
import { ALL, type BringStore } from "./state.js";

export function bringRoom(store: BringStore, library: Library, root: HTMLElement, first: BringScene, engine: Engine) {
  let scene = first;
  let answer: BringAnswer | undefined;
  /** All of which is to be seen; undefined while it is on its way. */
  let seen: BringScene | undefined;
  /** Counts what was to be shown: the last takes the place of what is on its way. */
  let turn = 0;
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
  const head = headPicture(first, engine, below, { move: (window) => store.change(window), inspect, leave });
  const model = modelPicture(store, engine, first);
  const data = (): unknown => {
    const { state, source, at, row, col, cells } = scene;
    const { top, left } = cells;
    return { state, source: source.name, ...at, row, col, top, left, ...rowsOfAll(viewsOf(scene, answer)) };
  };
  const cells = picture({ name: "cells", title: "Down to single cells", body: [matrices.line("Z", "A")], data });
  cells.say("The cells around the chosen one. Choose another on the map, or point at one to see what it is made of.");
  const showMatrix = (name: MatrixName, now: BringScene, answered?: BringAnswer): void => {
    const view = viewsOf(now, answered)[name];
    matrices.show(() => view && { name, ...view }, [name]);
  };
  /** Below a model's answer, whose heads it switches, or after the cells of one head. */
  const placeModel = ({ source }: BringScene): void => {
    const before = source.model === undefined ? cells : own;
    if (before.element.nextElementSibling !== model.element) before.element.after(model.element);
  };
  /** All that no answer of the kernel changes, piece by piece. */
  const pieces: readonly ((scene: BringScene) => void)[] = [
    showControls,
    placeModel,
    own.show,
    model.show,
    ...MATRICES.map((name) => (now: BringScene) => showMatrix(name, now)),
  ];

  function* showing(next: BringScene, answered: BringAnswer | undefined): Generator<undefined> {
    const before = seen;
    seen = undefined;
    [scene, answer] = [next, answered];
    if (next !== before) head.show(next);
    // Many times a second, and none of the rest changes.
    if (before === undefined || next === before || !isMove(next, before)) {
      yield;
      for (const show of next === before ? [] : pieces) {
        show(next);
        yield;
      }
      showMatrix("A", next, answered);
      agreement.textContent = agreementOf(next, answered);
      teller.tell();
    }
    seen = next;
  }
  /** At once, but for what has other cells nearly everywhere, which are laid out in a frame for each part. */
  const show = async (next: BringScene, answered: BringAnswer | undefined): Promise<void> => {
    const isAnother = seen === undefined || extent(next) !== extent(seen);
    const pictures = head.element.parentElement;
    const own = ++turn;
    if (isAnother) pictures?.setAttribute("aria-busy", "true");
    try {
      for (const _ of showing(next, answered)) {
        if (isAnother) await drawn();
        if (own !== turn) return;
      }
    } finally {
      if (own === turn) pictures?.removeAttribute("aria-busy");
    }
  };

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
  return {
    showing,
    // What fails to be shown is reported where it does.
    show: (next: BringScene, answered: BringAnswer | undefined): void => void show(next, answered),
  };
}

/** From its place in the small window to that in the whole. */
function placed({ name, row, col }: NamedSpot<MatrixName>, { cells }: BringScene): Cell {
  return { name, row: row + cells.top, col: col + cells.left };
}

/** By which a room has other cells, not only other numbers in them. */
const extent = ({ source, vectors }: BringScene): string => `${source.layers} ${source.heads} ${vectors?.width}`;

/** Only another part of the map is looked at. */
function isMove(now: BringScene, before: BringScene): boolean {
  const rest = ({ state }: BringScene): string => JSON.stringify({ ...state, ...ALL });
  return now.source === before.source && rest(now) === rest(before);
}

function agreementOf({ vectors, source }: BringScene, answer?: BringAnswer): string {
  if (vectors === undefined) return `Shown: the weights ${source.origin}. Nothing more is computed but sums.`;
  return agreed(`${whole(answer?.compared ?? 0)} attention weights`, answer?.difference);
}
