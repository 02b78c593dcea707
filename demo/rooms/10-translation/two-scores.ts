// Both networks beside each other: the alignment of each as a grid, and how well and how fast it writes dates that are new to it.

import { LongWork } from "../../src/ui/controls.js";
import { h } from "../../src/ui/dom.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import type { Networks } from "./networks.js";
import { FAILS, NAMES, NETWORKS, type Network, type Reading } from "./reading.js";

const SCORES: Readonly<Record<Network, string>> = { bahdanau: "score = v · tanh(W q + U k)", luong: "score = q · W k" };

/** Dates at a time, and in all: between them one can stop. */
const [PART, ALL] = [64, 256];
/** Characters of a text whose grids stand beside each other. */
const BESIDE = 20;

export function twoScores(networks: Networks, matrixOf: (network: Network) => readonly HTMLElement[]) {
  const measured: Partial<Record<Network, { readonly right: number; readonly milliseconds: number }>> = {};
  let times = 0;
  const notYet = () => h("p", { class: "measured" }, "not measured yet");
  const lines: Readonly<Record<Network, HTMLElement>> = { bahdanau: notYet(), luong: notYet() };

  async function measure(signal: AbortSignal, say: (text: string) => void): Promise<string> {
    const seed = 1e7 * ++times;
    for (const network of NETWORKS) {
      say(`${NAMES[network]} …`);
      const translator = await networks.open(network);
      let [right, milliseconds] = [0, 0];
      for (let done = 0; done < ALL; done += PART) {
        signal.throwIfAborted();
        const begun = performance.now();
        right += (PART / ALL) * (await translator.accuracy(seed + done, PART));
        milliseconds += (performance.now() - begun) / ALL;
      }
      measured[network] = { right, milliseconds };
      lines[network].textContent = `${percent(right)} right, ${exact(milliseconds, 2)} ms a date`;
    }
    return `Of ${ALL} dates that no training saw, ${PART} at a time. Others fail: “${FAILS}” with Bahdanau’s, for one.`;
  }

  const columns = NETWORKS.map((network) => [
    h("h3", {}, NAMES[network]),
    h("p", { class: "formula" }, SCORES[network]),
    ...matrixOf(network),
    lines[network],
  ]);
  const grids = h("div", { class: "two-scores" }, ...columns.map((column) => h("div", {}, ...column)));
  const { element, say } = picture({
    name: "scores",
    title: "Two ways to score",
    body: [grids, new LongWork({ name: "Measure both on new dates", run: measure }).line()],
    data: () => ({ measured, readings: networks.readings }),
  });
  say(
    "Cross-attention: the query q comes from the decoder, which writes; keys k and values come from the encoder, which has read. Bahdanau’s score is a small network of its own, Luong’s a dot product. A row for each character of the date.",
  );
  return {
    element,
    /** Grids of long texts stand below each other. */
    show: ({ text }: Reading) => grids.classList.toggle("long", text.length > BESIDE),
  };
}
