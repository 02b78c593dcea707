// Pixels as a set: shuffled pixels, attention over their colours, and the result put back in order. A convolution beside it.

import type { Answer, Call } from "../../src/engine/engine.js";
import { widest } from "../../src/model/matrix.js";
import { uniform } from "../../src/model/random.js";
import { agreed } from "../../src/page/room.js";
import { single } from "../../src/ui/code.js";
import { boundSlider, choice } from "../../src/ui/controls.js";
import { button, fact, h } from "../../src/ui/dom.js";
import type { Explanation } from "../../src/ui/explanation.js";
import { HeedPixels, type PixelsView } from "../../src/ui/heed-pixels.js";
import { exact, magnitude, percent, small } from "../../src/ui/numbers.js";
import type { Teller } from "../../src/ui/teller.js";
import { convolve } from "./convolution.js";
import { type Exhibit, exhibit } from "./exhibit.js";
import { type Colours, coarsely, finely, type Gallery, greyOf, PIXELS, pixelCell } from "./images.js";
import { BANDWIDTHS, COARSE, store, type WhatElseState } from "./state.js";

type Scene = ReturnType<typeof sceneOf>;

const CHANNELS = ["red", "green", "blue"] as const;

export function setExhibit(teller: Teller, gallery: Gallery): Exhibit {
  const again = (): void => store.change({ shuffle: (store.state.shuffle % 9999) + 1 });
  const given = choice("Pixels are given", { order: "in order", shuffled: "shuffled" }, (value) =>
    store.change({ shuffle: value === "order" ? 0 : 1 }, "new"),
  );
  const panels = [1, 2, 3, 4].map(() => new HeedPixels());
  panels.forEach((panel, index) => {
    panel.choose = (at) =>
      store.change({ pixel: finely(index < SHUFFLED ? (orderOf(store.state.shuffle)[at] ?? at) : at) });
  });
  return exhibit<Scene>(teller, {
    picture: {
      name: "set",
      title: "To attention a picture is a set of pixels",
      body: [h("div", { class: "pixel-row" }, ...panels)],
      controls: [given.element, button("Shuffle again", again)],
      more: [boundSlider(store, "bandwidth", "Bandwidth b", BANDWIDTHS, { said: (b) => exact(b, 2) })],
    },
    figures: ({ colours, places, plain, back, convolved, convolvedBack }) => [
      fact("Attention: shuffled or not", magnitude(widest(plain, back)), "apart at most"),
      fact("Convolution: shuffled or not", exact(widest(convolved, convolvedBack), 2), "apart at most"),
      fact("Pooled to one mean", magnitude(widest(pooled(plain), pooled(permuted(back, places)))), "apart, shuffled"),
      fact("Detail left", percent(spreadOf(plain) / spreadOf(colours)), "of the colours’ spread"),
    ],
    data: ({ state, colours, places, plain: attention, back: throughTheShuffle }) => {
      return { state, colours, places, attention, throughTheShuffle };
    },
    say: () =>
      "No pixel knows where it is: each becomes the mean of those that look like it. So shuffling only reorders attention’s outputs; put back, they are the same. A convolution notices. Wider bandwidths average more, which costs detail.",
    madeFrom: ({ shuffle, filter, bandwidth }) => [gallery.image().colours, shuffle, filter, bandwidth],
    sceneOf: (state) => sceneOf(state, gallery.image().colours),
    draw: (scene) => {
      const { shuffle } = scene.state;
      given.show(shuffle === 0 ? "order" : "shuffled");
      viewsOf(scene).forEach((view, index) => {
        panels[index]?.show(view);
        // In order, nothing is to be put back.
        panels[index]?.toggleAttribute("hidden", shuffle === 0 && index === SHUFFLED - 1);
      });
    },
    calls: ({ colours, shuffled, state: { bandwidth } }) =>
      [colours, shuffled].map((data): Call => {
        const tensor = { data, shape: [1, 1, PIXELS, 3] };
        return { q: tensor, k: tensor, v: tensor, options: { score: { type: "rbf", bandwidth } }, lean: true };
      }),
    read,
    first: ({ state }) => pixelCell(coarsely(state.pixel), COARSE),
    explainOther: explain,
    programs: ({ colours, state }) => {
      const [numbers, b] = [Array.from(colours, single).join(", "), single(state.bandwidth)];
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
    },
  });
}

