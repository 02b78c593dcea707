// One number of the room taken apart, and the mix of the heads as matrices. Those of a head are told as in the matrix walk. Pure.

import { along, at, down } from "../../src/model/matrix.js";
import type { Cell } from "../../src/model/store.js";
import { HEADS as ASKS, IT, PROPERTIES, VALUES, valuesOf } from "../../src/model/toy.js";
import { FEATURES } from "../../src/model/vocabulary.js";
import { type Explanation, lit, products, softened } from "../../src/ui/explanation.js";
import { signed, type Views } from "../../src/ui/named-matrices.js";
import { explain as explainInHead, MATRICES as OF_HEADS } from "../../src/ui/walk-matrices.js";
import type { Layers } from "./layers.js";
import { type HeadsScene, headOf, joinedNames } from "./scene.js";

export const MATRICES = ["Wo-0", "Y-0"] as const;
export type MatrixName = (typeof MATRICES)[number];

export function viewsOf(scene: HeadsScene): Views<MatrixName> {
  const { mixed, state, words, walk } = scene;
  const about = "rows: columns of the heads; change any";
  return {
    "Wo-0": { ...signed("W_O", about, state.mix, joinedNames(scene), walk.featureNames), editable: true },
    "Y-0": signed("Y", "output of the layer", mixed, words, walk.featureNames),
  };
}

type Told = Omit<Explanation, "lights">;

/** "A-1" is the second head's, "A1-0" the row of "it" in the first layer, "A0-0" in the second without the first. */
export function explain(scene: HeadsScene, layers: Layers, { name, row, col }: Cell): Explanation | undefined {
  const [kind = "", head] = name.split("-");
  const inside = (): Told | undefined => {
    if (/^[QAO][012]$/.test(kind)) return explainLayer(layers, kind, col);
    if (kind === "Wo") return explainMix(scene, row, col);
    return kind === "Y" ? explainMixed(scene, row, col) : inHead(scene, Number(head), { name: kind, row, col });
  };
  const told = inside();
  return told === undefined || Number.isNaN(told.result) ? undefined : { ...told, lights: [lit(name, row, col)] };
}

/** The words' vectors and the projections are changed in the matrix walk, not here. */
function inHead(scene: HeadsScene, index: number, cell: Cell): Told | undefined {
  const own = headOf(scene, index);
  const name = OF_HEADS.find((known) => known === cell.name);
  const told = own && name && explainInHead(own, { ...cell, name });
  if (told === undefined) return undefined;
  const { editable: _, ...rest } = told;
  const of = scene.walk.heads.length > 1 && name !== "X" ? `head ${index + 1}: ` : "";
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

function explainLayer({ words, alone, first, second }: Layers, kind: string, col: number): Told {
  const [title, number] = kind;
  const { x, head, row } = [alone, first, second][Number(number)] ?? alone;
  const where = number === "0" ? "layer 2 alone" : `layer ${number}`;
  if (title === "A") {
    const told = softened(row.scores, words, { subject: `${where}: attention weights [${words[col]}]`, at: col });
    return { ...told, sentence: `A score is query times key, over √4. ${told.sentence}` };
  }
  if (title === "Q") {
    return {
      subject: `${where}: query of “it” [${PROPERTIES[col]}]`,
      sentence: "The vector of “it”, with what came before added, times a column of WQ.",
      ...products(PROPERTIES, along(x, IT), down(ASKS[head], col), ["", "x", "WQ"]),
      result: row.query[col] ?? Number.NaN,
    };
  }
  return {
    subject: `${where}: output [${VALUES[col]}]`,
    sentence: "The sum of the values, each times its attention weight.",
    ...products(words, (key) => row.weights[key] ?? 0, down(valuesOf(x), col), ["", "weight", "v"]),
    result: row.output[col] ?? Number.NaN,
  };
}
