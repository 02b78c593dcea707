// One number of the room taken apart. What happens inside of a head is told as in the matrix walk.

import { along, at, down } from "../../src/model/matrix.js";
import type { Cell } from "../../src/model/store.js";
import { FEATURES } from "../../src/model/vocabulary.js";
import { type Explanation, lit, products, softened } from "../../src/ui/explanation.js";
import { exact } from "../../src/ui/numbers.js";
import { HEADS, IT, KEY_WIDTH, keysOf, PROPERTIES, valuesOf } from "../00-thread/toy.js";
import { explain as explainInHead } from "../04-matrix-walk/explain.js";
import type { Spot } from "../04-matrix-walk/views.js";
import { type Layers, rowMatrix } from "./layers.js";
import { type HeadsScene, headOf, joinedNames } from "./scene.js";
import { isOfLayers, type LayerKind, partsOf, rowOfLayer } from "./views.js";

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
      ...products(PROPERTIES, along(x, IT), down(HEADS[head], col), ["", "x", "WQ"]),
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
