// Pixels as a set: shuffled pixels, attention over their colours, and the result put back in order. A convolution beside it.

import type { Answer, Call } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import { uniform } from "../../src/model/random.js";
import { agreement } from "../../src/page/furnish.js";
import { single } from "../../src/ui/code.js";
import { button, h } from "../../src/ui/dom.js";
import type { Explanation } from "../../src/ui/explanation.js";
import { HeedPixels } from "../../src/ui/heed-pixels.js";
import { exact, magnitude, small } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { convolve } from "./convolution.js";
import type { Exhibit, Host } from "./exhibit.js";
import { figure, widest } from "./figures.js";
import type { Gallery } from "./gallery.js";
import { type Colours, greyOf, PIXELS, pixelCell, SIZE } from "./images.js";
import { BANDWIDTHS, type WhatElseState } from "./state.js";

interface Scene {
  readonly state: WhatElseState;
  readonly colours: Colours;
  /** The pixel that lies in each place after the shuffle. */
  readonly places: readonly number[];
  readonly shuffled: Colours;
  /** What each pixel takes in, in its own place: as taken, and by way of the shuffle. */
  readonly plain: ArrayLike<number>;
  readonly back: ArrayLike<number>;
  /** The grey of the shuffled pixels convolved and put back, and the grey convolved as taken. */
  readonly convolvedBack: Float64Array;
  readonly convolved: Float64Array;
}

const CHANNELS = ["red", "green", "blue"] as const;
const PANELS = ["colours", "shuffled", "mixed", "back", "convolved", "convolvedBack"] as const;

export class SetExhibit implements Exhibit {
  readonly element;
  readonly #gallery: Gallery;
  readonly #bandwidth;
  readonly #panels = new Map(PANELS.map((name) => [name, new HeedPixels()] as const));
  readonly #figures = h("dl", { class: "figures" });
  readonly #picture;
  #scene: Scene | undefined;
  #found = false;

