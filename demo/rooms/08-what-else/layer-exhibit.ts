// Attention as a dense layer: one query, a head for each input that looks at nothing else, and output weights that are the layer's.
// Beside it, weights that are made from the input: attention's own, and fast weights.

import type { Answer } from "../../src/engine/engine.js";
import {
  along,
  at,
  fill,
  identity,
  largest,
  type Matrix,
  multiply,
  rowsOf,
  stack,
  toSingle,
  transpose,
  unstack,
  widestGap,
} from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import { agreed } from "../../src/page/room.js";
import { Board, during, mix, type Shape, shape } from "../../src/ui/board.js";
import { single, torchTensor } from "../../src/ui/code.js";
import { boundSlider } from "../../src/ui/controls.js";
import { button, fact } from "../../src/ui/dom.js";
import { type Explanation, lit, products, softened } from "../../src/ui/explanation.js";
import { numbered, signed, weighed } from "../../src/ui/named-matrices.js";
import { exact } from "../../src/ui/numbers.js";
import { difference, type Exhibit, type Programs, type Spot, setByHand } from "./exhibit.js";
import { fastWeights } from "./fast-weights.js";
import { ABOVE, BELOW, CHOSEN, valued } from "./shapes.js";
import { INPUTS, SHARPNESS, store, type WhatElseState } from "./state.js";

/**
 * X: the inputs, a row; Wd: a row an output; A: the heads' weights, a row each; C: what they read, beside each other; D and Y: what the dense
 * layer gives, and attention; B and Z: attention's own weights, and what it makes of x.
 */
type LayerMatrices = Readonly<Record<Name, Matrix>>;
const NAMES = ["X", "Wd", "A", "C", "D", "Y", "B", "Z"] as const;
type Name = (typeof NAMES)[number];

/** One a step of the wires: its name, what is said, and the output that stands on the right. */
const STEPS: readonly { readonly name: string; readonly text: string; readonly output: Name }[] = [
  {
    name: "A dense layer",
    text: "A dense layer adds its inputs by fixed weights: a wire is as thick as its weight, blue above 0 and brown below. Change the input: the numbers change, the wires stay.",
    output: "D",
  },
  {
    name: "Through its heads",
    text: "The same wires, bundled: each head reads one input, and its output weights are that input’s column of W. With a hard softmax both layers agree to the last digit.",
    output: "Y",
  },
  {
    name: "Attention’s own wires",
    text: "Left to itself, attention makes its wires from the input: a softmax of xᵢ xⱼ over j, an autocorrelation, with no parameter at all. Such a prior fits any problem: first select, then compute. Change the input: now the wires change as well.",
    output: "Z",
  },
];

export function layerExhibit(): Exhibit {
  const fast = fastWeights();
  let step = 0;
  const board = new Board({
    steps: STEPS.map(({ name }) => name),
    rests: STEPS.length - 1,
    moved: (place) => {
      const next = Math.round(place);
      if (next === step) return;
      step = next;
      store.renew();
    },
  });
  const another = (): void => {
    const known = INPUTS.indexOf(store.state.inputs);
    store.change({ inputs: INPUTS[(known + 1) % INPUTS.length] ?? INPUTS[0] }, "new");
  };
  return {
    picture: {
      name: "layer",
      title: "A dense layer, and attention that is the same",
      body: [board.element],
      controls: [button("Change the input", another)],
      more: [boundSlider(store, "sharpness", "Sharpness s", SHARPNESS, { said: (value) => exact(value, 2) })],
    },
    below: fast.element,
    sceneOf: (state) => {
      const made = matricesOf(state);
      const { X, Wd } = made;
      const queries = queriesOf(state);
      const x = stack([transpose(X)]);
      const heads = { ...stack([queries]), shape: [1, X.cols, 1, X.cols] };
      return {
        state,
        calls: [
          { q: heads, k: stack([identity(X.cols)]), v: x, options: { score: "dot" } },
          { q: x, k: x, v: x, options: { score: "dot" } },
          fast.call(),
        ],
        show: (answers) => {
          const found = answers && withAnswers(made, answers);
          const matrices = found ?? made;
          const gaps = (["A", "B", "C", "Z"] as const).map((name) => widestGap(matrices[name], made[name]));
          board.show((place, width) => wires(matrices, place, width));
          const figures = [
            difference(widestGap(matrices.Y, made.D)),
            fact("Heads", String(X.cols), "one for each input"),
          ];
          const output = STEPS[step]?.output ?? "D";
          return {
            text: STEPS[step]?.text ?? "",
            // Its own wires are another layer's.
            figures: output === "Z" ? [] : figures,
            views: viewsOf(matrices, state),
            data: { state, dense: made.D.data, attention: matrices.Y.data },
            first: { name: output, row: 0, col: 0 },
            explain: (spot) => explain({ state, made, found }, spot),
            agreed: agreed("Weights and fast weights", Math.max(...gaps, answers ? fast.read(answers[2]) : 0)),
          };
        },
        programs: () => programsOf(queries, X, Wd),
      };
    },
  };
}

