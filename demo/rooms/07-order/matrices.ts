// The room’s matrices: titles, labels, colours; and one number of them taken apart. Pure; the room draws them.

import type { MatrixView } from "heed/viz";
import { along, at, down, fill, type Matrix, rowsOf } from "../../src/model/matrix.js";
import { FEATURE_MEANING } from "../../src/model/vocabulary.js";
import { type Explanation, lit, products, softened } from "../../src/ui/explanation.js";
import { type NamedSpot, numbered, signed, type View, weighed } from "../../src/ui/named-matrices.js";
import { exact, timesTold } from "../../src/ui/numbers.js";
import type { OrderAnswer } from "./calls.js";
import { clipped, speed } from "./positions.js";
import { type OrderScene, SCALE } from "./scene.js";
import { type Kind, REACH } from "./state.js";
import { ROUNDING } from "./texts.js";
import { ANSWERS, ASKS, FEATURES, PROPERTIES, QUESTION_NAMES } from "./vectors.js";

/** Those that are always there, as they stand below the words. */
export const LINES = [["O", "D"], ["Z", "A"], ["X"], ["Wq", "Wk"], ["Qp", "Kp"]] as const;
export const MATRICES = [...LINES.flat(), "P", "angle", "Q", "K", "b", "B"] as const;
export type MatrixName = (typeof MATRICES)[number];

/** What is shown of the positions, kind by kind. */
export const POSITION_MATRICES: Readonly<Record<Kind, readonly MatrixName[]>> = {
  none: [],
  causal: [],
  sinusoidal: ["P"],
  learned: ["P"],
  rope: ["angle", "Q", "K"],
  alibi: ["B"],
  relative: ["b", "B"],
};

const NOTHING: Matrix = { rows: 0, cols: 0, data: new Float64Array(0) };
const DISTANCES = Array.from({ length: 2 * REACH + 1 }, (_, index) => distanceName(index - REACH));
const PAIR_NAMES = numbered("pair ", QUESTION_NAMES.length / 2);

export function viewOf(name: MatrixName, scene: OrderScene, answer?: OrderAnswer): MatrixView {
  const { state, labels, words, now, vectors, difference } = scene;
  const turned = state.kind === "rope" ? ", before they are turned" : "";
  const last = state.shift + labels.length - 1;
  const plusB = state.kind === "alibi" || state.kind === "relative" ? " + B" : "";
  const struck = (row: number, col: number): boolean => state.kind === "causal" && col > row;
  const perWord = (title: string, about: string, matrix: Matrix, columns: readonly string[] = FEATURES): View =>
    signed(title, about, matrix, labels, columns);
  const angles = () =>
    fill(labels.length, PAIR_NAMES.length, (row, pair) => (state.shift + row) * speed(state.base, pair));
  const added = "added at each distance, key less query; change any";
  const moved = answer?.difference ?? difference;
  const weights = answer?.weights ?? now.weights;
  const views: Readonly<Record<MatrixName, () => View>> = {
    X: () => ({ ...signed("X", "one word per row, as written; change any", vectors, words, FEATURES), editable: true }),
    Wq: () => signed("W_Q", "what makes a word’s query", ASKS, FEATURES, QUESTION_NAMES),
    Wk: () => signed("W_K", "what makes a word’s key", ANSWERS, FEATURES, QUESTION_NAMES),
    Qp: () => perWord("Q", `queries${turned}`, now.plainQ, QUESTION_NAMES),
    Kp: () => perWord("K", `keys${turned}`, now.plainK, QUESTION_NAMES),
    P: () => perWord("P", `positions ${state.shift} to ${last}, added to X`, now.added ?? NOTHING),
    angle: () => ({
      ...perWord("angle", "position × speed, one for each pair of columns", angles(), PAIR_NAMES),
      full: Math.PI,
    }),
    Q: () => perWord("Q", "queries, turned", now.q, QUESTION_NAMES),
    K: () => perWord("K", "keys, turned", now.k, QUESTION_NAMES),
    b: () => ({ ...signed("b", added, state.biases, ["b"], DISTANCES), editable: true }),
    B: () => ({ ...perWord("B", "what distance adds to each score", now.bias, labels), struck }),
    Z: () => ({ ...perWord("S", `q · k / √8${plusB}`, now.scores, labels), struck }),
    A: () => ({ ...weighed("A", "attention weights: each row sums to 1", weights, labels, labels), struck }),
    O: () => perWord("O", "output of each word", answer?.output ?? now.output),
    D: () => ({ ...perWord("D", "change against the order as written", rounded(moved)), full: 1 }),
  };
  return { name, ...views[name]() };
}

