// Attention as message passing: who sees whom is a graph, and a round of messages is one masked call.

import type { Answer, Call } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import { at, largest, type Matrix, rowsOf, unstack, widestGap, withBlock } from "../../src/model/matrix.js";
import { agreement } from "../../src/page/furnish.js";
import { Board } from "../../src/ui/board.js";
import { choice } from "../../src/ui/choice.js";
import { heedTensor, single, torchTensor } from "../../src/ui/code.js";
import { h } from "../../src/ui/dom.js";
import { type Explanation, type NamedLight, products, softened } from "../../src/ui/explanation.js";
import { HeedMask } from "../../src/ui/heed-mask.js";
import { NamedMatrices, type NamedSpot } from "../../src/ui/named-matrices.js";
import { byChoice } from "../../src/ui/orientation.js";
import { picture } from "../../src/ui/picture.js";
import { type Exhibit, type Host, setByHand } from "./exhibit.js";
import { featuresOf, type GraphScene, graphScene, maskOf, NAMES, SHARP } from "./graph.js";
import { drawGraph } from "./graph-drawing.js";
import { edgeOf, joined, MOST_ROUNDS, NODES, type Weighing, type WhatElseState } from "./state.js";

const MATRICES = ["A", "M", "N"] as const;
type MatrixName = (typeof MATRICES)[number];

export class GraphExhibit implements Exhibit {
  readonly menu;
  readonly element;
  readonly #host: Host;
  readonly #weighing;
  readonly #by;
  readonly #board;
  readonly #mask = new HeedMask();
  readonly #matrices = new NamedMatrices(MATRICES, () => this.#isTurned);
  readonly #picture;
  #scene: GraphScene | undefined;
  #answered = false;
  /** The board itself asks for other rounds. */
  #isMoving = false;

