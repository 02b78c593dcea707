// Pixels as a set: shuffled pixels, attention over their colours, and the result put back in order. A convolution beside it.

import type { Answer, Call } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import { uniform } from "../../src/model/random.js";
import { agreement } from "../../src/page/furnish.js";
import { single } from "../../src/ui/code.js";
import { button, h } from "../../src/ui/dom.js";
import type { Explanation } from "../../src/ui/explanation.js";
import { HeedPixels } from "../../src/ui/heed-pixels.js";
import { exact, magnitude, percent, small } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { convolve } from "./convolution.js";
import { type Exhibit, figure, type Host, widest } from "./exhibit.js";
import type { Gallery } from "./gallery.js";
import { type Colours, coarsely, finely, greyOf, PIXELS, pixelCell, COARSE as SIZE } from "./images.js";
import { BANDWIDTHS, type WhatElseState } from "./state.js";

interface Scene {
  readonly state: WhatElseState;
  readonly colours: Colours;
  /** The pixel that lies in each place after the shuffle. */
  readonly places: readonly number[];
  readonly shuffled: Colours;
  /** What each pixel becomes, in its own place: as taken, and by way of the shuffle. */
  readonly byHand: Float64Array;
  readonly plain: ArrayLike<number>;
  readonly back: ArrayLike<number>;
  /** The grey of the shuffled pixels convolved and put back, and the grey convolved as taken. */
  readonly convolvedBack: Float32Array;
  readonly convolved: Float64Array;
}

const CHANNELS = ["red", "green", "blue"] as const;

export class SetExhibit implements Exhibit {
  readonly element;
  readonly #gallery: Gallery;
  readonly #bandwidth;
  readonly #panels = Array.from({ length: 6 }, () => new HeedPixels());
  readonly #figures = h("dl", { class: "figures" });
  readonly #picture;
  #scene: Scene | undefined;
  #found = false;

