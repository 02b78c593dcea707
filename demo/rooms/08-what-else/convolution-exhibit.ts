// Attention as a convolution: a picture, a kernel, and as many heads as it has weights, which are laid over one another.

import type { Answer, Call } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import { fill, largest, type Matrix, withBlock } from "../../src/model/matrix.js";
import { agreement } from "../../src/page/furnish.js";
import { Board } from "../../src/ui/board.js";
import { h } from "../../src/ui/dom.js";
import { type Explanation, type NamedLight, products } from "../../src/ui/explanation.js";
import { HeedPixels } from "../../src/ui/heed-pixels.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { exact, apart as gapIn, whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { presets } from "../../src/ui/presets.js";
import { slider } from "../../src/ui/slider.js";
import { type ConvolutionScene, convolutionScene, keysOf, nameOf, queriesOf } from "./convolution.js";
import { heedCode, torchCode } from "./convolution-code.js";
import { difference, type Exhibit, figure, type Host, widest } from "./exhibit.js";
import type { Gallery } from "./gallery.js";
import { GHOST_STEPS, Ghosts } from "./ghosts.js";
import { FINE, pixelCell } from "./images.js";
import { EDGE, SHARPNESS, type WhatElseState } from "./state.js";

const KERNELS: readonly { readonly name: string; readonly kernel: Matrix }[] = [
  { name: "edges", kernel: EDGE },
  { name: "from left to right", kernel: square([-1, 0, 1, -2, 0, 2, -1, 0, 1]) },
  { name: "sharper", kernel: square([0, -1, 0, -1, 5, -1, 0, -1, 0]) },
  { name: "blur", kernel: square(Array.from({ length: 9 }, () => 1 / 8)) },
  {
    name: "edges, 5 × 5",
    kernel: square([0, 0, -1, 0, 0, 0, -1, -2, -1, 0, -1, -2, 16, -2, -1, 0, -1, -2, -1, 0, 0, 0, -1, 0, 0]),
  },
];

function square(numbers: readonly number[]): Matrix {
  const size = Math.sqrt(numbers.length);
  return fill(size, size, (row, col) => numbers[row * size + col] ?? 0);
}

/** Where the kernel answers besides the chosen pixel: from border to border, corners included. */
const SAMPLE = Array.from({ length: 64 }, (_, index) => {
  const [row, col] = [Math.floor(index / 8), index % 8].map((place) => Math.round((place * (FINE - 1)) / 7));
  return (row ?? 0) * FINE + (col ?? 0);
});

export class ConvolutionExhibit implements Exhibit {
  readonly element;
  readonly #gallery: Gallery;
  readonly #matrices = new NamedMatrices(["W"]);
  readonly #ghosts = new Ghosts();
  readonly #board = new Board({ steps: GHOST_STEPS });
  readonly #grey = new HeedPixels();
  readonly #direct = new HeedPixels();
  readonly #figures = h("dl", { class: "figures" });
  readonly #sharpness;
  readonly #picture;
  #scene: ConvolutionScene | undefined;
  /** What the kernel read at the chosen pixel and those of the sample, head by head. */
  #found: Float32Array | undefined;