/** What rounding alone makes is no difference. */
function rounded(matrix: Matrix): Matrix {
  return { ...matrix, data: matrix.data.map((value) => (Math.abs(value) < ROUNDING ? 0 : value)) };
}

function distanceName(distance: number): string {
  const sign = distance > 0 ? "+" : distance < 0 ? "−" : "";
  const beyond = Math.abs(distance) === REACH ? "…" : "";
  return `${sign}${Math.abs(distance)}${beyond}`;
}

type Told = Omit<Explanation, "subject" | "result" | "lights"> & Partial<Explanation>;
/** `subject`: the cell's, unless what is told names another. The cell is lit, and what is told may light others. */
type Tell = (scene: OrderScene, row: number, col: number, subject: string) => Told;

const OF_KERNEL: Readonly<Partial<Record<MatrixName, "weights" | "output" | "difference">>> = {
  A: "weights",
  O: "output",
  D: "difference",
};

export function explain(scene: OrderScene, spot: NamedSpot<MatrixName>, answer?: OrderAnswer): Explanation | undefined {
  const { name, row, col } = spot;
  const { matrix, title, rowLabels, colLabels } = viewOf(name, scene);
  const result = at(matrix, row, col);
  if (Number.isNaN(result)) return undefined;
  const subject = `${title.replace("_", "")} [${rowLabels[row]}, ${colLabels[col]}]`;
  const { lights = [], ...told } = TELL[name](scene, row, col, subject);
  const part = OF_KERNEL[name];
  const kernel = answer && part && at(answer[part], row, col);
  return { subject, result, ...told, kernel, lights: [...lights, lit(name, row, col)] };
}

const ROLES = {
  Q: { what: "query", weights: ASKS, name: "Wq", plain: "plainQ" },
  K: { what: "key", weights: ANSWERS, name: "Wk", plain: "plainK" },
} as const;
type RoleName = keyof typeof ROLES;

const explainWeight =
  (role: RoleName): Tell =>
  (_, row, col) => ({
    sentence: `How much “${FEATURES[row]}” adds to “${QUESTION_NAMES[col]}” in a word’s ${ROLES[role].what}. Chosen by hand.`,
  });

const explainProjected =
  (role: RoleName): Tell =>
  ({ now, state }, row, col) => {
    const { weights, name } = ROLES[role];
    const isAdded = state.kind === "sinusoidal" || state.kind === "learned";
    return {
      sentence: `The word’s vector${isAdded ? ", with its position," : ""} times a column of W${role}.`,
      ...products(FEATURES, along(now.x, row), down(weights, col), ["", isAdded ? "x + p" : "x", `W${role}`]),
      lights: [lit(name, undefined, col)],
    };
  };

const explainTurned =
  (role: RoleName): Tell =>
  ({ now, state }, row, col, subject) => {
    const { what, plain } = ROLES[role];
    const [pair, first, isFirst] = [col >> 1, col & ~1, col % 2 === 0];
    const angle = (state.shift + row) * speed(state.base, pair);
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    const factors = isFirst ? [cos, -sin] : [sin, cos];
    const head = ["", role.toLowerCase(), isFirst ? "cos, −sin" : "sin, cos"];
    const value = (index: number): number => at(now[plain], row, first + index);
    return {
      subject: `${subject}, turned`,
      sentence: `Columns ${first + 1} and ${first + 2} of the ${what}, turned by ${exact(angle)}. Queries and keys are both turned, so that only the difference of two positions is left in their product.`,
      ...products(QUESTION_NAMES.slice(first, first + 2), value, (index) => factors[index] ?? Number.NaN, head),
      lights: [lit("angle", row, pair)],
    };
  };

