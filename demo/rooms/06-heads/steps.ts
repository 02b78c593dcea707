// The five steps of the multiplication in words and formulas.

import { formula, plain, row, sub, sup } from "../../src/ui/math.js";
import type { HeadsScene } from "./scene.js";
import { type HeadsState, type Step, WIDTH } from "./state.js";
import type { Kind } from "./views.js";

export interface StepText {
  readonly name: string;
  /** Of words that are rows. */
  readonly text: (scene: HeadsScene) => string;
  readonly formula: (columns: boolean) => Element;
}

export const STEP_TEXTS: Readonly<Record<Step, StepText>> = {
  project: {
    name: "project",
    text: ({ state }) =>
      `One multiplication makes the queries of all heads at once: their matrices stand ${besideIn(state)} in W. The same for keys and values.`,
    formula: (columns) => {
      const weights = joined("W", columns);
      return formula(joined("Q", columns), "=", ...(columns ? [weights, "X"] : ["X", weights]));
    },
  },
  split: {
    name: "split",
    text: ({ chosen }) =>
      `Then the ${WIDTH} columns are cut into ${chosen.walk.heads.length === 1 ? "one part" : `${chosen.walk.heads.length} parts of ${chosen.walk.headWidth}`}. Nothing is computed: a head is a way of reading columns.`,
    formula: (columns) => formula(sub("Q", "i"), plain(columns ? " = rows of head " : " = columns of head "), "i"),
  },
  attend: {
    name: "attend",
    text: ({ chosen }) =>
      `Each head attends by itself, with shares of its own and scores divided by √${chosen.walk.headWidth}. Half the width, twice the heads: the products cost the same, only the softmaxes become more.`,
    formula: (columns) => {
      const [queries, keys] = [sub("Q", "i"), sup(sub("K", "i"), "⊤")];
      const scores = columns ? [keys, queries] : [queries, keys];
      const shares = row(plain("softmax"), row("(", ...scores, "/", "√", "d", ")"));
      return formula(sub("O", "i"), "=", ...(columns ? [sub("V", "i"), shares] : [shares, sub("V", "i")]));
    },
  },
  join: {
    name: "join",
    text: ({ state }) =>
      `The outputs are put ${besideIn(state)} again, as ${state.by === "columns" ? "high" : "wide"} as X was. Every head still has columns of its own.`,
    formula: (columns) => formula("O", "=", joined("O", columns)),
  },
  mix: {
    name: "mix",
    text: () =>
      "A last matrix lets every output column read from every head. It is linear, and not the feed-forward network that follows in a transformer.",
    formula: (columns) => formula("Y", "=", ...(columns ? [sub("W", "O"), "O"] : ["O", sub("W", "O")])),
  },
};

function besideIn({ by }: HeadsState): string {
  return by === "columns" ? "below each other" : "side by side";
}

/** The parts of all heads; semicolons begin a new line of a matrix. */
function joined(name: string, columns: boolean): Element {
  const between = columns ? [";", "…", ";"] : ["…"];
  return row("(", sub(name, "1"), ...between, sub(name, "h"), ")");
}

/** Which matrices a step shows, line by line; those of heads once for each head. */
export const STEP_LINES: Readonly<Record<Step, readonly (readonly Kind[])[]>> = {
  project: [["X"], ["W"], ["q"]],
  split: [["q"], ["k"], ["v"]],
  attend: [["A"], ["O"]],
  join: [["O"]],
  mix: [["O"], ["Wo"], ["Y"]],
};
