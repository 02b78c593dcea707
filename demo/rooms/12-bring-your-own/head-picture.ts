// The head view: every weight of one head as a picture to zoom into, computed a few rows at a time.

import type { Engine } from "../../src/engine/engine.js";
import { button, h } from "../../src/ui/dom.js";
import { brokenOff } from "../../src/ui/long-work.js";
import { whole } from "../../src/ui/numbers.js";
import { type Controls, picture } from "../../src/ui/picture.js";
import { heedMap, type MapHandlers } from "./map/map.js";
import { TILE, type Tile, tilesIn } from "./map/tile.js";
import { type Tiles, tilesOf } from "./map/tiles.js";
import { rowsAtOnce, rowsOf } from "./rows.js";
import type { BringScene } from "./scene.js";
import { ALL } from "./state.js";

/** Milliseconds without a move, before anything is computed for what has come into view. */
const REST = 90;

export function headPicture(first: BringScene, engine: Engine, controls: Controls, handlers: MapHandlers) {
  let scene = first;
  let tiles: Tiles | undefined;
  /** Whose tiles these are. */
  let made: BringScene | undefined;
  let rest: ReturnType<typeof setTimeout> | undefined;
  const map = heedMap(handlers, first);
  const status = statusLine(() => {
    tiles?.stop();
    status.end("Stopped. Move or zoom, and it goes on.");
  });

  /** Anew where it is another head; whether it is. */
  const begin = (): boolean => {
    const { source, at } = scene;
    const isSame = made?.source === source && JSON.stringify(made.at) === JSON.stringify(at);
    if (!engine.isSettled || isSame) return false;
    made = scene;
    tiles?.dispose();
    tiles = undefined;
    const failed = (error: unknown): void => status.end(brokenOff(error));
    const changed = (done: number, of: number): void => {
      if (done >= of) status.end(`Drawn from ${whole(done)} weights.`);
      else status.say(`${Math.floor((100 * done) / of)} %, ${whole(done)} weights so far.`);
      map.refresh();
    };
    try {
      tiles = tilesOf(rowsOf(source, at, engine.heed), changed, failed);
    } catch (error) {
      // Keys that the engine has no memory for, say.
      failed(error);
    }
    return true;
  };
  /** What is looked at, as far as it is there. */
  const data = (): unknown => {
    const { state, source, window, at } = scene;
    const dotsOf = ({ top, left, block, max, rows: rowsDone }: Tile) => {
      const rows = Math.min(TILE, Math.ceil((source.queries - top) / block));
      const cols = Math.min(TILE, Math.ceil((source.keys - left) / block));
      const dots = Array.from({ length: rows }, (_, row) => Array.from(max.subarray(row * TILE, row * TILE + cols)));
      return { top, left, cellsOfADot: block, rowsDone, max: dots };
    };
    const shown = tilesIn(source, window).flatMap((place) => tiles?.get(place) ?? []);
    return { state, source: source.name, ...at, window, tiles: shown.map(dotsOf) };
  };

  const legend = ["1⁄10 of an even weight", h("i", { "aria-hidden": "true" }), "all of it"];
  const { element, say } = picture({
    name: "map",
    title: "All attention weights of one head",
    body: [map.element, status.element, h("p", { class: "map-legend small-label" }, ...legend)],
    ...controls,
    data,
  });
  const show = (next: BringScene): void => {
    scene = next;
    const { source, window } = next;
    const isNew = begin();
    map.show(next, tiles);
    say(textOf(next));
    // The whole first: it stands in for whatever is not there yet.
    const wanted = [...tilesIn(source, ALL), ...tilesIn(source, window)];
    clearTimeout(rest);
    // While it moves, moving goes first.
    if (!isNew && tiles?.lacking(wanted).length) status.say("To be drawn as soon as it rests.");
    if (isNew) tiles?.want(wanted);
    else rest = setTimeout(() => tiles?.want(wanted), REST);
  };
  /** `begin`: the engine is there, or there is none, and pages compute by themselves. */
  return { element, show, begin: () => show(scene) };
}

/** How far work is that begins by itself, how it ended, and a button that stops it. */
export function statusLine(stop: () => void) {
  const said = h("p", { class: "small-label", role: "status" });
  const stopping = button("Stop", stop, "link");
  const show = (text: string, isRunning: boolean): void => {
    said.textContent = text;
    stopping.hidden = !isRunning;
  };
  show("", false);
  return {
    element: h("div", { class: "race" }, stopping, said),
    say: (text: string) => show(text, true),
    end: (text: string) => show(text, false),
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
