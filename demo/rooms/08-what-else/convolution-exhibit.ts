// Attention as a convolution: a picture, a kernel, as many heads as it has weights, and the two results beside each other.

import type { MatrixView } from "heed/viz";
import type { Answer, Call } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import { at, fill, largest, type Matrix, withBlock } from "../../src/model/matrix.js";
import { agreement } from "../../src/page/furnish.js";
import { h } from "../../src/ui/dom.js";
import type { Explanation, NamedLight } from "../../src/ui/explanation.js";
import { HeedPixels } from "../../src/ui/heed-pixels.js";
import { NamedMatrices, type NamedSpot } from "../../src/ui/named-matrices.js";
import { exact, apart as gapIn } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { atOnce } from "../../src/ui/pieces.js";
import { presets } from "../../src/ui/presets.js";
import { slider } from "../../src/ui/slider.js";
import {
  convolve,
  keys,
  mixed,
  queriesOf,
  queryFactors,
  queryWeights,
  readByHand,
  type Shift,
  shiftsOf,
} from "./convolution.js";
import { heedCode, torchCode } from "./convolution-code.js";
import type { Exhibit, Host } from "./exhibit.js";
import { figure, widest } from "./figures.js";
import type { Gallery } from "./gallery.js";
import { PIXELS, pixelCell, SIZE } from "./images.js";
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

/** The kernel, and the query weights of the head whose weight in it is in the light. */
const MATRICES = ["W", "Wq"] as const;
const PLACE = ["x", "y", "1"] as const;
const KEY = ["x", "y", "x² + y²"] as const;

type PanelName = "grey" | "direct" | "attended" | "gap";

interface Scene {
  readonly state: WhatElseState;
  readonly grey: Float32Array<ArrayBuffer>;
  readonly shifts: readonly Shift[];
  readonly direct: Float64Array;
  readonly byHand: readonly Float64Array[];
  readonly attended: Float64Array;
}

