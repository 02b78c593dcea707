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

/** It takes long, and is the same for other pixels in the light and other shuffles. */
let known: { readonly colours: Colours; readonly bandwidth: number; readonly byHand: Float64Array } | undefined;

function sceneOf(state: WhatElseState, draw: (views: readonly PixelsView[]) => void): Scene {
  const { colours } = imageOf(state);
  const { shuffle, bandwidth, filter } = state;
  if (known?.colours !== colours || known.bandwidth !== bandwidth)
    known = { colours, bandwidth, byHand: attended(colours, bandwidth) };
  const { byHand } = known;
  /** The pixel that lies in each place after the shuffle. */
  const places = orderOf(shuffle);
  /** To where each pixel came from. */
  const back = places.map((_, pixel) => places.indexOf(pixel));
  const shuffled = permuted(colours, places);
  const grey = greyOf(colours);
  /** The grey convolved as taken; and that of the shuffled pixels, put back. */
  const convolved = convolve(grey, filter);
  const convolvedBack = permuted(convolve(permuted(grey, places), filter), back);
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
      const again = mixed === undefined ? byHand : permuted(mixed, back);
      const pooledApart = widest(pooled(attention), pooled(permuted(again, places)));
      const common = { size: COARSE, cursor: state.spot, channels: 3, range: [0, 1], about: "" } as const;
      const moved = { ...common, cursor: places.indexOf(state.spot) };
      const reach = Math.max(...convolved.map(Math.abs), ...convolvedBack.map(Math.abs), 1e-9);
      const about = shuffle === 0 ? "" : "put back";
      draw([
        { ...moved, title: shuffle === 0 ? "Picture" : "Shuffled", data: shuffled },
        { ...moved, title: "Attention", about: "still shuffled", data: permuted(again, places) },
        { ...common, title: "Attention", about, data: again },
        { ...common, title: "Convolution", about, data: convolvedBack, channels: 1, range: [-reach, reach] },
      ]);
      return {
        text: TEXT,
        figures: [
          fact("Attention: shuffled or not", magnitude(widest(attention, again)), "apart at most"),
          fact("Convolution: shuffled or not", exact(widest(convolved, convolvedBack), 2), "apart at most"),
          fact("Pooled to one mean", magnitude(pooledApart), "apart, shuffled"),
          fact("Detail left", percent(spreadOf(attention) / spreadOf(colours)), "of the colours’ spread"),
        ],
        data: { state, colours, places, attention, throughTheShuffle: again },
        first: pixelCell(state.spot, COARSE),
        explainPixel: () => ({ ...explain(state, colours), kernel: plain?.[state.spot * 3] }),
        agreed: agreed("Both outputs", Math.max(widest(byHand, attention), widest(byHand, again))),
      };
    },
    programs: () => programsOf(state, colours),
  };
}

const TEXT =
  "No pixel knows where it is: each becomes the mean of those that look like it. So shuffling only reorders attention’s outputs; put back, they are the same. A convolution notices. Wider bandwidths average more, which costs detail.";

/** What one pixel becomes, from the pixels that count most. */
function explain({ spot, bandwidth }: WhatElseState, colours: Colours): Explanation {
  const weights = weightsOf(colours, bandwidth, spot);
  const means = CHANNELS.map((name, channel) => `${name} ${exact(meanOf(weights, colours, channel))}`);
  return {
    subject: `red of row ${Math.floor(spot / COARSE) + 1}, column ${(spot % COARSE) + 1}`,
    sentence: `The mean colour of all ${PIXELS} pixels, each by its attention weight: e^(−distance² / 2b²), where the distance is between colours, over the sum of all. The first eight:`,
    head: ["row, column", "weight", ...CHANNELS],
    terms: strongestOf(weights, 8).map((other) => ({
      label: `${Math.floor(other / COARSE) + 1}, ${(other % COARSE) + 1}`,
      figures: [small(weights[other] ?? 0), ...CHANNELS.map((_, channel) => exact(colours[other * 3 + channel] ?? 0))],
      own: other === spot,
    })),
    last: `sums over all: ${means.join(", ")}`,
    result: meanOf(weights, colours, 0),
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

const EVEN = new Float64Array(PIXELS).fill(1 / PIXELS);
const pooled = (colours: ArrayLike<number>): readonly number[] => [0, 1, 2].map((one) => meanOf(EVEN, colours, one));

/** The standard deviation of colours about their mean. */
function spreadOf(colours: ArrayLike<number>): number {
  const mean = pooled(colours);
  return Math.sqrt(Array.from(colours).reduce((sum, value, index) => sum + (value - (mean[index % 3] ?? 0)) ** 2, 0));
}

/** Sorted by random numbers; 0 leaves them in order. */
function orderOf(seed: number): readonly number[] {
  const next = uniform(seed);
  const order = Array.from({ length: PIXELS }, (_, pixel) => ({ pixel, key: seed === 0 ? 0 : next() }));
  return order.sort((a, b) => a.key - b.key).map(({ pixel }) => pixel);
}

/** The pixels in this order, however many numbers each has. */
function permuted(data: ArrayLike<number>, order: readonly number[]): Colours {
  const channels = data.length / PIXELS;
  const from = (index: number): number => (order[Math.floor(index / channels)] ?? 0) * channels + (index % channels);
  return Float32Array.from({ length: data.length }, (_, index) => data[from(index)] ?? Number.NaN);
}

/** By their colours alone. Every pixel is its own nearest, so that no score is above 0 and no power overflows. */
function weightsOf(colours: Colours, bandwidth: number, pixel: number): Float64Array {
  const powers = new Float64Array(PIXELS);
  let total = 0;
  for (let other = 0; other < PIXELS; other++) {
    let squares = 0;
    for (let channel = 0; channel < 3; channel++)
      squares += ((colours[pixel * 3 + channel] ?? 0) - (colours[other * 3 + channel] ?? 0)) ** 2;
    const power = Math.exp(-squares / (2 * bandwidth ** 2));
    powers[other] = power;
    total += power;
  }
  return powers.map((power) => power / total);
}

function meanOf(weights: Float64Array, colours: ArrayLike<number>, channel: number): number {
  let mean = 0;
  for (let pixel = 0; pixel < PIXELS; pixel++) mean += (weights[pixel] ?? 0) * (colours[pixel * 3 + channel] ?? 0);
  return mean;
}

function attended(colours: Colours, bandwidth: number): Float64Array {
  const output = new Float64Array(PIXELS * 3);
  for (let pixel = 0; pixel < PIXELS; pixel++) {
    const weights = weightsOf(colours, bandwidth, pixel);
    output.set(
      [0, 1, 2].map((channel) => meanOf(weights, colours, channel)),
      pixel * 3,
    );
  }
  return output;
}
