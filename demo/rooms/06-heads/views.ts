// The room's matrices: which there are, what they are called, how they are coloured. Pure; the room draws them.

import type { MatrixView } from "heed/viz";
import { at, columns, fill, largest, type Matrix } from "../../src/model/matrix.js";
import { QUESTIONS } from "../../src/model/projections.js";
import { FEATURES } from "../../src/model/vocabulary.js";
import type { HeadsScene, Pass } from "./scene.js";
import { WIDTH } from "./state.js";

/** "shares" and "taken" are of "it" alone; the others belong to the multiplication, those of heads with the head's number. */
export type Kind = "shares" | "taken" | "X" | "W" | "q" | "k" | "v" | "A" | "O" | "Wo" | "Y";

export interface Spot {
  readonly kind: Kind;
  readonly head: number;
  readonly row: number;
  readonly col: number;
}

export function nameOf(kind: Kind, head = 0): string {
  return `${kind}-${head}`;
}

const features: readonly string[] = FEATURES.slice(0, WIDTH);
const questions: readonly string[] = QUESTIONS.slice(0, WIDTH).map(({ name }) => name);

/** Whose shares a row of the first picture shows. */
export function rowOf({ one, two }: HeadsScene, row: number): { readonly pass: Pass; readonly head: number } {
  return row === 0 ? { pass: one, head: 0 } : { pass: two, head: row - 1 };
}

export function viewOf(kind: Kind, head: number, scene: HeadsScene): MatrixView {
  const { words, it, one, two, chosen, state } = scene;
  const { walk } = chosen;
  const own = walk.heads[head];
  const [first, width] = [head * walk.headWidth, walk.headWidth];
  const part = <T>(names: readonly T[]): readonly T[] => names.slice(first, first + width);
  const several = walk.heads.length > 1;
  const of = (title: string): string => (several ? `${title}_${head + 1}` : title);
  const signed = (title: string, about: string, matrix: Matrix, colLabels: readonly string[]): MatrixView => ({
    name: nameOf(kind, head),
    title,
    about,
    matrix,
    rowLabels: words,
    colLabels,
    tone: "signed",
    full: Math.max(1, largest(matrix)),
  });
  const empty: Matrix = { rows: 0, cols: 0, data: new Float64Array(0) };
  switch (kind) {
    case "shares":
      return {
        ...signed(
          "A",
          "the shares of “it”",
          fill(3, words.length, (row, col) => at(sharesOf(scene, row), it, col)),
          words,
        ),
        rowLabels: ["one head", "1 of 2", "2 of 2"],
        tone: "share",
        full: 1,
      };
    case "taken": {
      const outputs = [one, two].map((pass) => outputOf(pass));
      const matrix = fill(2, WIDTH, (row, col) => at(outputs[row] ?? empty, it, col));
      return { ...signed("O", "what “it” takes in", matrix, features), rowLabels: ["one head", "two heads"] };
    }
    case "X":
      return signed("X", "one word per row", walk.x, features);
    case "W": {
      const weights = columns(walk.projections[state.role], first, width);
      const names = part(state.role === "v" ? features : questions);
      return {
        ...signed(`W_${state.role.toUpperCase()}${several ? head + 1 : ""}`, "", weights, names),
        rowLabels: features,
      };
    }
    case "q":
    case "k":
    case "v":
      return signed(of(kind.toUpperCase()), "", own?.[kind] ?? empty, part(kind === "v" ? features : questions));
    case "A":
      return {
        ...signed(of("A"), "", chosen.kernel?.heads[head]?.weights ?? own?.weights ?? empty, words),
        tone: "share",
        full: 1,
      };
    case "O":
      return signed(of("O"), "", chosen.kernel?.heads[head]?.output ?? own?.output ?? empty, part(features));
    case "Wo":
      return {
        ...signed("W_O", "rows: columns of the heads; change any", state.mix, features),
        rowLabels: features.map((name, row) => (several ? `${Math.floor(row / width) + 1} ${name}` : name)),
        editable: true,
      };
    case "Y":
      return signed("Y", "output of the layer", scene.mixed, features);
  }
}

function sharesOf(scene: HeadsScene, row: number): Matrix {
  const { pass, head } = rowOf(scene, row);
  return (
    (pass.kernel?.heads[head] ?? pass.walk.heads[head])?.weights ?? { rows: 0, cols: 0, data: new Float64Array(0) }
  );
}

function outputOf({ walk, kernel }: Pass): Matrix {
  return fill(walk.labels.length, WIDTH, (row, col) => {
    const head = Math.floor(col / walk.headWidth);
    const output = (kernel?.heads[head] ?? walk.heads[head])?.output;
    return output === undefined ? Number.NaN : at(output, row, col % walk.headWidth);
  });
}
