// The places of the walk: what each is called, what it says, which matrices have their numbers there, and the cell to begin with.

import { bestOf, identity, type Matrix, rowsOf, widestGap } from "../../src/model/matrix.js";
import { isNameless, type Role, type State, type StepName } from "../../src/model/state.js";
import { WORDS_KNOWN } from "../../src/model/vocabulary.js";
import type { Walk } from "../../src/model/walk.js";
import { formula, fraction, plain, root, row, sub, sup, under } from "../../src/ui/math.js";
import { exact } from "../../src/ui/numbers.js";
import type { MatrixName, Scene, Spot } from "../../src/ui/walk-matrices.js";
import { tellingWord } from "./sentence.js";

export interface Place {
  readonly step: StepName;
  /** Which of Q, K, V; any at the other steps. */
  readonly role?: Role;
  /** Below the scrubber. */
  readonly tick: string;
  readonly title: string;
  readonly text: (walk: Walk, state: State) => string;
  readonly formula: (columns: boolean) => Element;
  readonly numbers: readonly MatrixName[];
}

/** Of query i and some key, in the order in which rows and columns stand. */
const pair = (columns: boolean, key: string): Element => (columns ? row(key, "i") : row("i", key));
const product = (columns: boolean, left: string, right: Element | string): Element =>
  row(...(columns ? [right, left] : [left, right]));
const projection = (role: string) => (columns: boolean) =>
  formula(role, "=", product(columns, "X", sub("W", role)), plain("  (+ "), sub("b", role), plain(")"));
const scores = (columns: boolean): Element => product(columns, "Q", sup("K", "⊤"));
const power = (columns: boolean, key: string): Element => sup("e", sub("S", pair(columns, key)));

export const PLACES: readonly Place[] = [
  {
    step: "words",
    tick: "X",
    title: "X: each word is a row of numbers",
    text: ({ unknown }, state) =>
      isNameless(state)
        ? "Each row of X is one element: a word, a pixel, a point. Attention does not mind what the numbers stand for."
        : `Each column is a property that we gave the words by hand: a thing, alive, pointing at something. A trained model learns hundreds of nameless columns.${unknown.length === 0 ? "" : ` Dotted words are not among the ${WORDS_KNOWN} that we described.`}`,
    formula: (columns) => {
      const between = columns ? "," : ";";
      const rows = ["1", "2"].flatMap((index) => [sub("x", index), between]);
      return formula("X", "=", "(", ...rows, "…", between, sub("x", "n"), ")");
    },
    numbers: ["X"],
  },
  {
    step: "project",
    role: "q",
    tick: "Q",
    title: "Q: what each word looks for",
    text: (_, state) =>
      `A row of X and a column of W_Q fold into one cell: multiply in pairs, then add. Training finds W_Q; we wrote one question per column.${state.heads > 1 ? ` Each of the ${state.heads} heads has columns of its own.` : " Layers add a bias b_Q as well, which is 0 here."}`,
    formula: projection("Q"),
    numbers: ["X", "Wq", "Q"],
  },
  {
    step: "project",
    role: "k",
    tick: "K",
    title: "K: what each word can be found by",
    text: () =>
      "One W_K serves every word, so a sentence may have any length. A key says what its word offers, column for column what the queries look for. Layers add a bias b_K; it shifts all scores of a query alike, which the softmax ignores.",
    formula: projection("K"),
    numbers: ["X", "Wk", "K"],
  },
  {
    step: "project",
    role: "v",
    tick: "V",
    title: "V: what each word hands over",
    text: () =>
      "W_V starts as the identity: a word hands over what it is. In a trained head W_V and W_O are two thin factors of one matrix. A bias b_V passes straight to the output, as the weights sum to 1.",
    formula: projection("V"),
    numbers: ["X", "Wv", "V"],
  },
  {
    step: "scores",
    tick: "QKᵀ",
    title: "S: every query meets every key",
    text: ({ askers, labels }) =>
      `K turns over its diagonal: each key becomes a column. A score is the dot product of a query and a key, ${askers.length} × ${labels.length} of them. Written out it is bilinear, x W_Q W_Kᵀ xᵀ: one matrix between two words.`,
    formula: (columns) => formula("S", "=", scores(columns)),
    numbers: ["Q", "Kt", "S", "Wqk"],
  },
  {
    step: "scale",
    tick: "scale",
    title: "Scores are brought to size",
    text: (walk, state) =>
      state.scale === "root"
        ? `A sum of d products spreads like √d, so all scores are multiplied by 1/√${walk.headWidth} ≈ ${exact(walk.scale)}. Without it, wide vectors would give one key nearly all of the weight.`
        : `All scores are multiplied by ${exact(walk.scale)}, as you chose. The larger that is, the more of the weight goes to the best match.`,
    formula: (columns) => formula(fraction(scores(columns), root("d"))),
    numbers: ["S", "Z"],
  },
  {
    step: "mask",
    tick: "mask",
    title: "Hidden keys are taken out",
    text: maskText,
    formula: (columns) =>
      formula(sub("S", pair(columns, "j")), "←", "−∞", plain(" where "), "j", plain(" is hidden from "), "i"),
    numbers: ["Z", "M"],
  },
  {
    step: "softmax",
    tick: "softmax",
    title: "A: scores become attention weights",
    text: (walk, state) =>
      `In each row, e is raised to every score and divided by the row’s sum. The bars of a row add up to one full cell.${ownSentence(walk, state)}`,
    formula: (columns) => {
      const sum = row(under("∑", "l"), power(columns, "l"));
      return formula(sub("A", pair(columns, "j")), "=", fraction(power(columns, "j"), sum));
    },
    numbers: ["M", "A", "lse"],
  },
  {
    step: "output",
    tick: "O",
    title: "O: each output is a weighted average of V",
    text: () =>
      "Each row of V becomes as thick as its attention weight; laid on one another they are one row of O. A loop over the queries gives the same numbers: choose “one query at a time” under “More to change”.",
    formula: (columns) => formula("O", "=", product(columns, "A", "V")),
    numbers: ["A", "V", "O"],
  },
];

