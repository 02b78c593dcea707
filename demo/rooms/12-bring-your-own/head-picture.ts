// The head view: every weight of one head as a picture to zoom into, computed a few rows at a time.

import type { Heed } from "heed";
import { choice } from "../../src/ui/choice.js";
import { h } from "../../src/ui/dom.js";
import { brokenOff } from "../../src/ui/long-work.js";
import { whole } from "../../src/ui/numbers.js";
import { type Controls, type Picture, picture } from "../../src/ui/picture.js";
import { HeedMap, type MapHandlers } from "./map/map.js";
import { TILE } from "./map/pool.js";
import { type Progress, Tiles } from "./map/tiles.js";
import { type TilePlace, tilesIn, within } from "./map/window.js";
import { type Rows, rowsAtOnce, rowsOf } from "./rows.js";
import type { BringScene } from "./scene.js";
import type { Source } from "./source.js";
import type { BringStore, Pool } from "./state.js";

/** Milliseconds without a move, before anything is computed for what has come into view. */
const REST = 90;

export class HeadPicture {
  readonly #picture: Picture;
  readonly #map = new HeedMap();
  readonly #said = h("p", { class: "small-label", role: "status" });
  readonly #stop = h("button", { type: "button", class: "link" }, "Stop");
  readonly #pool;
  #tiles: Tiles | undefined;
  #shown: { readonly source: Source; readonly key: string } | undefined;
  #scene: BringScene | undefined;
  #heed: Heed | undefined;
  #isOpen = false;
  #rest: ReturnType<typeof setTimeout> | undefined;

  constructor(
    store: BringStore,
    { controls = [], more = [] }: Controls,
    handlers: Pick<MapHandlers, "inspect" | "leave">,
  ) {
    this.#pool = choice<Pool>(
      "A dot shows",
      [
        { value: "max", text: "its largest", about: "The largest weight of the cells under the dot" },
        { value: "mean", text: "their mean" },
      ],
      (pool) => store.change({ pool }),
    );
    this.#map.handlers = { ...handlers, move: ({ top, left, span }) => store.change({ top, left, span }) };
    this.#stop.addEventListener("click", () => {
      this.#tiles?.stop();
      this.#stop.hidden = true;
      this.#said.textContent = "Stopped. Move or zoom, and it goes on.";
    });
    this.#stop.hidden = true;
    this.#picture = picture({
      name: "map",
      title: "Who listens to whom, all of it",
      body: [this.#map, h("div", { class: "race" }, this.#stop, this.#said), legend()],
      controls,
      more: [...more, this.#pool.element],
      data: () => this.#numbers(),
    });
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  /** The engine is there; undefined: there is none, and pages compute by themselves. */
  open(heed: Heed | undefined): void {
    this.#heed = heed;
    this.#isOpen = true;
    if (this.#scene !== undefined) this.show(this.#scene);
  }

  show(scene: BringScene): void {
    this.#scene = scene;
    const { state, source, at, row, col } = scene;
    this.#pool.show(state.pool);
    const isNew = this.#begin(scene);
    const { top, left, span, pool } = state;
    const window = { top, left, span };
    this.#map.show({
      label: `Weights of layer ${at.layer + 1}, head ${at.head + 1}, ${source.queries} queries by ${source.keys} keys`,
      size: source,
      window,
      pool,
      row,
      col,
      words: source.words,
      tile: (place) => this.#tiles?.get(place),
      coarse: coarseOf(source),
    });
    this.#picture.say(textOf(scene));
    // The whole first: it stands in for whatever is not there yet.
    const wanted = [...coarseOf(source), ...tilesIn(source, window)];
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
    if (!this.#isOpen || (this.#shown?.source === source && this.#shown.key === key)) return false;
    this.#shown = { source, key };
    this.#tiles?.dispose();
    let rows: Rows;
    try {
      rows = rowsOf(source, at, this.#heed);
    } catch (error) {
      // Keys that the engine has no memory for, say.
      this.#tiles = undefined;
      this.#said.textContent = brokenOff(error);
      return true;
    }
    const tiles = new Tiles(rows, coarseOf(source));
    this.#tiles = tiles;
    tiles.onChange = (progress) => {
      if (tiles !== this.#tiles) return;
      this.#say(progress, source);
      this.#map.refresh();
    };
    tiles.onError = (error) => {
      this.#said.textContent = brokenOff(error);
    };
    return true;
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
    const { top, left, span } = within(source, state);
    const tiles = tilesIn(source, state).flatMap((place) => {
      const tile = this.#tiles?.get(place);
      if (tile === undefined) return [];
      const rows = Math.min(TILE, Math.ceil((source.queries - tile.top) / tile.block));
      const cols = Math.min(TILE, Math.ceil((source.keys - tile.left) / tile.block));
      const part = (of: (dot: number) => number): readonly (readonly number[])[] =>
        Array.from({ length: rows }, (_, row) => Array.from({ length: cols }, (_, col) => of(row * TILE + col)));
      return [
        {
          top: tile.top,
          left: tile.left,
          cellsOfADot: tile.block,
          rowsDone: tile.rows,
          max: part((dot) => tile.max[dot] ?? 0),
          mean: part((dot) => tile.mean(dot, source.queries, source.keys)),
        },
      ];
    });
    return { state, source: source.name, ...at, window: { top, left, span }, tiles };
  }
}

function coarseOf(source: Source): readonly TilePlace[] {
  return tilesIn(source, { top: 0, left: 0, span: 0 });
}

function legend(): HTMLElement {
  return h(
    "p",
    { class: "map-legend" },
    h("span", {}, "1⁄10 of an even share"),
    h("i", { "aria-hidden": "true" }),
    h("span", {}, "all of it"),
  );
}

function textOf({ source, at, state, vectors }: BringScene): string {
  const { queries, keys } = source;
  const name = source.headName(at.layer, at.head);
  const made = name === "" ? "" : ` This head was made to look for ${name}.`;
  const all = `${whole(queries)} queries by ${whole(keys)} keys are ${whole(queries * keys)} weights`;
  const how = state.pool === "max" ? "keeps the largest of them, and choosing the dot finds it" : "keeps their mean";
  if (vectors === undefined) return `${all}, ${source.origin}. Of the cells under each dot the picture ${how}.`;
  const size = `${whole(Math.round((queries * keys * 4) / 1e6))} MB`;
  return `${all}, which would be ${size}. They are computed ${whole(rowsAtOnce({ keys }))} rows at a time and forgotten; of the cells under each dot the picture ${how}.${made}`;
}
