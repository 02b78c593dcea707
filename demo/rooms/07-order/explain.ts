// One number of the room taken apart, whichever matrix it stands in.

import { along, at, down, rowsOf } from "../../src/model/matrix.js";
import { type Explanation, lit, products, softened } from "../../src/ui/explanation.js";
import type { NamedSpot } from "../../src/ui/named-matrices.js";
import { exact, timesTold } from "../../src/ui/numbers.js";
import { SCALE } from "./attend.js";
import type { OrderAnswer } from "./calls.js";
import { clipped, speed } from "./positions.js";
import type { OrderScene } from "./scene.js";
import { ANSWERS, ASKS, FEATURES, PROPERTIES, QUESTIONS } from "./vectors.js";
import { cellOf, type MatrixName } from "./views.js";

type Told = Omit<Explanation, "result" | "lights"> & Partial<Explanation>;

export function explain(
  scene: OrderScene,
  { name, row, col }: NamedSpot<MatrixName>,
  answer?: OrderAnswer,
): Explanation | undefined {
  const result = cellOf(name, scene, row, col);
  if (Number.isNaN(result)) return undefined;
  return { lights: [lit(name, row, col)], result, ...TELL[name](scene, row, col, answer) };
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
    editable: true,
  }),
  P: ({ state, labels }, row, col) => {
    const position = state.shift + row;
    const pair = col >> 1;
    if (state.kind === "learned") {
      return {
        subject: `P [position ${position}, ${FEATURES[col]}]`,
        sentence: `Row ${position} of a table. In a model, training finds these numbers; here they are random, of table ${state.seed}.`,
      };
    }
    const wave = col % 2 === 0 ? "sin" : "cos";
    return {
      subject: `P [${labels[row]} at ${position}, ${FEATURES[col]}]`,
      sentence: `Pair ${pair + 1} of columns turns by ${state.base}^(−${2 * pair}/8) = ${exact(speed(state.base, pair))} a position.`,
      last: `${wave}(${position} × ${exact(speed(state.base, pair))}) = ${exact(Math[wave](position * speed(state.base, pair)))}`,
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
  Q: (scene, row, col) => explainTurned(scene, "Q", row, col),
  K: (scene, row, col) => explainTurned(scene, "K", row, col),
  Wq: (_scene, row, col) => explainWeight("query", row, col),
  Wk: (_scene, row, col) => explainWeight("key", row, col),
  Qp: (scene, row, col) => explainProjected(scene, "Q", row, col),
  Kp: (scene, row, col) => explainProjected(scene, "K", row, col),
  b: (_scene, _row, col) => ({
    subject: `b [${col - 4}]`,
    sentence:
      "Added to the score of every pair at this distance. In a model, training finds it; here it was chosen. Change it.",
    editable: true,
  }),
  B: ({ state, now }, row, col) => {
    const distance = col - row;
    const alibi = state.kind === "alibi";
    return {
      subject: `B, distance ${exact(distance)}`,
      sentence: alibi
        ? "Minus the slope for each place of distance: near words count more."
        : `The number of b at this distance${clipped(distance) === distance ? "" : ", which counts as the farthest"}.`,
      last: alibi
        ? `−${state.slope} × ${Math.abs(distance)} = ${exact(at(now.bias, row, col))}`
        : `b [${exact(clipped(distance))}] = ${exact(at(now.bias, row, col))}`,
      lights: [lit("B", row, col), lit("b", 0, clipped(distance) + 4)],
    };
  },
  Z: ({ now, labels, state }, row, col) => {
    const questions = QUESTIONS.map(({ name }) => name);
    const dot = questions.reduce((sum, _, index) => sum + at(now.q, row, index) * at(now.k, col, index), 0);
    const bias = at(now.bias, row, col);
    const added =
      state.kind === "alibi" || state.kind === "relative" ? ` ${bias < 0 ? "−" : "+"} ${exact(Math.abs(bias))}` : "";
    const hidden = state.kind === "causal" && col > row;
    return {
      ...products(questions, along(now.q, row), along(now.k, col), ["", "q", "k"]),
      subject: `S [${labels[row]}, ${labels[col]}]`,
      sentence: hidden
        ? "The key comes later: its score is set to −∞."
        : "Query times key, question by question, over √8, and what distance adds.",
      last: hidden ? "→ −∞" : `${exact(dot)} × ${exact(SCALE, 6)}${added} ≈ ${exact(at(now.scores, row, col))}`,
    };
  },
  A: ({ now, labels }, row, col, answer) => ({
    ...softened(rowsOf(now.scores)[row] ?? [], labels, {
      subject: `A [${labels[row]}, ${labels[col]}]`,
      at: col,
      kernel: answer && at(answer.weights, row, col),
    }),
    sentence: "The sum has the same terms in any order: that is why a softmax cannot tell.",
    lights: [lit("Z", row), lit("A", row, col)],
  }),
  O: ({ now, labels }, row, col, answer) => ({
    subject: `O [${labels[row]}, ${FEATURES[col]}]`,
    sentence: "Every word’s value times its attention weight: a sum again, whose terms have no order.",
    ...products(labels, along(now.weights, row), down(now.v, col), ["", "weight", "v"]),
    kernel: answer && at(answer.output, row, col),
    lights: [lit("A", row), lit("O", row, col)],
  }),
  D: ({ now, written, labels, places, words }, row, col, answer) => {
    const word = places[row] ?? 0;
    const [after, before] = [at(now.output, row, col), at(written.output, word, col)];
    return {
      subject: `D [${labels[row]}, ${FEATURES[col]}]`,
      sentence: `The output of “${words[word]}” at place ${row + 1}, less its output as written, at place ${word + 1}.`,
      last: `${exact(after, 6)} − ${exact(before, 6)} = ${exact(after - before, 6)}`,
      kernel: answer && at(answer.difference, row, col),
      lights: [lit("O", row, col), lit("D", row, col)],
    };
  },
};

function explainWeight(role: "query" | "key", row: number, col: number): Told {
  const [feature, question] = [FEATURES[row], QUESTIONS[col]?.name];
  return {
    subject: `W${role === "query" ? "Q" : "K"} [${feature}, ${question}]`,
    sentence: `How much “${feature}” adds to “${question}” in a word’s ${role}. Chosen by hand.`,
  };
}

function explainProjected({ now, labels, state }: OrderScene, role: "Q" | "K", row: number, col: number): Told {
  const weights = role === "Q" ? ASKS : ANSWERS;
  const added = state.kind === "sinusoidal" || state.kind === "learned";
  return {
    subject: `${role} [${labels[row]}, ${QUESTIONS[col]?.name}]`,
    sentence: `The word’s vector${added ? ", with its position," : ""} times a column of W${role}.`,
    ...products(FEATURES, along(now.x, row), down(weights, col), ["", added ? "x + p" : "x", `W${role}`]),
    lights: [lit(role === "Q" ? "Wq" : "Wk", undefined, col), lit(role === "Q" ? "Qp" : "Kp", row, col)],
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
    lights: [lit("angle", row, pair), lit(role, row, col)],
  };
}
