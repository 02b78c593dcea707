// The head view: every weight of one head as a picture to zoom into, computed a few rows at a time.

import type { Engine } from "../../src/engine/engine.js";
import { h } from "../../src/ui/dom.js";
import { brokenOff } from "../../src/ui/long-work.js";
import { whole } from "../../src/ui/numbers.js";
import { type Controls, picture } from "../../src/ui/picture.js";
import { heedMap, type MapHandlers } from "./map/map.js";
import { TILE } from "./map/tile.js";
import { Tiles } from "./map/tiles.js";
import { tilesIn, within } from "./map/window.js";
import { rowsAtOnce, rowsOf } from "./rows.js";
import type { BringScene } from "./scene.js";
import { ALL, type BringStore } from "./state.js";
import { statusLine } from "./status-line.js";

/** Milliseconds without a move, before anything is computed for what has come into view. */
const REST = 90;

export function headPicture(
  store: BringStore,
  engine: Engine,
  controls: Controls,
  handlers: Omit<MapHandlers, "move">,
) {
  let scene: BringScene | undefined;
  let tiles: Tiles | undefined;
  /** Whose tiles these are. */
  let made: BringScene | undefined;
  let rest: ReturnType<typeof setTimeout> | undefined;
  const map = heedMap({ ...handlers, move: (window) => store.change(window) });
  const status = statusLine(() => {
    tiles?.stop();
    status.end("Stopped. Move or zoom, and it goes on.");
  });

  /** Anew where it is another head; whether it is. */
  const begin = (next: BringScene): boolean => {
    const { source, at } = next;
    const isSame = made?.source === source && JSON.stringify(made.at) === JSON.stringify(at);
    if (!engine.isSettled || isSame) return false;
    made = next;
    tiles?.dispose();
    tiles = undefined;
    const failed = (error: unknown): void => status.end(brokenOff(error));
    try {
      const changed = (done: number, of: number): void => {
        if (own !== tiles) return;
        if (done >= of) status.end(`Drawn from ${whole(done)} weights.`);
        else status.say(`${Math.floor((100 * done) / of)} %, ${whole(done)} weights so far.`);
        map.refresh();
      };
      const own = new Tiles(rowsOf(source, at, engine.heed), changed, failed);
      tiles = own;
    } catch (error) {
      // Keys that the engine has no memory for, say.
      failed(error);
    }
    return true;
  };
  /** What is looked at, as far as it is there. */
  const numbers = (): unknown => {
    if (scene === undefined) return {};
    const { state, source, at } = scene;
    const shown = tilesIn(source, state).flatMap((place) => tiles?.get(place) ?? []);
    const dotsOf = ({ top, left, block, max, rows: rowsDone }: (typeof shown)[number]) => {
      const rows = Math.min(TILE, Math.ceil((source.queries - top) / block));
      const cols = Math.min(TILE, Math.ceil((source.keys - left) / block));
      const dots = Array.from({ length: rows }, (_, row) => Array.from(max.subarray(row * TILE, row * TILE + cols)));
      return { top, left, cellsOfADot: block, rowsDone, max: dots };
    };
    return { state, source: source.name, ...at, window: within(source, state), tiles: shown.map(dotsOf) };
  };

  const legend = ["1⁄10 of an even weight", h("i", { "aria-hidden": "true" }), "all of it"];
  const { element, say } = picture({
    name: "map",
    title: "All attention weights of one head",
    body: [map.element, status.element, h("p", { class: "map-legend small-label" }, ...legend)],
    ...controls,
    data: numbers,
  });
  const show = (next: BringScene): void => {
    scene = next;
    const { state, source } = next;
    const isNew = begin(next);
    map.show({ scene: next, tiles });
    say(textOf(next));
    // The whole first: it stands in for whatever is not there yet.
    const wanted = [...tilesIn(source, ALL), ...tilesIn(source, state)];
    clearTimeout(rest);
    // While it moves, moving goes first.
    if (!isNew && tiles?.lacking(wanted).length) status.say("To be drawn as soon as it rests.");
    if (isNew) tiles?.want(wanted);
    else rest = setTimeout(() => tiles?.want(wanted), REST);
  };
  return {
    element,
    show,
    /** The engine is there, or there is none, and pages compute by themselves. */
    begin: () => scene && show(scene),
  };
}

function textOf({ source, at, vectors }: BringScene): string {
  const { queries, keys, origin, headName } = source;
  const all = `${whole(queries)} queries by ${whole(keys)} keys are ${whole(queries * keys)} weights`;
  const dots = "Press a dot to go to the largest weight under it.";
  if (vectors === undefined) return `${all}, ${origin}. ${dots}`;
  const size = `${whole(Math.round((queries * keys * 4) / 1e6))} MB`;
  const made = headName === undefined ? "" : ` This head looks for ${headName(at.layer, at.head)}.`;
  return `${all}, or ${size}. We compute ${whole(rowsAtOnce({ keys }))} rows at a time and forget them. ${dots}${made}`;
}
