// Attention as a dense layer: one query, a head for each input that looks at nothing else, and output weights that are the layer's.

import type { MatrixView } from "heed/viz";
import type { Answer, Call } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import {
  at,
  fill,
  identity,
  largest,
  type Matrix,
  multiply,
  toSingle,
  transpose,
  widestGap,
  withBlock,
} from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import { agreement } from "../../src/page/furnish.js";
import { heedTensor, single, torchTensor } from "../../src/ui/code.js";
import { h } from "../../src/ui/dom.js";
import { type Explanation, type NamedLight, products } from "../../src/ui/explanation.js";
import { NamedMatrices, type NamedSpot } from "../../src/ui/named-matrices.js";
import { exact, apart as gapIn } from "../../src/ui/numbers.js";
import { byChoice } from "../../src/ui/orientation.js";
import { picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import type { Exhibit, Host } from "./exhibit.js";
import { figure } from "./figures.js";
import { SHARPNESS, type WhatElseState } from "./state.js";

const MATRICES = ["X", "Wd", "A", "C", "D", "Y"] as const;
type MatrixName = (typeof MATRICES)[number];

interface Scene {
  readonly state: WhatElseState;
  readonly x: Matrix;
  readonly weights: Matrix;
  /** One row a head. */
  readonly queries: Matrix;
  readonly shares: Matrix;
  /** What the heads read, beside each other. */
  readonly read: Matrix;
  readonly dense: Matrix;
}

export class LayerExhibit implements Exhibit {
  readonly menu;
  readonly element;
  readonly #host: Host;
  readonly #sharpness;
  readonly #by;
  readonly #matrices = new NamedMatrices(MATRICES, () => this.#isTurned);
  readonly #figures = h("dl", { class: "figures" });
  readonly #picture;
  #scene: Scene | undefined;
  #found: { readonly shares: Matrix; readonly read: Matrix } | undefined;

  constructor(host: Host) {
    this.#host = host;
    this.#sharpness = slider("Sharpness s", SHARPNESS, (sharpness) => host.change({ sharpness }));
    this.#by = byChoice("vector", (by) => host.change({ by }));
    this.menu = this.#by.element;
    this.#matrices.listen(host.teller, (...edit) => this.#edit(...edit));
    const line = this.#matrices.line.bind(this.#matrices);
    this.#picture = picture({
      name: "layer",
      title: "A dense layer, and attention that is the same",
      body: [line("X", "Wd"), line("A", "C"), line("D", "Y"), this.#figures],
      controls: [this.#sharpness.element],
      data: () => ({
        state: this.#scene?.state,
        dense: Array.from(this.#scene?.dense.data ?? []),
        attention: Array.from(this.#output().data),
      }),
    });
    this.element = this.#picture.element;
  }

  #edit(name: string, row: number, col: number, values: readonly (readonly number[])[]): void {
    const scene = this.#scene;
    if (scene === undefined) return;
    if (name === "X") this.#host.change({ inputs: withBlock(scene.x, row, col, values) });
    if (name === "Wd") this.#host.change({ weights: withBlock(scene.weights, row, col, values) });
  }

  show(state: WhatElseState): void {
    this.#found = undefined;
    const [x, weights] = [toSingle(state.inputs), toSingle(state.weights)];
    const queries = fill(x.cols, x.cols, (row, col) => (row === col ? state.sharpness : 0));
    const shares = softmax(toSingle(queries));
    this.#scene = {
      state,
      x,
      weights,
      queries,
      shares,
      read: transpose(multiply(shares, transpose(x))),
      dense: multiply(x, transpose(weights)),
    };
    this.#draw();
  }

  calls(): readonly Call[] {
    const scene = this.#scene;
    if (scene === undefined) return [];
    const count = scene.x.cols;
    return [
      {
        q: { data: Float32Array.from(scene.queries.data), shape: [1, count, 1, count] },
        k: { data: Float32Array.from(identity(count).data), shape: [1, 1, count, count] },
        v: { data: Float32Array.from(scene.x.data), shape: [1, 1, count, 1] },
        options: { score: "dot" },
      },
    ];
  }

  read([answer]: readonly Answer[]): string {
    const scene = this.#scene;
    if (scene === undefined || answer === undefined) return "";
    const count = scene.x.cols;
    this.#found = {
      shares: { rows: count, cols: count, data: Float64Array.from(answer.weights.data) },
      read: { rows: 1, cols: count, data: Float64Array.from(answer.output.data) },
    };
    const apart = Math.max(widestGap(this.#found.shares, scene.shares), widestGap(this.#found.read, scene.read));
    this.#draw();
    return `Shares and readings come from the kernel. It and the arithmetic by hand ${agreement(apart)}.`;
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

  #explain(scene: Scene, { name, row, col }: NamedSpot<MatrixName>): Explanation | undefined {
    const [x, lights] = [scene.x, [{ name, row, col }]];
    const names = inputNames(x.cols);
    const result = at(this.#matrixOf(scene, name), row, col);
    const { rowLabels, colLabels } = labelsOf(scene)[name];
    const place = rowLabels.length === 1 ? colLabels[col] : `${rowLabels[row]}, ${colLabels[col]}`;
    const subject = `${TITLES[name].replace("_", " ")} [${place}]`;
    switch (name) {
      case "X":
      case "Wd":
        return {
          subject,
          sentence: "Set by hand; change it.",
          head: [],
          terms: [],
          last: "",
          result,
          lights,
          editable: true,
        };
      case "A": {
        const s = scene.state.sharpness;
        return {
          subject,
          sentence: `Head ${row + 1} scores its own input ${exact(s, 2)} and every other 0.`,
          head: [],
          terms: [],
          last: `${row === col ? `e^${exact(s, 2)}` : "1"} / (e^${exact(s, 2)} + ${x.cols - 1}) = ${exact(at(scene.shares, row, col), 6)}`,
          result: at(scene.shares, row, col),
          ...(this.#found === undefined ? {} : { kernel: at(this.#found.shares, row, col) }),
          lights,
        };
      }
      case "C":
        return {
          subject,
          sentence: `What head ${col + 1} reads: the inputs by its shares.`,
          ...products(
            names,
            (index) => at(scene.shares, col, index),
            (index) => at(x, 0, index),
            ["", "share", "input"],
          ),
          result: at(scene.read, 0, col),
          ...(this.#found === undefined ? {} : { kernel: at(this.#found.read, 0, col) }),
          lights: [...lights, { name: "A", row: col }],
        };
      case "D":
      case "Y": {
        const from = name === "D" ? x : (this.#found?.read ?? scene.read);
        return {
          subject,
          sentence:
            name === "D"
              ? "The dense layer: every input by its weight."
              : "Attention: what the heads read, by the same weights, which are now output weights.",
          ...products(
            names,
            (index) => at(from, 0, index),
            (index) => at(scene.weights, col, index),
            ["", name === "D" ? "input" : "read", "weight"],
          ),
          result,
          lights: [...lights, { name: "Wd", row: col }],
        };
      }
    }
  }

  light(lights: readonly NamedLight[]): void {
    this.#matrices.light(lights);
  }

  retype({ name, row, col }: Cell, value: number): void {
    this.#edit(name, row, col, [[value]]);
  }

  #output(): Matrix {
    const scene = this.#scene;
    if (scene === undefined) return identity(0);
    return multiply(this.#found?.read ?? scene.read, transpose(scene.weights));
  }

  #matrixOf(scene: Scene, name: MatrixName): Matrix {
    return {
      X: () => scene.x,
      Wd: () => scene.weights,
      A: () => this.#found?.shares ?? scene.shares,
      C: () => this.#found?.read ?? scene.read,
      D: () => scene.dense,
      Y: () => this.#output(),
    }[name]();
  }

  #draw(): void {
    const scene = this.#scene;
    if (scene === undefined) return;
    const { state, x, dense } = scene;
    this.#sharpness.show(state.sharpness, exact(state.sharpness, 2));
    this.#by.show(state.by);
    const labels = labelsOf(scene);
    this.#matrices.show((name) => {
      const matrix = this.#matrixOf(scene, name);
      return {
        name,
        title: TITLES[name],
        ...labels[name],
        matrix,
        tone: name === "A" ? "share" : "signed",
        full: name === "A" ? 1 : Math.max(1, largest(matrix)),
        editable: name === "X" || name === "Wd",
      };
    });
    const apart = widestGap(this.#output(), dense);
    this.#figures.replaceChildren(
      figure("Largest difference", gapIn(apart), apart <= 1e-6 ? "the same, to 10⁻⁶" : "not the same yet"),
      figure("Heads", String(x.cols), "one an input"),
    );
    this.#picture.say(
      "One query, and a head for each input that looks at that input alone. Side by side, the heads have read x; their output weights are then those of the dense layer. It takes hard shares: a softmax comes as close as its sharpness lets it, never all the way. And it takes giving up what attention is for: here the shares ignore what the inputs say. A dense layer fixes who is added to whom; attention decides it anew for each input, and for any number of them.",
    );
  }

  heedCode(): string {
    const scene = this.#scene;
    if (scene === undefined) return "";
    const count = scene.x.cols;
    const rows = (matrix: Matrix): string =>
      Array.from(
        { length: matrix.rows },
        (_, row) => `[${Array.from({ length: matrix.cols }, (_, col) => single(at(matrix, row, col))).join(", ")}]`,
      ).join(", ");
    return `// A dense layer as attention: one query, ${count} heads
import { createHeed } from "heed";

const heed = await createHeed();
${heedTensor("q", [scene.queries], [1, count, 1, count])}
${heedTensor("k", [identity(count)])}
${heedTensor("v", [transpose(scene.x)])}

const read = (await heed.attention(q, k, v, { score: "dot" })).output.data;
const weights = [${rows(scene.weights)}];
const output = { data: weights.map((row) => row.reduce((sum, weight, head) => sum + weight * read[head], 0)) };
console.log(output.data);
heed.dispose();
`;
  }

  torchCode(): string {
    const scene = this.#scene;
    if (scene === undefined) return "";
    const count = scene.x.cols;
    return `# A dense layer as attention: one query, ${count} heads
import torch
import torch.nn.functional as F

${torchTensor("q", [scene.queries], [1, count, 1, count])}
${torchTensor("k", [identity(count)])}
${torchTensor("v", [transpose(scene.x)])}
${torchTensor("weights", [scene.weights], [scene.weights.rows, count])}

read = F.scaled_dot_product_attention(q, k.expand(-1, ${count}, -1, -1), v.expand(-1, ${count}, -1, -1), scale=1.0)
output = F.linear(read.flatten(), weights)
print(output, F.linear(v.flatten(), weights))
`;
  }
}

const TITLES: Readonly<Record<MatrixName, string>> = {
  X: "x",
  Wd: "W",
  A: "A",
  C: "read",
  D: "y_dense",
  Y: "y_attention",
};

function labelsOf({
  state,
  x,
  weights,
}: Scene): Readonly<Record<MatrixName, Pick<MatrixView, "about" | "rowLabels" | "colLabels">>> {
  const inputs = inputNames(x.cols);
  const outputs = Array.from({ length: weights.rows }, (_, index) => `y${index + 1}`);
  const heads = inputs.map((_, index) => `head ${index + 1}`);
  const [dense, mixed] = state.by === "columns" ? ["Wᵀ x", "Wᵀ read"] : ["x Wᵀ", "read Wᵀ"];
  return {
    X: { about: "inputs; change any", rowLabels: ["x"], colLabels: inputs },
    Wd: { about: "one row an output; change any", rowLabels: outputs, colLabels: inputs },
    A: { about: "shares: one row a head", rowLabels: heads, colLabels: inputs },
    C: { about: "what the heads read", rowLabels: ["read"], colLabels: heads },
    D: { about: `the dense layer: ${dense}`, rowLabels: ["y"], colLabels: outputs },
    Y: { about: `attention: ${mixed}`, rowLabels: ["y"], colLabels: outputs },
  };
}

function inputNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `x${index + 1}`);
}
