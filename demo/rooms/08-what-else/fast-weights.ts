// Fast weights: linear attention as a weight matrix that outer products write, and that a query reads. Softmax-free, with small numbers.

import type { Answer, Call } from "../../src/engine/engine.js";
import { at, largest, multiply, rowsFrom, singleRows, stack, transpose, widest } from "../../src/model/matrix.js";
import { Board, during, type Shape, type View } from "../../src/ui/board.js";
import { picture } from "../../src/ui/picture.js";
import { label, valued } from "./shapes.js";

/** Words one below the other, set by hand. */
const KEYS = singleRows([1, 0, 0], [0, 1, 0], [0, 0.6, 0.8]);
const VALUES = singleRows([2, -1, 0], [0, 1, 1], [1, 0, -2]);
/** Asked after every word; the last answer is the one that is shown. */
const QUERIES = singleRows([0, 1, 0], [0, 1, 0], [0, 1, 0]);
const FINAL = multiply(transpose(KEYS), VALUES);
const READ = rowsFrom(multiply(QUERIES, FINAL), 2);

const STEPS = ["W is empty", "Write k₁ v₁ᵀ", "Add k₂ v₂ᵀ", "Add k₃ v₃ᵀ", "Read q W"] as const;
const [CELL, LEFT, TOP, HEIGHT] = [46, 84, 72, 290];

export function fastWeights() {
  let found: { readonly state: readonly number[]; readonly output: readonly number[] } | undefined;
  const board = new Board({ steps: STEPS, rests: STEPS.length - 1 });
  board.show(view);
  const { element, say } = picture({
    name: "fast-weights",
    title: "Fast weights: a matrix that the input writes",
    body: [board.element],
    data: () => ({ keys: KEYS.data, values: VALUES.data, ...found }),
  });
  say(
    "Without a softmax, attention is a memory, W: each word adds the outer product of its key and value, and a query reads it. The keys k₂ and k₃ are alike, so reading with k₂ mixes their values. Schmidhuber’s fast weights of 1991 did this.",
  );
  return {
    element,
    call: (): Call => {
      const [q, k, v] = [stack([QUERIES]), stack([KEYS]), stack([VALUES])];
      return { q, k, v, options: { scale: 1 }, linear: true };
    },
    /** How far the kernel is from the page. */
    read: (answer: Answer | undefined): number => {
      const [state, output] = [Array.from(answer?.weights.data ?? []), Array.from(answer?.output.data ?? []).slice(6)];
      found = { state, output };
      return Math.max(widest(FINAL.data, state), widest(READ.data, output));
    },
  };
}

function view(place: number, width: number): View {
  const shapes: Shape[] = [];
  const left = Math.max(LEFT, width / 2 - 2 * CELL);
  const full = Math.max(largest(FINAL), largest(VALUES));
  const cell = (key: string, x: number, y: number, value: number, opacity = 1): void => {
    shapes.push(...valued("square", key, { x: x + CELL / 2, y: y + CELL / 2, value, full, opacity }));
  };
  const name = (text: string, x: number, y: number, opacity: number): void => {
    shapes.push(...label(`name ${text}`, x, y, text, opacity));
  };
  const written = (word: number): number => during(place, word + 0.3, word + 1);
  /** Beside the matrix while it is written, and gone when the next one comes. */
  const present = (word: number): number => during(place, word, word + 0.3) - during(place, word + 1, word + 1.2);
  const lines = [0, 1, 2];
  const middle = left + 1.5 * CELL;
  name("W", middle, TOP + 3 * CELL + 18, 1 - during(place, 3, 4));
  for (const i of lines) {
    for (const j of lines) {
      const sum = lines.reduce((all, word) => all + written(word) * at(KEYS, word, i) * at(VALUES, word, j), 0);
      cell(`W ${i} ${j}`, left + j * CELL, TOP + i * CELL, sum);
    }
    for (const word of lines) {
      cell(`k ${word} ${i}`, left - CELL - 10, TOP + i * CELL, at(KEYS, word, i), present(word));
      cell(`v ${word} ${i}`, left + i * CELL, TOP - CELL - 10, at(VALUES, word, i), present(word));
    }
    cell(`q ${i}`, left - CELL - 10, TOP + i * CELL, at(QUERIES, 2, i), during(place, 3.2, 3.6));
    cell(`o ${i}`, left + i * CELL, TOP + 3 * CELL + 10, at(READ, 0, i), during(place, 3.6, 4));
  }
  for (const word of lines) {
    name(`k${word + 1}`, left - CELL / 2 - 10, TOP - 10, present(word));
    name(`v${word + 1}`, left + 3 * CELL + 14, TOP - CELL / 2 - 5, present(word));
  }
  name("q", left - CELL / 2 - 10, TOP - 10, during(place, 3.2, 3.6));
  name("q W", left - CELL / 2 - 10, TOP + 3.5 * CELL + 15, during(place, 3.6, 4));
  return { height: HEIGHT, shapes, said: STEPS[Math.round(place)] ?? "" };
}
