// Both networks beside each other: the alignment of each as a grid, and how well and how fast it writes dates that are new to it.

import { h } from "../../src/ui/dom.js";
import { LongWork } from "../../src/ui/long-work.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import type { Networks } from "./networks.js";
import { NAMES, NETWORKS, type Network, type Reading } from "./reading.js";
import { FAILS } from "./recorded.js";

const SCORES: Readonly<Record<Network, string>> = {
  bahdanau: "score = v · tanh(W q + U k)",
  luong: "score = q · W k",
};

/** Dates at a time, and in all: between them one can stop. */
const [PART, ALL] = [64, 256];
/** Characters of a text whose grids stand beside each other. */
const BESIDE = 20;

interface Measured {
  readonly right: number;
  readonly milliseconds: number;
}

export class TwoScores {
  readonly #networks: Networks;
  readonly #picture: Picture;
  readonly #grids: HTMLElement;
  readonly #lines: ReadonlyMap<Network, HTMLElement>;
  readonly #measured = new Map<Network, Measured>();
  #times = 0;

  constructor(networks: Networks, matrixOf: (network: Network) => readonly HTMLElement[]) {
    this.#networks = networks;
    this.#lines = new Map(NETWORKS.map((network) => [network, h("p", { class: "measured" }, "not measured yet")]));
    const measure = new LongWork({
      name: "Measure both on new dates",
      run: (signal, say) => this.#measure(signal, say),
    });
    const columns = NETWORKS.map((network) =>
      h(
        "div",
        { "data-network": network },
        h("h3", {}, NAMES[network]),
        h("p", { class: "formula" }, SCORES[network]),
        ...matrixOf(network),
        ...[this.#lines.get(network) ?? ""],
      ),
    );
    this.#grids = h("div", { class: "two-scores" }, ...columns);
    this.#picture = picture({
      name: "scores",
      title: "Two ways to score",
      body: [this.#grids, measure.line()],
      data: () => ({
        measured: Object.fromEntries(this.#measured),
        readings: NETWORKS.map((one) => networks.reading(one)),
      }),
    });
    this.#picture.say(
      "Cross-attention: the query q comes from the decoder, which writes; keys k and values come from the encoder, which has read. Bahdanau’s score is a small network of its own, Luong’s a dot product. A row for each character of the date.",
    );
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  /** Grids of long texts stand below each other. */
  show({ text }: Reading): void {
    this.#grids.classList.toggle("long", text.length > BESIDE);
  }

  async #measure(signal: AbortSignal, say: (text: string) => void): Promise<string> {
    const seed = 1e7 * ++this.#times;
    for (const network of NETWORKS) {
      say(`${NAMES[network]} …`);
      const translator = await this.#networks.open(network);
      let [right, milliseconds] = [0, 0];
      for (let done = 0; done < ALL; done += PART) {
        signal.throwIfAborted();
        const begun = performance.now();
        right += PART * (await translator.accuracy(seed + done, PART));
        milliseconds += performance.now() - begun;
      }
      const measured = { right: right / ALL, milliseconds: milliseconds / ALL };
      this.#measured.set(network, measured);
      const line = this.#lines.get(network);
      if (line) line.textContent = `${percent(measured.right)} right, ${exact(measured.milliseconds, 2)} ms a date`;
    }
    return `${ALL} dates that no training saw, ${PART} at a time. Try “${FAILS}”, which Bahdanau’s gets wrong.`;
  }
}
