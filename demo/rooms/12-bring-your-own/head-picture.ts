// The head view: every weight of one head as a picture to zoom into, computed a few rows at a time.

import type { Engine } from "../../src/engine/engine.js";
import { LongWork } from "../../src/ui/controls.js";
import { h } from "../../src/ui/dom.js";
import { bytes, whole } from "../../src/ui/numbers.js";
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
  const map = heedMap(handlers, first, (place) => tiles?.get(place));
  const work: LongWork = new LongWork({
    name: "Go on",
    look: "link",
    run: async (signal, say) => {
      work.button.hidden = false;
      tiles ??= tilesOf(rowsOf(scene.source, scene.at, engine.heed));
      tiles.want(wanted());
      const drawn = await tiles.make(signal, (done, of) => {
        say(`${Math.floor((100 * done) / of)} %, ${whole(done)} weights so far.`);
        map.refresh();
      });
      work.button.hidden = true;
      return `Drawn from ${whole(drawn)} weights.`;
    },
  });
  work.button.hidden = true;
  /** The whole first: it stands in for whatever is not there yet. */
  const wanted = () => [ALL, scene.window].flatMap((window) => tilesIn(scene.source, window));
  const draw = (): void => {
    const isUnderWay = tiles?.want(wanted()) === true && work.isRunning;
    if (!isUnderWay) work.begin();
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

  const legend = ["a tenth of 1/n", h("i", { "aria-hidden": "true" }), "1"];
  const { element, say } = picture({
    name: "map",
    title: "All attention weights of one head",
    body: [map.element, work.line(), h("p", { class: "map-legend small-label" }, ...legend)],
    ...controls,
    data,
  });
  const show = (next: BringScene): void => {
    scene = next;
    const { source, at } = next;
    map.show(next);
    say(textOf(next));
    if (!engine.isSettled) return;
    clearTimeout(rest);
    const isSame = made?.source === source && JSON.stringify(made.at) === JSON.stringify(at);
    if (isSame) {
      // While it moves, moving goes first.
      if (tiles?.lacking(wanted()).length) work.say("To be drawn as soon as it rests.");
      rest = setTimeout(draw, REST);
      return;
    }
    made = next;
    tiles?.dispose();
    tiles = undefined;
    draw();
  };
  /** `begin`: the engine is there, or there is none, and pages compute by themselves. */
  return { element, show, begin: () => show(scene) };
}

function textOf({ source, at, vectors }: BringScene): string {
  const { queries, keys, origin, headName } = source;
  const all = `${whole(queries)} queries by ${whole(keys)} keys are ${whole(queries * keys)} weights`;
  const dots = "Press a dot to go to the largest weight under it.";
  if (vectors === undefined) return `${all}, ${origin}. ${dots}`;
  const made = headName === undefined ? "" : ` This head looks for ${headName(at.layer, at.head)}.`;
  const rows = rowsAtOnce({ keys });
  const pieces = rows < queries ? ` Computed ${whole(rows)} rows at a time, and discarded.` : "";
  return `${all}, or ${bytes(queries * keys * 4)}.${pieces} ${dots}${made}`;
}
