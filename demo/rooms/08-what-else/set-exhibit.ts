// Pixels as a set: shuffled pixels, attention over their colours, and the result put back in order. A convolution beside it.

import type { Call } from "../../src/engine/engine.js";
import { widest } from "../../src/model/matrix.js";
import { uniform } from "../../src/model/random.js";
import { strongestOf } from "../../src/model/strongest.js";
import { agreed } from "../../src/page/room.js";
import { single } from "../../src/ui/code.js";
import { boundSlider, choice } from "../../src/ui/controls.js";
import { button, fact, h } from "../../src/ui/dom.js";
import type { Explanation } from "../../src/ui/explanation.js";
import { HeedPixels, type PixelsView } from "../../src/ui/heed-pixels.js";
import { exact, magnitude, percent, small } from "../../src/ui/numbers.js";
import { convolve } from "./convolution.js";
import type { Exhibit, Programs, Scene } from "./exhibit.js";
import { type Colours, greyOf, imageOf, PIXELS, pixelCell } from "./images.js";
import { BANDWIDTHS, COARSE, store, type WhatElseState } from "./state.js";

const CHANNELS = ["red", "green", "blue"] as const;
/** So many panels, the first ones, show pixels where the shuffle has put them. */
const SHUFFLED = 2;

export function setExhibit(): Exhibit {
  const again = (): void => store.change({ shuffle: (store.state.shuffle % 9999) + 1 });
  const given = choice("Pixels are given", { order: "in order", shuffled: "shuffled" }, (value) =>
    store.change({ shuffle: value === "order" ? 0 : 1 }, "new"),
  );
  const panels = [1, 2, 3, 4].map(() => new HeedPixels());
  panels.forEach((panel, index) => {
    panel.choose = (at) => store.change({ spot: index < SHUFFLED ? (orderOf(store.state.shuffle)[at] ?? at) : at });
  });
  return {
    picture: {
      name: "set",
      title: "To attention a picture is a set of pixels",
      body: [h("div", { class: "pixel-row" }, ...panels)],
      controls: [given.element, button("Shuffle again", again)],
      more: [boundSlider(store, "bandwidth", "Bandwidth b", BANDWIDTHS, { said: (b) => exact(b, 2) })],
    },
    sceneOf: (state) =>
      sceneOf(state, (views) => {
        given.show(state.shuffle === 0 ? "order" : "shuffled");
        for (const [index, panel] of panels.entries()) {
          const view = views[index];
          // In order, nothing is to be put back.
          panel.hidden = view === undefined || (state.shuffle === 0 && index === SHUFFLED - 1);
          if (view !== undefined) panel.show(view);
        }
      }),
  };
}

let known: ReturnType<typeof numbersOf> | undefined;

