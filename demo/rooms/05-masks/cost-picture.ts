// The costs of the present mask as a picture: tiles, multiply-adds and memory, and a race on this device.

import type { Engine } from "../../src/engine/engine.js";
import { h } from "../../src/ui/dom.js";
import { LongWork } from "../../src/ui/long-work.js";
import { bytes, percent, whole } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { fact, heads, line } from "../../src/ui/table.js";
import { billions, gridCost, HEADS, scaledCost, WIDTH } from "./cost.js";
import { type Laps, RACE_HEADS, race } from "./race.js";
import type { MaskScene } from "./scene.js";
import { type MaskStore, TOKENS } from "./state.js";

/** More would keep hundreds of megabytes of scores, which one of the runners does. */
const MOST_RACED = 4096;

export class CostPicture {
  readonly #store: MaskStore;
  readonly #engine: Engine;
  readonly #picture: Picture;
  readonly #tile;
  readonly #tokens;
  readonly #body = h("div", { class: "cost" });
  readonly #timed = h("div", { class: "laps" });
  readonly #work = new LongWork({ name: "Time it on this device", run: (signal, say) => this.#race(signal, say) });
  #cost: object = {};
  #laps: Laps = new Map();
  #raced = 0;

  constructor(store: MaskStore, engine: Engine) {
    this.#store = store;
    this.#engine = engine;
    this.#tile = slider("Tiles of", { least: 1, most: 8, step: 1 }, (tile) => store.change({ tile }));
    this.#tokens = slider("Tokens N", TOKENS, (tokens) => store.change({ tokens }));
    const controls = h("div", { class: "controls-options" }, this.#tile.element, this.#tokens.element);
    this.#picture = picture({
      name: "cost",
      title: "What the mask saves",
      body: [controls, this.#body, this.#work.line(), this.#timed],
      data: () => {
        const timed = { tokens: this.#raced, laps: Object.fromEntries(this.#laps) };
        return { state: store.state, ...this.#cost, timed };
      },
    });
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  show(scene: MaskScene): void {
    const { tile, tokens } = scene.state;
    this.#tile.show(tile, `${tile} × ${tile}`);
    this.#tokens.show(tokens, whole(tokens));
    const grid = gridCost(scene);
    const scaled = scaledCost(grid, tokens);
    this.#cost = { grid, scaled };
    const mixed = grid.tiles - grid.skipped - grid.full;
    this.#picture.say(
      `A kernel works in tiles. It skips a hidden tile, needs no mask in a visible one, and pays only for mixed ones. Of ${grid.tiles} tiles here: ${grid.skipped} skipped, ${grid.full} whole, ${mixed} mixed.`,
    );
    const row = (name: string, pairs: number, cost: number): HTMLElement =>
      line(name, [String(pairs), percent(pairs / grid.pairs), billions(cost)]);
    this.#body.replaceChildren(
      h(
        "table",
        { class: "plain-table" },
        h("caption", {}, `${whole(tokens)} tokens, ${HEADS} heads of ${WIDTH}, in the same proportions`),
        heads("", "pairs", "of all", "multiply-adds"),
        h(
          "tbody",
          {},
          row("no mask", grid.pairs, scaled.everything),
          row("in tiles", grid.computed, scaled.byTiles),
          row("seen", grid.seen, scaled.seenOnly),
        ),
      ),
      h(
        "dl",
        { class: "figures" },
        fact("All scores at once", bytes(scaled.materialised)),
        fact("Tile by tile", bytes(scaled.streamed), "a maximum and a sum for each row"),
      ),
    );
    if (!this.#work.isRunning) this.#say(tokens);
  }

  #say(tokens: number): void {
    const raced = Math.min(tokens, MOST_RACED);
    this.#work.button.disabled = this.#engine.heed === undefined;
    const limit = tokens > raced ? ` (at most ${whole(MOST_RACED)}: one call keeps all scores)` : "";
    this.#work.say(`${whole(raced)} tokens, ${RACE_HEADS} heads of 64, random numbers${limit}.`);
  }

  async #race(signal: AbortSignal, say: (text: string) => void): Promise<string> {
    const { heed } = this.#engine;
    if (heed === undefined) return "";
    this.#raced = Math.min(this.#store.state.tokens, MOST_RACED);
    const laps = await race(heed, this.#raced, signal, (said, so) => {
      say(said);
      this.#draw(so);
    });
    this.#draw(laps);
    return `Best of three calls each, at ${whole(this.#raced)} tokens.`;
  }

  #draw(laps: Laps): void {
    this.#laps = laps;
    const most = Math.max(...laps.values());
    const rows = Array.from(laps, ([name, milliseconds]) => {
      const bar = h("span");
      bar.style.setProperty("width", `${((100 * milliseconds) / most).toFixed(1)}%`);
      const meter = h("span", { class: "meter", "aria-hidden": "true" }, bar);
      return line(name, [`${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`, meter]);
    });
    const caption = h("caption", {}, `On this device, ${whole(this.#raced)} tokens`);
    this.#timed.replaceChildren(h("table", { class: "plain-table" }, caption, h("tbody", {}, ...rows)));
  }
}
