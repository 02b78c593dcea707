// The room’s matrices: which there are, how they are shown, and one number of them taken apart. Those of a head are shown and told as in the
// matrix walk. Pure.

import type { MatrixView } from "heed/viz";
import { along, at, down } from "../../src/model/matrix.js";
import type { Cell } from "../../src/model/store.js";
import { HEADS as ASKS, IT, KEY_WIDTH, keysOf, PROPERTIES, VALUES, valuesOf } from "../../src/model/toy.js";
import { FEATURES } from "../../src/model/vocabulary.js";
import { type Explanation, lit, products, softened } from "../../src/ui/explanation.js";
import { signed, weighed } from "../../src/ui/named-matrices.js";
import { exact } from "../../src/ui/numbers.js";
import { explain as explainInHead, type Spot, viewOf as viewInHead } from "../../src/ui/walk-matrices.js";
import { type Layers, rowMatrix } from "./layers.js";
import { type HeadsScene, headOf, joinedNames } from "./scene.js";
import { HEADS, type Step } from "./state.js";

/** Those of one head, and the row of "it" in each of the two layers; A0: in the second without the first. */
const OF_HEADS = ["Wq", "Wk", "Wv", "Q", "K", "V", "A", "O"] as const;
const OF_LAYERS = ["A0", "Q1", "S1", "A1", "O1", "Q2", "S2", "A2"] as const;
const KINDS = ["X", ...OF_HEADS, "Wo", "Y", ...OF_LAYERS] as const;
type LayerKind = (typeof OF_LAYERS)[number];
type Kind = (typeof KINDS)[number];

/** What the numbers are of where the picture stands. */
const SHOWN: Readonly<Record<Step, readonly Kind[]>> = {
  project: ["X", "Wq", "Wk", "Wv", "V"],
  split: ["Q", "K", "V"],
  attend: ["A", "O"],
  join: ["O"],
  mix: ["O", "Wo", "Y"],
};

/** Names, one kind in a line. */
export const LINES: readonly (readonly string[])[] = [
  ["X-0"],
  ...OF_HEADS.map((kind) => Array.from({ length: Number(HEADS.at(-1)) }, (_, head) => `${kind}-${head}`)),
  ["Wo-0", "Y-0"],
];
export const LAYER_LINES: readonly (readonly string[])[] = ["1", "2"].map((layer) =>
  OF_LAYERS.filter((kind) => kind.endsWith(layer)).map((kind) => `${kind}-0`),
);

const isOfLayers = (kind: Kind): kind is LayerKind => OF_LAYERS.some((one) => one === kind);

function partsOf(name: string): { readonly kind: Kind; readonly head: number } {
  const [said, head] = name.split("-");
  return { kind: KINDS.find((known) => known === said) ?? "X", head: Number(head) };
}

/** undefined: it is not among the numbers of this step, or there is no such head. */
export function viewOf(name: string, scene: HeadsScene, layers: Layers): MatrixView | undefined {
  const { kind, head } = partsOf(name);
  if (isOfLayers(kind)) return layerView(name, kind, layers);
  const { walk, state, mixed, words } = scene;
  const own = headOf(scene, head);
  if (own === undefined || !SHOWN[state.step].includes(kind)) return undefined;
  const several = walk.heads.length > 1;
  const columns = walk.featureNames;
  if (kind === "Y") return { name, ...signed("Y", "output of the layer", mixed, words, columns) };
  if (kind === "Wo") {
    const about = "rows: columns of the heads; change any";
    return { name, ...signed("W_O", about, state.mix, joinedNames(scene), columns), editable: true };
  }
  const { editable: _, ...view } = viewInHead(kind, own);
  const title = several && kind !== "X" ? `${view.title}${kind.startsWith("W") ? "" : "_"}${head + 1}` : view.title;
  return { ...view, name, title, about: kind === "X" ? view.about : "" };
}

