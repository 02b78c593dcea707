// How each matrix of the walk is shown: its title, its labels, its colours. Pure; the panels draw it.

import type { MatrixView } from "heed/viz";
import { columns, largest, type Matrix } from "../../src/model/matrix.js";
import { isNameless } from "../../src/model/state.js";
import type { MatrixName, Scene } from "./spots.js";

export function viewOf(name: MatrixName, { walk, state, head, kernel }: Scene): MatrixView {
  const slice = <T>(names: readonly T[]): readonly T[] =>
    names.slice(head.firstColumn, head.firstColumn + walk.headWidth);
  const part = (matrix: Matrix): Matrix => columns(matrix, head.firstColumn, walk.headWidth);
  const [askers, words, features] = [walk.askers, walk.labels, walk.featureNames];
  const [questions, values] = [slice(walk.questionNames), slice(features)];
  const cut = state.heads > 1 ? `, columns ${head.firstColumn + 1} to ${head.firstColumn + walk.headWidth}` : "";
  const signed = (view: Omit<MatrixView, "name" | "tone" | "full">, least = 1): MatrixView => ({
    ...view,
    name,
    tone: "signed",
    full: Math.max(least, largest(view.matrix)),
  });
  const struck = (row: number, col: number): boolean => walk.hiddenBy(row, col) !== undefined;
  const pairs = { rowLabels: askers, colLabels: words };
  const scoreSize = Math.max(1, largest(head.scores));
  switch (name) {
    case "X":
      return signed({
        title: "X",
        about: isNameless(state)
          ? "one element per row"
          : `one word per row${walk.unknown.length > 0 ? "; dotted: made from letters" : ""}`,
        matrix: walk.x,
        rowLabels: words,
        colLabels: features,
        editable: true,
        noted: (label) => walk.unknown.includes(label),
      });
    case "Wq":
      return signed({
        title: "W_Q",
        about: `what makes a word ask${cut}`,
        matrix: part(walk.projections.q),
        rowLabels: features,
        colLabels: questions,
        editable: true,
      });
    case "Wk":
      return signed({
        title: "W_K",
        about: `what makes a word answer${cut}`,
        matrix: part(walk.projections.k),
        rowLabels: features,
        colLabels: questions,
        editable: true,
      });
    case "Wv":
      return signed({
        title: "W_V",
        about: `what a word hands over${cut}`,
        matrix: part(walk.projections.v),
        rowLabels: features,
        colLabels: values,
        editable: true,
      });
    case "Q":
      return signed({
        title: "Q",
        about: "queries: what each word asks",
        matrix: head.q,
        rowLabels: askers,
        colLabels: questions,
      });
    case "K":
      return signed({
        title: "K",
        about: "keys: what each word answers",
        matrix: head.k,
        rowLabels: words,
        colLabels: questions,
      });
    case "V":
      return signed({
        title: "V",
        about: "values: what each word hands over",
        matrix: head.v,
        rowLabels: words,
        colLabels: values,
      });
    case "Kt":
      return signed({
        title: "Kᵀ",
        about: "keys, one per column",
        matrix: head.keyTransposed,
        rowLabels: questions,
        colLabels: words,
      });
    case "S":
      return signed(
        { title: "S", about: "scores: rows ask, columns answer", matrix: head.scores, ...pairs },
        scoreSize,
      );
    case "Z":
      return signed(
        { title: "S scaled", about: `times ${walk.scale.toFixed(3)}`, matrix: head.scaled, ...pairs },
        scoreSize,
      );
    case "M":
      return signed(
        { title: "S masked", about: "−∞ is out of sight", matrix: head.masked, ...pairs, struck },
        scoreSize,
      );
    case "A":
      return {
        name,
        title: "A",
        about: "shares: each row sums to 1",
        matrix: kernel?.weights ?? head.weights,
        ...pairs,
        tone: "share",
        full: 1,
        struck,
      };
    case "lse":
      return signed(
        { title: "lse", about: "", matrix: kernel?.lse ?? head.lse, rowLabels: askers, colLabels: ["lse"] },
        8,
      );
    case "O":
      return signed({
        title: "O",
        about: "output: what each word took in",
        matrix: kernel?.output ?? head.output,
        rowLabels: askers,
        colLabels: values,
      });
  }
}