export function placeOf({ step, role }: State): number {
  return PLACES.findIndex((place) => place.step === step && (place.role ?? role) === role);
}

/** The cell that a place shows as long as nobody points at one: of the word in the light, and of the key with the largest weight. */
export function tellingSpot({ walk, head, state }: Scene, { step, role = "q" }: Pick<Place, "step" | "role">): Spot {
  const first = walk.labels.length - walk.askers.length;
  const row = Math.max(0, (state.asker >= 0 ? state.asker : tellingWord(walk)) - first);
  const best = (matrix: Matrix, of: number): number => bestOf({ ...matrix, data: matrix.data.map(Math.abs) }, of);
  const key = best(head.weights, row);
  const hidden = walk.labels.findIndex((_, col) => walk.hiddenBy(row, col) !== undefined);
  const projected = { q: row, k: key, v: row + first }[role];
  const spots: Readonly<Record<StepName, readonly [MatrixName, number, number]>> = {
    words: ["X", row + first, best(walk.x, row + first)],
    project: [({ q: "Q", k: "K", v: "V" } as const)[role], projected, best(head[role], projected)],
    scores: ["S", row, key],
    scale: ["Z", row, key],
    mask: ["M", row, hidden < 0 ? key : hidden],
    softmax: ["A", row, key],
    output: ["O", row, best(head.output, row)],
  };
  const [name, own, col] = spots[step];
  return { name, row: own, col };
}

/** Of attention without parameters. */
function ownSentence({ heads, labels }: Walk, { wq: q, wk: k, head }: State): string {
  const weights = heads[head]?.weights;
  const isPlain = [q, k].every((one) => one !== null && widestGap(one, identity(one.cols)) === 0);
  if (weights === undefined || !isPlain) return "";
  const own = rowsOf(weights).filter((row, index) => (row[index] ?? 0) >= Math.max(...row));
  return ` Without W_Q and W_K the diagonal is large: ${own.length} of ${labels.length} words give themselves the largest weight.`;
}

function maskText(_: Walk, { hidden, causal }: State): string {
  const later = causal === "none" ? "" : "Causal: no word sees a later one, which has not been written yet. ";
  const padding = hidden.length === 0 ? "" : "Padding: nobody sees the words that you hid. ";
  if (later + padding === "") return "Nothing is hidden now, so go on, or press “Hide later words” and watch.";
  return `${later}${padding}A hidden score is −∞ before the softmax, so its weight is exactly 0 and the rest still sum to 1.`;
}
