// Attention as a convolution: a picture, a filter, and as many heads as it has weights, which are laid over one another.

import type { Answer, Call } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import { type Matrix, singleRows, withBlock } from "../../src/model/matrix.js";
import { agreed } from "../../src/page/furnish.js";
import { Board } from "../../src/ui/board.js";
import { h } from "../../src/ui/dom.js";
import { type Explanation, products } from "../../src/ui/explanation.js";
import { HeedPixels } from "../../src/ui/heed-pixels.js";
import { NamedMatrices, signed } from "../../src/ui/named-matrices.js";
import { exact, apart as gapIn, whole } from "../../src/ui/numbers.js";
import { presets } from "../../src/ui/presets.js";
import { slider } from "../../src/ui/slider.js";
import { fact } from "../../src/ui/table.js";
import { arrowsOf, type ConvolutionScene, convolutionScene, keysOf, nameOf, queriesOf } from "./convolution.js";
import { heedCode, torchCode } from "./convolution-code.js";
import { difference, type Exhibit, exhibit, type Host, widest } from "./exhibit.js";
import type { Gallery } from "./gallery.js";
import { GHOST_STEPS, Ghosts } from "./ghosts.js";
import { FINE, pixelCell } from "./images.js";
import { EDGE, SHARPNESS } from "./state.js";

const FILTERS: readonly { readonly name: string; readonly filter: Matrix }[] = [
  { name: "edges", filter: EDGE },
  { name: "from left to right", filter: singleRows([-1, 0, 1], [-2, 0, 2], [-1, 0, 1]) },
  { name: "sharper", filter: singleRows([0, -1, 0], [-1, 5, -1], [0, -1, 0]) },
  { name: "blur", filter: singleRows(...[1, 2, 3].map(() => [1 / 8, 1 / 8, 1 / 8])) },
  {
    name: "edges, 5 × 5",
    filter: singleRows(
      [0, 0, -1, 0, 0],
      [0, -1, -2, -1, 0],
      [-1, -2, 16, -2, -1],
      [0, -1, -2, -1, 0],
      [0, 0, -1, 0, 0],
    ),
  },
];

/** Where heed answers besides the chosen pixel: from border to border, corners included. */
const SAMPLE = Array.from({ length: 64 }, (_, index) => {
  const [row, col] = [Math.floor(index / 8), index % 8].map((place) => Math.round((place * (FINE - 1)) / 7));
  return (row ?? 0) * FINE + (col ?? 0);
});
const pixelsOf = ({ state }: ConvolutionScene): readonly number[] => [state.pixel, ...SAMPLE];

export function convolutionExhibit(host: Host, gallery: Gallery): Exhibit {
  const { store } = host;
  const matrices = new NamedMatrices(["W"]);
  const ghosts = new Ghosts();
  const board = new Board({ steps: GHOST_STEPS });
  const panels = [new HeedPixels(), new HeedPixels()];
  for (const one of panels) one.choose = (pixel) => store.change({ pixel });
  const sharpness = slider("Sharpness s", SHARPNESS, (value) => store.change({ sharpness: value }));
  return exhibit<ConvolutionScene, "W">(host, {
    picture: {
      name: "convolution",
      title: "A convolution, and attention that is the same",
      body: [h("div", { class: "ghosts" }, board.element, h("div", { class: "pixel-row" }, ...panels))],
      controls: [sharpness.element],
      more: [
        presets("Filter", FILTERS, ({ filter }) => store.change({ filter }, "new")),
        matrices.line("W"),
        h("p", {}, WEIGHTS_TEXT),
      ],
    },
    figures: ({ state, attended, direct, grey }) => [
      difference(widest(attended, direct)),
      fact(
        "Computed by heed",
        `${SAMPLE.length + 1} pixels`,
        `each against all ${whole(grey.length)}; the page computes the rest`,
      ),
      fact("Next pixel’s weight", gapIn(Math.exp(-state.sharpness)), "e⁻ˢ of the one that is looked at"),
    ],
    data: (scene) => ({
      state: scene.state,
      sample: pixelsOf(scene),
      kernel: Array.from(scene.found ?? []),
      grey: Array.from(scene.grey),
      convolution: Array.from(scene.direct),
      attention: Array.from(scene.attended),
    }),
    say: ({ state }) => (state.sharpness >= 12 ? HARD_TEXT : SOFT_TEXT),
    matrices,
    viewsOf,
    edit: (_name, row, col, values) => store.change({ filter: withBlock(store.state.filter, row, col, values) }),
    madeFrom: ({ filter, sharpness, pixel }) => [gallery.image().fine, filter, sharpness, pixel],
    *sceneOf(state, before) {
      const { fine } = gallery.image();
      const { filter, sharpness } = state;
      const isSame = before?.grey === fine && before.state.filter === filter && before.state.sharpness === sharpness;
      return isSame ? { ...before, state, found: undefined } : yield* convolutionScene(state, fine);
    },
    draw: [
      (scene) => {
        sharpness.show(scene.state.sharpness, exact(scene.state.sharpness, 2));
        board.show((place, width) => ghosts.view(scene, place, width));
      },
      ({ state, size, grey, direct, most }) => {
        const common = { about: "", size, channels: 1, cursor: state.pixel } as const;
        panels[0]?.show({ ...common, title: "Picture", data: grey, range: [0, 1] });
        panels[1]?.show({ ...common, title: "Convolution, grey is 0", data: direct, range: [-most, most] });
      },
    ],
    calls,
    read,
    first: ({ state }) => pixelCell(state.pixel, FINE),
    explain: explainPixel,
    explainOther: (scene, { name }) => (name === "pixel" ? explainPixel(scene) : undefined),
    heedCode: ({ state }) => heedCode(state, gallery.image().grey),
    torchCode: ({ state }) => torchCode(state, gallery.image().grey),
  });
}