const TELL: Readonly<Record<MatrixName, Tell>> = {
  X: ({ state }, _, col) => {
    const property = PROPERTIES[col];
    const given =
      property === undefined
        ? `A hash of the letters: the mean of sin(${col - PROPERTIES.length + 1} × code) over them, so that two names differ.`
        : `Column “${property}”: ${FEATURE_MEANING[property]}. Set by hand for this word; 0 for words that our small table lacks. Drag or type to change it.`;
    return { sentence: state.numbers === null ? given : "Changed by hand.", editable: true };
  },
  P: ({ state, labels }, row, col) => {
    const position = state.shift + row;
    if (state.kind === "learned") {
      return {
        subject: `P [position ${position}, ${FEATURES[col]}]`,
        sentence: `Row ${position} of a table. In a model, training finds these numbers; here they are random, of table ${state.seed}.`,
      };
    }
    const [pair, wave] = [col >> 1, col % 2 === 0 ? "sin" : "cos"] as const;
    const turn = speed(state.base, pair);
    return {
      subject: `P [${labels[row]} at ${position}, ${FEATURES[col]}]`,
      sentence: `Pair ${pair + 1} of columns turns by ${state.base}^(−${2 * pair}/8) = ${exact(turn)} a position.`,
      last: `${wave}(${position} × ${exact(turn)}) = ${exact(Math[wave](position * turn))}`,
    };
  },
  angle: ({ state, labels }, row, pair) => {
    const [position, turn] = [state.shift + row, speed(state.base, pair)];
    return {
      subject: `angle of “${labels[row]}”, pair ${pair + 1}`,
      sentence: `Its position, ${position}, times the pair’s speed ${state.base}^(−${2 * pair}/8).`,
      last: timesTold([position, turn], position * turn),
    };
  },
  Q: explainTurned("Q"),
  K: explainTurned("K"),
  Wq: explainWeight("Q"),
  Wk: explainWeight("K"),
  Qp: explainProjected("Q"),
  Kp: explainProjected("K"),
  b: (_scene, _row, col) => ({
    subject: `b [${col - 4}]`,
    sentence:
      "Added to the score of every pair at this distance. In a model, training finds it; here it was chosen. Change it.",
    editable: true,
  }),
  B: ({ state, now }, row, col) => {
    const distance = col - row;
    const [own, sum] = [clipped(distance), exact(at(now.bias, row, col))];
    const isAlibi = state.kind === "alibi";
    return {
      subject: `B, distance ${exact(distance)}`,
      sentence: isAlibi
        ? "Minus the slope for each place of distance: near words count more."
        : `The number of b at this distance${own === distance ? "" : ", which counts as the farthest"}.`,
      last: isAlibi ? `−${state.slope} × ${Math.abs(distance)} = ${sum}` : `b [${exact(own)}] = ${sum}`,
      lights: [lit("b", 0, own + 4)],
    };
  },
  Z: ({ now, state }, row, col) => {
    const [q, k] = [along(now.q, row), along(now.k, col)];
    const dot = QUESTION_NAMES.reduce((sum, _, index) => sum + q(index) * k(index), 0);
    const bias = at(now.bias, row, col);
    const isAdded = state.kind === "alibi" || state.kind === "relative";
    const added = isAdded ? ` ${bias < 0 ? "−" : "+"} ${exact(Math.abs(bias))}` : "";
    const isHidden = state.kind === "causal" && col > row;
    return {
      ...products(QUESTION_NAMES, q, k, ["", "q", "k"]),
      sentence: isHidden
        ? "The key comes later: its score is set to −∞."
        : "Query times key, question by question, over √8, and what distance adds.",
      last: isHidden ? "→ −∞" : `${exact(dot)} × ${exact(SCALE, 6)}${added} ≈ ${exact(at(now.scores, row, col))}`,
    };
  },
  A: ({ now, labels }, row, col, subject) => ({
    ...softened(rowsOf(now.scores)[row] ?? [], labels, { subject, at: col }),
    sentence: "The sum has the same terms in any order: that is why a softmax cannot tell.",
    lights: [lit("Z", row)],
  }),
  O: ({ now, labels }, row, col) => ({
    sentence: "Every word’s value times its attention weight: a sum again, whose terms have no order.",
    ...products(labels, along(now.weights, row), down(now.v, col), ["", "weight", "v"]),
    lights: [lit("A", row)],
  }),
  D: ({ now, written, places, words }, row, col) => {
    const word = places[row] ?? 0;
    const [after, before] = [at(now.output, row, col), at(written.output, word, col)];
    return {
      sentence: `The output of “${words[word]}” at place ${row + 1}, less its output as written, at place ${word + 1}.`,
      last: `${exact(after, 6)} − ${exact(before, 6)} = ${exact(after - before, 6)}`,
      lights: [lit("O", row, col)],
    };
  },
};