  constructor(host: Host, gallery: Gallery) {
    this.#gallery = gallery;
    this.#sharpness = slider("Sharpness s", SHARPNESS, (sharpness) => host.change({ sharpness }));
    for (const one of [this.#grey, this.#direct]) one.choose = (pixel) => host.change({ pixel });
    this.#matrices.listen(host.teller, (_name, row, col, values) => {
      if (this.#scene !== undefined) host.change({ kernel: withBlock(this.#scene.state.kernel, row, col, values) });
    });
    this.#picture = picture({
      name: "convolution",
      title: "A convolution, and attention that is the same",
      body: [
        h("div", { class: "ghosts" }, this.#board.element, h("div", { class: "pixel-row" }, this.#grey, this.#direct)),
        this.#figures,
      ],
      controls: [this.#sharpness.element],
      more: [
        presets("Kernel", KERNELS, ({ kernel }) => host.change({ kernel }, "new")),
        this.#matrices.line("W"),
        h("p", {}, WEIGHTS_TEXT),
      ],
      data: () => {
        const { state, grey = [], direct = [], attended = [] } = this.#scene ?? {};
        return {
          state,
          sample: this.#pixels(),
          kernel: Array.from(this.#found ?? []),
          grey: Array.from(grey),
          convolution: Array.from(direct),
          attention: Array.from(attended),
        };
      },
    });
    this.element = this.#picture.element;
  }

  *show(state: WhatElseState): Generator<undefined> {
    const before = this.#scene;
    const { fine } = this.#gallery.image;
    const same =
      before !== undefined &&
      before.state.kernel === state.kernel &&
      before.state.sharpness === state.sharpness &&
      before.grey === fine;
    if (!same || before.state.pixel !== state.pixel) this.#found = undefined;
    this.#scene = same ? { ...before, state } : yield* convolutionScene(state, fine);
    yield;
    yield* this.#draw(this.#scene);
  }

  #pixels(): readonly number[] {
    return [this.#scene?.state.pixel ?? 0, ...SAMPLE];
  }

  calls(): readonly Call[] {
    const scene = this.#scene;
    if (scene === undefined || this.#found !== undefined) return [];
    const pixels = this.#pixels();
    return [
      {
        q: { data: queriesOf(scene, pixels), shape: [1, scene.shifts.length, pixels.length, 3] },
        k: { data: keysOf(scene), shape: [1, 1, scene.grey.length, 3] },
        v: { data: scene.grey, shape: [1, 1, scene.grey.length, 1] },
        options: { score: "dot" },
        lean: true,
      },
    ];
  }

  read([answer]: readonly Answer[]): string {
    const scene = this.#scene;
    if (scene === undefined || answer === undefined) return "";
    const found = Float32Array.from(answer.output.data);
    this.#found = found;
    const pixels = this.#pixels();
    const own = scene.readings.flatMap((reading) => pixels.map((pixel) => reading[pixel] ?? Number.NaN));
    return `All ${scene.shifts.length} heads come from the kernel at ${pixels.length} pixels; it and the page ${agreement(widest(found, own))}.`;
  }

  first(): Cell {
    return pixelCell(this.#scene?.state.pixel ?? 0, FINE);
  }

  explain(cell: Cell): Explanation | undefined {
    const scene = this.#scene;
    if (scene === undefined) return undefined;
    const spot = this.#matrices.find(cell);
    return spot === undefined && cell.name !== "pixel" ? undefined : this.#explainPixel(scene, spot);
  }

  /** `chosen`: the weight of the head in the light. */
  #explainPixel(scene: ConvolutionScene, chosen?: Cell): Explanation {
    const { state, size, shifts, readings, attended, direct } = scene;
    const { pixel, kernel } = state;
    const found = this.#found;
    const own = chosen && chosen.row * kernel.cols + chosen.col;
    const weight = (head: number): number => kernel.data[head] ?? 0;
    const read = (head: number): number => found?.[head * (SAMPLE.length + 1)] ?? readings[head]?.[pixel] ?? Number.NaN;
    const told = products(shifts.map(nameOf), read, weight, ["looks", "reads", "weight"]);
    return {
      ...told,
      terms: told.terms.map((term, head) => ({ ...term, own: head === own, faint: weight(head) === 0 })),
      subject: `row ${Math.floor(pixel / size) + 1}, column ${(pixel % size) + 1}${own === undefined ? "" : `, head ${own + 1}`}`,
      sentence: `Each head reads one neighbour; the output weights are the kernel. The convolution itself says ${exact(direct[pixel] ?? Number.NaN, 6)}.`,
      result: attended[pixel] ?? Number.NaN,
      kernel: found && shifts.reduce((sum, _, head) => sum + read(head) * weight(head), 0),
      lights: chosen === undefined ? [] : [chosen],
    };
  }

  light(lights: readonly NamedLight[]): void {
    this.#matrices.light(lights);
  }

  *#draw(scene: ConvolutionScene): Generator<undefined> {
    const { state, size, grey, direct, attended, shifts, most } = scene;
    const { kernel, sharpness } = state;
    this.#sharpness.show(sharpness, exact(sharpness, 2));
    this.#board.show((place, width) => this.#ghosts.view(scene, place, width));
    yield;
    const show = (panel: HeedPixels, title: string, data: ArrayLike<number>, black: number, white: number): void =>
      panel.show({ title, about: "", size, data, channels: 1, range: [black, white], cursor: state.pixel });
    show(this.#grey, "Picture", grey, 0, 1);
    show(this.#direct, "Convolution, grey is 0", direct, -most, most);
    yield;
    const steps = shifts.slice(0, kernel.cols).map(({ x }) => x);
    this.#matrices.show((name) => ({
      name,
      title: "kernel",
      about: "change any; each is a head’s output weight",
      matrix: kernel,
      rowLabels: steps.map((y) => nameOf({ x: 0, y })),
      colLabels: steps.map((x) => nameOf({ x, y: 0 })),
      tone: "signed",
      full: Math.max(1, largest(kernel)),
      editable: true,
    }));
    this.#figures.replaceChildren(
      difference(widest(attended, direct)),
      figure(
        "Computed by heed",
        `${SAMPLE.length + 1} pixels`,
        `each against all ${whole(grey.length)}; the page computes the rest`,
      ),
      figure("Next pixel’s weight", gapIn(Math.exp(-sharpness)), "e⁻ˢ of the one that is looked at"),
    );
    this.#picture.say(
      sharpness >= 12
        ? "Each head looks one pixel to a side. Its copy of the picture is multiplied by one number of the kernel, and the copies are added: where neighbours are alike they cancel, and edges are left."
        : "A soft softmax gives every place some weight, so each head reads a neighbourhood. Averaging costs resolution: the copies blur, and so does their sum. Only a hard softmax is the convolution.",
    );
  }

  heedCode(): string {
    return this.#scene === undefined ? "" : heedCode(this.#scene.state, this.#gallery.image.grey);
  }

  torchCode(): string {
    return this.#scene === undefined ? "" : torchCode(this.#scene.state, this.#gallery.image.grey);
  }
}

const WEIGHTS_TEXT =
  "The head that looks (Δx, Δy) away: a pixel’s query is (2s (x + Δx), 2s (y + Δy), −s), its key (x, y, x² + y²), its value its grey. A score is −s times the squared distance to the place looked for, plus a constant per query.";
