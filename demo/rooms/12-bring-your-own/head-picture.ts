// The head view: every weight of one head as a picture to zoom into, computed a few rows at a time.

import type { Engine } from "../../src/engine/engine.js";
import { LongWork } from "../../src/ui/controls.js";
import { h } from "../../src/ui/dom.js";
import { bytes, whole } from "../../src/ui/numbers.js";
import { type Controls, picture } from "../../src/ui/picture.js";
import { pacer } from "../../src/ui/pieces.js";
import { Dots, windowAbout } from "./dots.js";
import { heedMap } from "./map.js";
import { type Rows, rowsAtOnce, rowsOf } from "./rows.js";
import type { BringScene } from "./scene.js";

type Handlers = Parameters<typeof heedMap>[0];

export function headPicture(first: BringScene, engine: Engine, controls: Controls, handlers: Handlers) {
  let scene = first;
  /** Whose rows these are. */
  let made: BringScene | undefined;
  let rows: Rows | undefined;
  /** All of it, which stands in for what is not there yet, and the part that is looked at. */
  let dots: readonly Dots[] = [];
  const map = heedMap(handlers, first, () => dots);
  const work: LongWork = new LongWork({
    name: "Go on",
    look: "link",
    run: async (signal, say) => {
      work.button.hidden = false;
      // A part is there sooner than all.
      for (const one of [...dots].reverse()) await fill(one, signal, say);
      work.button.hidden = true;
      const drawn = dots.at(-1);
      return `Drawn from ${whole((drawn?.wide ?? 0) * (drawn?.high ?? 0))} weights.`;
    },
  });
  work.button.hidden = true;

  /** Goes on where it was broken off. */
  async function fill(one: Dots, signal: AbortSignal, say: (text: string) => void): Promise<void> {
    const { source, at } = scene;
    rows ??= rowsOf(source, at, engine.heed);
    // A small call is computed where it is asked for, so that nothing else would have a turn.
    const breathe = pacer();
    while (one.rows < one.high) {
      const from = one.window.top + one.rows;
      const to = Math.min(one.window.top + one.high, from + rowsAtOnce(source));
      const weights = await rows.read(from, to, signal);
      signal.throwIfAborted();
      one.add(weights, source.keys);
      map.draw();
      say(`${Math.floor((100 * one.rows) / one.high)} %, ${whole(one.rows * one.wide)} weights so far.`);
      await breathe();
    }
  }

  const legend = ["a tenth of 1/n", h("i", { "aria-hidden": "true" }), "1"];
  const { element, say } = picture({
    name: "map",
    title: "All attention weights of one head",
    body: [map.element, work.line(), h("p", { class: "map-legend small-label" }, ...legend)],
    ...controls,
    data: () => {
      const { state, source, at, window } = scene;
      const { block, rows, max, across } = dots.at(-1) ?? new Dots(source, window);
      return { state, source: source.name, ...at, window, cellsOfADot: block, rowsDone: rows, across, max };
    },
  });
  const show = (next: BringScene): void => {
    scene = next;
    const { source, at, window } = next;
    map.show(next);
    say(textOf(next));
    if (!engine.isSettled) return;
    if (made?.source !== source || JSON.stringify(made.at) !== JSON.stringify(at)) {
      rows?.dispose();
      [rows, dots] = [undefined, [new Dots(source, windowAbout(source, 0, 0, 0))]];
    } else if (JSON.stringify(dots.at(-1)?.window) === JSON.stringify(window)) return;
    made = next;
    const [all] = dots;
    dots = all === undefined || all.window.span === window.span ? dots.slice(0, 1) : [all, new Dots(source, window)];
    work.begin();
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