/** Pixels of the board. */
const HEIGHT = 330;

type Point = readonly [number, number];

/** A dense layer as wires, the same wires bundled through heads, and the wires that attention makes from its input. */
function wires(matrices: LayerMatrices, place: number, width: number) {
  const { X: inputs, Wd: weights, A: heads, D: dense, B: own, Z: mixed } = matrices;
  const [bundled, handed, parted] = [during(place, 0, 1), during(place, 0.6, 1), during(place, 1, 2)];
  const count = inputs.cols;
  const down = (index: number, all: number): number =>
    Math.min(HEIGHT - 24, 16 + ((HEIGHT - 16) * (index + 0.5)) / all);
  const input = (index: number): Point => [50, down(index, count)];
  const head = (index: number): Point => [width * 0.42, down(index, count)];
  const output = (index: number): Point => [width - 50, mix(down(index, weights.rows), down(index, own.rows), parted)];
  const shapes: Shape[] = [];
  const wire = (key: string, points: readonly Point[], weight: number, stroke: string, opacity: number): void => {
    if (Math.abs(weight) < 0.005 || opacity < 0.01) return;
    const d = `M${points.map((point) => point.map((part) => part.toFixed(1)).join(" ")).join("L")}`;
    const thick = (1 + 8 * Math.abs(weight)).toFixed(2);
    shapes.push(shape("path", key, { d, stroke, fill: "none", "stroke-width": thick, opacity }));
  };
  const most = Math.max(1e-9, largest(weights));
  const indices = Array.from({ length: count }, (_, index) => index);
  for (const from of indices) {
    for (let to = 0; to < weights.rows; to++) {
      const [start, end, through] = [input(from), output(to), head(from)];
      const straight = start[1] + ((end[1] - start[1]) * (through[0] - start[0])) / (end[0] - start[0]);
      const middle: Point = [through[0], mix(straight, through[1], bundled)];
      const first: Point = [mix(start[0], middle[0], handed), mix(start[1], middle[1], handed)];
      const weight = at(weights, to, from);
      wire(`dense ${from} ${to}`, [first, middle, end], weight / most, weight < 0 ? BELOW : ABOVE, 1 - parted);
    }
    for (const to of indices) {
      wire(`read ${from} ${to}`, [input(from), head(to)], at(heads, to, from), CHOSEN, handed - parted);
      wire(`own ${from} ${to}`, [input(from), output(to)], at(own, to, from), CHOSEN, parted);
    }
  }
  const full = Math.max(1, largest(inputs), largest(dense));
  for (const index of indices) {
    const node = (key: string, [x, y]: Point, name: string, value: number, opacity = 1): void => {
      const held = { x, y, name: `${name}${index + 1}`, value, full, opacity };
      shapes.push(...valued("circle", `${key}${index + 1}`, held));
    };
    const read = indices.reduce((sum, from) => sum + at(heads, index, from) * at(inputs, 0, from), 0);
    const attention = at(mixed, 0, index);
    const isDense = index < dense.cols;
    node("x", input(index), "x", at(inputs, 0, index));
    node("h", head(index), "head ", read, bundled - parted);
    const value = isDense ? mix(at(dense, 0, index), attention, parted) : attention;
    node("y", output(index), "y", value, isDense ? 1 : parted);
  }
  return { height: HEIGHT, shapes, said: `${STEPS[Math.round(place)]?.name}: ${count} inputs` };
}

/** One row a head. */
function queriesOf({ inputs: { cols }, sharpness }: WhatElseState): Matrix {
  return fill(cols, cols, (row, col) => (row === col ? sharpness : 0));
}

function matricesOf(state: WhatElseState): LayerMatrices {
  const [X, Wd] = [toSingle(state.inputs), toSingle(state.weights)];
  const [A, B] = [softmax(toSingle(queriesOf(state))), softmax(multiply(transpose(X), X))];
  const [C, Z] = [multiply(X, transpose(A)), multiply(X, transpose(B))];
  return { X, Wd, A, B, C, Z, D: multiply(X, transpose(Wd)), Y: multiply(C, transpose(Wd)) };
}

