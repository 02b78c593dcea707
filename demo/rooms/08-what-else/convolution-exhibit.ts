// Attention as a convolution: a picture, a filter, and as many heads as it has weights, which are laid over one another.

import { type Matrix, singleRows, unstack, widest } from "../../src/model/matrix.js";
import { agreed } from "../../src/page/room.js";
import { Board } from "../../src/ui/board.js";
import { single, torchTensor } from "../../src/ui/code.js";
import { boundSlider, presets } from "../../src/ui/controls.js";
import { fact, h } from "../../src/ui/dom.js";
import { type Explanation, products } from "../../src/ui/explanation.js";
import { HeedPixels } from "../../src/ui/heed-pixels.js";
import { signed, type View } from "../../src/ui/named-matrices.js";
import { exact, apart as gapIn, whole } from "../../src/ui/numbers.js";
import { atOnce } from "../../src/ui/pieces.js";
import { arrowsOf, type Convolved, convolved, keysOf, nameOf, queriesOf } from "./convolution.js";
import { difference, type Exhibit, type Programs, type Scene, type Spot } from "./exhibit.js";
import { GHOST_STEPS, ghosts } from "./ghosts.js";
import { imageOf, pixelCell } from "./images.js";
import { EDGE, FINE, SHARPNESS, store, type WhatElseState } from "./state.js";

/** Rows of a larger filter. */
const [OUTER, INNER, MIDDLE] = [
  [0, 0, -1, 0, 0],
  [0, -1, -2, -1, 0],
  [-1, -2, 16, -2, -1],
] as const;
const FILTERS: readonly { readonly name: string; readonly filter: Matrix }[] = [
  { name: "edges", filter: EDGE },
  { name: "from left to right", filter: singleRows([-1, 0, 1], [-2, 0, 2], [-1, 0, 1]) },
  { name: "sharper", filter: singleRows([0, -1, 0], [-1, 5, -1], [0, -1, 0]) },
  { name: "blur", filter: singleRows(...[1, 2, 3].map(() => [1 / 8, 1 / 8, 1 / 8])) },
  { name: "edges, 5 × 5", filter: singleRows(OUTER, INNER, MIDDLE, INNER, OUTER) },
];

/** Where heed answers besides the chosen pixel: from border to border, corners included. */
const SAMPLE = Array.from({ length: 64 }, (_, index) => {
  const [row, col] = [Math.floor(index / 8), index % 8].map((place) => Math.round((place * (FINE - 1)) / 7));
  return (row ?? 0) * FINE + (col ?? 0);
});

export function convolutionExhibit(): Exhibit {
  const view = ghosts();
  const board = new Board({ steps: GHOST_STEPS, rests: GHOST_STEPS.length - 1 });
  const panels = [new HeedPixels(), new HeedPixels()];
  for (const one of panels) one.choose = (pixel) => store.change({ pixel });
  return {
    picture: {
      name: "convolution",
      title: "A convolution, and attention that is the same",
      body: [h("div", { class: "ghosts" }, board.element, h("div", { class: "pixel-row" }, ...panels))],
      controls: [boundSlider(store, "sharpness", "Sharpness s", SHARPNESS, { said: (value) => exact(value, 2) })],
      more: [presets("Filter", FILTERS, ({ filter }) => store.change({ filter }, "new")), h("p", {}, WEIGHTS_TEXT)],
    },
    sceneOf: (state) =>
      sceneOf(state, (scene) => {
        const { size, grey, direct, most } = scene;
        board.show((place, width) => view(scene, state, place, width));
        const common = { about: "", size, channels: 1, cursor: state.pixel } as const;
        panels[0]?.show({ ...common, title: "Picture", data: grey, range: [0, 1] });
        panels[1]?.show({ ...common, title: "Convolution, grey is 0", data: direct, range: [-most, most] });
      }),
  };
}

let known: Convolved | undefined;

/** Head after head, with a pause after each. */
export function* prepare(state: WhatElseState): Generator<unknown> {
  const { fine } = imageOf(state);
  const { view, filter, sharpness } = state;
  const isKnown = known?.grey === fine && known.filter === filter && known.sharpness === sharpness;
  if (view === "convolution" && !isKnown) known = yield* convolved(state, fine);
}

function sceneOf(state: WhatElseState, draw: (scene: Convolved) => void): Scene {
  atOnce(prepare(state));
  if (known === undefined) throw new Error("no convolution was made");
  const scene = known;
  const { size, grey, shifts, readings, attended, direct: convolution } = scene;
  const pixels = [state.pixel, ...SAMPLE];
  const heads = shifts.length;
  const q = { data: queriesOf(scene, pixels), shape: [1, heads, pixels.length, 3] };
  const k = { data: keysOf(size), shape: [1, 1, grey.length, 3] };
  const v = { data: grey, shape: [1, 1, grey.length, 1] };
  return {
    state,
    calls: [{ q, k, v, options: { score: "dot" }, lean: true }],
    show: (answers) => {
      /** What heed read at the chosen pixel and those of the sample, head by head. */
      const kernel = answers?.[0]?.output.data;
      const own = readings.flatMap((reading) => pixels.map((pixel) => reading[pixel] ?? Number.NaN));
      draw(scene);
      return {
        text: state.sharpness >= 12 ? HARD_TEXT : SOFT_TEXT,
        figures: [
          difference(widest(attended, convolution)),
          fact(
            "Computed by heed",
            `${pixels.length} pixels`,
            `each against all ${whole(grey.length)}; the page computes the rest`,
          ),
          fact("Next pixel’s weight", gapIn(Math.exp(-state.sharpness)), "e⁻ˢ of the one that is looked at"),
        ],
        views: { W: filterView(state.filter) },
        data: { state, sample: pixels, kernel: kernel ?? [], grey, convolution, attention: attended },
        first: pixelCell(state.pixel, FINE),
        explain: (spot) => explain(scene, state, kernel, spot),
        explainPixel: () => explain(scene, state, kernel),
        agreed: agreed(`All ${heads} heads`, widest(own, kernel ?? own)),
      };
    },
    programs: () => programsOf(state),
  };
}

