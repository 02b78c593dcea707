// The head view: every weight of one head as a picture to zoom into, computed a few rows at a time.

import type { Engine } from "../../src/engine/engine.js";
import { button, h } from "../../src/ui/dom.js";
import { brokenOff } from "../../src/ui/long-work.js";
import { whole } from "../../src/ui/numbers.js";
import { type Controls, picture } from "../../src/ui/picture.js";
import { HeedMap, type MapHandlers } from "./map/map.js";
import { TILE } from "./map/pool.js";
import { type Progress, Tiles } from "./map/tiles.js";
import { type TilePlace, tilesIn, within } from "./map/window.js";
import { rowsAtOnce, rowsOf } from "./rows.js";
import type { BringScene } from "./scene.js";
import type { Source } from "./source.js";
import type { BringStore } from "./state.js";

/** Milliseconds without a move, before anything is computed for what has come into view. */
const REST = 90;

interface Parts extends Pick<MapHandlers, "inspect" | "leave"> {
  readonly store: BringStore;
  readonly engine: Engine;
  readonly controls: Controls;
}

export class HeadPicture {
  readonly #engine: Engine;
  readonly #picture;
  readonly #map = new HeedMap();
  readonly #said = h("p", { class: "small-label", role: "status" });
  readonly #stop = button("Stop", () => this.#halt(), "link");
  #tiles: Tiles | undefined;
  #shown: { readonly source: Source; readonly key: string } | undefined;
  #scene: BringScene | undefined;
  #rest: ReturnType<typeof setTimeout> | undefined;

  constructor({ store, engine, controls, inspect, leave }: Parts) {
    this.#engine = engine;
    this.#map.handlers = { inspect, leave, move: ({ top, left, span }) => store.change({ top, left, span }) };
    this.#stop.hidden = true;
    this.#picture = picture({
      name: "map",
      title: "All attention weights of one head",
      body: [this.#map, h("div", { class: "race" }, this.#stop, this.#said), legend()],
      ...controls,
      data: () => this.#numbers(),
    });
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  /** The engine is there, or there is none, and pages compute by themselves. */
  begin(): void {
    if (this.#scene !== undefined) this.show(this.#scene);
  }

  show(scene: BringScene): void {
    this.#scene = scene;
    const { state, source, at, row, col } = scene;
    const isNew = this.#begin(scene);
    this.#map.show({
      label: `Weights of layer ${at.layer + 1}, head ${at.head + 1}, ${source.queries} queries by ${source.keys} keys`,
      size: source,
      window: state,
      row,
      col,
      words: source.words,
      tile: (place) => this.#tiles?.get(place),
      coarse: coarseOf(source),
    });
    this.#picture.say(textOf(scene));
    // The whole first: it stands in for whatever is not there yet.
    const wanted = [...coarseOf(source), ...tilesIn(source, state)];
    clearTimeout(this.#rest);
    // While it moves, moving goes first.
    if (isNew) {
      this.#tiles?.want(wanted);
      return;
    }
    if (this.#tiles?.lacks(wanted) === true) this.#said.textContent = "To be drawn as soon as it rests.";
    this.#rest = setTimeout(() => this.#tiles?.want(wanted), REST);
  }

  /** Anew where it is another head; whether it is. */
  #begin({ source, at }: BringScene): boolean {
    const key = [at.layer, at.head, at.causal].join();
    if (!this.#engine.isSettled || (this.#shown?.source === source && this.#shown.key === key)) return false;
    this.#shown = { source, key };
    this.#tiles?.dispose();
    this.#tiles = undefined;
    const fail = (error: unknown): void => {
      this.#said.textContent = brokenOff(error);
    };
    try {
      const tiles = new Tiles(rowsOf(source, at, this.#engine.heed), coarseOf(source));
      this.#tiles = tiles;
      tiles.onError = fail;
      tiles.onChange = (progress) => {
        if (tiles !== this.#tiles) return;
        this.#say(progress, source);
        this.#map.refresh();
      };
    } catch (error) {
      // Keys that the engine has no memory for, say.
      fail(error);
    }
    return true;
  }

  #halt(): void {
    this.#tiles?.stop();
    this.#stop.hidden = true;
    this.#said.textContent = "Stopped. Move or zoom, and it goes on.";
  }

  #say({ done, of }: Progress, { keys }: Source): void {
    this.#stop.hidden = done >= of;
    const weights = whole(done * keys);
    this.#said.textContent =
      done >= of ? `Drawn from ${weights} weights.` : `${Math.floor((100 * done) / of)} %, ${weights} weights so far.`;
  }

  /** What is looked at, as far as it is there. */
  #numbers(): unknown {
    const scene = this.#scene;
    if (scene === undefined) return {};
    const { state, source, at } = scene;
    const tiles = tilesIn(source, state).flatMap((place) => {
      const tile = this.#tiles?.get(place);
      if (tile === undefined) return [];
      const { top, left, block, max } = tile;
      const rows = Math.min(TILE, Math.ceil((source.queries - top) / block));
      const cols = Math.min(TILE, Math.ceil((source.keys - left) / block));
      const dots = Array.from({ length: rows }, (_, row) => Array.from(max.subarray(row * TILE, row * TILE + cols)));
      return [{ top, left, cellsOfADot: block, rowsDone: tile.rows, max: dots }];
    });
    return { state, source: source.name, ...at, window: within(source, state), tiles };
  }
}

function coarseOf(source: Source): readonly TilePlace[] {
  return tilesIn(source, { top: 0, left: 0, span: 0 });
}

function legend(): HTMLElement {
  return h(
    "p",
    { class: "map-legend" },
    h("span", {}, "1⁄10 of an even weight"),
    h("i", { "aria-hidden": "true" }),
    h("span", {}, "all of it"),
  );
}

function textOf({ source, at, vectors }: BringScene): string {
  const { queries, keys } = source;
  const name = source.headName(at.layer, at.head);
  const made = name === "" ? "" : ` This head was made to look for ${name}.`;
  const all = `${whole(queries)} queries by ${whole(keys)} keys are ${whole(queries * keys)} weights`;
  const dots = "Press a dot to go to the largest weight under it.";
  if (vectors === undefined) return `${all}, ${source.origin}. ${dots}`;
  const size = `${whole(Math.round((queries * keys * 4) / 1e6))} MB`;
  return `${all}, or ${size}. We compute ${whole(rowsAtOnce({ keys }))} rows at a time and forget them. ${dots}${made}`;
}
