// The room's matrices: which there are, and how they are shown. Those of a head are shown as in the matrix walk. Pure.

import type { MatrixView } from "heed/viz";
import { signed, weighed } from "../../src/ui/named-matrices.js";
import { KEY_WIDTH, PROPERTIES, VALUES } from "../00-thread/toy.js";
import { viewOf as viewInHead } from "../04-matrix-walk/views.js";
import { type Layers, rowMatrix } from "./layers.js";
import { type HeadsScene, headOf, joinedNames } from "./scene.js";
import { HEADS, type Step } from "./state.js";

/** Those of one head, and the row of "it" in each of the two layers; A0: in the second without the first. */
const OF_HEADS = ["Wq", "Wk", "Wv", "Q", "K", "V", "A", "O"] as const;
const OF_LAYERS = ["A0", "Q1", "S1", "A1", "O1", "Q2", "S2", "A2"] as const;
const KINDS = ["X", ...OF_HEADS, "Wo", "Y", ...OF_LAYERS] as const;
export type LayerKind = (typeof OF_LAYERS)[number];
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

export const isOfLayers = (kind: Kind): kind is LayerKind => OF_LAYERS.some((one) => one === kind);

export function partsOf(name: string): { readonly kind: Kind; readonly head: number } {
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
export function rowOfLayer({ words, first, second, alone }: Layers, kind: LayerKind) {
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