  constructor(host: Host, gallery: Gallery) {
    this.#gallery = gallery;
    this.#bandwidth = slider("Bandwidth b", BANDWIDTHS, (bandwidth) => host.change({ bandwidth }));
    const again = (): void => host.change({ shuffle: ((this.#scene?.state.shuffle ?? 0) % 9999) + 1 });
    for (const panel of this.#panels) panel.choose = (pixel) => host.change({ pixel: finely(pixel) });
    this.#picture = picture({
      name: "set",
      title: "To attention a picture is a set of pixels",
      body: [h("div", { class: "pixel-row" }, ...this.#panels), this.#figures],
      controls: [button("Shuffle again", again)],
      more: [this.#bandwidth.element],
      data: () => {
        const { state, colours, places, plain, back } = this.#scene ?? {};
        return {
          state,
          colours: Array.from(colours ?? []),
          places,
          attention: Array.from(plain ?? []),
          throughTheShuffle: Array.from(back ?? []),
        };
      },
    });
    this.element = this.#picture.element;
  }

  show(state: WhatElseState): undefined {
    const before = this.#scene;
    const same =
      before !== undefined &&
      before.colours === this.#gallery.image.colours &&
      before.state.shuffle === state.shuffle &&
      before.state.kernel === state.kernel &&
      before.state.bandwidth === state.bandwidth;
    if (same) this.#scene = { ...before, state };
    else {
      this.#found = false;
      this.#scene = sceneOf(state, this.#gallery.image.colours);
    }
    this.#draw();
  }

  calls(): readonly Call[] {
    const scene = this.#scene;
    if (scene === undefined || this.#found) return [];
    return [scene.colours, scene.shuffled].map((data) => {
      const tensor = { data, shape: [1, 1, PIXELS, 3] };
      const score = { type: "rbf", bandwidth: scene.state.bandwidth } as const;
      return { q: tensor, k: tensor, v: tensor, options: { score }, lean: true };
    });
  }

  read([plain, mixed]: readonly Answer[]): string {
    const scene = this.#scene;
    if (scene === undefined || plain === undefined || mixed === undefined) return "";
    this.#found = true;
    const back = putBack(mixed.output.data, scene.places);
    const apart = Math.max(widest(plain.output.data, scene.plain), widest(back, scene.back));
    this.#scene = { ...scene, plain: plain.output.data, back };
    this.#draw();
    return `Both outputs come from the kernel. It and the arithmetic by hand ${agreement(apart)}.`;
  }

  /** What one pixel becomes, from the pixels that count most. */
  first(): Cell {
    return pixelCell(coarsely(this.#scene?.state.pixel ?? 0), SIZE);
  }

  explain(): Explanation | undefined {
    const scene = this.#scene;
    if (scene === undefined) return undefined;
    const { state, colours } = scene;
    const { bandwidth } = state;
    const pixel = coarsely(state.pixel);
    const powers = Array.from({ length: PIXELS }, (_, other) => Math.exp(scoreOf(colours, bandwidth, pixel, other)));
    const sum = powers.reduce((total, power) => total + power, 0);
    const first = powers
      .map((power, other) => ({ weight: power / sum, other }))
      .sort((a, b) => b.weight - a.weight || a.other - b.other)
      .slice(0, 8);
    const of = (other: number): readonly number[] => CHANNELS.map((_, channel) => colours[other * 3 + channel] ?? 0);
    const means = Array.from(scene.byHand.subarray(pixel * 3, pixel * 3 + 3));
    const said = means.map((mean, channel) => `${CHANNELS[channel]} ${exact(mean)}`).join(", ");
    return {
      subject: `red of row ${Math.floor(pixel / SIZE) + 1}, column ${(pixel % SIZE) + 1}`,
      sentence: `The mean colour of all ${PIXELS} pixels, each by its attention weight: e^(−distance² / 2b²), where the distance is between colours, over the sum of all, ${exact(sum)}. The first eight:`,
      head: ["row, column", "weight", ...CHANNELS],
      terms: first.map(({ weight, other }) => ({
        label: `${Math.floor(other / SIZE) + 1}, ${(other % SIZE) + 1}`,
        figures: [small(weight), ...of(other).map((value) => exact(value))],
        own: other === pixel,
      })),
      last: `sums over all: ${said}`,
      result: means[0] ?? Number.NaN,
      kernel: this.#found ? scene.plain[pixel * 3] : undefined,
      lights: [],
    };
  }

  #draw(): void {
    const scene = this.#scene;
    if (scene === undefined) return;
    const { state, colours, shuffled, places, back, plain, convolved, convolvedBack } = scene;
    this.#bandwidth.show(state.bandwidth, exact(state.bandwidth, 2));
    const reach = Math.max(...convolved.map(Math.abs), ...convolvedBack.map(Math.abs), 1e-9);
    const shown: readonly (readonly [string, string, ArrayLike<number>])[] = [
      ["Picture", "", colours],
      ["Shuffled", "", shuffled],
      ["Attention", "over the shuffled", permuted(back, places)],
      ["Put back", "in order", back],
      ["Convolution", "grey is 0", convolved],
      ["Convolution", "put back", convolvedBack],
    ];
    for (const [index, [title, about, data]] of shown.entries()) {
      const isGrey = data.length === PIXELS;
      const looks = isGrey
        ? ({ channels: 1, range: [-reach, reach] } as const)
        : ({ channels: 3, range: [0, 1] } as const);
      this.#panels[index]?.show({ title, about, size: SIZE, data, cursor: coarsely(state.pixel), ...looks });
    }
    this.#figures.replaceChildren(
      figure("Attention: shuffled or not", magnitude(widest(plain, back)), "apart at most"),
      figure("Convolution: shuffled or not", exact(widest(convolved, convolvedBack), 2), "apart at most"),
      figure("Pooled to one mean", magnitude(widest(pooled(plain), pooled(permuted(back, places)))), "apart, shuffled"),
      figure("Detail left", percent(spreadOf(plain) / spreadOf(colours)), "of the colours’ spread"),
    );
    this.#picture.say(
      "No pixel knows where it is: each becomes the mean of those that look like it. Shuffling only reorders the outputs, and pooled to one mean they do not change at all. A convolution loses the picture. Wider bandwidths average more, which costs detail.",
    );
  }

  heedCode(): string {
    const scene = this.#scene;
    if (scene === undefined) return "";
    return `// ${PIXELS} pixels as a set: each becomes the mean of those of like colour
import { createHeed } from "heed";

const pixels = {
  data: Float32Array.of(${Array.from(scene.colours, single).join(", ")}),
  shape: [1, 1, ${PIXELS}, 3],
};
const heed = await createHeed();
const { output } = await heed.attention(pixels, pixels, pixels, { score: { type: "rbf", bandwidth: ${single(scene.state.bandwidth)} } });
console.log(output.data);
heed.dispose();
`;
  }

  torchCode(): string {
    const scene = this.#scene;
    if (scene === undefined) return "";
    return `# ${PIXELS} pixels as a set: each becomes the mean of those of like colour
import torch

pixels = torch.tensor([${Array.from(scene.colours, single).join(", ")}]).view(${PIXELS}, 3)
weights = torch.softmax(-torch.cdist(pixels, pixels) ** 2 / (2 * ${single(scene.state.bandwidth)} ** 2), dim=-1)
output = weights @ pixels

order = torch.randperm(${PIXELS})
shuffled = pixels[order]
again = torch.softmax(-torch.cdist(shuffled, shuffled) ** 2 / (2 * ${single(scene.state.bandwidth)} ** 2), dim=-1) @ shuffled
print((again - output[order]).abs().max())
`;
  }
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

function sceneOf(state: WhatElseState, colours: Colours): Scene {
  const places = orderOf(state.shuffle);
  const shuffled = permuted(colours, places);
  const grey = greyOf(colours);
  const byHand = attended(colours, state.bandwidth);
  return {
    state,
    colours,
    places,
    shuffled,
    byHand,
    plain: byHand,
    back: putBack(attended(shuffled, state.bandwidth), places),
    convolved: convolve(grey, state.kernel),
    convolvedBack: putBack(convolve(permuted(grey, places), state.kernel), places),
  };
}

/** By Fisher and Yates. */
function orderOf(seed: number): readonly number[] {
  const next = uniform(seed);
  const order = Array.from({ length: PIXELS }, (_, pixel) => pixel);
  for (let left = PIXELS - 1; left > 0; left--) {
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
