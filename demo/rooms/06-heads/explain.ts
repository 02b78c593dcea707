// One number of the room taken apart. What happens inside of a head is told as in the matrix walk.

import { at } from "../../src/model/matrix.js";
import { FEATURES } from "../../src/model/vocabulary.js";
import { type Explanation, products } from "../../src/ui/explanation.js";
import { explain as explainInHead } from "../04-matrix-walk/explain.js";
import type { MatrixName } from "../04-matrix-walk/spots.js";
import type { HeadsScene, Pass } from "./scene.js";
import { nameOf, rowOf, type Spot } from "./views.js";

export function explain(scene: HeadsScene, spot: Spot): Explanation | undefined {
  const told = tell(scene, spot);
  if (told === undefined || Number.isNaN(told.result)) return undefined;
  return { ...told, lights: [{ name: nameOf(spot.kind, spot.head), row: spot.row, col: spot.col }] };
}

function tell(scene: HeadsScene, { kind, head, row, col }: Spot): Explanation | undefined {
  const { chosen, it, one, two, state } = scene;
  switch (kind) {
    case "shares": {
      const own = rowOf(scene, row);
      return inHead(own.pass, own.head, "A", it, col);
    }
    case "taken": {
      const pass = row === 0 ? one : two;
      return inHead(pass, Math.floor(col / pass.walk.headWidth), "O", it, col % pass.walk.headWidth);
    }
    case "X":
      return readOnly(inHead(chosen, 0, "X", row, col));
    case "W":
      return readOnly(inHead(chosen, head, state.role === "q" ? "Wq" : state.role === "k" ? "Wk" : "Wv", row, col));
    case "q":
      return inHead(chosen, head, "Q", row, col);
    case "k":
      return inHead(chosen, head, "K", row, col);
    case "v":
      return inHead(chosen, head, "V", row, col);
    case "A":
    case "O":
      return inHead(chosen, head, kind, row, col);
    case "Wo":
      return explainMix(scene, row, col);
    case "Y":
      return explainMixed(scene, row, col);
  }
}

function inHead(pass: Pass, index: number, name: MatrixName, row: number, col: number): Explanation | undefined {
  const head = pass.walk.heads[index];
  if (head === undefined) return undefined;
  const several = pass.walk.heads.length > 1;
  const told = explainInHead(
    { walk: pass.walk, state: pass.state, head, kernel: pass.kernel?.heads[index] },
    { name, row, col },
  );
  if (told === undefined || !several || name === "X") return told;
  return { ...told, subject: `head ${index + 1}: ${told.subject}` };
}

/** The words' vectors are changed in the matrix walk, not here. */
function readOnly(told: Explanation | undefined): Explanation | undefined {
  if (told === undefined) return undefined;
  const { editable: _, ...rest } = told;
  return { ...rest, sentence: told.sentence.replace(" Drag or type to change it.", "") };
}

function explainMix({ state, chosen }: HeadsScene, row: number, col: number): Explanation {
  const head = Math.floor(row / chosen.walk.headWidth) + 1;
  return {
    subject: `WO [${FEATURES[row]}, ${FEATURES[col]}]`,
    sentence: `How much of “${FEATURES[row]}”, from head ${head}, goes into “${FEATURES[col]}”. Chosen by hand; change it.`,
    head: [],
    terms: [],
    last: "",
    result: at(state.mix, row, col),
    lights: [],
    editable: true,
  };
}

function explainMixed({ state, joined, mixed, words, chosen }: HeadsScene, row: number, col: number): Explanation {
  const { headWidth, heads } = chosen.walk;
  const labels = FEATURES.slice(0, joined.cols).map((name, index) =>
    heads.length > 1 ? `${Math.floor(index / headWidth) + 1} ${name}` : name,
  );
  return {
    subject: `Y [${words[row]}, ${FEATURES[col]}]`,
    sentence: "The word’s row of all heads’ outputs times a column of WO: the only place where heads meet.",
    ...products(
      labels,
      (index) => at(joined, row, index),
      (index) => at(state.mix, index, col),
      ["", "O", "WO"],
    ),
    result: at(mixed, row, col),
    lights: [],
  };
}