  constructor(host: Host) {
    this.#host = host;
    this.#board = new Board({
      steps: Array.from({ length: MOST_ROUNDS + 1 }, (_, round) => (round === 1 ? "1 round" : `${round} rounds`)),
      moved: (place) => {
        if (Math.ceil(place) === this.#scene?.state.rounds) return;
        this.#isMoving = true;
        host.change({ rounds: Math.ceil(place) });
        this.#isMoving = false;
      },
      picked: (node) => host.change({ node: Number(node) }),
    });
    this.#weighing = choice<Weighing>(
      "Neighbours count",
      [
        { value: "mean", text: "all alike" },
        { value: "alike", text: "by likeness" },
      ],
      (weighing) => host.change({ weighing }),
    );
    this.#by = byChoice("node", (by) => host.change({ by }));
    this.menu = this.#by.element;
    this.#mask.handlers = {
      inspect: (row) => {
        if (row !== this.#scene?.state.node) host.change({ node: row });
      },
      leave: () => {},
      paint: (row, col, part) => this.#join(row, col, !part),
    };
    this.#matrices.listen(host.teller, (_name, row, col, values) => this.#edit(row, col, values));
    this.#picture = picture({
      name: "graph",
      title: "Message passing on a graph",
      body: [this.#board.element],
      more: [
        this.#weighing.element,
        h(
          "div",
          {},
          h("p", { class: "pixels-caption" }, h("b", {}, "Edges"), " press a pair to join or part it"),
          this.#mask,
        ),
        this.#matrices.line(...MATRICES),
      ],
      data: () => {
        const { state, weights, before, after } = this.#scene ?? {};
        const numbers = (matrix?: Matrix) => Array.from(matrix?.data ?? []);
        return { state, weights: numbers(weights), before: numbers(before), after: numbers(after) };
      },
    });
    this.element = this.#picture.element;
  }

  #join(row: number, col: number, join: boolean): void {
    const edges = this.#scene?.state.edges;
    if (edges === undefined || row === col) return;
    const edge = edgeOf(row, col);
    const others = edges.filter((one) => one !== edge);
    this.#host.change({ edges: join ? [...others, edge] : others });
  }

  #edit(row: number, col: number, values: readonly (readonly number[])[]): void {
    const messages = this.#scene?.state.messages;
    if (messages === undefined) return;
    this.#host.change({ messages: withBlock(messages, row, col, values) });
  }

  show(state: WhatElseState): undefined {
    this.#answered = false;
    this.#scene = graphScene(state);
    this.#draw();
  }

  calls(): readonly Call[] {
    const scene = this.#scene;
    if (scene === undefined) return [];
    const { state, before } = scene;
    const features = { data: Float32Array.from(featuresOf(state).data), shape: [1, 1, NODES, 2] };
    return [
      {
        q: features,
        k: features,
        v: { data: Float32Array.from(before.data), shape: [1, 1, NODES, 1] },
        options: { scale: SHARP, mask: { data: maskOf(state), shape: [1, 1, NODES, NODES] } },
      },
    ];
  }

  read([answer]: readonly Answer[]): string {
    const scene = this.#scene;
    if (scene === undefined || answer === undefined) return "";
    const weights = unstack(NODES, NODES, answer.weights.data);
    const after = scene.state.rounds === 0 ? scene.after : unstack(NODES, 1, answer.output.data);
    const apart = Math.max(widestGap(weights, scene.weights), widestGap(after, scene.after));
    this.#answered = true;
    this.#scene = { ...scene, weights, after };
    this.#draw();
    return `Weights and the last round come from the kernel. It and messages passed by hand ${agreement(apart)}.`;
  }

  get #isTurned(): boolean {
    return this.#scene?.state.by === "columns";
  }

  first(): Cell {
    return { name: "N", row: this.#scene?.state.node ?? 0, col: 0 };
  }

  explain(cell: Cell): Explanation | undefined {
    const scene = this.#scene;
    return this.#matrices.told(cell, (spot) => (scene === undefined ? undefined : this.#explain(scene, spot)));
  }

  #explain({ state, scores, weights, before, after }: GraphScene, spot: NamedSpot<MatrixName>): Explanation {
    const { row, col } = spot;
    const [who, light] = [NAMES[row] ?? "", { name: spot.name, row, col }];
    if (spot.name === "M") return setByHand(`${who} at first`, at(state.messages, row, 0), light);
    const neighbours = NAMES.map((_, node) => node).filter((node) => joined(state.edges, row, node));
    const names = neighbours.map((node) => NAMES[node] ?? "");
    const result = at(spot.name === "A" ? weights : after, row, col);
    const kernel = this.#answered ? result : undefined;
    if (spot.name === "A") {
      const subject = `${who} attends to ${NAMES[col]}`;
      const place = neighbours.indexOf(col);
      if (place < 0) return { subject, sentence: "Not joined: masked, so no message passes.", result, lights: [light] };
      const own = rowsOf(scores)[row]?.filter((score) => Number.isFinite(score)) ?? [];
      return softened(own, names, { subject, at: place, kernel, light });
    }
    if (state.rounds === 0) return { subject: `${who} now`, sentence: "No round yet.", result, lights: [light] };
    return {
      subject: `${who} after round ${state.rounds}`,
      sentence: "What its neighbours and itself held before the round, by its attention weights.",
      ...products(
        names,
        (index) => at(weights, row, neighbours[index] ?? 0),
        (index) => at(before, neighbours[index] ?? 0, 0),
        ["from", "weight", "held"],
      ),
      result,
      kernel,
      lights: [light, { name: "A", row }],
    };
  }

  light(lights: readonly NamedLight[]): void {
    this.#matrices.light(lights);
  }

  retype({ name, row }: Cell, value: number): void {
    if (name === "M") this.#edit(row, 0, [[value]]);
  }

  #draw(): void {
    const scene = this.#scene;
    if (scene === undefined) return;
    const { state, weights, after } = scene;
    const full = Math.max(1, largest(state.messages));
    this.#weighing.show(state.weighing);
    this.#by.show(state.by);
    this.#mask.show({
      name: "edges",
      label: "Edges: which nodes are joined",
      rows: NODES,
      cols: NODES,
      rowName: (row) => NAMES[row] ?? "",
      colName: (col) => NAMES[col] ?? "",
      sees: (row, col) => joined(state.edges, row, col),
      painted: (row, col) => !joined(state.edges, row, col),
      tile: NODES,
    });
    this.#matrices.show((name) => {
      const held = { name, about: "", rowLabels: NAMES, colLabels: ["held"], tone: "signed", full } as const;
      const struck = (row: number, col: number): boolean => !joined(state.edges, row, col);
      if (name === "M") return { ...held, title: "at first", matrix: state.messages, editable: true };
      if (name === "N") return { ...held, title: "now", matrix: after };
      const about = "weights along edges";
      return { ...held, title: "A", about, matrix: weights, colLabels: NAMES, tone: "share", full: 1, struck };
    });
    const stands = this.#isMoving || Math.ceil(this.#board.at) === state.rounds;
    this.#board.show((at, width) => drawGraph(scene, at, width), stands ? this.#board.at : state.rounds);
    const everyone = state.edges.length === (NODES * (NODES - 1)) / 2;
    this.#picture.say(
      everyone
        ? "All are joined to all: this is attention without a mask. A transformer is message passing on the complete graph, so one round reaches everybody."
        : `A node’s output is the mean of what its neighbours hold, by its attention weights; other pairs are masked. After ${state.rounds} ${state.rounds === 1 ? "round" : "rounds"} it knows of nodes within ${state.rounds} ${state.rounds === 1 ? "edge" : "edges"}. Join everybody, and it is a transformer’s attention.`,
    );
  }

  heedCode(): string {
    const scene = this.#scene;
    if (scene === undefined) return "";
    const features = featuresOf(scene.state);
    return `// Round ${Math.max(1, scene.state.rounds)} of message passing, as masked attention
import { createHeed } from "heed";

const heed = await createHeed();
${heedTensor("features", [features])}
${heedTensor("held", [scene.before])}
const mask = { data: Uint8Array.of(${Array.from(maskOf(scene.state)).join(", ")}), shape: [${NODES}, ${NODES}] };

const { output } = await heed.attention(features, features, held, { scale: ${single(SHARP)}, mask });
console.log(output.data);
heed.dispose();
`;
  }

  torchCode(): string {
    const scene = this.#scene;
    if (scene === undefined) return "";
    return `# Round ${Math.max(1, scene.state.rounds)} of message passing, as masked attention
import torch
import torch.nn.functional as F

${torchTensor("features", [featuresOf(scene.state)])}
${torchTensor("held", [scene.before])}
mask = torch.tensor([${Array.from(maskOf(scene.state)).join(", ")}], dtype=torch.bool).view(${NODES}, ${NODES})

output = F.scaled_dot_product_attention(features, features, held, attn_mask=mask, scale=${single(SHARP)})
print(output)
`;
  }
}
