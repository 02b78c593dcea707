// What each kind costs, counted; and timed on this device when somebody asks.

import type { Engine } from "../../src/engine/engine.js";
import { h } from "../../src/ui/dom.js";
import { LongWork } from "../../src/ui/long-work.js";
import { exact } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { heads, line, tableFrame } from "../../src/ui/table.js";
import { ABOUT, KINDS, type Kind, RACED } from "./kinds.js";
import { race, TOKENS } from "./race.js";
import type { ScoreScene } from "./scene.js";

export class CostPicture {
  readonly element: HTMLElement;
  readonly #rows = h("tbody");
  #times: ReadonlyMap<Kind, number> = new Map();
  #scene: ScoreScene;

  constructor(engine: Engine, scene: ScoreScene) {
    this.#scene = scene;
    const work = new LongWork({
      name: "Time them on this device",
      run: async (signal, say) => {
        if (engine.heed === undefined) return "The kernels are not there yet.";
        this.#times = await race(engine.heed, this.#scene.own, signal, say);
        this.show(this.#scene);
        return "Timed.";
      },
    });
    const head = heads("", "beside", "once for each", "ms", "× scaled dot");
    const { element, say } = picture({
      name: "cost",
      title: "What they cost",
      body: [tableFrame("What they cost", h("table", { class: "plain-table" }, head, this.#rows)), work.line()],
      data: () => ({ width: RACED, hidden: RACED, kinds: ABOUT, milliseconds: Object.fromEntries(this.#times) }),
    });
    this.element = element;
    say(
      `Queries and keys here have width ${RACED}, with ${RACED} hidden numbers. Every score takes ${RACED} products a pair, plus the product with V. Additive scores cannot use a matrix product, because of the tanh. Timed: ${TOKENS.toLocaleString("en")} queries and keys, best of four runs, interleaved.`,
    );
  }

  show(scene: ScoreScene): void {
    this.#scene = scene;
    const base = this.#times.get("scaled-dot") ?? Number.NaN;
    const rows = KINDS.map((kind) => {
      const { name, beside = "", once = "" } = ABOUT[kind];
      const time = this.#times.get(kind);
      const times = time === undefined ? ["", ""] : [exact(time, 1), exact(time / base, 2)];
      const row = line(name, [beside, once, ...times], kind === scene.state.kind ? "own" : undefined);
      row.dataset["kind"] = kind;
      return row;
    });
    this.#rows.replaceChildren(...rows);
  }
}
