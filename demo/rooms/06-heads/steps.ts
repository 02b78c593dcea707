// The five steps of the multiplication in words and formulas.

import { formula, plain, row, sub, sup } from "../../src/ui/math.js";
import type { HeadsScene } from "./scene.js";
import { type Step, WIDTH } from "./state.js";
import type { Kind } from "./views.js";

export interface StepText {
  readonly name: string;
  readonly text: (scene: HeadsScene) => string;
  readonly formula: () => Element;
}

export const STEP_TEXTS: Readonly<Record<Step, StepText>> = {
  project: {
    name: "project",
    text: () =>
      "One multiplication makes the queries of all heads at once: their matrices stand side by side in W. The same for keys and values.",
    formula: () => formula(sub("Q", row("1", "…", "h")), "=", "X", row("(", sub("W", "1"), "…", sub("W", "h"), ")")),
  },
  split: {
    name: "split",
    text: ({ chosen }) =>
      `Then the ${WIDTH} columns are cut into ${chosen.walk.heads.length === 1 ? "one part" : `${chosen.walk.heads.length} parts of ${chosen.walk.headWidth}`}. Nothing is computed: a head is a way of reading columns.`,
    formula: () => formula(sub("Q", "i"), plain(" = columns of head "), "i"),
  },
  attend: {
    name: "attend",
    text: ({ chosen }) =>
      `Each head attends by itself, with shares of its own and scores divided by √${chosen.walk.headWidth}. Half the width, twice the heads: the products cost the same, only the softmaxes become more.`,
    formula: () =>
      formula(
        sub("O", "i"),
        "=",
        plain("softmax"),
        row("(", sub("Q", "i"), sup(sub("K", "i"), "⊤"), "/", "√", "d", ")"),
        sub("V", "i"),
      ),
  },
  join: {
    name: "join",
    text: () => "The outputs are put side by side again, as wide as X was. Every head still has columns of its own.",
    formula: () => formula("O", "=", row("(", sub("O", "1"), "…", sub("O", "h"), ")")),
  },
  mix: {
    name: "mix",
    text: () =>
      "A last matrix lets every output column read from every head. It is linear, and not the feed-forward network that follows in a transformer.",
    formula: () => formula("Y", "=", "O", sub("W", "O")),
  },
};

/** Which matrices a step shows, line by line; those of heads once for each head. */
export const STEP_LINES: Readonly<Record<Step, readonly (readonly Kind[])[]>> = {
  project: [["X"], ["W"], ["q"]],
  split: [["q"], ["k"], ["v"]],
  attend: [["A"], ["O"]],
  join: [["O"]],
  mix: [["O"], ["Wo"], ["Y"]],
};
