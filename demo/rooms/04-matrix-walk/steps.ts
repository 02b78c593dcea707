// The seven steps in words and formulas. Two plain sentences each, one note for those who know more.

import { isNameless, type State, type StepName } from "../../src/model/state.js";
import { WORDS_KNOWN } from "../../src/model/vocabulary.js";
import type { Walk } from "../../src/model/walk.js";
import { formula, fraction, plain, root, row, sub, sup, under } from "../../src/ui/math.js";
import { exact } from "../../src/ui/numbers.js";

export interface StepText {
  /** On the button. */
  readonly name: string;
  readonly title: string;
  readonly text: (walk: Walk, state: State) => string;
  readonly note: (walk: Walk, state: State) => string;
  readonly formula: (columns: boolean) => Element;
}

/** Of query i and some key, in the order in which rows and columns stand. */
const pair = (columns: boolean, key: string): Element => (columns ? row(key, "i") : row("i", key));
const transposedKeys = (): Element => sup("K", "⊤");

export const TEXTS: Readonly<Record<StepName, StepText>> = {
  words: {
    name: "X",
    title: "Everything starts as rows of numbers",
    text: ({ unknown }, state) =>
      isNameless(state)
        ? "Each row of X is one element: a word, a pixel, a point. Attention does not mind what the numbers stand for."
        : `Each word is one row of X. Each column is a property that we gave it by hand: is it a thing, is it alive, does it point at something else?${unknown.length === 0 ? "" : ` We did so for ${WORDS_KNOWN} words. Dotted words are not among them.`}`,
    note: () =>
      "Nothing here was trained, so that you can follow it. In a trained model there are hundreds or thousands of columns, and none has a name. Change any number: everything below follows.",
    formula: (columns) => {
      const between = columns ? "," : ";";
      return formula(
        "X",
        "=",
        row("(", sub("x", "1"), between, sub("x", "2"), between, "…", between, sub("x", "n"), ")"),
      );
    },
  },
  project: {
    name: "Q K V",
    title: "Every word gets three roles",
    text: () =>
      "Three matrices turn each row into a query (what this word looks for), a key (what it can be found by) and a value (what it hands over when found). Training finds these matrices; here we wrote them, one question per column.",
    note: (_, state) =>
      state.heads > 1
        ? `${state.heads} heads cut the columns into ${state.heads} equal parts. No multiplication is added: every head only sees its own columns.`
        : "The value matrix starts as the identity: a word hands over just what it is.",
    formula: (columns) => {
      const product = (role: string): readonly Element[] => {
        const [x, weights] = [row("X"), sub("W", role)];
        return [row(role, "="), ...(columns ? [weights, x] : [x, weights])];
      };
      return formula(...product("Q"), ",", plain("  "), ...product("K"), ",", plain("  "), ...product("V"));
    },
  },
  scores: {
    name: "QKᵀ",
    title: "Every query meets every key",
    text: () =>
      "The score of a pair is the dot product of one word’s query with another word’s key: large when what is sought is what is offered. Rows ask, columns answer.",
    note: (walk) =>
      `${walk.askers.length} × ${walk.labels.length} scores of ${walk.headWidth} multiply-adds each. This square is what makes attention expensive. heed works through it in tiles and keeps it only when asked, as this page does.`,
    formula: (columns) =>
      formula(
        "S",
        "=",
        ...(columns ? [transposedKeys(), "Q"] : ["Q", transposedKeys()]),
        ",",
        plain("  "),
        sub("S", pair(columns, "j")),
        "=",
        sub("q", "i"),
        "·",
        sub("k", "j"),
      ),
  },
  scale: {
    name: "scale",
    title: "Scores are brought to size",
    text: (walk, state) =>
      state.scale === "root"
        ? `A sum of d products spreads like √d, so all scores are multiplied by 1/√${walk.headWidth} = ${exact(walk.scale)}. Without it, wider vectors would make the softmax listen to one word only.`
        : `All scores are multiplied by ${exact(walk.scale)}, which you chose. Towards 0 every word is heard alike; the larger it is, the more the best match takes all.`,
    note: () =>
      "The √d rests on an assumption: components that are independent, with mean 0 and variance 1. Dividing by a temperature is the same thing under another name.",
    formula: (columns) =>
      formula(fraction(columns ? row(transposedKeys(), "Q") : row("Q", transposedKeys()), root("d"))),
  },
  mask: {
    name: "mask",
    title: "What may not be seen is taken out",
    text: (_, state) => maskText(state),
    note: (walk, state) =>
      state.causal !== "none" && walk.askers.length < walk.labels.length
        ? "Fewer queries than keys: now it matters which corners meet. Lower right (generation with a cache): the last query sees every key. Upper left: the first query sees only the first key."
        : "Hidden before the softmax, not after: the shares of the rest must still sum to one. A row with nothing left to see gives zeros, not NaN.",
    formula: (columns) =>
      formula(sub("S", pair(columns, "j")), "←", "−∞", plain(" where "), "j", plain(" is hidden from "), "i"),
  },
  softmax: {
    name: "softmax",
    title: "Scores become shares",
    text: () =>
      "In each row, e is raised to every score, and each result divided by the sum of all: positive shares that add up to one. A lead of 1 in score is a factor of 2.7 in share, whatever the rest do.",
    note: () =>
      "The row’s maximum is subtracted first. It changes nothing, except that e¹⁰⁰⁰ never happens. The kernel keeps a running maximum and sum while tiles pass, and of a whole row only lse: that maximum plus the logarithm of that sum.",
    formula: (columns) =>
      formula(
        sub("A", pair(columns, "j")),
        "=",
        fraction(
          sup("e", row(sub("S", pair(columns, "j")), "−", sub("m", "i"))),
          row(under("∑", "l"), sup("e", row(sub("S", pair(columns, "l")), "−", sub("m", "i")))),
        ),
      ),
  },
  output: {
    name: "output",
    title: "Every word takes in what it heard",
    text: ({ labels }) =>
      `The output of a word is the average of all values, weighted by its shares. ${
        labels.includes("it")
          ? "“It” came in as a mere pointer and leaves with what it was told about."
          : "A word comes in as itself and leaves with what it was told."
      }`,
    note: (_, state) =>
      state.heads > 1
        ? "The heads’ outputs are put side by side, and a last matrix mixes them. Shuffle the words, and the rows of the output are shuffled alike: attention by itself knows no order."
        : "Linear in V, once the shares are fixed; the shares themselves are not linear in anything. Shuffle the words, and the rows of the output are shuffled alike: attention by itself knows no order.",
    formula: (columns) =>
      formula(
        "O",
        "=",
        ...(columns ? ["V", "A"] : ["A", "V"]),
        ",",
        plain("  "),
        sub("o", "i"),
        "=",
        under("∑", "j"),
        sub("A", pair(columns, "j")),
        sub("v", "j"),
      ),
  },
};

function maskText(state: State): string {
  const padding = state.hidden.length > 0;
  const causal = state.causal !== "none";
  if (causal && padding) {
    return "Causal: no word sees a later one. Padding: nobody sees the words you hid. Both are scores set to −∞, whose share will be exactly zero.";
  }
  if (causal)
    return "Causal: no word may see a later one, as it has not been written yet. Its score is set to −∞, and its share will be exactly zero.";
  if (padding)
    return "Padding: nobody may see the words you hid. Their scores are set to −∞, and their shares will be exactly zero.";
  return "Nothing is hidden at the moment, so this step changes nothing. Switch on “causal” above, or hide a word, and its scores become −∞.";
}