function sceneOf(state: WhatElseState, draw: (views: readonly PixelsView[]) => void): Scene {
  const { colours } = imageOf(state);
  const { shuffle, bandwidth, filter } = state;
  const isKnown =
    known?.colours === colours && known.shuffle === shuffle && known.bandwidth === bandwidth && known.filter === filter;
  const numbers = isKnown && known !== undefined ? known : numbersOf(state, colours);
  known = numbers;
  const { places, shuffled, byHand, byShuffle, convolved, convolvedBack } = numbers;
  return {
    state,
    calls: [colours, shuffled].map((data): Call => {
      const tensor = { data, shape: [1, 1, PIXELS, 3] };
      return { q: tensor, k: tensor, v: tensor, options: { score: { type: "rbf", bandwidth } }, lean: true };
    }),
    show: (answers) => {
      const [plain, mixed] = answers?.map(({ output }) => output.data) ?? [];
      /** What each pixel becomes, in its own place: as taken, and by way of the shuffle. */
      const attention = plain ?? byHand;
      const back = mixed === undefined ? byShuffle : putBack(mixed, places);
      const common = { size: COARSE, cursor: state.spot, channels: 3, range: [0, 1], about: "" } as const;
      const moved = { ...common, cursor: places.indexOf(state.spot) };
      const reach = Math.max(...convolved.map(Math.abs), ...convolvedBack.map(Math.abs), 1e-9);
      const about = shuffle === 0 ? "" : "put back";
      draw([
        { ...moved, title: shuffle === 0 ? "Picture" : "Shuffled", data: shuffled },
        { ...moved, title: "Attention", about: "still shuffled", data: permuted(back, places) },
        { ...common, title: "Attention", about, data: back },
        { ...common, title: "Convolution", about, data: convolvedBack, channels: 1, range: [-reach, reach] },
      ]);
      return {
        text: TEXT,
        figures: [
          fact("Attention: shuffled or not", magnitude(widest(attention, back)), "apart at most"),
          fact("Convolution: shuffled or not", exact(widest(convolved, convolvedBack), 2), "apart at most"),
          fact(
            "Pooled to one mean",
            magnitude(widest(pooled(attention), pooled(permuted(back, places)))),
            "apart, shuffled",
          ),
          fact("Detail left", percent(spreadOf(attention) / spreadOf(colours)), "of the colours’ spread"),
        ],
        data: { state, colours, places, attention, throughTheShuffle: back },
        first: pixelCell(state.spot, COARSE),
        explainPixel: () => ({ ...explain(state, colours), kernel: plain?.[state.spot * 3] }),
        agreed: agreed("Both outputs", Math.max(widest(byHand, attention), widest(byShuffle, back))),
      };
    },
    programs: () => programsOf(state, colours),
  };
}

function numbersOf({ shuffle, bandwidth, filter }: WhatElseState, colours: Colours) {
  /** The pixel that lies in each place after the shuffle. */
  const places = orderOf(shuffle);
  const shuffled = permuted(colours, places);
  const grey = greyOf(colours);
  const [byHand, byShuffle] = [attended(colours, bandwidth), putBack(attended(shuffled, bandwidth), places)];
  /** The grey convolved as taken; and that of the shuffled pixels, put back. */
  const convolved = convolve(grey, filter);
  const convolvedBack = putBack(convolve(permuted(grey, places), filter), places);
  return { colours, shuffle, bandwidth, filter, places, shuffled, byHand, byShuffle, convolved, convolvedBack };
}

const TEXT =
  "No pixel knows where it is: each becomes the mean of those that look like it. So shuffling only reorders attention’s outputs; put back, they are the same. A convolution notices. Wider bandwidths average more, which costs detail.";

/** What one pixel becomes, from the pixels that count most. */
function explain({ spot, bandwidth }: WhatElseState, colours: Colours): Explanation {
  const powers = Array.from({ length: PIXELS }, (_, other) => Math.exp(scoreOf(colours, bandwidth, spot, other)));
  const sum = powers.reduce((total, power) => total + power, 0);
  const first = strongestOf(powers, 8);
  const mean = (channel: number): number =>
    powers.reduce((total, power, other) => total + (power / sum) * (colours[other * 3 + channel] ?? 0), 0);
  return {
    subject: `red of row ${Math.floor(spot / COARSE) + 1}, column ${(spot % COARSE) + 1}`,
    sentence: `The mean colour of all ${PIXELS} pixels, each by its attention weight: e^(−distance² / 2b²), where the distance is between colours, over the sum of all, ${exact(sum)}. The first eight:`,
    head: ["row, column", "weight", ...CHANNELS],
    terms: first.map((other) => ({
      label: `${Math.floor(other / COARSE) + 1}, ${(other % COARSE) + 1}`,
      figures: [
        small((powers[other] ?? 0) / sum),
        ...CHANNELS.map((_, channel) => exact(colours[other * 3 + channel] ?? 0)),
      ],
      own: other === spot,
    })),
    last: `sums over all: ${CHANNELS.map((name, channel) => `${name} ${exact(mean(channel))}`).join(", ")}`,
    result: mean(0),
    lights: [],
  };
}

