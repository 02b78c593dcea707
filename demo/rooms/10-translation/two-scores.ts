// Both networks beside each other: the alignment of each as a grid.

import { h } from "../../src/ui/dom.js";
import { picture } from "../../src/ui/picture.js";
import type { Networks } from "./networks.js";
import { NAMES, NETWORKS, type Network, type Reading } from "./reading.js";

const SCORES: Readonly<Record<Network, string>> = { bahdanau: "score = v · tanh(W q + U k)", luong: "score = q · W k" };

/** Characters of a text whose grids stand beside each other. */
const BESIDE = 20;

export function twoScores(networks: Networks, matrixOf: (network: Network) => readonly HTMLElement[]) {
  const columns = NETWORKS.map((network) => [
    h("h3", {}, NAMES[network]),
    h("p", { class: "formula" }, SCORES[network]),
    ...matrixOf(network),
  ]);
  const grids = h("div", { class: "two-scores" }, ...columns.map((column) => h("div", {}, ...column)));
  const { element, say } = picture({
    name: "scores",
    title: "Two ways to score",
    body: [grids],
    data: () => networks.readings,
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
