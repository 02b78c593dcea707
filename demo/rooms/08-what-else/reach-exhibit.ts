// How many steps lie between two words, and what a layer costs: attention beside a recurrent and a convolutional network.

import type { Cell } from "../../src/model/cell.js";
import { h } from "../../src/ui/dom.js";
import type { Explanation } from "../../src/ui/explanation.js";
import { HeedChart } from "../../src/ui/heed-chart.js";
import { exact, whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { heads, line, tableFrame } from "../../src/ui/table.js";
import type { Exhibit, Host } from "./exhibit.js";
import { DISTANCES, type WhatElseState } from "./state.js";

interface Network {
  readonly name: string;
  /** From a word to one at this distance: layers that have to be stacked, or, for an RNN, words that have to be passed. */
  readonly steps: (distance: number, width: number) => number;
  /** Multiply-adds of one layer over n words, in leading order; as in Vaswani et al. 2017, table 1. */
  readonly cost: (words: number, width: number) => number;
}

const WIDTH = 512;
const stacked: Network["steps"] = (distance, width) => Math.ceil(distance / ((width - 1) / 2));
const convolved: Network["cost"] = (words, width) => width * words * WIDTH ** 2;

const NETWORKS: readonly Network[] = [
  { name: "RNN", steps: (distance) => distance, cost: (words) => words * WIDTH ** 2 },
  { name: "CNN", steps: stacked, cost: convolved },
  { name: "CNN, dilated", steps: (distance, width) => dilated(distance, width).length, cost: convolved },
  { name: "attention, windowed", steps: stacked, cost: (words, width) => width * words * WIDTH },
  { name: "attention", steps: () => 1, cost: (words) => words ** 2 * WIDTH },
];
/** Of those that are drawn: a CNN and a window reach equally far. */
const TONES = ["key", "value", "soft", undefined, "share"] as const;

/** How far each layer reaches: the gaps grow by the kernel's width, until the distance is passed. */
function dilated(distance: number, width: number): readonly number[] {
  const reaches: number[] = [];
  for (let left = distance; left > 0; left -= reaches.at(-1) ?? left) {
    reaches.push(((width - 1) / 2) * width ** reaches.length);
  }
  return reaches;
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
    this.#picture = picture({
      name: "reach",
      title: "How far apart are two words?",
      controls: [this.#distance.element],
      more: [this.#width.element],
      body: [
        this.#chart,
        tableFrame(
          "Steps and costs",
          h(
            "table",
            { class: "plain-table reach" },
            heads("", "steps", "one layer, multiply-adds", "in turn"),
            this.#rows,
          ),
        ),
      ],
      data: () => ({
        state: this.#state,
        distances: DISTANCES,
        steps: Object.fromEntries(
          NETWORKS.map(({ name, steps }) => [name, DISTANCES.map((n) => steps(n, this.#state?.width ?? 3))]),
        ),
      }),
    });
    this.element = this.#picture.element;
  }

  show(state: WhatElseState): undefined {
    this.#state = state;
    const { distance, width } = state;
    this.#distance.show(distance, distance.toLocaleString("en"));
    this.#width.show(width, String(width));
    this.#chart.show({
      label: "Steps between two words against their distance",
      x: { name: "distance between two words", values: DISTANCES, log: true },
      y: { name: "steps between them", least: 1, most: 10_000, log: true },
      series: NETWORKS.flatMap(({ name, steps }, index) => {
        const tone = TONES[index];
        const shown = name === "CNN" ? `CNN or window, k = ${width}` : name;
        return tone ? [{ name: shown, tone, values: DISTANCES.map((n) => steps(n, width)) }] : [];
      }),
      cursor: DISTANCES.indexOf(distance),
    });
    const few = { notation: "compact", maximumSignificantDigits: 3 } as const;
    this.#rows.replaceChildren(
      ...NETWORKS.map(({ name, steps, cost }) => {
        // The last: what must wait for each other, however many processors there are.
        const [all, turns] = [cost(distance, width).toLocaleString("en", few), name === "RNN" ? distance : 1];
        const figures = [whole(steps(distance, width)), all, whole(turns)];
        return line(name, figures, name === "attention" ? "own" : undefined);
      }),
    );
    this.#picture.say(
      `One step of attention joins two words, however far apart; a recurrent network passes through every word between. The price is n² products a layer. Costs: n words of ${WIDTH} numbers, leading order, as in Vaswani et al. 2017, table 1.`,
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
    const reaches = dilated(distance, width);
    const layers = reaches.length;
    return {
      subject: `dilated, k = ${width}, n = ${exact(distance)}`,
      sentence: `Layer by layer the gaps grow by ${width}, so each layer reaches ${width} times as far as the one before, until ${distance} is passed. Without gaps a layer reaches ${side}: ${distance} / ${side} = ${stacked(distance, width)} layers, rounded up.`,
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
