// How strongly each character of the text moves the last character of the date, with attention and without: the length of a gradient, as bars.

import type { Engine } from "../../src/engine/engine.js";
import { h, svg } from "../../src/ui/dom.js";
import { LongWork } from "../../src/ui/long-work.js";
import { apart } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import type { Pair } from "./learn.js";
import { KIND_NAMES, KINDS, type Kind } from "./training.js";

/** Pixels: the highest bar, and the letters between both rows of bars. */
const [HIGH, LETTERS] = [90, 26];
const TEXT = "the 3rd of may 1997 before rain came over hills";

type Reach = Readonly<Record<Kind, readonly number[]>>;

export class GradientsPicture {
  readonly #picture: Picture;
  readonly #svg = svg("svg", { class: "reach", role: "img", "aria-label": "No gradient was sent back yet." });
  readonly #engine: Engine;
  readonly #trained: () => Pair | undefined;
  #fresh: Pair | undefined;
  #reach: Reach | undefined;

  /** `trained`: both networks, where they were trained here. */
  constructor(engine: Engine, trained: () => Pair | undefined) {
    this.#engine = engine;
    this.#trained = trained;
    const send = new LongWork({ name: "Send a gradient back", run: () => this.#send() });
    this.#picture = picture({
      name: "gradients",
      title: "How far does a gradient travel?",
      body: [send.line(), h("div", {}, this.#svg)],
      data: () => ({ text: TEXT, reach: this.#reach }),
    });
    this.#picture.say(
      "The last digit of the day should learn from “3rd”, far back. Without attention its gradient passes every state in between, and each takes its part. With attention every state is one step away.",
    );
    new ResizeObserver(() => this.#draw()).observe(this.#svg);
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  async #send(): Promise<string> {
    const heed = await this.#engine.opened;
    if (heed === undefined) return "The kernels did not start here.";
    const { freshPair, reachOf } = await import("./learn.js");
    const trained = this.#trained();
    this.#fresh ??= freshPair(heed);
    this.#reach = await reachOf(trained ?? this.#fresh, TEXT);
    this.#draw();
    const [dot, none] = KINDS.map((kind) => apart(this.#reach?.[kind][4] ?? 0));
    const which = trained === undefined ? "Before training" : "After training";
    return `${which}, “3” gets ${dot} with attention, ${none} without.`;
  }

  #draw(): void {
    const [reach, width] = [this.#reach, this.#svg.clientWidth];
    if (reach === undefined || width === 0) return;
    const cell = width / TEXT.length;
    const height = 2 * (HIGH + 20) + LETTERS;
    this.#svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const most = KINDS.map((kind) => Math.max(...reach[kind]));
    this.#svg.setAttribute(
      "aria-label",
      KINDS.map(
        (kind, row) =>
          `${KIND_NAMES[kind]}: ${apart(reach[kind][0] ?? 0)} at the first character, ${apart(most[row] ?? 0)} at most`,
      ).join("; "),
    );
    this.#svg.replaceChildren(
      ...KINDS.flatMap((kind, row) => [
        ...reach[kind].map((length, index) => {
          const size = (HIGH * length) / (most[row] ?? 1);
          const y = row === 0 ? 20 + HIGH - size : 20 + HIGH + LETTERS;
          return svg("rect", {
            class: kind,
            x: (index + 0.1) * cell,
            y,
            width: 0.8 * cell,
            height: Math.max(0.5, size),
          });
        }),
        label(0, row === 0 ? 14 : height - 4, `${KIND_NAMES[kind]}: at most ${apart(most[row] ?? 0)}`, "start"),
      ]),
      ...Array.from(TEXT, (letter, index) => label((index + 0.5) * cell, HIGH + 38, letter, "middle")),
    );
  }
}

function label(x: number, y: number, words: string, anchor: string): SVGElement {
  return svg("text", { x, y, "text-anchor": anchor }, document.createTextNode(words));
}