/** So many panels, the first ones, show pixels where the shuffle has put them. */
const SHUFFLED = 2;

function viewsOf({ state, places, shuffled, back, convolved, convolvedBack }: Scene): readonly PixelsView[] {
  const reach = Math.max(...convolved.map(Math.abs), ...convolvedBack.map(Math.abs), 1e-9);
  const pixel = coarsely(state.pixel);
  const common = { size: COARSE, cursor: pixel, channels: 3, range: [0, 1] } as const;
  const moved = { ...common, cursor: places.indexOf(pixel) };
  const about = state.shuffle === 0 ? "" : "put back";
  return [
    { ...moved, title: state.shuffle === 0 ? "Picture" : "Shuffled", about: "", data: shuffled },
    { ...moved, title: "Attention", about: "still shuffled", data: permuted(back, places) },
    { ...common, title: "Attention", about, data: back },
    { ...common, title: "Convolution", about, data: convolvedBack, channels: 1, range: [-reach, reach] },
  ];
}

function read(scene: Scene, [plain, mixed]: readonly Answer[]): readonly [Scene, string] {
  const [own, back] = [plain?.output.data ?? [], putBack(mixed?.output.data ?? [], scene.places)];
  const apart = Math.max(widest(scene.plain, own), widest(scene.back, back));
  return [{ ...scene, plain: own, back, isAnswered: true }, agreed("Both outputs", apart)];
}

/** What one pixel becomes, from the pixels that count most. */
function explain({ state, colours, byHand, plain, isAnswered }: Scene): Explanation {
  const { bandwidth } = state;
  const pixel = coarsely(state.pixel);
  const powers = Array.from({ length: PIXELS }, (_, other) => Math.exp(scoreOf(colours, bandwidth, pixel, other)));
  const sum = powers.reduce((total, power) => total + power, 0);
  const first = powers
    .map((power, other) => ({ weight: power / sum, other }))
    .sort((a, b) => b.weight - a.weight || a.other - b.other)
    .slice(0, 8);
  const of = (other: number): readonly number[] => CHANNELS.map((_, channel) => colours[other * 3 + channel] ?? 0);
  const means = Array.from(byHand.subarray(pixel * 3, pixel * 3 + 3));
  const said = means.map((mean, channel) => `${CHANNELS[channel]} ${exact(mean)}`).join(", ");
  return {
    subject: `red of row ${Math.floor(pixel / COARSE) + 1}, column ${(pixel % COARSE) + 1}`,
    sentence: `The mean colour of all ${PIXELS} pixels, each by its attention weight: e^(−distance² / 2b²), where the distance is between colours, over the sum of all, ${exact(sum)}. The first eight:`,
    head: ["row, column", "weight", ...CHANNELS],
    terms: first.map(({ weight, other }) => ({
      label: `${Math.floor(other / COARSE) + 1}, ${(other % COARSE) + 1}`,
      figures: [small(weight), ...of(other).map((value) => exact(value))],
      own: other === pixel,
    })),
    last: `sums over all: ${said}`,
    result: means[0] ?? Number.NaN,
    kernel: isAnswered ? plain[pixel * 3] : undefined,
    lights: [],
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

function sceneOf(state: WhatElseState, colours: Colours) {
  /** The pixel that lies in each place after the shuffle. */
  const places = orderOf(state.shuffle);
  const shuffled = permuted(colours, places);
  const grey = greyOf(colours);
  const byHand = attended(colours, state.bandwidth);
  /** What each pixel becomes, in its own place: as taken, and by way of the shuffle. */
  const plain: ArrayLike<number> = byHand;
  const back = putBack(attended(shuffled, state.bandwidth), places);
  /** The grey convolved as taken; and that of the shuffled pixels, put back. */
  const convolved = convolve(grey, state.filter);
  const convolvedBack = putBack(convolve(permuted(grey, places), state.filter), places);
  return { state, colours, places, shuffled, byHand, plain, back, convolved, convolvedBack, isAnswered: false };
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
