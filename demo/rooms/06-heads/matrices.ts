// One number of the room taken apart, and the mix of the heads as matrices. Those of a head are told as in the matrix walk. Pure.

import { along, down } from "../../src/model/matrix.js";
import type { Cell } from "../../src/model/store.js";
import { HEADS as ASKS, IT, PROPERTIES, VALUES, valuesOf } from "../../src/model/toy.js";
import { FEATURES } from "../../src/model/vocabulary.js";
import { type Explanation, products, softened } from "../../src/ui/explanation.js";
import { signed, type Telling, told } from "../../src/ui/named-matrices.js";
import { explain as explainInHead, MATRICES as OF_HEADS } from "../../src/ui/walk-matrices.js";
import type { Layers } from "./layers.js";
import { type HeadsScene, headOf, joinedNames } from "./scene.js";

export const MATRICES = ["Wo-0", "Y-0"] as const;
export type MatrixName = (typeof MATRICES)[number];

export function viewsOf(scene: HeadsScene): Readonly<Record<MatrixName, Telling>> {
  const { mixed, joined, state, words, walk } = scene;
  const about = "rows: columns of the heads; change any";
  return {
    "Wo-0": {
      ...signed("W_O", about, state.mix, joinedNames(scene), walk.featureNames),
      editable: true,
      tell: (row, col) => {
        const head = Math.floor(row / walk.headWidth) + 1;
        return {
          sentence: `How much of “${FEATURES[row]}”, from head ${head}, goes into “${FEATURES[col]}”. Chosen by hand; change it.`,
        };
      },
    },
    "Y-0": {
      ...signed("Y", "output of the layer", mixed, words, walk.featureNames),
      tell: (row, col) => ({
        sentence: "The word’s row of all heads’ outputs times a column of WO: the only place where heads meet.",
        ...products(joinedNames(scene), along(joined, row), down(state.mix, col), ["", "O", "WO"]),
      }),
    },
  };
}

/** Of what no matrix shows: there is nothing to light. */
type Unlit = Omit<Explanation, "lights">;

/** "A-1" is the second head's, "A1-0" the row of "it" in the first layer, "A0-0" in the second without the first. */
export function explain(scene: HeadsScene, layers: Layers, cell: Cell): Explanation | undefined {
  const name = MATRICES.find((one) => one === cell.name);
  if (name !== undefined) return told(viewsOf(scene)[name], cell);
  const [kind = "", head] = cell.name.split("-");
  const inside = /^[QAO][012]$/.test(kind)
    ? explainLayer(layers, kind, cell.col)
    : inHead(scene, Number(head), { ...cell, name: kind });
  return inside === undefined || Number.isNaN(inside.result) ? undefined : { ...inside, lights: [] };
}

/** The words' vectors and the projections are changed in the matrix walk, not here. */
function inHead(scene: HeadsScene, index: number, cell: Cell): Unlit | undefined {
  const own = headOf(scene, index);
  const name = OF_HEADS.find((known) => known === cell.name);
  const found = own && name && explainInHead(own, { ...cell, name });
  if (found === undefined) return undefined;
  const { editable: _, ...rest } = found;
  const of = scene.walk.heads.length > 1 && name !== "X" ? `head ${index + 1}: ` : "";
  const sentence = found.sentence.replace(" Drag or type to change it.", "");
  return { ...rest, sentence, subject: of + found.subject };
}

function explainLayer({ words, alone, first, second }: Layers, kind: string, col: number): Unlit {
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