/** The same with the kernel's numbers. */
function withAnswers(made: LayerMatrices, [heads, own]: readonly Answer[]): LayerMatrices {
  const count = made.X.cols;
  const part = (rows: number, tensor?: { readonly data: Float32Array }) => unstack(rows, count, tensor?.data ?? []);
  const [A, B, C] = [part(count, heads?.weights), part(count, own?.weights), part(1, heads?.output)];
  return { ...made, A, B, C, Z: part(1, own?.output), Y: multiply(C, transpose(made.Wd)) };
}

function viewsOf({ X, Wd, A, C, D, Y, B, Z }: LayerMatrices, state: WhatElseState) {
  const [inputs, heads, outputs] = [numbered("x", X.cols), numbered("head ", X.cols), numbered("y", Wd.rows)];
  const [dense, mixed] = state.by === "columns" ? ["Wᵀ x", "Wᵀ read"] : ["x Wᵀ", "read Wᵀ"];
  return {
    X: { ...signed("x", "inputs; change any", X, ["x"], inputs), editable: true },
    Wd: { ...signed("W", "one row an output; change any", Wd, outputs, inputs), editable: true },
    A: weighed("A", "attention weights: one row a head", A, heads, inputs),
    C: signed("read", "what the heads read", C, ["read"], heads),
    D: signed("y_dense", `the dense layer: ${dense}`, D, ["y"], outputs),
    Y: signed("y_attention", `attention: ${mixed}`, Y, ["y"], outputs),
    B: weighed("A_own", "made from x: a softmax of xᵢ xⱼ over j", B, inputs, inputs),
    Z: signed("y_own", "attention’s own output", Z, ["y"], inputs),
  };
}

interface Told extends Readonly<Record<"made", LayerMatrices>> {
  readonly state: WhatElseState;
  /** With the kernel's numbers. */
  readonly found: LayerMatrices | undefined;
}

function explain({ state, made, found }: Told, { row, col, ...spot }: Spot): Explanation | undefined {
  const name = NAMES.find((one) => one === spot.name);
  if (name === undefined) return undefined;
  const { X, C } = made;
  const [light, result] = [{ name, row, col }, at(made[name], row, col)];
  const { title, rowLabels, colLabels } = viewsOf(made, state)[name];
  const place = rowLabels.length === 1 ? colLabels[col] : `${rowLabels[row]}, ${colLabels[col]}`;
  const subject = `${title.replace("_", " ")} [${place}]`;
  if (name === "X" || name === "Wd") return setByHand(subject, result, light);
  const names = numbered("x", X.cols);
  const kernel = found && name !== "D" && name !== "Y" ? at(found[name], row, col) : undefined;
  if (name === "A" || name === "B") {
    const scores = rowsOf(name === "A" ? queriesOf(state) : multiply(transpose(X), X))[row] ?? [];
    return softened(scores, names, { subject, at: col, kernel, light });
  }
  const [sentence, from, weights] = {
    C: [`What head ${col + 1} reads: the inputs by its weights.`, X, "A"] as const,
    D: ["The dense layer: every input by its weight.", X, "Wd"] as const,
    Y: ["Attention: what the heads read, by the same weights, which are now output weights.", C, "Wd"] as const,
    Z: ["Attention’s own output: the inputs by weights that were made from them.", X, "B"] as const,
  }[name];
  const heads = ["", name === "Y" ? "read" : "input", "weight"];
  const terms = products(names, along(from, 0), along(made[weights], col), heads);
  return { subject, sentence, ...terms, result, kernel, lights: [light, lit(weights, col)] };
}

function programsOf(queries: Matrix, X: Matrix, Wd: Matrix): Programs {
  const count = X.cols;
  const rows = rowsOf(Wd).map((row) => `[${row.map(single).join(", ")}]`);
  return {
    about: `A dense layer as attention: one query, ${count} heads`,
    tensors: { q: [[queries], [1, count, 1, count]], k: [[identity(count)]], v: [[transpose(X)]] },
    heed: [
      `
const read = (await heed.attention(q, k, v, { score: "dot" })).output.data;
const weights = [${rows.join(", ")}];
const output = { data: weights.map((row) => row.reduce((sum, weight, head) => sum + weight * read[head], 0)) };`,
    ],
    torch: [
      `${torchTensor("weights", [Wd], [Wd.rows, count])}

read = F.scaled_dot_product_attention(q, k.expand(-1, ${count}, -1, -1), v.expand(-1, ${count}, -1, -1), scale=1.0)
output = F.linear(read.flatten(), weights)`,
      "output, F.linear(v.flatten(), weights)",
    ],
  };
}