export class ConvolutionExhibit implements Exhibit {
  readonly element;
  readonly #gallery: Gallery;
  readonly #matrices = new NamedMatrices(MATRICES);
  readonly #pixels = {
    grey: new HeedPixels(),
    direct: new HeedPixels(),
    attended: new HeedPixels(),
    gap: new HeedPixels(),
  };
  readonly #figures = h("dl", { class: "figures" });
  readonly #sharpness;
  readonly #pictures;
  #scene: Scene | undefined;
  /** What the kernel read, head by head. */
  #found: Float32Array | undefined;
  /** Whose query weights are shown. */
  #head = 0;

  constructor(host: Host, gallery: Gallery) {
    this.#gallery = gallery;
    this.#sharpness = slider("Sharpness s", SHARPNESS, (sharpness) => host.change({ sharpness }));
    for (const one of Object.values(this.#pixels)) {
      one.choose = (pixel) => host.change({ pixel });
    }
    this.#matrices.listen(
      { point: (spot, held) => host.teller.point(this.#named(spot), held), leave: () => host.teller.leave() },
      (_name, row, col, values) => {
        const before = this.#scene?.state.kernel;
        if (before === undefined) return;
        const kernel = withBlock(before, row, col, values);
        host.change({ kernel });
      },
    );
    this.#pictures = {
      convolution: picture({
        name: "convolution",
        title: "A convolution, and attention that is the same",
        body: [h("div", { class: "pixel-row" }, ...Object.values(this.#pixels)), this.#figures],
        controls: [this.#sharpness.element],
        more: [presets("Kernel", KERNELS, ({ kernel }) => host.change({ kernel }, "new"))],
        data: () => ({
          state: this.#scene?.state,
          grey: Array.from(this.#scene?.grey ?? []),
          convolution: Array.from(this.#scene?.direct ?? []),
          attention: Array.from(this.#scene?.attended ?? []),
        }),
      }),
      weights: picture({
        name: "weights",
        title: "The weights, made by hand",
        body: [this.#matrices.line(...MATRICES)],
        data: () => ({
          sharpness: this.#scene?.state.sharpness,
          kernel: Array.from(this.#scene?.state.kernel.data ?? []),
          queries: this.#scene?.shifts.map((shift) =>
            Array.from(queryWeights(shift, this.#scene?.state.sharpness ?? 1).data),
          ),
        }),
      }),
    };
    this.element = h("div", {}, this.#pictures.convolution.element, this.#pictures.weights.element);
  }

  show(state: WhatElseState): void {
    atOnce(this.showing(state));
  }

  *showing(state: WhatElseState): Generator<undefined> {
    const before = this.#scene;
    const same =
      before !== undefined &&
      before.state.kernel === state.kernel &&
      before.state.sharpness === state.sharpness &&
      before.grey === this.#gallery.grey;
    if (same) this.#scene = { ...before, state };
    else {
      this.#found = undefined;
      this.#scene = yield* sceneOf(state, this.#gallery.grey);
    }
    yield;
    yield* this.#drawing();
  }

  /** The same while only another pixel is looked at. */
  calls(): readonly Call[] {
    const scene = this.#scene;
    if (scene === undefined || this.#found !== undefined) return [];
    const { state, grey } = scene;
    const call: Call = {
      q: { data: queriesOf(state.kernel, state.sharpness), shape: [1, scene.shifts.length, PIXELS, 3] },
      k: { data: keys(), shape: [1, 1, PIXELS, 3] },
      v: { data: grey, shape: [1, 1, PIXELS, 1] },
      options: { score: "dot" },
      lean: true,
    };
    return [call];
  }

  read([answer]: readonly Answer[]): string {
    const scene = this.#scene;
    if (scene === undefined || answer === undefined) return "";
    const found = answer.output.data;
    this.#found = found;
    const attended = mixed((head, pixel) => found[head * PIXELS + pixel] ?? Number.NaN, scene.state.kernel);
    const apart = widest(attended, scene.attended);
    this.#scene = { ...scene, attended };
    atOnce(this.#drawing());
    return `All ${scene.shifts.length} heads come from the kernel. It and the same attention by hand ${agreement(apart)}.`;
  }

  /** A cell of W_Q, by the head that it belongs to as well. */
  #named({ name, row, col }: NamedSpot<(typeof MATRICES)[number]>): Cell {
    return { name: name === "Wq" ? queriesName(this.#head) : name, row, col };
  }

  first(): Cell {
    return pixelCell(this.#scene?.state.pixel ?? 0);
  }

  explain(cell: Cell): Explanation | undefined {
    const scene = this.#scene;
    if (scene === undefined) return undefined;
    const head = scene.shifts.findIndex((_, index) => queriesName(index) === cell.name);
    if (head >= 0) return explainQueryWeight(scene, head, cell);
    if (cell.name === "W") {
      const spot = this.#matrices.find(cell);
      return spot === undefined ? undefined : this.#explainPixel(scene, spot.row * scene.state.kernel.cols + spot.col);
    }
    return cell.name === "pixel" ? this.#explainPixel(scene) : undefined;
  }

  /** `chosen`: the head in the light. */
  #explainPixel(scene: Scene, chosen?: number): Explanation {
    const { state, shifts } = scene;
    const { pixel, kernel } = state;
    const readings = shifts.map((_, head) => this.#reading(scene, head, pixel));
    const sum = readings.reduce((total, reading, head) => total + reading * (kernel.data[head] ?? 0), 0);
    const byHand = scene.byHand.reduce(
      (total, reading, head) => total + (reading[pixel] ?? 0) * (kernel.data[head] ?? 0),
      0,
    );
    return {
      subject: `row ${Math.floor(pixel / SIZE) + 1}, column ${(pixel % SIZE) + 1}`,
      sentence: `Each head reads one neighbour; the output weights are the kernel. The convolution itself says ${exact(scene.direct[pixel] ?? Number.NaN, 6)}.`,
      head: ["looks", "reads", "weight", "product"],
      terms: shifts.map((shift, head) => {
        const [reading, weight] = [readings[head] ?? Number.NaN, kernel.data[head] ?? 0];
        return {
          label: nameOf(shift),
          figures: [exact(reading), exact(weight), exact(reading * weight)],
          own: head === chosen,
          faint: weight === 0,
        };
      }),
      last: `sum = ${exact(sum)}`,
      result: byHand,
      ...(this.#found === undefined ? {} : { kernel: sum }),
      lights: chosen === undefined ? [] : [weightOf(scene.state, chosen)],
    };
  }

  /** The query weights in view are those of the head in the light. */
  light(lights: readonly NamedLight[]): void {
    const scene = this.#scene;
    if (scene === undefined) return;
    const lit = lights.length === 0 ? [weightOf(scene.state, firstHead(scene))] : lights;
    const { row = 0, col = 0 } = lit.find(({ name }) => name === "W") ?? {};
    this.#head = row * scene.state.kernel.cols + col;
    this.#showQueries(scene);
    this.#matrices.light(lit);
  }

  #reading(scene: Scene, head: number, pixel: number): number {
    return this.#found?.[head * PIXELS + pixel] ?? scene.byHand[head]?.[pixel] ?? Number.NaN;
  }

  *#drawing(): Generator<undefined> {
    const scene = this.#scene;
    if (scene === undefined) return;
    const { state, grey, direct, attended } = scene;
    this.#sharpness.show(state.sharpness, exact(state.sharpness, 2));
    const gaps = attended.map((value, pixel) => Math.abs(value - (direct[pixel] ?? Number.NaN)));
    const apart = Math.max(...gaps);
    const reach = Math.max(...direct.map(Math.abs), 1e-9);
    const signed = state.kernel.data.some((weight) => weight < 0) && direct.some((value) => value < -1e-9);
    const range = signed ? ([-reach, reach] as const) : ([0, Math.max(1, reach)] as const);
    const about = signed ? "grey is 0" : "";
    const show = (
      one: PanelName,
      title: string,
      note: string,
      data: ArrayLike<number>,
      of: readonly [number, number],
    ): void =>
      this.#pixels[one].show({ title, about: note, size: SIZE, data, channels: 1, range: of, cursor: state.pixel });
    show("grey", "Picture", "", grey, [0, 1]);
    show("direct", "Convolution", about, direct, range);
    yield;
    show("attended", "Attention", about, attended, range);
    show("gap", "Difference", apart === 0 ? "all 0" : `white is ${gapIn(apart)}`, gaps, [0, Math.max(apart, 1e-30)]);
    yield;
    const largestWeight = Math.max(1, largest(state.kernel));
    const kernel: MatrixView = {
      name: "W",
      title: "kernel",
      about: "change any; each is a head’s output weight",
      matrix: state.kernel,
      rowLabels: offsets(state.kernel.rows, "up", "down"),
      colLabels: offsets(state.kernel.cols, "left", "right"),
      tone: "signed",
      full: largestWeight,
      editable: true,
    };
    this.#matrices.show(() => kernel, ["W"]);
    this.#figures.replaceChildren(
      figure("Largest difference", gapIn(apart), apart <= 1e-6 ? "the same, to 10⁻⁶" : "not the same yet"),
      figure("Heads", String(scene.shifts.length), `${state.kernel.rows} × ${state.kernel.cols}`),
      figure("Next pixel’s share", gapIn(Math.exp(-state.sharpness)), "e⁻ˢ of the one that is looked at"),
    );
    this.#pictures.convolution.say(
      state.sharpness >= 12
        ? "Every head looks at one neighbour and at nothing else, because it scores places by their distance from the one it looks for. At the border it finds the border’s own pixel. Lower the sharpness, and a softmax no longer picks one: what is left is a blurred convolution. That attention can be a convolution is true of hard shares only, which a softmax reaches in the limit."
        : "A softmax gives every place a share. With so little sharpness each head reads a neighbourhood instead of one pixel, and the result is a blurred convolution, not the convolution.",
    );
    this.#pictures.weights.say(
      "A pixel’s query is its place (x, y, 1) times the head’s matrix; its key is (x, y, x² + y²); its value is its grey. The product is −s times the squared distance between a key’s place and the place looked for, up to what is the same for all keys: for a key at (x′, y′) and a head that looks (Δx, Δy) away, 2s (x + Δx) x′ + 2s (y + Δy) y′ − s (x′² + y′²). Nothing here depends on the picture: that is what makes it a convolution. Attention proper would let it.",
    );
  }

  #showQueries(scene: Scene): void {
    const shift = shiftOf(scene, this.#head);
    const matrix = queryWeights(shift, scene.state.sharpness);
    const queries: MatrixView = {
      name: "Wq",
      title: "W_Q",
      about: `of the head that looks ${nameOf(shift)}`,
      matrix,
      rowLabels: PLACE,
      colLabels: KEY,
      tone: "signed",
      full: Math.max(1, largest(matrix)),
    };
    this.#matrices.show(() => queries, ["Wq"]);
  }

  heedCode(): string {
    return this.#scene === undefined ? "" : heedCode(this.#scene.state, this.#scene.grey);
  }

  torchCode(): string {
    return this.#scene === undefined ? "" : torchCode(this.#scene.state, this.#scene.grey);
  }
}

function* sceneOf(state: WhatElseState, grey: Float32Array<ArrayBuffer>): Generator<undefined, Scene> {
  const shifts = shiftsOf(state.kernel);
  const pixels = fill(SIZE, SIZE, (row, col) => grey[row * SIZE + col] ?? 0);
  const byHand: Float64Array[] = [];
  for (const reading of readByHand(pixels, shifts, state.sharpness)) {
    byHand.push(reading);
    if (byHand.length % state.kernel.cols === 0) yield;
  }
  const direct = convolve(grey, state.kernel);
  const attended = mixed((head, pixel) => byHand[head]?.[pixel] ?? Number.NaN, state.kernel);
  return { state, grey, shifts, direct, byHand, attended };
}

/** Of the head's query weights, in the address. */
function queriesName(head: number): string {
  return `Wq-${head}`;
}

function shiftOf({ shifts }: Scene, head: number): Shift {
  return shifts[head] ?? { x: 0, y: 0 };
}

/** The one that looks to the left of the middle. */
function firstHead({ shifts }: Scene): number {
  return (shifts.length - 1) / 2 - 1;
}

/** Where the head's output weight stands in the kernel. */
function weightOf({ kernel: { cols } }: WhatElseState, head: number): Cell {
  return { name: "W", row: Math.floor(head / cols), col: head % cols };
}

function explainQueryWeight({ state, shifts }: Scene, head: number, { row, col }: Cell): Explanation | undefined {
  const [shift, place, key] = [shifts[head], PLACE[row], KEY[col]];
  if (shift === undefined || place === undefined || key === undefined) return undefined;
  const factors = queryFactors(shift, state.sharpness)[row * KEY.length + col];
  const result = at(queryWeights(shift, state.sharpness), row, col);
  const written = (factors ?? []).map(({ name }) => name).join(" × ");
  const counted = (factors ?? []).map(({ value }) => exact(value, 2)).join(" × ");
  return {
    subject: `WQ [${place}, ${key}], looks ${nameOf(shift)}`,
    sentence:
      factors === undefined
        ? `A pixel’s ${place} has no say in what is multiplied by a key’s ${key}.`
        : `By this a pixel’s ${place} goes into the number of its query that is multiplied by a key’s ${key}.`,
    head: [],
    terms: [],
    last: factors === undefined ? "" : `${written} = ${counted} = ${exact(result, 2)}`,
    result,
    lights: [weightOf(state, head), { name: "Wq", row, col }],
  };
}

function nameOf({ x, y }: Shift): string {
  const upright = y === 0 ? "" : `${Math.abs(y)} ${y < 0 ? "up" : "down"}`;
  const level = x === 0 ? "" : `${Math.abs(x)} ${x < 0 ? "left" : "right"}`;
  return [upright, level].filter(Boolean).join(", ") || "here";
}

function offsets(size: number, before: string, after: string): readonly string[] {
  const reach = (size - 1) / 2;
  return Array.from({ length: size }, (_, index) => {
    const offset = index - reach;
    return offset === 0 ? "here" : `${Math.abs(offset)} ${offset < 0 ? before : after}`;
  });
}
