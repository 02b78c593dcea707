// What each kind costs, counted; and timed on this device when somebody asks.

import type { Engine } from "../../src/engine/engine.js";
import { h } from "../../src/ui/dom.js";
import { LongWork } from "../../src/ui/long-work.js";
import { exact } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { costPerPair, costPerVector, KINDS, type Kind, NAMES } from "./kinds.js";
import { RACED_HIDDEN, RACED_WIDTH, race } from "./race.js";
import type { ScoreScene } from "./scene.js";

const TOKENS = 1024;

export class CostPicture {
  readonly #engine: Engine;
  readonly #picture: Picture;
  readonly #rows = h("tbody");
  readonly #work = new LongWork({
    name: "Time them on this device",
    run: async (signal, say) => {
      const { heed } = this.#engine;
      if (heed === undefined) return "The kernels are not there yet.";
      const { own } = this.#scene;
      this.#times = await race(heed, { tokens: TOKENS, own }, signal, (done, of) => say(`Call ${done + 1} of ${of}`));
      this.show(this.#scene);
      return "Timed.";
    },
  });
  #times: ReadonlyMap<Kind, number> = new Map();
  #scene: ScoreScene;

  constructor(engine: Engine, scene: ScoreScene) {
    this.#engine = engine;
    this.#scene = scene;
    const head = ["", "products a pair", "beside", "once for each", "ms", "× scaled dot"];
    this.#picture = picture({
      name: "cost",
      title: "What they cost",
      body: [
        h(
          "div",
          { class: "table-frame", tabindex: 0, role: "region", "aria-label": "What they cost" },
          h(
            "table",
            { class: "plain-table costs" },
            h(
              "thead",
              {},
              h("tr", {}, ...head.map((name) => (name === "" ? h("td") : h("th", { scope: "col" }, name)))),
            ),
            this.#rows,
          ),
        ),
        this.#work.line(),
      ],
      data: () => ({
        width: RACED_WIDTH,
        hidden: RACED_HIDDEN,
        kinds: KINDS.map((kind) => ({ kind, ...costPerPair(kind, RACED_WIDTH, RACED_HIDDEN) })),
        milliseconds: Object.fromEntries(this.#times),
      }),
    });
    this.#picture.say(
      `For queries and keys of width ${RACED_WIDTH}, and ${RACED_HIDDEN} hidden numbers. Products with the values come on top, as many for all. Additive and multiplicative scores take equally many products; what differs is the tanh, and that a matrix product is of no help with it. Timed: ${TOKENS.toLocaleString("en")} queries among as many keys, the best of four, in turns.`,
    );
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  show(scene: ScoreScene): void {
    this.#scene = scene;
    const base = this.#times.get("scaled-dot");
    this.#rows.replaceChildren(
      ...KINDS.map((one) => {
        const { products, others } = costPerPair(one, RACED_WIDTH, RACED_HIDDEN);
        const time = this.#times.get(one);
        const cells = [
          String(products),
          others,
          costPerVector(one, RACED_WIDTH, RACED_HIDDEN),
          time === undefined ? "" : exact(time, 1),
          time === undefined || base === undefined ? "" : exact(time / base, 2),
        ];
        return h(
          "tr",
          { class: one === scene.state.kind ? "own" : undefined, "data-kind": one },
          h("th", { scope: "row" }, NAMES[one]),
          ...cells.map((text) => h("td", {}, text)),
        );
      }),
    );
  }
}
