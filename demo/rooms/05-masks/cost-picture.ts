// The costs of the present mask as a picture: tiles, multiply-adds and memory, and a race on this device.

import type { Engine } from "../../src/engine/engine.js";
import { h } from "../../src/ui/dom.js";
import { LongWork } from "../../src/ui/long-work.js";
import { percent } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { billions, bytes, type GridCost, gridCost, HEADS, type ScaledCost, scaledCost, WIDTH } from "./cost.js";
import { type Lap, RACE_HEADS, race } from "./race.js";
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
  readonly #laps = h("div", { class: "laps" });
  readonly #work = new LongWork({ name: "Time it on this device", run: (signal, say) => this.#race(signal, say) });
  #cost: { readonly grid: GridCost; readonly scaled: ScaledCost } | undefined;
  #last: readonly Lap[] = [];
  #raced = 0;

  constructor(store: MaskStore, engine: Engine) {
    this.#store = store;
    this.#engine = engine;
    this.#tile = slider("Tiles of", { least: 1, most: 8, step: 1 }, (value) => store.change({ tile: value }));
    this.#tokens = slider("Tokens N", TOKENS, (value) => store.change({ tokens: value }));
    this.#picture = picture({
      name: "cost",
      title: "What the mask saves",
      body: [
        h("div", { class: "controls-options" }, this.#tile.element, this.#tokens.element),
        this.#body,
        this.#work.line(),
        this.#laps,
      ],
      data: () => ({ state: store.state, ...this.#cost, timed: { tokens: this.#raced, laps: this.#last } }),
    });
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  show(scene: MaskScene): void {
    const { tile, tokens } = scene.state;
    this.#tile.show(tile, `${tile} × ${tile}`);
    this.#tokens.show(tokens, tokens.toLocaleString("en"));
    const grid = gridCost(scene);
    const scaled = scaledCost(grid, tokens);
    this.#cost = { grid, scaled };
    const mixed = grid.tiles - grid.skipped - grid.full;
    this.#picture.say(
      `A kernel works in tiles. One that is hidden as a whole is never computed; one that is seen as a whole needs no look at the mask; only the mixed ones pay for it. Of ${grid.tiles} tiles here: ${grid.skipped} skipped, ${grid.full} whole, ${mixed} mixed.`,
    );
    const share = (part: number): string => percent(part / grid.pairs);
    this.#body.replaceChildren(
      h(
        "table",
        { class: "plain-table" },
        h("caption", {}, `${tokens.toLocaleString("en")} tokens, ${HEADS} heads of ${WIDTH}, if the proportions stay`),
        h(
          "thead",
          {},
          h("tr", {}, h("td"), ...["pairs", "of all", "multiply-adds"].map((name) => h("th", { scope: "col" }, name))),
        ),
        h(
          "tbody",
          {},
          line("no mask", grid.pairs, share(grid.pairs), billions(scaled.everything)),
          line("in tiles", grid.computed, share(grid.computed), billions(scaled.byTiles)),
          line("seen", grid.seen, share(grid.seen), billions(scaled.seenOnly)),
        ),
      ),
      h(
        "dl",
        { class: "figures" },
        h("div", {}, h("dt", {}, "All scores at once"), h("dd", {}, bytes(scaled.materialised))),
        h(
          "div",
          {},
          h("dt", {}, "Tile by tile"),
          h("dd", {}, bytes(scaled.streamed), " ", h("small", {}, "a maximum and a sum for each row")),
        ),
      ),
    );
    if (!this.#work.isRunning) this.#say(tokens);
  }

  #say(tokens: number): void {
    const raced = Math.min(tokens, MOST_RACED);
    this.#work.button.disabled = this.#engine.heed === undefined;
    const limit = tokens > raced ? ` (no more than ${MOST_RACED.toLocaleString("en")}: one call keeps all scores)` : "";
    this.#work.say(`${raced.toLocaleString("en")} tokens, ${RACE_HEADS} heads of 64, random numbers${limit}.`);
  }

  async #race(signal: AbortSignal, say: (text: string) => void): Promise<string> {
    const { heed } = this.#engine;
    if (heed === undefined) return "";
    this.#raced = Math.min(this.#store.state.tokens, MOST_RACED);
    const laps = await race(heed, this.#raced, signal, (done, of, so) => {
      say(`Call ${done + 1} of ${of}.`);
      this.#draw(so);
    });
    this.#draw(laps);
    return `Best of three calls each, at ${this.#raced.toLocaleString("en")} tokens.`;
  }

  #draw(laps: readonly Lap[]): void {
    this.#last = laps.filter(({ milliseconds }) => Number.isFinite(milliseconds));
    const most = Math.max(...this.#last.map(({ milliseconds }) => milliseconds));
    this.#laps.replaceChildren(
      h(
        "table",
        { class: "plain-table" },
        h("caption", {}, `On this device, ${this.#raced.toLocaleString("en")} tokens`),
        h(
          "tbody",
          {},
          ...this.#last.map(({ name, milliseconds }) => {
            const bar = h("span");
            bar.style.setProperty("width", `${((100 * milliseconds) / most).toFixed(1)}%`);
            return h(
              "tr",
              {},
              h("th", { scope: "row" }, name),
              h("td", {}, `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`),
              h("td", { class: "lap-bar", "aria-hidden": "true" }, h("span", { class: "meter" }, bar)),
            );
          }),
        ),
      ),
    );
  }
}

function line(name: string, ...figures: readonly (string | number)[]): HTMLElement {
  return h("tr", {}, h("th", { scope: "row" }, name), ...figures.map((figure) => h("td", {}, String(figure))));
}
