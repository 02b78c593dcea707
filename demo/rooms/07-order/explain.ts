// One number of the room taken apart, whichever matrix it stands in.

import { at } from "../../src/model/matrix.js";
import { rowSum } from "../../src/model/softmax.js";
import { type Explanation, type NamedLight, products } from "../../src/ui/explanation.js";
import { exact, small } from "../../src/ui/numbers.js";
import { SCALE } from "./attend.js";
import type { OrderAnswer } from "./calls.js";
import { clipped, speed } from "./positions.js";
import type { OrderScene } from "./scene.js";
import { ANSWERS, ASKS, FEATURES, PROPERTIES, QUESTIONS } from "./vectors.js";
import { cellOf, type MatrixName } from "./views.js";

export interface Spot {
  readonly name: MatrixName;
  readonly row: number;
  readonly col: number;
}

type Told = Omit<Explanation, "result" | "lights" | "head" | "terms"> & Partial<Explanation>;

export function explain(scene: OrderScene, spot: Spot, answer?: OrderAnswer): Explanation | undefined {
  const { name, row, col } = spot;
  const result = cellOf(name, scene, row, col);
  if (Number.isNaN(result)) return undefined;
  const lights: readonly NamedLight[] = [{ name, row, col }];
  return { head: [], terms: [], lights, result, ...TELL[name](scene, row, col, answer) };
}

const TELL: Readonly<
  Record<MatrixName, (scene: OrderScene, row: number, col: number, answer: OrderAnswer | undefined) => Told>
> = {
  X: ({ words, state }, row, col) => ({
    subject: `X [${words[row]}, ${FEATURES[col]}]`,
    sentence:
      state.numbers !== null
        ? "Changed by hand."
        : col < PROPERTIES.length
          ? "Set by hand for this word; 0 for words that our small table lacks. Drag or type to change it."
          : `Made from the letters: the mean of sin(${col - PROPERTIES.length + 1} × code) over them, so that two names differ.`,
    last: "",
    editable: true,
  }),
  P: ({ state, labels }, row, col) => {
    const position = state.shift + row;
    const pair = col >> 1;
    if (state.kind === "learned") {
      return {
        subject: `P [position ${position}, ${FEATURES[col]}]`,
        sentence: `Row ${position} of a table. In a model, training finds these numbers; here they are random, of table ${state.seed}.`,
        last: "",
      };
    }
    const wave = col % 2 === 0 ? "sin" : "cos";
    return {
      subject: `P [${labels[row]} at ${position}, ${FEATURES[col]}]`,
      sentence: `Pair ${pair + 1} of columns turns by ${state.base}^(−${2 * pair}/8) = ${exact(speed(state.base, pair))} a position.`,
      last: `${wave}(${position} × ${exact(speed(state.base, pair))}) = ${exact(Math[wave](position * speed(state.base, pair)))}`,
    };
  },
  angle: ({ state, labels }, row, pair) => ({
    subject: `angle of “${labels[row]}”, pair ${pair + 1}`,
    sentence: `Its position, ${state.shift + row}, times the pair’s speed ${state.base}^(−${2 * pair}/8).`,
    last: `${state.shift + row} × ${exact(speed(state.base, pair))} = ${exact((state.shift + row) * speed(state.base, pair))}`,
  }),
  Q: (scene, row, col) => explainTurned(scene, "Q", row, col),
  K: (scene, row, col) => explainTurned(scene, "K", row, col),
  Wq: (_scene, row, col) => ({
    subject: `WQ [${FEATURES[row]}, ${QUESTIONS[col]?.name}]`,
    sentence: `How strongly a word that has “${FEATURES[row]}” asks “${QUESTIONS[col]?.name}”. Chosen by hand.`,
    last: "",
  }),
  Wk: (_scene, row, col) => ({
    subject: `WK [${FEATURES[row]}, ${QUESTIONS[col]?.name}]`,
    sentence: `How strongly a word that has “${FEATURES[row]}” answers “${QUESTIONS[col]?.name}”. Chosen by hand.`,
    last: "",
  }),
  Qp: (scene, row, col) => explainProjected(scene, "Q", row, col),
  Kp: (scene, row, col) => explainProjected(scene, "K", row, col),
  b: (_scene, _row, col) => ({
    subject: `b [${col - 4}]`,
    sentence:
      "Added to the score of every pair at this distance. In a model, training finds it; here it was chosen. Change it.",
    last: "",
    editable: true,
    lights: [{ name: "b", row: 0, col }],
  }),
  B: ({ state, now }, row, col) => {
    const distance = col - row;
    const alibi = state.kind === "alibi";
    return {
      subject: `B, distance ${exact(distance)}`,
      sentence: alibi
        ? "Minus the slope for each place of distance: the nearer, the louder."
        : `The number of b at this distance${clipped(distance) === distance ? "" : ", which counts as the farthest"}.`,
      last: alibi
        ? `−${state.slope} × ${Math.abs(distance)} = ${exact(at(now.bias, row, col))}`
        : `b [${exact(clipped(distance))}] = ${exact(at(now.bias, row, col))}`,
      lights: [
        { name: "B", row, col },
        { name: "b", row: 0, col: clipped(distance) + 4 },
      ],
    };
  },
  Z: ({ now, labels, state }, row, col) => {
    const dotProduct = products(
      QUESTIONS.map(({ name }) => name),
      (index) => at(now.q, row, index),
      (index) => at(now.k, col, index),
      ["", "q", "k"],
    );
    const dot = QUESTIONS.reduce((sum, _, index) => sum + at(now.q, row, index) * at(now.k, col, index), 0);
    const bias = at(now.bias, row, col);
    const added =
      state.kind === "alibi" || state.kind === "relative" ? ` ${bias < 0 ? "−" : "+"} ${exact(Math.abs(bias))}` : "";
    const hidden = state.kind === "causal" && col > row;
    return {
      ...dotProduct,
      subject: `S [${labels[row]}, ${labels[col]}]`,
      sentence: hidden
        ? "The key comes later: its score is set to −∞."
        : "Query times key, question by question, over √8, and what distance adds.",
      last: hidden ? "→ −∞" : `${exact(dot)} × ${exact(SCALE)}${added} = ${exact(at(now.scores, row, col))}`,
    };
  },
  A: ({ now, labels }, row, col, answer) => {
    const { most, sum } = rowSum(now.scores, row);
    const power = (key: number): number => Math.exp(at(now.scores, row, key) - most);
    return {
      subject: `A [${labels[row]}, ${labels[col]}]`,
      sentence: "The sum has the same terms in any order: that is why a softmax cannot tell.",
      head: ["", "score", "e^"],
      terms: labels.map((label, key) => ({
        label,
        figures: [exact(at(now.scores, row, key)), small(power(key))],
        own: key === col,
        faint: power(key) < 5e-5,
      })),
      last: `${small(power(col))} / ${exact(sum)} = ${small(power(col) / sum)}`,
      ...(answer === undefined ? {} : { kernel: at(answer.shares, row, col) }),
      lights: [
        { name: "Z", row },
        { name: "A", row, col },
      ],
    };
  },
  O: ({ now, labels }, row, col, answer) => ({
    subject: `O [${labels[row]}, ${FEATURES[col]}]`,
    sentence: "Everybody’s value, times the share that it got: a sum again, whose terms have no order.",
    ...products(
      labels,
      (key) => at(now.shares, row, key),
      (key) => at(now.v, key, col),
      ["", "share", "v"],
    ),
    ...(answer === undefined ? {} : { kernel: at(answer.output, row, col) }),
    lights: [
      { name: "A", row },
      { name: "O", row, col },
    ],
  }),
  D: ({ now, written, labels, places, words }, row, col, answer) => {
    const word = places[row] ?? 0;
    const [after, before] = [at(now.output, row, col), at(written.output, word, col)];
    return {
      subject: `D [${labels[row]}, ${FEATURES[col]}]`,
      sentence: `What “${words[word]}” takes in at place ${row + 1}, less what it took in as written, at place ${word + 1}.`,
      last: `${exact(after, 6)} − ${exact(before, 6)} = ${exact(after - before, 6)}`,
      ...(answer === undefined ? {} : { kernel: at(answer.difference, row, col) }),
      lights: [
        { name: "O", row, col },
        { name: "D", row, col },
      ],
    };
  },
};

