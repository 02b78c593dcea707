// How many steps lie between two words, and what a layer costs: attention beside a recurrent and a convolutional network.

import type { Cell } from "../../src/model/cell.js";
import { h } from "../../src/ui/dom.js";
import type { Explanation } from "../../src/ui/explanation.js";
import { HeedChart } from "../../src/ui/heed-chart.js";
import { exact } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import type { Exhibit, Host } from "./exhibit.js";
import { DISTANCES, type WhatElseState } from "./state.js";

export const NETWORKS = ["recurrent", "convolution", "dilated", "window", "attention"] as const;
export type Network = (typeof NETWORKS)[number];

const NAMES: Readonly<Record<Network, string>> = {
  recurrent: "RNN",
  convolution: "CNN",
  dilated: "CNN, dilated",
  window: "attention, windowed",
  attention: "attention",
};
const WIDTH = 512;

/** Steps from a word to one at this distance: layers that have to be stacked, or, for an RNN, words that have to be passed. */
export function stepsTo(network: Network, distance: number, width: number): number {
  const side = (width - 1) / 2;
  switch (network) {
    case "recurrent":
      return distance;
    case "convolution":
    case "window":
      return Math.ceil(distance / side);
    case "dilated": {
      // Layer l reaches side * width^l to each side.
      let [layers, reach] = [0, 0];
      while (reach < distance) reach += side * width ** layers++;
      return layers;
    }
    case "attention":
      return 1;
  }
}

/** Multiply-adds of one layer over n words of 512 numbers, in leading order; as in Vaswani et al. 2017, table 1. */
export function costOf(network: Network, words: number, width: number): number {
  return {
    recurrent: words * WIDTH ** 2,
    convolution: width * words * WIDTH ** 2,
    dilated: width * words * WIDTH ** 2,
    window: width * words * WIDTH,
    attention: words ** 2 * WIDTH,
  }[network];
}

/** Steps that must wait for each other, however many processors there are. */
function inTurn(network: Network, words: number): number {
  return network === "recurrent" ? words : 1;
}

export class ReachExhibit implements Exhibit {
  readonly element;
  readonly #distance;
  readonly #width;
  readonly #chart = new HeedChart();
  readonly #rows = h("tbody");
  readonly #picture;
  #state: WhatElseState | undefined;

