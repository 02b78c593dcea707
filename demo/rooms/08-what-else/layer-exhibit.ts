// Attention as a dense layer: one query, a head for each input that looks at nothing else, and output weights that are the layer's.
// Beside it, weights that are made from the input: attention's own, and fast weights.

import type { Answer, Call } from "../../src/engine/engine.js";
import {
  at,
  fill,
  identity,
  type Matrix,
  multiply,
  rowsOf,
  stack,
  toSingle,
  transpose,
  unstack,
  widestGap,
  withBlock,
} from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import { agreed } from "../../src/page/furnish.js";
import { Board } from "../../src/ui/board.js";
import { heedProgram, heedTensor, single, torchProgram, torchTensor } from "../../src/ui/code.js";
import { button } from "../../src/ui/dom.js";
import { type Explanation, products, softened } from "../../src/ui/explanation.js";
import { NamedMatrices, type NamedSpot, signed, type View, weighed } from "../../src/ui/named-matrices.js";
import { exact } from "../../src/ui/numbers.js";
import { byChoice } from "../../src/ui/orientation.js";
import { slider } from "../../src/ui/slider.js";
import { fact } from "../../src/ui/table.js";
import { difference, type Exhibit, exhibit, type Host, setByHand } from "./exhibit.js";
import { fastWeights } from "./fast-weights.js";
import { INPUTS, SHARPNESS, type WhatElseState } from "./state.js";
import { WIRE_STEPS, wires } from "./wires.js";

const MATRICES = ["X", "Wd", "A", "C", "D", "Y", "B", "Z"] as const;
type MatrixName = (typeof MATRICES)[number];

interface Scene {
  readonly state: WhatElseState;
  /** One row a head. */
  readonly queries: Matrix;
  /** A: the heads' weights; C: what they read, beside each other; B and Z: attention's own weights, and what it makes of x. */
  readonly made: Readonly<Record<MatrixName, Matrix>>;
  /** What is shown: the same, with the kernel's numbers once they are there. */
  readonly matrices: Readonly<Record<MatrixName, Matrix>>;
  readonly isAnswered: boolean;
}

/** One a step of the wires: what is said, and the output that stands on the right. */
const STEPS: readonly { readonly text: string; readonly output: MatrixName }[] = [
  {
    text: "A dense layer adds its inputs by fixed weights: a wire is as thick as its weight, blue above 0 and brown below. Change the input: the numbers change, the wires stay.",
    output: "D",
  },
  {
    text: "The same wires, bundled: each head reads one input, and its output weights are that input’s column of W. With a hard softmax both layers agree to the last digit.",
    output: "Y",
  },
  {
    text: "Left to itself, attention makes its wires from the input: a softmax of xᵢ xⱼ over j, with no parameter at all. Change the input: now the wires change as well, for any number of inputs.",
    output: "Z",
  },
];

export function layerExhibit(host: Host): Exhibit {
  const { store, teller } = host;
  const matrices = new NamedMatrices(MATRICES, () => store.state.by === "columns");
  const by = byChoice("vector", (value) => store.change({ by: value }));
  const sharpness = slider("Sharpness s", SHARPNESS, (value) => store.change({ sharpness: value }));
  const fast = fastWeights();
  const board = new Board({
    steps: WIRE_STEPS,
    moved: () => {
      layer.say();
      teller.tell();
    },
  });
  const step = () => STEPS[Math.round(board.at)];
  const another = (): void => {
    const known = INPUTS.indexOf(store.state.inputs);
    store.change({ inputs: INPUTS[(known + 1) % INPUTS.length] ?? identity(0) }, "new");
  };
  const layer = exhibit<Scene, MatrixName>(host, {
    picture: {
      name: "layer",
      title: "A dense layer, and attention that is the same",
      body: [board.element],
      controls: [button("Change the input", another)],
      more: [
        sharpness.element,
        ...(
          [
            ["X", "Wd"],
            ["A", "C"],
            ["D", "Y"],
            ["B", "Z"],
          ] as const
        ).map((names) => matrices.line(...names)),
      ],
    },
    figures: ({ matrices: { X, Y, D } }) => [
      difference(widestGap(Y, D)),
      fact("Heads", String(X.cols), "one for each input"),
    ],
    data: ({ state, matrices: { D, Y } }) => ({ state, dense: Array.from(D.data), attention: Array.from(Y.data) }),
    say: () => step()?.text ?? "",
    below: fast.element,
    menu: by.element,
    matrices,
    viewsOf,
    edit: (name, row, col, values) => {
      const { inputs, weights } = store.state;
      if (name === "X") store.change({ inputs: withBlock(inputs, row, col, values) });
      if (name === "Wd") store.change({ weights: withBlock(weights, row, col, values) });
    },
    madeFrom: ({ inputs, weights, sharpness }) => [inputs, weights, sharpness],
    *sceneOf(state) {
      yield;
      return sceneOf(state);
    },
    draw: [
      ({ state, matrices: { X: inputs, Wd: weights, A: heads, B: own, D: dense, Z: mixed } }) => {
        sharpness.show(state.sharpness, exact(state.sharpness, 2));
        by.show(state.by);
        board.show((place, width) => wires({ inputs, weights, heads, own, dense, mixed }, place, width));
      },
    ],
    calls: ({ queries, matrices: { X } }) => {
      const x = stack([transpose(X)]);
      const heads = { ...stack([queries]), shape: [1, X.cols, 1, X.cols] };
      return [
        { q: heads, k: stack([identity(X.cols)]), v: x, options: { score: "dot" } },
        { q: x, k: x, v: x, options: { score: "dot" } },
        fast.call(),
      ] satisfies Call[];
    },
    read: (scene, [heads, own, written]) => {
      const [found, apart] = compared(scene, heads, own);
      const gap = Math.max(apart, fast.read(written));
      return [found, agreed("Weights and fast weights", gap)];
    },
    first: () => ({ name: step()?.output ?? "Y", row: 0, col: 0 }),
    explain,
    heedCode,
    torchCode,
  });
  return layer;
}