/** The numbers of "it", and what each of them stands for. */
function rowOfLayer({ words, first, second, alone }: Layers, kind: LayerKind) {
  const layer = [alone, first, second][Number(kind.charAt(1))] ?? alone;
  const { query, scores, weights, output } = layer.row;
  const [title = ""] = kind;
  const [about, numbers, labels] =
    title === "Q"
      ? ["query of “it”", query, PROPERTIES.slice(0, KEY_WIDTH)]
      : title === "O"
        ? ["output", output, VALUES]
        : [title === "S" ? "scores" : "attention weights", title === "S" ? scores : weights, words];
  const where = layer === alone ? "layer 2 alone" : `layer ${kind.charAt(1)}`;
  return { title, layer, about: `${where}: ${about}`, numbers, labels };
}

function layerView(name: string, kind: LayerKind, layers: Layers): MatrixView {
  const { title, about, numbers, labels } = rowOfLayer(layers, kind);
  return { name, ...(title === "A" ? weighed : signed)(title, about, rowMatrix(numbers), ["it"], labels) };
}

type Told = Omit<Explanation, "lights">;

export function explain(scene: HeadsScene, layers: Layers, { name, row, col }: Cell): Explanation | undefined {
  const { kind, head } = partsOf(name);
  const inside = (): Told | undefined => {
    if (isOfLayers(kind)) return explainLayer(layers, kind, col);
    if (kind === "Wo") return explainMix(scene, row, col);
    return kind === "Y" ? explainMixed(scene, row, col) : inHead(scene, head, { name: kind, row, col });
  };
  const told = inside();
  return told === undefined || Number.isNaN(told.result) ? undefined : { ...told, lights: [lit(name, row, col)] };
}

/** The words' vectors and the projections are changed in the matrix walk, not here. */
function inHead(scene: HeadsScene, index: number, spot: Spot): Told | undefined {
  const own = headOf(scene, index);
  const told = own === undefined ? undefined : explainInHead(own, spot);
  if (told === undefined) return undefined;
  const { editable: _, ...rest } = told;
  const of = scene.walk.heads.length > 1 && spot.name !== "X" ? `head ${index + 1}: ` : "";
  const sentence = told.sentence.replace(" Drag or type to change it.", "");
  return { ...rest, sentence, subject: of + told.subject };
}

function explainMix({ state, walk }: HeadsScene, row: number, col: number): Told {
  const head = Math.floor(row / walk.headWidth) + 1;
  return {
    subject: `WO [${FEATURES[row]}, ${FEATURES[col]}]`,
    sentence: `How much of “${FEATURES[row]}”, from head ${head}, goes into “${FEATURES[col]}”. Chosen by hand; change it.`,
    result: at(state.mix, row, col),
    editable: true,
  };
}

function explainMixed(scene: HeadsScene, row: number, col: number): Told {
  const { state, joined, mixed, words } = scene;
  return {
    subject: `Y [${words[row]}, ${FEATURES[col]}]`,
    sentence: "The word’s row of all heads’ outputs times a column of WO: the only place where heads meet.",
    ...products(joinedNames(scene), along(joined, row), down(state.mix, col), ["", "O", "WO"]),
    result: at(mixed, row, col),
  };
}

function explainLayer(layers: Layers, kind: LayerKind, col: number): Told {
  const { title, layer, about, numbers, labels } = rowOfLayer(layers, kind);
  const { x, head, row } = layer;
  const subject = `${about} [${labels[col]}]`;
  if (title === "A") return softened(row.scores, layers.words, { subject, at: col });
  const keys = PROPERTIES.slice(0, KEY_WIDTH);
  const result = numbers[col] ?? Number.NaN;
  const [query, weights] = [along(rowMatrix(row.query), 0), along(rowMatrix(row.weights), 0)];
  const told: Readonly<Record<string, Pick<Explanation, "sentence" | "terms" | "last">>> = {
    Q: {
      sentence: "The vector of “it”, with what came before added, times a column of WQ.",
      ...products(PROPERTIES, along(x, IT), down(ASKS[head], col), ["", "x", "WQ"]),
    },
    S: {
      sentence: "Query times key, over √4.",
      ...products(keys, query, along(keysOf(x), col), ["", "q", "k"]),
    },
    O: {
      sentence: "The sum of the values, each times its attention weight.",
      ...products(layers.words, weights, down(valuesOf(x), col), ["", "weight", "v"]),
    },
  };
  const halved = title === "S" ? { last: `${told[title]?.last}; / √4 = ${exact(result)}` } : {};
  return { subject, sentence: "", ...told[title], ...halved, result };
}
