// Attention as a dense layer: one query, a head for each input that looks at nothing else, and output weights that are the layer's.
// Beside it, weights that are made from the input: attention's own, and fast weights.

import type { Answer, Call } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import {
  at,
  fill,
  identity,
  largest,
  type Matrix,
  multiply,
  rowsOf,
  toSingle,
  transpose,
  unstack,
  widestGap,
  withBlock,
} from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import { agreement } from "../../src/page/furnish.js";
import { Board } from "../../src/ui/board.js";
import { heedTensor, single, torchTensor } from "../../src/ui/code.js";
import { button, h } from "../../src/ui/dom.js";
import { type Explanation, type NamedLight, products, softened } from "../../src/ui/explanation.js";
import { NamedMatrices, type NamedSpot } from "../../src/ui/named-matrices.js";
import { exact } from "../../src/ui/numbers.js";
import { byChoice } from "../../src/ui/orientation.js";
import { picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { difference, type Exhibit, figure, type Host, setByHand } from "./exhibit.js";
import { FastWeights } from "./fast-weights.js";
import { INPUTS, SHARPNESS, type WhatElseState } from "./state.js";
import { WIRE_STEPS, wires } from "./wires.js";

const MATRICES = ["X", "Wd", "A", "C", "D", "Y", "B", "Z"] as const;
type MatrixName = (typeof MATRICES)[number];

interface Scene {
  readonly state: WhatElseState;
  /** One row a head. */
  readonly queries: Matrix;
  /** A: the heads' weights; C: what they read, beside each other; B and Z: attention's own weights, and what it makes of x. */
  readonly matrices: Readonly<Record<MatrixName, Matrix>>;
}

export class LayerExhibit implements Exhibit {
  readonly menu;
  readonly element;
  readonly #host: Host;
  readonly #sharpness;
  readonly #by;
  readonly #matrices = new NamedMatrices(MATRICES, () => this.#isTurned);
  readonly #figures = h("dl", { class: "figures" });
  readonly #board = new Board({ steps: WIRE_STEPS, moved: (place) => this.#say(place) });
  readonly #fast = new FastWeights();
  readonly #picture;
  #scene: Scene | undefined;
  #answered = false;

  constructor(host: Host) {
    this.#host = host;
    this.#sharpness = slider("Sharpness s", SHARPNESS, (sharpness) => host.change({ sharpness }));
    this.#by = byChoice("vector", (by) => host.change({ by }));
    this.menu = this.#by.element;
    this.#matrices.listen(host.teller, (...edit) => this.#edit(...edit));
    const another = (): void => {
      const known = INPUTS.indexOf(this.#scene?.state.inputs ?? identity(0));
      host.change({ inputs: INPUTS[(known + 1) % INPUTS.length] ?? identity(0) }, "new");
    };
    const line = this.#matrices.line.bind(this.#matrices);
    this.#picture = picture({
      name: "layer",
      title: "A dense layer, and attention that is the same",
      body: [this.#board.element, this.#figures],
      controls: [button("Change the input", another)],
      more: [this.#sharpness.element, line("X", "Wd"), line("A", "C"), line("D", "Y"), line("B", "Z")],
      data: () => {
        const { D, Y } = this.#scene?.matrices ?? {};
        return { state: this.#scene?.state, dense: Array.from(D?.data ?? []), attention: Array.from(Y?.data ?? []) };
      },
    });
    this.element = h("div", {}, this.#picture.element, this.#fast.picture.element);
  }

  #edit(name: string, row: number, col: number, values: readonly (readonly number[])[]): void {
    const { X, Wd } = this.#scene?.matrices ?? {};
    if (name === "X" && X !== undefined) this.#host.change({ inputs: withBlock(X, row, col, values) });
    if (name === "Wd" && Wd !== undefined) this.#host.change({ weights: withBlock(Wd, row, col, values) });
  }

  show(state: WhatElseState): undefined {
    this.#answered = false;
    const [X, Wd] = [toSingle(state.inputs), toSingle(state.weights)];
    const queries = fill(X.cols, X.cols, (row, col) => (row === col ? state.sharpness : 0));
    const [A, B] = [softmax(toSingle(queries)), softmax(multiply(transpose(X), X))];
    const [C, Z] = [A, B].map((weights) => multiply(X, transpose(weights))) as [Matrix, Matrix];
    const D = multiply(X, transpose(Wd));
    this.#scene = { state, queries, matrices: { X, Wd, A, C, D, Y: multiply(C, transpose(Wd)), B, Z } };
    this.#draw();
  }

  calls(): readonly Call[] {
    if (this.#scene === undefined) return [];
    const { queries, matrices } = this.#scene;
    const count = matrices.X.cols;
    const x = { data: Float32Array.from(matrices.X.data), shape: [1, 1, count, 1] };
    const heads = { data: Float32Array.from(queries.data), shape: [1, count, 1, count] };
    const one = { data: Float32Array.from(identity(count).data), shape: [1, 1, count, count] };
    return [
      { q: heads, k: one, v: x, options: { score: "dot" } },
      { q: x, k: x, v: x, options: { score: "dot" } },
      this.#fast.call(),
    ];
  }

  read([heads, own, fast]: readonly Answer[]): string {
    const scene = this.#scene;
    if (scene === undefined || heads === undefined || own === undefined || fast === undefined) return "";
    const count = scene.matrices.X.cols;
    const [A, B] = [heads, own].map(({ weights }) => unstack(count, count, weights.data)) as [Matrix, Matrix];
    const [C, Z] = [heads, own].map(({ output }) => unstack(1, count, output.data)) as [Matrix, Matrix];
    const found = { A, B, C, Z, Y: multiply(C, transpose(scene.matrices.Wd)) };
    const gaps = (["A", "B", "C", "Z"] as const).map((name) => widestGap(found[name], scene.matrices[name]));
    this.#answered = true;
    this.#scene = { ...scene, matrices: { ...scene.matrices, ...found } };
    this.#draw();
    return `Weights and fast weights come from the kernel. It and the arithmetic by hand ${agreement(Math.max(...gaps, this.#fast.read(fast)))}.`;
  }

  get #isTurned(): boolean {
    return this.#scene?.state.by === "columns";
  }

  first(): Cell {
    return { name: "Y", row: 0, col: 0 };
  }

  explain(cell: Cell): Explanation | undefined {
    const scene = this.#scene;
    return this.#matrices.told(cell, (spot) => (scene === undefined ? undefined : this.#explain(scene, spot)));
  }

  #explain({ state, queries, matrices }: Scene, { name, row, col }: NamedSpot<MatrixName>): Explanation {
    const { X, C } = matrices;
    const [light, result] = [{ name, row, col }, at(matrices[name], row, col)];
    const [title, , rowLabels, colLabels] = labelsOf(matrices, state)[name];
    const place = rowLabels.length === 1 ? colLabels[col] : `${rowLabels[row]}, ${colLabels[col]}`;
    const subject = `${title.replace("_", " ")} [${place}]`;
    if (name === "X" || name === "Wd") return setByHand(subject, result, light);
    const names = namesOf("x", X.cols);
    const kernel = this.#answered && name !== "D" && name !== "Y" ? result : undefined;
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
      (index) => at(matrices[weights], col, index),
      ["", name === "Y" ? "read" : "input", "weight"],
    );
    return { subject, sentence, ...terms, result, kernel, lights: [light, { name: weights, row: col }] };
  }

  light(lights: readonly NamedLight[]): void {
    this.#matrices.light(lights);
  }

  retype({ name, row, col }: Cell, value: number): void {
    this.#edit(name, row, col, [[value]]);
  }

  #draw(): void {
    if (this.#scene === undefined) return;
    const { state, matrices } = this.#scene;
    this.#sharpness.show(state.sharpness, exact(state.sharpness, 2));
    this.#by.show(state.by);
    const labels = labelsOf(matrices, state);
    this.#matrices.show((name) => {
      const [[title, about, rowLabels, colLabels], matrix] = [labels[name], matrices[name]];
      const isWeight = name === "A" || name === "B";
      const tone = isWeight ? "share" : "signed";
      const full = isWeight ? 1 : Math.max(1, largest(matrix));
      return { name, title, about, rowLabels, colLabels, matrix, tone, full, editable: name === "X" || name === "Wd" };
    });
    const { X: inputs, Wd: weights, A: heads, B: own, D: dense, Z: mixed, Y } = matrices;
    this.#board.show((place, width) => wires({ inputs, weights, heads, own, dense, mixed }, place, width));
    this.#figures.replaceChildren(
      difference(widestGap(Y, dense)),
      figure("Heads", String(inputs.cols), "one for each input"),
    );
    this.#say(this.#board.at);
  }

  #say(place: number): void {
    this.#picture.say(TEXTS[Math.round(place)] ?? "");
  }

  heedCode(): string {
    if (this.#scene === undefined) return "";
    const { queries, matrices } = this.#scene;
    const count = matrices.X.cols;
    const rows = rowsOf(matrices.Wd).map((row) => `[${row.map(single).join(", ")}]`);
    return `// A dense layer as attention: one query, ${count} heads
import { createHeed } from "heed";

const heed = await createHeed();
${heedTensor("q", [queries], [1, count, 1, count])}
${heedTensor("k", [identity(count)])}
${heedTensor("v", [transpose(matrices.X)])}

const read = (await heed.attention(q, k, v, { score: "dot" })).output.data;
const weights = [${rows.join(", ")}];
const output = { data: weights.map((row) => row.reduce((sum, weight, head) => sum + weight * read[head], 0)) };
console.log(output.data);
heed.dispose();
`;
  }

  torchCode(): string {
    if (this.#scene === undefined) return "";
    const { queries, matrices } = this.#scene;
    const count = matrices.X.cols;
    return `# A dense layer as attention: one query, ${count} heads
import torch
import torch.nn.functional as F

${torchTensor("q", [queries], [1, count, 1, count])}
${torchTensor("k", [identity(count)])}
${torchTensor("v", [transpose(matrices.X)])}
${torchTensor("weights", [matrices.Wd], [matrices.Wd.rows, count])}

read = F.scaled_dot_product_attention(q, k.expand(-1, ${count}, -1, -1), v.expand(-1, ${count}, -1, -1), scale=1.0)
output = F.linear(read.flatten(), weights)
print(output, F.linear(v.flatten(), weights))
`;
  }
}

/** One a step of the wires. */
const TEXTS: readonly string[] = [
  "A dense layer adds its inputs by fixed weights: a wire is as thick as its weight, blue above 0 and brown below. Change the input: the numbers change, the wires stay.",
  "The same wires, bundled: each head reads one input, and its output weights are that input’s column of W. With a hard softmax both layers agree to the last digit.",
  "Left to itself, attention makes its wires from the input: a softmax of xᵢ xⱼ over j, with no parameter at all. Change the input: now the wires change as well, for any number of inputs.",
];

/** Of each: its title, what it is, and what stands beside its rows and above its columns. */
function labelsOf(
  { X, Wd }: Scene["matrices"],
  { by }: WhatElseState,
): Readonly<Record<MatrixName, readonly [string, string, readonly string[], readonly string[]]>> {
  const [inputs, heads, outputs] = [namesOf("x", X.cols), namesOf("head ", X.cols), namesOf("y", Wd.rows)];
  const [dense, mixed] = by === "columns" ? ["Wᵀ x", "Wᵀ read"] : ["x Wᵀ", "read Wᵀ"];
  return {
    X: ["x", "inputs; change any", ["x"], inputs],
    Wd: ["W", "one row an output; change any", outputs, inputs],
    A: ["A", "attention weights: one row a head", heads, inputs],
    C: ["read", "what the heads read", ["read"], heads],
    D: ["y_dense", `the dense layer: ${dense}`, ["y"], outputs],
    Y: ["y_attention", `attention: ${mixed}`, ["y"], outputs],
    B: ["A_own", "made from x: a softmax of xᵢ xⱼ over j", inputs, inputs],
    Z: ["y_own", "attention’s own output", ["y"], inputs],
  };
}

function namesOf(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${kind}${index + 1}`);
}
