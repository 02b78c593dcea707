// The costs of the present mask as a picture: tiles, multiply-adds and memory, and a race on this device.

import type { Engine } from "../../src/engine/engine.js";
import { boundSlider, LongWork } from "../../src/ui/controls.js";
import { fact, h, heads, line } from "../../src/ui/dom.js";
import { bytes, percent, whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { billions, gridCost, HEADS, type Laps, RACE_HEADS, race, scaledCost, WIDTH } from "./cost.js";
import type { MaskScene } from "./scene.js";
import { type MaskStore, TOKENS } from "./state.js";

/** More would keep hundreds of megabytes of scores, which one of the runners does. */
const MOST_RACED = 4096;

export function costPicture(store: MaskStore, engine: Engine) {
  let counted: object = {};
  const [costs, lapsShown] = [h("div", { class: "cost" }), h("div", { class: "laps" })];
  const work = new LongWork({
    name: "Time it on this device",
    run: async (signal, say) => {
      if (engine.heed === undefined) return "";
      const tokens = Math.min(store.state.tokens, MOST_RACED);
      const draw = (laps: Laps): void => lapsShown.replaceChildren(lapsTable(tokens, laps));
      const best = await race(engine.heed, tokens, signal, (said, laps) => {
        say(said);
        draw(laps);
      });
      draw(best);
      return `Best of three calls each, at ${whole(tokens)} tokens.`;
    },
  });
  const sizes = [
    boundSlider(store, "tile", "Tiles of", { least: 1, most: 8, step: 1 }, { said: (tile) => `${tile} × ${tile}` }),
    boundSlider(store, "tokens", "Tokens N", TOKENS, { said: whole }),
  ];
  const { element, say: tell } = picture({
    name: "cost",
    title: "What the mask saves",
    body: [h("div", { class: "controls-options" }, ...sizes), costs, work.line(), lapsShown],
    data: () => ({ state: store.state, ...counted }),
  });
  const show = (scene: MaskScene): void => {
    const { tokens } = scene.state;
    const grid = gridCost(scene);
    const scaled = scaledCost(grid, tokens);
    counted = { grid, scaled };
    const mixed = grid.tiles - grid.skipped - grid.full;
    tell(
      `A kernel works in tiles. It skips a hidden tile, needs no mask in a visible one, and pays only for mixed ones. Of ${grid.tiles} tiles here: ${grid.skipped} skipped, ${grid.full} whole, ${mixed} mixed.`,
    );
    const row = (name: string, pairs: number, cost: number) =>
      line(name, [String(pairs), percent(pairs / grid.pairs), billions(cost)]);
    const rows = [
      row("no mask", grid.pairs, scaled.everything),
      row("in tiles", grid.computed, scaled.byTiles),
      row("seen", grid.seen, scaled.seenOnly),
    ];
    const caption = `${whole(tokens)} tokens, ${HEADS} heads of ${WIDTH}, if these proportions stayed`;
    const memory = [
      fact("All scores at once", bytes(scaled.materialised)),
      fact("Tile by tile", bytes(scaled.streamed), "a maximum and a sum for each row"),
    ];
    costs.replaceChildren(
      captioned(caption, heads("", "pairs", "of all", "multiply-adds"), h("tbody", {}, ...rows)),
      h("dl", { class: "figures" }, ...memory),
    );
    if (work.isRunning) return;
    const raced = Math.min(tokens, MOST_RACED);
    work.button.disabled = engine.heed === undefined;
    const limit = tokens > raced ? ` (at most ${whole(MOST_RACED)}: one call keeps all scores)` : "";
    work.say(`${whole(raced)} tokens, ${RACE_HEADS} heads of ${WIDTH}, random numbers${limit}.`);
  };
  return { element, show };
}

function lapsTable(tokens: number, laps: Laps): HTMLElement {
  const most = Math.max(...laps.values());
  const rows = Array.from(laps, ([name, milliseconds]) => {
    const bar = h("span");
    bar.style.setProperty("width", `${((100 * milliseconds) / most).toFixed(1)}%`);
    const meter = h("span", { class: "meter", "aria-hidden": "true" }, bar);
    return line(name, [`${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`, meter]);
  });
  return captioned(`On this device, ${whole(tokens)} tokens`, h("tbody", {}, ...rows));
}

function captioned(caption: string, ...parts: readonly HTMLElement[]): HTMLElement {
  return h("table", { class: "plain-table" }, h("caption", {}, caption), ...parts);
}
