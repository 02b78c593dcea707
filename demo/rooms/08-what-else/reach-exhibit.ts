// How many steps lie between two words, and what a layer costs: attention beside a recurrent and a convolutional network.

import { boundSlider } from "../../src/ui/controls.js";
import { h, heads, line, tableFrame } from "../../src/ui/dom.js";
import { type ChartView, HeedChart } from "../../src/ui/heed-chart.js";
import { whole } from "../../src/ui/numbers.js";
import type { Exhibit, Programs } from "./exhibit.js";
import { DISTANCES, store, type WhatElseState } from "./state.js";

interface Network {
  readonly name: string;
  /** From a word to one at this distance: layers that have to be stacked, or, for an RNN, words that have to be passed. */
  readonly steps: (distance: number, width: number) => number;
  /** Multiply-adds of one layer over n words, in leading order; as in Vaswani et al. 2017, table 1. */
  readonly cost: (words: number, width: number) => number;
  /** Of its curve; a CNN and a window reach equally far, and have one. */
  readonly tone?: ChartView["series"][number]["tone"];
}

const WIDTH = 512;
const stacked: Network["steps"] = (distance, width) => Math.ceil(distance / ((width - 1) / 2));
const convolved: Network["cost"] = (words, width) => width * words * WIDTH ** 2;
/** The gaps grow by the filter's width, so so many layers reach (width^layers - 1) / 2. The root of a power may be a little too large. */
const dilated: Network["steps"] = (distance, width) => Math.ceil(Math.log(2 * distance + 1) / Math.log(width) - 1e-9);

const NETWORKS: readonly Network[] = [
  { name: "RNN", steps: (distance) => distance, cost: (words) => words * WIDTH ** 2, tone: "key" },
  { name: "CNN", steps: stacked, cost: convolved, tone: "value" },
  { name: "CNN, dilated", steps: dilated, cost: convolved, tone: "soft" },
  { name: "attention, windowed", steps: stacked, cost: (words, width) => width * words * WIDTH },
  { name: "attention", steps: () => 1, cost: (words) => words ** 2 * WIDTH, tone: "share" },
];

export function reachExhibit(): Exhibit {
  const chart = new HeedChart();
  chart.choose = (index) => store.change({ distance: DISTANCES[index] ?? 1 });
  const rows = h("tbody");
  const head = heads("", "steps", "one layer, multiply-adds", "in turn");
  const table = h("table", { class: "plain-table reach" }, head, rows);
  return {
    picture: {
      name: "reach",
      title: "How far apart are two words?",
      body: [chart, tableFrame("Steps and costs", table)],
      controls: [boundSlider(store, "distance", "Distance n", DISTANCES, { said: whole })],
      more: [boundSlider(store, "width", "Filter or window k", { least: 3, most: 9, step: 2 })],
    },
    sceneOf: (state) => ({
      state,
      calls: [],
      show: () => {
        chart.show(chartView(state));
        rows.replaceChildren(...NETWORKS.map((network) => rowOf(network, state)));
        const steps = NETWORKS.map(({ name, steps }) => [name, DISTANCES.map((n) => steps(n, state.width))]);
        return {
          text: `One step of attention joins two words, however far apart. In principle a recurrent network reaches as far, but through every word between. The price: n² products a layer. Costs: n words of ${WIDTH} numbers, leading order, as in Vaswani et al. 2017, table 1.`,
          data: { state, distances: DISTANCES, steps: Object.fromEntries(steps) },
          agreed: "Nothing is computed here: steps follow from who is wired to whom.",
        };
      },
      programs: () => programsOf(state.distance + 1),
    }),
  };
}

const programsOf = (count: number): Programs => ({
  about: `One step of attention across ${count - 1} words: only the first word holds a 1, and it reaches the last word's output`,
  heed: [
    `const count = ${count};
const zeros = { data: new Float32Array(count), shape: [1, 1, count, 1] };
const v = { data: Float32Array.from({ length: count }, (_, word) => (word === 0 ? 1 : 0)), shape: [1, 1, count, 1] };
const { output } = await heed.attention(zeros, zeros, v);`,
    "output.data.at(-1), 1 / count",
  ],
  torch: [
    `count = ${count}
zeros = torch.zeros(1, 1, count, 1)
v = torch.zeros(1, 1, count, 1)
v[0, 0, 0] = 1
output = F.scaled_dot_product_attention(zeros, zeros, v)`,
    "output[0, 0, -1], 1 / count",
  ],
});

function chartView({ distance, width }: WhatElseState): ChartView {
  return {
    label: "Steps between two words against their distance",
    x: { name: "distance between two words", values: DISTANCES, log: true },
    y: { name: "steps between them", least: 1, most: 10_000, log: true },
    series: NETWORKS.flatMap(({ name, steps, tone }) => {
      const shown = name === "CNN" ? `CNN or window, k = ${width}` : name;
      return tone ? [{ name: shown, tone, values: DISTANCES.map((n) => steps(n, width)) }] : [];
    }),
    cursor: DISTANCES.indexOf(distance),
  };
}

/** The last figure: what must wait for each other, however many processors there are. */
function rowOf({ name, steps, cost }: Network, { distance, width }: WhatElseState): HTMLElement {
  const all = cost(distance, width).toLocaleString("en", { notation: "compact", maximumSignificantDigits: 3 });
  const figures = [whole(steps(distance, width)), all, whole(name === "RNN" ? distance : 1)];
  return line(name, figures, name === "attention" ? "own" : undefined);
}
