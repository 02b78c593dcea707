// The room’s matrices: titles, labels, colours; and one number of them taken apart. Pure; the room draws them.

import { along, at, down, fill, type Matrix, rowsOf } from "../../src/model/matrix.js";
import { FEATURE_MEANING } from "../../src/model/vocabulary.js";
import { lit, products, softened } from "../../src/ui/explanation.js";
import { numbered, signed, type Telling, type View, weighed } from "../../src/ui/named-matrices.js";
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

export function viewOf(name: MatrixName, scene: OrderScene, answer?: OrderAnswer): Telling {
  const { state, labels, words, places, now, written, vectors, difference } = scene;
  const { kind, base, shift } = state;
  const isAdded = kind === "sinusoidal" || kind === "learned";
  const isBiased = kind === "alibi" || kind === "relative";
  const struck = (row: number, col: number): boolean => kind === "causal" && col > row;
  const perWord = (title: string, about: string, matrix: Matrix, columns: readonly string[] = FEATURES): View =>
    signed(title, about, matrix, labels, columns);
  const angles = fill(labels.length, PAIR_NAMES.length, (row, pair) => (shift + row) * speed(base, pair));
  const turnOf = (pair: number): string => `${base}^(−${2 * pair}/8)`;

  const chosen = (letter: string, what: string, weights: Matrix): Telling => ({
    ...signed(`W_${letter}`, `what makes a word’s ${what}`, weights, FEATURES, QUESTION_NAMES),
    tell: (row, col) => ({
      sentence: `How much “${FEATURES[row]}” adds to “${QUESTION_NAMES[col]}” in a word’s ${what}. Chosen by hand.`,
    }),
  });
  const projected = (letter: string, about: string, matrix: Matrix, weights: Matrix): Telling => ({
    ...perWord(letter, `${about}${kind === "rope" ? ", before they are turned" : ""}`, matrix, QUESTION_NAMES),
    tell: (row, col) => ({
      sentence: `The word’s vector${isAdded ? ", with its position," : ""} times a column of W${letter}.`,
      ...products(FEATURES, along(now.x, row), down(weights, col), ["", isAdded ? "x + p" : "x", `W${letter}`]),
      lights: [lit(`W${letter.toLowerCase()}`, undefined, col)],
    }),
  });
  const turned = (letter: string, about: string, matrix: Matrix, plain: Matrix): Telling => ({
    ...perWord(letter, `${about}, turned`, matrix, QUESTION_NAMES),
    tell: (row, col) => {
      const [pair, first, isFirst] = [col >> 1, col & ~1, col % 2 === 0];
      const angle = at(angles, row, pair);
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      const factors = isFirst ? [cos, -sin] : [sin, cos];
      const head = ["", letter.toLowerCase(), isFirst ? "cos, −sin" : "sin, cos"];
      const [value, factor] = [(i: number) => at(plain, row, first + i), (i: number) => factors[i] ?? Number.NaN];
      return {
        sentence: `Columns ${first + 1} and ${first + 2} before, turned by ${exact(angle)}. Queries and keys are both turned, so that only the difference of two positions is left in their product.`,
        ...products(QUESTION_NAMES.slice(first, first + 2), value, factor, head),
        lights: [lit("angle", row, pair)],
      };
    },
  });

  const views: Readonly<Record<MatrixName, () => Telling>> = {
    X: () => ({
      ...signed("X", "one word per row, as written; change any", vectors, words, FEATURES),
      editable: true,
      tell: (_, col) => {
        const property = PROPERTIES[col];
        if (state.numbers !== null) return { sentence: "Changed by hand." };
        return {
          sentence:
            property === undefined
              ? `A hash of the letters: the mean of sin(${col - PROPERTIES.length + 1} × code) over them, so that two names differ.`
              : `Column “${property}”: ${FEATURE_MEANING[property]}. Set by hand for this word; 0 for words that our small table lacks. Drag or type to change it.`,
        };
      },
    }),
    Wq: () => chosen("Q", "query", ASKS),
    Wk: () => chosen("K", "key", ANSWERS),
    Qp: () => projected("Q", "queries", now.plainQ, ASKS),
    Kp: () => projected("K", "keys", now.plainK, ANSWERS),
    P: () => ({
      ...perWord("P", `positions ${shift} to ${shift + labels.length - 1}, added to X`, now.added ?? NOTHING),
      tell: (row, col, result) => {
        if (kind === "learned") {
          return {
            sentence: `Row ${shift + row} of a table. In a model, training finds these numbers; here they are random.`,
          };
        }
        const [pair, wave] = [col >> 1, col % 2 === 0 ? "sin" : "cos"];
        const turn = exact(speed(base, pair));
        return {
          sentence: `Pair ${pair + 1} of columns turns by ${turnOf(pair)} = ${turn} a position.`,
          last: `${wave}(${shift + row} × ${turn}) = ${exact(result)}`,
        };
      },
    }),
    angle: () => ({
      ...perWord("angle", "position × speed, one for each pair of columns", angles, PAIR_NAMES),
      full: Math.PI,
      tell: (row, pair, result) => ({
        sentence: `Its position, ${shift + row}, times the pair’s speed ${turnOf(pair)}.`,
        last: timesTold([shift + row, speed(base, pair)], result),
      }),
    }),
    Q: () => turned("Q", "queries", now.q, now.plainQ),
    K: () => turned("K", "keys", now.k, now.plainK),
    b: () => ({
      ...signed("b", "added at each distance, key less query; change any", state.biases, ["b"], DISTANCES),
      editable: true,
      tell: () => ({
        sentence:
          "Added to the score of every pair at this distance. In a model, training finds it; here it was chosen. Change it.",
      }),
    }),
    B: () => ({
      ...perWord("B", "what distance adds to each score", now.bias, labels),
      struck,
      tell: (row, col, result) => {
        const [distance, own] = [col - row, clipped(col - row)];
        if (kind === "alibi") {
          return {
            sentence: "Minus the slope for each place of distance: near words count more.",
            last: `−${state.slope} × ${Math.abs(distance)} = ${exact(result)}`,
          };
        }
        return {
          sentence: `The number of b at this distance${own === distance ? "" : ", which counts as the farthest"}.`,
          last: `b [${exact(own)}] = ${exact(result)}`,
          lights: [lit("b", 0, own + REACH)],
        };
      },
    }),
    Z: () => ({
      ...perWord("S", `q · k / √8${isBiased ? " + B" : ""}`, now.scores, labels),
      struck,
      tell: (row, col, result) => {
        const [dot, bias] = [dotOf(now.q, row, now.k, col), at(now.bias, row, col)];
        const added = isBiased ? ` ${bias < 0 ? "−" : "+"} ${exact(Math.abs(bias))}` : "";
        const isHidden = struck(row, col);
        return {
          ...products(QUESTION_NAMES, along(now.q, row), along(now.k, col), ["", "q", "k"]),
          sentence: isHidden
            ? "The key comes later: its score is set to −∞."
            : "Query times key, question by question, over √8, and what distance adds.",
          last: isHidden ? "→ −∞" : `${exact(dot)} × ${exact(SCALE, 6)}${added} ≈ ${exact(result)}`,
        };
      },
    }),
    A: () => ({
      ...weighed("A", "attention weights: each row sums to 1", answer?.weights ?? now.weights, labels, labels),
      own: now.weights,
      struck,
      tell: (row, col) => ({
        ...softened(rowsOf(now.scores)[row] ?? [], labels, { at: col }),
        sentence: "The sum has the same terms in any order: that is why a softmax cannot tell.",
        lights: [lit("Z", row)],
      }),
    }),
    O: () => ({
      ...perWord("O", "output of each word", answer?.output ?? now.output),
      own: now.output,
      tell: (row, col) => ({
        sentence: "Every word’s value times its attention weight: a sum again, whose terms have no order.",
        ...products(labels, along(now.weights, row), down(now.v, col), ["", "weight", "v"]),
        lights: [lit("A", row)],
      }),
    }),
    D: () => ({
      ...perWord("D", "change against the order as written", rounded(answer?.difference ?? difference)),
      own: rounded(difference),
      full: 1,
      tell: (row, col, result) => {
        const word = places[row] ?? 0;
        const [after, before] = [at(now.output, row, col), at(written.output, word, col)];
        return {
          sentence: `The output of “${words[word]}” at place ${row + 1}, less its output as written, at place ${word + 1}.`,
          last: `${exact(after, 6)} − ${exact(before, 6)} = ${exact(result, 6)}`,
          lights: [lit("O", row, col)],
        };
      },
    }),
  };
  return views[name]();
}

const dotOf = (q: Matrix, row: number, k: Matrix, col: number): number =>
  QUESTION_NAMES.reduce((sum, _, index) => sum + at(q, row, index) * at(k, col, index), 0);

/** What rounding alone makes is no difference. */
function rounded(matrix: Matrix): Matrix {
  return { ...matrix, data: matrix.data.map((value) => (Math.abs(value) < ROUNDING ? 0 : value)) };
}

function distanceName(distance: number): string {
  const sign = distance > 0 ? "+" : distance < 0 ? "−" : "";
  const beyond = Math.abs(distance) === REACH ? "…" : "";
  return `${sign}${Math.abs(distance)}${beyond}`;
}