function viewsOf({ state: { filter }, shifts }: ConvolutionScene) {
  const steps = shifts.slice(0, filter.cols).map(({ x }) => x);
  const [rows, cols] = [steps.map((y) => nameOf({ x: 0, y })), steps.map((x) => nameOf({ x, y: 0 }))];
  return {
    W: { ...signed("filter", "change any; each is a head’s output weight", filter, rows, cols), editable: true },
  };
}

function calls(scene: ConvolutionScene): readonly Call[] {
  const pixels = pixelsOf(scene);
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

function read(scene: ConvolutionScene, [answer]: readonly Answer[]): readonly [ConvolutionScene, string] {
  const found = Float32Array.from(answer?.output.data ?? []);
  const pixels = pixelsOf(scene);
  const own = scene.readings.flatMap((reading) => pixels.map((pixel) => reading[pixel] ?? Number.NaN));
  return [{ ...scene, found }, agreed(`All ${scene.shifts.length} heads`, widest(own, found))];
}

/** `chosen`: the weight of the head in the light. */
function explainPixel(scene: ConvolutionScene, chosen?: Cell): Explanation {
  const { state, size, shifts, readings, attended, direct, found } = scene;
  const { pixel, filter } = state;
  const own = chosen && chosen.row * filter.cols + chosen.col;
  const weight = (head: number): number => filter.data[head] ?? 0;
  const read = (head: number): number => found?.[head * (SAMPLE.length + 1)] ?? readings[head]?.[pixel] ?? Number.NaN;
  const told = products(shifts.map(arrowsOf), read, weight, ["looks", "reads", "weight"]);
  return {
    ...told,
    terms: told.terms.map((term, head) => ({ ...term, own: head === own, faint: weight(head) === 0 })),
    subject: `row ${Math.floor(pixel / size) + 1}, column ${(pixel % size) + 1}${own === undefined ? "" : `, head ${own + 1}`}`,
    sentence: `Each head reads one neighbour; the output weights are the filter. The convolution itself says ${exact(direct[pixel] ?? Number.NaN, 6)}.`,
    result: attended[pixel] ?? Number.NaN,
    kernel: found && shifts.reduce((sum, _, head) => sum + read(head) * weight(head), 0),
    lights: chosen === undefined ? [] : [chosen],
  };
}

const HARD_TEXT =
  "Each head looks one pixel to a side. Its copy of the picture is multiplied by one number of the filter, and the copies are added: where neighbours are alike they cancel, and edges are left.";
const SOFT_TEXT =
  "A soft softmax gives every place some weight, so each head reads a neighbourhood. Averaging costs resolution: the copies blur, and so does their sum. Only a hard softmax is the convolution.";
const WEIGHTS_TEXT =
  "The head that looks (Δx, Δy) away: a pixel’s query is (2s (x + Δx), 2s (y + Δy), −s), its key (x, y, x² + y²), its value its grey. A score is −s times the squared distance to the place looked for, plus a constant per query.";