function filterView(filter: Matrix): View {
  const reach = (filter.cols - 1) / 2;
  const steps = Array.from({ length: filter.cols }, (_, index) => index - reach);
  const [rows, cols] = [steps.map((y) => nameOf({ x: 0, y })), steps.map((x) => nameOf({ x, y: 0 }))];
  return { ...signed("filter", "change any; each is a head’s output weight", filter, rows, cols), editable: true };
}

/** `chosen`: the weight of the head in the light. */
function explain(
  { size, shifts, readings, attended, direct, filter }: Convolved,
  { pixel }: WhatElseState,
  kernel: ArrayLike<number> | undefined,
  chosen?: Spot,
): Explanation {
  const own = chosen && chosen.row * filter.cols + chosen.col;
  const weight = (head: number): number => filter.data[head] ?? 0;
  const read = (head: number): number => kernel?.[head * (SAMPLE.length + 1)] ?? readings[head]?.[pixel] ?? Number.NaN;
  const told = products(shifts.map(arrowsOf), read, weight, ["looks", "reads", "weight"]);
  return {
    ...told,
    terms: told.terms.map((term, head) => ({ ...term, own: head === own, faint: weight(head) === 0 })),
    subject: `row ${Math.floor(pixel / size) + 1}, column ${(pixel % size) + 1}${own === undefined ? "" : `, head ${own + 1}`}`,
    sentence: `Each head reads one neighbour; the output weights are the filter. The convolution itself says ${exact(direct[pixel] ?? Number.NaN, 6)}.`,
    result: attended[pixel] ?? Number.NaN,
    kernel: kernel && shifts.reduce((sum, _, head) => sum + read(head) * weight(head), 0),
    lights: chosen === undefined ? [] : [chosen],
  };
}

/** The attention that is the same as the convolution, with its weights made on the spot. */
function programsOf(state: WhatElseState): Programs {
  const { filter, sharpness } = state;
  const [size, { grey }] = [filter.rows, imageOf(state)];
  return {
    about: `${size} x ${size} convolution of the picture at 32 x 32, and the attention that is the same`,
    heed: [
      `const [size, s] = [32, ${single(sharpness)}];
const pixels = Float32Array.of(${Array.from(grey, single).join(", ")});
const weights = [${Array.from(filter.data, single).join(", ")}];
const reach = (Math.sqrt(weights.length) - 1) / 2;
const place = (pixel) => [(pixel % size) - (size - 1) / 2, Math.floor(pixel / size) - (size - 1) / 2];

const heads = weights.map((_, head) => [(head % (2 * reach + 1)) - reach, Math.floor(head / (2 * reach + 1)) - reach]);
const q = Float32Array.from(heads.flatMap(([dx, dy]) =>
  Array.from(pixels, (_, pixel) => place(pixel)).flatMap(([x, y]) => [2 * s * (x + dx), 2 * s * (y + dy), -s]),
));
const k = Float32Array.from(Array.from(pixels, (_, pixel) => place(pixel)).flatMap(([x, y]) => [x, y, x * x + y * y]));

const read = await heed.attention(
  { data: q, shape: [1, weights.length, pixels.length, 3] },
  { data: k, shape: [1, 1, pixels.length, 3] },
  { data: pixels, shape: [1, 1, pixels.length, 1] },
  { score: "dot" },
);
// The output weights are the filter.
const output = { data: pixels.map((_, pixel) =>
  weights.reduce((sum, weight, head) => sum + weight * read.output.data[head * pixels.length + pixel], 0)) };`,
    ],
    torch: [
      `${torchTensor("image", [unstack(32, 32, grey)])}
${torchTensor("kernel", [filter])}
convolution = F.conv2d(F.pad(image, [${(size - 1) / 2}] * 4, mode="replicate"), kernel)

s = ${single(sharpness)}
y, x = torch.meshgrid(torch.arange(32.0), torch.arange(32.0), indexing="ij")
x, y = x.flatten() - ${15.5}, y.flatten() - ${15.5}
steps = torch.arange(${size}) - ${(size - 1) / 2}
q = torch.stack([torch.stack([2 * s * (x + dx), 2 * s * (y + dy), torch.full_like(x, -s)], -1) for dy in steps for dx in steps])
k = torch.stack([x, y, x * x + y * y], -1).expand(len(q), -1, -1)
v = image.view(1, -1, 1).expand(len(q), -1, -1)
read = F.scaled_dot_product_attention(q, k, v, scale=1.0)
output = (read * kernel.view(-1, 1, 1)).sum(0).view_as(convolution)`,
      "(output - convolution).abs().max()",
    ],
  };
}

const HARD_TEXT =
  "Each head looks one pixel to a side. Its copy of the picture is multiplied by one number of the filter, and the copies are added: where neighbours are alike they cancel, and edges are left.";
const SOFT_TEXT =
  "A soft softmax gives every place some weight, so each head reads a neighbourhood. Averaging costs resolution: the copies blur, and so does their sum. Only a hard softmax is the convolution.";
const WEIGHTS_TEXT =
  "For a head that looks (Δx, Δy) away, a pixel’s query is (2s (x + Δx), 2s (y + Δy), −s), its key (x, y, x² + y²), its value its grey. A score is −s times the squared distance, plus a constant per query.";