  constructor(host: Host, gallery: Gallery) {
    this.#gallery = gallery;
    this.#bandwidth = slider("Bandwidth b", BANDWIDTHS, (bandwidth) => host.change({ bandwidth }));
    const again = (): void => host.change({ shuffle: ((this.#scene?.state.shuffle ?? 0) % 9999) + 1 });
    for (const panel of this.#panels.values()) panel.choose = (pixel) => host.change({ pixel });
    this.#picture = picture({
      name: "set",
      title: "To attention a picture is a set of pixels",
      body: [h("div", { class: "pixel-row three" }, ...this.#panels.values()), this.#figures],
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

  show(state: WhatElseState): void {
    const before = this.#scene;
    const same =
      before !== undefined &&
      before.colours === this.#gallery.colours &&
      before.state.shuffle === state.shuffle &&
      before.state.kernel === state.kernel &&
      before.state.bandwidth === state.bandwidth;
    if (same) this.#scene = { ...before, state };
    else {
      this.#found = false;
      this.#scene = sceneOf(state, this.#gallery.colours);
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
    const back = putBack(mixed.output.data, scene.places, 3);
    const apart = Math.max(widest(plain.output.data, scene.plain), widest(back, scene.back));
    this.#scene = { ...scene, plain: plain.output.data, back };
    this.#draw();
    return `Both outputs come from the kernel. It and the arithmetic by hand ${agreement(apart)}.`;
  }

  /** What one pixel takes in, from the pixels that count most. */
  first(): Cell {
    return pixelCell(this.#scene?.state.pixel ?? 0);
  }

  explain(): Explanation | undefined {
    const scene = this.#scene;
    if (scene === undefined) return undefined;
    const { state, colours } = scene;
    const { pixel, bandwidth } = state;
    const powers = Array.from({ length: PIXELS }, (_, other) => Math.exp(scoreOf(colours, bandwidth, pixel, other)));
    const sum = powers.reduce((total, power) => total + power, 0);
    const first = powers
      .map((power, other) => ({ share: power / sum, other }))
      .sort((a, b) => b.share - a.share || a.other - b.other)
      .slice(0, 8);
    const of = (other: number): readonly number[] => CHANNELS.map((_, channel) => colours[other * 3 + channel] ?? 0);
    const means = CHANNELS.map((_, channel) =>
      powers.reduce((total, power, other) => total + (power / sum) * (of(other)[channel] ?? 0), 0),
    );
    const said = means.map((mean, channel) => `${CHANNELS[channel]} ${exact(mean)}`).join(", ");
    return {
      subject: `red of row ${Math.floor(pixel / SIZE) + 1}, column ${(pixel % SIZE) + 1}`,
      sentence: `The mean colour of all ${PIXELS} pixels, each by its share: e^(−distance² / 2b²), where the distance is between colours, over the sum of all, ${exact(sum)}. The first eight:`,
      head: ["row, column", "share", ...CHANNELS],
      terms: first.map(({ share, other }) => ({
        label: `${Math.floor(other / SIZE) + 1}, ${(other % SIZE) + 1}`,
        figures: [small(share), ...of(other).map((value) => exact(value))],
        own: other === pixel,
      })),
      last: `sums over all: ${said}`,
      result: means[0] ?? Number.NaN,
      ...(this.#found ? { kernel: scene.plain[pixel * 3] ?? Number.NaN } : {}),
      lights: [],
    };
  }

  #draw(): void {
    const scene = this.#scene;
    if (scene === undefined) return;
    const { state, colours, shuffled, places, back, plain, convolved, convolvedBack } = scene;
    this.#bandwidth.show(state.bandwidth, exact(state.bandwidth, 2));
    const reach = Math.max(...convolved.map(Math.abs), ...convolvedBack.map(Math.abs), 1e-9);
    const show = (
      name: (typeof PANELS)[number],
      title: string,
      about: string,
      data: ArrayLike<number>,
      channels: 1 | 3 = 3,
    ): void =>
      this.#panels.get(name)?.show({
        title,
        about,
        size: SIZE,
        data,
        channels,
        range: channels === 3 ? [0, 1] : [-reach, reach],
        cursor: state.pixel,
      });
    show("colours", "Picture", "", colours);
    show("shuffled", "Shuffled", "", shuffled);
    show("mixed", "Attention", "over the shuffled", shuffleOf(back, places, 3));
    show("back", "Put back", "in order", back);
    show("convolved", "Convolution", "grey is 0", convolved, 1);
    show("convolvedBack", "Convolution", "shuffled, put back", convolvedBack, 1);
    this.#figures.replaceChildren(
      figure("Attention: shuffled or not", magnitude(widest(plain, back)), "apart at most"),
      figure("Convolution: shuffled or not", exact(widest(convolved, convolvedBack), 2), "apart at most"),
    );
    this.#picture.say(
      "Queries, keys and values are colours alone; no pixel knows where it is. So each becomes the mean of those that look like it, wherever they are, and shuffling changes nothing but the order: shuffled, attended and put back is the same as attended (but for the rounding of sums in another order). A convolution sees neighbours, and loses the picture with them.",
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

function sceneOf(state: WhatElseState, colours: Colours): Scene {
  const places = orderOf(state.shuffle);
  const shuffled = shuffleOf(colours, places, 3);
  const grey = greyOf(colours);
  return {
    state,
    colours,
    places,
    shuffled,
    plain: attended(colours, state.bandwidth),
    back: putBack(attended(shuffled, state.bandwidth), places, 3),
    convolved: convolve(grey, state.kernel),
    convolvedBack: Float64Array.from(putBack(convolve(shuffleOf(grey, places, 1), state.kernel), places, 1)),
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

function shuffleOf(data: ArrayLike<number>, places: readonly number[], channels: number): Colours {
  return Float32Array.from(
    { length: data.length },
    (_, index) => data[(places[Math.floor(index / channels)] ?? 0) * channels + (index % channels)] ?? 0,
  );
}

function putBack(data: ArrayLike<number>, places: readonly number[], channels: number): Float64Array {
  const back = new Float64Array(data.length);
  places.forEach((pixel, place) => {
    for (let channel = 0; channel < channels; channel++) {
      back[pixel * channels + channel] = data[place * channels + channel] ?? Number.NaN;
    }
  });
  return back;
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
