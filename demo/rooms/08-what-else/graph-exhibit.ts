// Attention as message passing: who may listen to whom is a graph, and a round of messages is one masked call.

import type { MatrixView } from "heed/viz";
import type { Answer, Call } from "../../src/engine/engine.js";
import type { Cell } from "../../src/model/cell.js";
import { at, largest, type Matrix, widestGap, withBlock } from "../../src/model/matrix.js";
import { agreement } from "../../src/page/furnish.js";
import { choice } from "../../src/ui/choice.js";
import { heedTensor, single, torchTensor } from "../../src/ui/code.js";
import { h, svg } from "../../src/ui/dom.js";
import { type Explanation, type NamedLight, products } from "../../src/ui/explanation.js";
import { HeedMask } from "../../src/ui/heed-mask.js";
import { NamedMatrices, type NamedSpot } from "../../src/ui/named-matrices.js";
import { exact } from "../../src/ui/numbers.js";
import { byChoice } from "../../src/ui/orientation.js";
import { picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import type { Exhibit, Host } from "./exhibit.js";
import { featuresOf, type GraphScene, graphScene, maskOf, NAMES, SHARP } from "./graph.js";
import { drawGraph, HEIGHT, WIDTH } from "./graph-drawing.js";
import { edgeOf, joined, MOST_ROUNDS, NODES, type Weighing, type WhatElseState } from "./state.js";

const MATRICES = ["A", "M", "N"] as const;
type MatrixName = (typeof MATRICES)[number];

export class GraphExhibit implements Exhibit {
  readonly menu;
  readonly element;
  readonly #host: Host;
  readonly #rounds;
  readonly #weighing;
  readonly #by;
  readonly #drawing = svg("svg", { class: "graph", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
  readonly #mask = new HeedMask();
  readonly #matrices = new NamedMatrices(MATRICES, () => this.#isTurned);
  readonly #picture;
  #scene: GraphScene | undefined;
  #found: { readonly shares: Matrix; readonly after: Matrix } | undefined;

  constructor(host: Host) {
    this.#host = host;
    this.#rounds = slider("Rounds", { least: 0, most: MOST_ROUNDS, step: 1 }, (rounds) => host.change({ rounds }));
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
    this.#drawing.addEventListener("click", (event) => {
      const node = event.target instanceof Element ? event.target.closest("[data-node]") : null;
      if (node !== null) host.change({ node: Number(node.getAttribute("data-node")) });
    });
    this.#picture = picture({
      name: "graph",
      title: "Message passing on a graph",
      body: [
        h("div", {}, this.#drawing),
        h(
          "div",
          { class: "matrices" },
          h(
            "div",
            {},
            h("p", { class: "pixels-caption" }, h("b", {}, "Edges"), " press a pair to join or part it"),
            this.#mask,
          ),
          ...this.#matrices.of(...MATRICES),
        ),
      ],
      controls: [this.#rounds.element],
      more: [this.#weighing.element],
      data: () => {
        const { state, shares, before, after } = this.#scene ?? {};
        return {
          state,
          shares: Array.from((this.#found?.shares ?? shares)?.data ?? []),
          before: Array.from(before?.data ?? []),
          after: Array.from((this.#found?.after ?? after)?.data ?? []),
        };
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
    this.#host.change({
      messages: withBlock(messages, row, col, values),
    });
  }

  show(state: WhatElseState): void {
    this.#found = undefined;
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
    this.#found = {
      shares: { ...scene.shares, data: Float64Array.from(answer.weights.data) },
      after: { ...scene.after, data: Float64Array.from(answer.output.data) },
    };
    const passed = scene.state.rounds > 0 ? widestGap(this.#found.after, scene.after) : 0;
    const apart = Math.max(widestGap(this.#found.shares, scene.shares), passed);
    this.#draw();
    return `Shares and the last round come from the kernel. It and messages passed by hand ${agreement(apart)}.`;
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

  #explain(scene: GraphScene, spot: NamedSpot<MatrixName>): Explanation {
    const { state, shares, before, after } = scene;
    const { row, col } = spot;
    const name = NAMES[row] ?? "";
    const lights = [{ name: spot.name, row, col }];
    if (spot.name === "M") {
      return {
        subject: `${name} at first`,
        sentence: "Set by hand; change it.",
        head: [],
        terms: [],
        last: "",
        result: at(state.messages, row, 0),
        lights,
        editable: true,
      };
    }
    const neighbours = NAMES.map((_, node) => node).filter((node) => joined(state.edges, row, node));
    if (spot.name === "A") {
      const isJoined = joined(state.edges, row, col);
      const own = powersOf(state, row, neighbours);
      const sum = own.reduce((total, { power }) => total + power, 0);
      return {
        subject: `${name} listens to ${NAMES[col]}`,
        sentence: !isJoined
          ? "Not joined: masked, so no message passes."
          : state.weighing === "mean"
            ? `Joined, and all count alike: one of ${neighbours.length}, itself among them.`
            : `A score is ${SHARP} × the dot product of two nodes’ features, which are set by hand. The share is its e^score among all that are joined.`,
        head: ["", "features", "score", "e^score"],
        terms: own.map(({ node, product, score, power }) => ({
          label: NAMES[node] ?? "",
          figures: [product, exact(score), exact(power)],
          own: node === col,
        })),
        last: isJoined
          ? `${exact(own.find(({ node }) => node === col)?.power ?? 0)} / ${exact(sum)} = ${exact(at(shares, row, col))}`
          : "",
        result: at(shares, row, col),
        ...(this.#found === undefined ? {} : { kernel: at(this.#found.shares, row, col) }),
        lights,
      };
    }
    if (state.rounds === 0) {
      return {
        subject: `${name} now`,
        sentence: "No round yet.",
        head: [],
        terms: [],
        last: "",
        result: at(after, row, 0),
        lights,
      };
    }
    return {
      subject: `${name} after round ${state.rounds}`,
      sentence: "What its neighbours and itself held before the round, by its shares.",
      ...products(
        neighbours.map((node) => NAMES[node] ?? ""),
        (index) => at(shares, row, neighbours[index] ?? 0),
        (index) => at(before, neighbours[index] ?? 0, 0),
        ["from", "share", "held"],
      ),
      result: at(after, row, 0),
      ...(this.#found === undefined ? {} : { kernel: at(this.#found.after, row, 0) }),
      lights: [...lights, { name: "A", row }],
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
    const { state } = scene;
    const shares = this.#found?.shares ?? scene.shares;
    const after = state.rounds === 0 ? scene.after : (this.#found?.after ?? scene.after);
    this.#rounds.show(state.rounds, String(state.rounds));
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
    const held = (name: MatrixName, title: string, matrix: Matrix): MatrixView => ({
      name,
      title,
      about: "",
      matrix,
      rowLabels: NAMES,
      colLabels: ["held"],
      tone: "signed",
      full: Math.max(1, largest(state.messages)),
    });
    const views: Readonly<Record<MatrixName, MatrixView>> = {
      A: {
        ...held("A", "A", shares),
        about: "shares along edges",
        colLabels: NAMES,
        tone: "share",
        full: 1,
        struck: (row, col) => !joined(state.edges, row, col),
      },
      M: { ...held("M", "at first", state.messages), editable: true },
      N: held("N", "now", after),
    };
    this.#matrices.show((name) => views[name]);
    this.#drawing.replaceChildren(...drawGraph(state, shares, after));
    const everyone = state.edges.length === (NODES * (NODES - 1)) / 2;
    this.#picture.say(
      everyone
        ? "All are joined to all: this is attention without a mask. A transformer is message passing on the complete graph, so one round reaches everybody."
        : `A node takes in what its neighbours hold, by its shares; pairs that are not joined are masked. After ${state.rounds} ${state.rounds === 1 ? "round" : "rounds"} a node knows of those within ${state.rounds} ${state.rounds === 1 ? "step" : "steps"}. Equal shares make it the mean over neighbours, as in many graph networks; scores make it graph attention. Join everybody to everybody, and it is attention as in a transformer.`,
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

/** Of those that a node listens to: the product of their features, written out, the score, and its power. */
function powersOf(state: WhatElseState, row: number, neighbours: readonly number[]) {
  const features = featuresOf(state);
  return neighbours.map((node) => {
    const pairs = [0, 1].map((part) => [at(features, row, part), at(features, node, part)] as const);
    const score = SHARP * pairs.reduce((sum, [a, b]) => sum + a * b, 0);
    const product = pairs.map(([a, b]) => `${exact(a)} × ${exact(b)}`).join(" + ");
    return { node, product, score, power: Math.exp(score) };
  });
}