function sceneOf(state: WhatElseState): Scene {
  const [X, Wd] = [toSingle(state.inputs), toSingle(state.weights)];
  const queries = fill(X.cols, X.cols, (row, col) => (row === col ? state.sharpness : 0));
  const [A, B] = [softmax(toSingle(queries)), softmax(multiply(transpose(X), X))];
  const [C, Z] = [multiply(X, transpose(A)), multiply(X, transpose(B))];
  const [D, Y] = [multiply(X, transpose(Wd)), multiply(C, transpose(Wd))];
  const made = { X, Wd, A, C, D, Y, B, Z };
  return { state, queries, made, matrices: made, isAnswered: false };
}

/** The scene with the kernel's numbers, and how far they are from the page's own. */
function compared(scene: Scene, heads: Answer | undefined, own: Answer | undefined): readonly [Scene, number] {
  const { made } = scene;
  const count = made.X.cols;
  const part = (rows: number, tensor?: { readonly data: Float32Array }) => unstack(rows, count, tensor?.data ?? []);
  const [A, B] = [part(count, heads?.weights), part(count, own?.weights)];
  const [C, Z] = [part(1, heads?.output), part(1, own?.output)];
  const found = { A, B, C, Z };
  const gaps = (["A", "B", "C", "Z"] as const).map((name) => widestGap(found[name], made[name]));
  const Y = multiply(C, transpose(made.Wd));
  return [{ ...scene, matrices: { ...made, ...found, Y }, isAnswered: true }, Math.max(...gaps)];
}

function viewsOf({ matrices: { X, Wd, A, C, D, Y, B, Z }, state }: Scene): Readonly<Record<MatrixName, View>> {
  const [inputs, heads, outputs] = [namesOf("x", X.cols), namesOf("head ", X.cols), namesOf("y", Wd.rows)];
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

function namesOf(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${kind}${index + 1}`);
}

function explain(scene: Scene, { name, row, col }: NamedSpot<MatrixName>): Explanation {
  const { queries, made, matrices, isAnswered } = scene;
  const { X, C } = made;
  const [light, result] = [{ name, row, col }, at(made[name], row, col)];
  const { title, rowLabels, colLabels } = viewsOf(scene)[name];
  const place = rowLabels.length === 1 ? colLabels[col] : `${rowLabels[row]}, ${colLabels[col]}`;
  const subject = `${title.replace("_", " ")} [${place}]`;
  if (name === "X" || name === "Wd") return setByHand(subject, result, light);
  const names = namesOf("x", X.cols);
  const kernel = isAnswered && name !== "D" && name !== "Y" ? at(matrices[name], row, col) : undefined;
  if (name === "A" || name === "B") {
    const scores = rowsOf(name === "A" ? queries : multiply(transpose(X), X))[row] ?? [];
    return softened(scores, names, { subject, at: col, kernel, light });
  }
  const [sentence, from, weights] = {
    C: [`What head ${col + 1} reads: the inputs by its weights.`, X, "A"] as const,
    D: ["The dense layer: every input by its weight.", X, "Wd"] as const,
    Y: ["Attention: what the heads read, by the same weights, which are now output weights.", C, "Wd"] as const,
    Z: ["Attention’s own output: the inputs by weights that were made from them.", X, "B"] as const,
  }[name];
  const terms = products(
    names,
    (index) => at(from, 0, index),
    (index) => at(made[weights], col, index),
    ["", name === "Y" ? "read" : "input", "weight"],
  );
  return { subject, sentence, ...terms, result, kernel, lights: [light, { name: weights, row: col }] };
}

const aboutOf = ({ matrices }: Scene): string => `A dense layer as attention: one query, ${matrices.X.cols} heads`;

function heedCode(scene: Scene): string {
  const { queries, matrices } = scene;
  const count = matrices.X.cols;
  const rows = rowsOf(matrices.Wd).map((row) => `[${row.map(single).join(", ")}]`);
  return heedProgram(
    aboutOf(scene),
    `${heedTensor("q", [queries], [1, count, 1, count])}
${heedTensor("k", [identity(count)])}
${heedTensor("v", [transpose(matrices.X)])}

const read = (await heed.attention(q, k, v, { score: "dot" })).output.data;
const weights = [${rows.join(", ")}];
const output = { data: weights.map((row) => row.reduce((sum, weight, head) => sum + weight * read[head], 0)) };`,
  );
}

function torchCode(scene: Scene): string {
  const { queries, matrices } = scene;
  const count = matrices.X.cols;
  return torchProgram(
    aboutOf(scene),
    `${torchTensor("q", [queries], [1, count, 1, count])}
${torchTensor("k", [identity(count)])}
${torchTensor("v", [transpose(matrices.X)])}
${torchTensor("weights", [matrices.Wd], [matrices.Wd.rows, count])}

read = F.scaled_dot_product_attention(q, k.expand(-1, ${count}, -1, -1), v.expand(-1, ${count}, -1, -1), scale=1.0)
output = F.linear(read.flatten(), weights)`,
    "output, F.linear(v.flatten(), weights)",
  );
}