  constructor(host: Host) {
    this.#distance = slider("Distance n", DISTANCES, (distance) => host.change({ distance }));
    this.#width = slider("Kernel or window k", { least: 3, most: 9, step: 2 }, (width) => host.change({ width }));
    this.#chart.choose = (index) => host.change({ distance: DISTANCES[index] ?? 1 });
    const head = ["", "steps", "one layer, multiply-adds", "in turn"].map((name) =>
      name === "" ? h("td") : h("th", { scope: "col" }, name),
    );
    this.#picture = picture({
      name: "reach",
      title: "How far away is a word?",
      controls: [this.#distance.element],
      more: [this.#width.element],
      body: [
        this.#chart,
        h(
          "div",
          { class: "table-frame", tabindex: 0, role: "region", "aria-label": "Steps and costs" },
          h("table", { class: "plain-table reach" }, h("thead", {}, h("tr", {}, ...head)), this.#rows),
        ),
      ],
      data: () => ({
        state: this.#state,
        distances: DISTANCES,
        steps: Object.fromEntries(
          NETWORKS.map((network) => [network, DISTANCES.map((n) => stepsTo(network, n, this.#state?.width ?? 3))]),
        ),
      }),
    });
    this.element = this.#picture.element;
  }

  show(state: WhatElseState): void {
    this.#state = state;
    const { distance, width } = state;
    this.#distance.show(distance, distance.toLocaleString("en"));
    this.#width.show(width, String(width));
    this.#chart.show({
      label: "Steps between two words against their distance",
      x: { name: "distance between two words", values: DISTANCES, log: true },
      y: { name: "steps between them", least: 1, most: 10_000, log: true },
      series: [
        { name: NAMES.recurrent, values: DISTANCES, tone: "key" },
        {
          name: `CNN or window, k = ${width}`,
          values: DISTANCES.map((n) => stepsTo("convolution", n, width)),
          tone: "value",
        },
        { name: "CNN, dilated", values: DISTANCES.map((n) => stepsTo("dilated", n, width)), tone: "soft" },
        { name: NAMES.attention, values: DISTANCES.map(() => 1), tone: "share" },
      ],
      cursor: DISTANCES.indexOf(distance),
    });
    this.#rows.replaceChildren(
      ...NETWORKS.map((network) =>
        h(
          "tr",
          { class: network === "attention" ? "own" : undefined },
          h("th", { scope: "row" }, NAMES[network]),
          h("td", {}, stepsTo(network, distance, width).toLocaleString("en")),
          h(
            "td",
            {},
            costOf(network, distance, width).toLocaleString("en", { notation: "compact", maximumSignificantDigits: 3 }),
          ),
          h("td", {}, inTurn(network, distance).toLocaleString("en")),
        ),
      ),
    );
    this.#picture.say(
      `What one word has to say reaches another in one step of attention, however far apart they are; a recurrent network carries it through every word between. That is paid for: with n² products a layer. Costs are for n words of ${WIDTH} numbers, in leading order, as in Vaswani et al. 2017, table 1; windows cost as their width says.`,
    );
  }

  calls(): readonly never[] {
    return [];
  }

  read(): string {
    return "";
  }

  first(): Cell {
    return { name: "reach", row: 0, col: 0 };
  }

  explain(): Explanation | undefined {
    const state = this.#state;
    if (state === undefined) return undefined;
    const { distance, width } = state;
    const side = (width - 1) / 2;
    const layers = stepsTo("dilated", distance, width);
    const reaches = Array.from({ length: layers }, (_, layer) => side * width ** layer);
    return {
      subject: `dilated, k = ${width}, n = ${exact(distance)}`,
      sentence: `Layer by layer the gaps grow by ${width}, so each layer reaches ${width} times as far as the one before, until ${distance} is passed. Without gaps a layer reaches ${side}: ${distance} / ${side} = ${stepsTo("convolution", distance, width)} layers, rounded up.`,
      head: ["layer", "reaches", "in all"],
      terms: reaches.map((reach, layer) => ({
        label: String(layer + 1),
        figures: [exact(reach), exact(reaches.slice(0, layer + 1).reduce((sum, one) => sum + one, 0))],
      })),
      last: `${layers} ${layers === 1 ? "layer" : "layers"}`,
      result: layers,
      lights: [],
    };
  }

  heedCode(): string {
    const distance = this.#state?.distance ?? 1;
    return `// One step of attention across ${distance} words: the first word alone holds a 1, and the last one hears of it
import { createHeed } from "heed";

const count = ${distance + 1};
const heed = await createHeed();
const zeros = { data: new Float32Array(count), shape: [1, 1, count, 1] };
const v = { data: Float32Array.from({ length: count }, (_, word) => (word === 0 ? 1 : 0)), shape: [1, 1, count, 1] };
const { output } = await heed.attention(zeros, zeros, v);
console.log(output.data.at(-1), 1 / count);
heed.dispose();
`;
  }

  torchCode(): string {
    const distance = this.#state?.distance ?? 1;
    return `# One step of attention across ${distance} words: the first word alone holds a 1, and the last one hears of it
import torch
import torch.nn.functional as F

count = ${distance + 1}
zeros = torch.zeros(1, 1, count, 1)
v = torch.zeros(1, 1, count, 1)
v[0, 0, 0] = 1
output = F.scaled_dot_product_attention(zeros, zeros, v)
print(output[0, 0, -1], 1 / count)
`;
  }
}