function programsOf({ bandwidth }: WhatElseState, colours: Colours): Programs {
  const [numbers, b] = [Array.from(colours, single).join(", "), single(bandwidth)];
  return {
    about: `${PIXELS} pixels as a set: each becomes the mean of those of like colour`,
    heed: [
      `const pixels = { data: Float32Array.of(${numbers}), shape: [1, 1, ${PIXELS}, 3] };
const { output } = await heed.attention(pixels, pixels, pixels, { score: { type: "rbf", bandwidth: ${b} } });`,
    ],
    torch: [
      `pixels = torch.tensor([${numbers}]).view(${PIXELS}, 3)
weights = torch.softmax(-torch.cdist(pixels, pixels) ** 2 / (2 * ${b} ** 2), dim=-1)
output = weights @ pixels

order = torch.randperm(${PIXELS})
shuffled = pixels[order]
again = torch.softmax(-torch.cdist(shuffled, shuffled) ** 2 / (2 * ${b} ** 2), dim=-1) @ shuffled`,
      "(again - output[order]).abs().max()",
    ],
  };
}

/** The mean of all outputs. */
function pooled(colours: ArrayLike<number>): readonly number[] {
  return CHANNELS.map((_, channel) => {
    let sum = 0;
    for (let pixel = 0; pixel < PIXELS; pixel++) sum += colours[pixel * 3 + channel] ?? Number.NaN;
    return sum / PIXELS;
  });
}

/** The standard deviation of colours about their mean. */
function spreadOf(colours: ArrayLike<number>): number {
  const mean = pooled(colours);
  return Math.sqrt(Array.from(colours).reduce((sum, value, index) => sum + (value - (mean[index % 3] ?? 0)) ** 2, 0));
}

/** By Fisher and Yates; 0 leaves them in order. */
function orderOf(seed: number): readonly number[] {
  const next = uniform(seed);
  const order = Array.from({ length: PIXELS }, (_, pixel) => pixel);
  for (let left = seed === 0 ? 0 : PIXELS - 1; left > 0; left--) {
    const other = Math.floor(next() * (left + 1));
    const [a = 0, b = 0] = [order[left], order[other]];
    order[left] = b;
    order[other] = a;
  }
  return order;
}

/** The pixels in this order, however many numbers each has. */
function permuted(data: ArrayLike<number>, order: readonly number[]): Colours {
  const channels = data.length / PIXELS;
  const from = (index: number): number => (order[Math.floor(index / channels)] ?? 0) * channels + (index % channels);
  return Float32Array.from({ length: data.length }, (_, index) => data[from(index)] ?? Number.NaN);
}

/** To where each pixel came from. */
function putBack(data: ArrayLike<number>, places: readonly number[]): Colours {
  const order: number[] = [];
  places.forEach((pixel, place) => {
    order[pixel] = place;
  });
  return permuted(data, order);
}

function scoreOf(colours: Colours, bandwidth: number, a: number, b: number): number {
  let sum = 0;
  for (let channel = 0; channel < 3; channel++) {
    sum += ((colours[a * 3 + channel] ?? 0) - (colours[b * 3 + channel] ?? 0)) ** 2;
  }
  return -sum / (2 * bandwidth ** 2);
}

/** Every pixel is its own nearest, so that no score is above 0 and no power overflows. */
function attended(colours: Colours, bandwidth: number): Float64Array {
  const output = new Float64Array(PIXELS * 3);
  for (let pixel = 0; pixel < PIXELS; pixel++) {
    let [sum, red, green, blue] = [0, 0, 0, 0];
    for (let other = 0; other < PIXELS; other++) {
      const power = Math.exp(scoreOf(colours, bandwidth, pixel, other));
      sum += power;
      red += power * (colours[other * 3] ?? 0);
      green += power * (colours[other * 3 + 1] ?? 0);
      blue += power * (colours[other * 3 + 2] ?? 0);
    }
    output.set([red / sum, green / sum, blue / sum], pixel * 3);
  }
  return output;
}