function explainProjected({ now, labels, state }: OrderScene, role: "Q" | "K", row: number, col: number): Told {
  const weights = role === "Q" ? ASKS : ANSWERS;
  const added = state.kind === "sinusoidal" || state.kind === "learned";
  return {
    subject: `${role} [${labels[row]}, ${QUESTIONS[col]?.name}]`,
    sentence: `The word’s vector${added ? ", with its position," : ""} times a column of W${role}.`,
    ...products(
      FEATURES,
      (index) => at(now.x, row, index),
      (index) => at(weights, index, col),
      ["", added ? "x + p" : "x", `W${role}`],
    ),
    lights: [
      { name: role === "Q" ? "Wq" : "Wk", col },
      { name: role === "Q" ? "Qp" : "Kp", row, col },
    ],
  };
}

function explainTurned({ now, labels, state }: OrderScene, role: "Q" | "K", row: number, col: number): Told {
  const plain = role === "Q" ? now.plainQ : now.plainK;
  const pair = col >> 1;
  const position = state.shift + row;
  const angle = position * speed(state.base, pair);
  const [first, second] = [at(plain, row, col & ~1), at(plain, row, col | 1)];
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const parts = col % 2 === 0 ? ([first, cos, second, -sin] as const) : ([first, sin, second, cos] as const);
  const line = (label: string, a: number, b: number) => ({ label, figures: [exact(a), exact(b), exact(a * b)] });
  return {
    subject: `${role} [${labels[row]}, ${QUESTIONS[col]?.name}], turned`,
    sentence: `Columns ${2 * pair + 1} and ${2 * pair + 2} of the ${role === "Q" ? "query" : "key"}, turned by ${exact(angle)}. Queries and keys are both turned, so that only the difference of two positions is left in their product.`,
    head: ["", role === "Q" ? "q" : "k", col % 2 === 0 ? "cos, −sin" : "sin, cos", "product"],
    terms: [
      line(QUESTIONS[col & ~1]?.name ?? "", parts[0], parts[1]),
      line(QUESTIONS[col | 1]?.name ?? "", parts[2], parts[3]),
    ],
    last: `sum = ${exact(parts[0] * parts[1] + parts[2] * parts[3])}`,
    lights: [
      { name: "angle", row, col: pair },
      { name: role, row, col },
    ],
  };
}
