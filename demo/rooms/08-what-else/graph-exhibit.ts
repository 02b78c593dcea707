// Attention as message passing: who sees whom is a graph, and a round of messages is one masked call.

import type { Answer, Call } from "../../src/engine/engine.js";
import { at, rowsOf, stack, unstack, widestGap, withBlock } from "../../src/model/matrix.js";
import { agreed } from "../../src/page/furnish.js";
import { Board } from "../../src/ui/board.js";
import { choice } from "../../src/ui/choice.js";
import { heedProgram, heedTensor, single, torchProgram, torchTensor } from "../../src/ui/code.js";
import { h } from "../../src/ui/dom.js";
import { type Explanation, products, softened } from "../../src/ui/explanation.js";
import { HeedMask } from "../../src/ui/heed-mask.js";
import { NamedMatrices, type NamedSpot, signed, type Views, weighed } from "../../src/ui/named-matrices.js";
import { byChoice } from "../../src/ui/orientation.js";
import { type Exhibit, exhibit, type Host, setByHand } from "./exhibit.js";
import { featuresOf, type GraphScene, graphScene, maskOf, NAMES, SHARP } from "./graph.js";
import { drawGraph } from "./graph-drawing.js";
import { edgeOf, joined, MOST_ROUNDS, NODES } from "./state.js";

const MATRICES = ["A", "M", "N"] as const;
type MatrixName = (typeof MATRICES)[number];

export function graphExhibit({ store, teller }: Host): Exhibit {
  const matrices = new NamedMatrices(MATRICES, () => store.state.by === "columns");
  const by = byChoice("node", (value) => store.change({ by: value }));
  const weighing = choice("Neighbours count", { mean: "all alike", alike: "by likeness" }, (value) =>
    store.change({ weighing: value }),
  );
  /** The board itself asks for other rounds. */
  let isMoving = false;
  const board = new Board({
    steps: Array.from({ length: MOST_ROUNDS + 1 }, (_, round) => counted(round, "round")),
    moved: (place) => {
      if (Math.ceil(place) === store.state.rounds) return;
      isMoving = true;
      store.change({ rounds: Math.ceil(place) });
      isMoving = false;
    },
    picked: (node) => store.change({ node: Number(node) }),
  });
  const mask = new HeedMask();
  mask.handlers = {
    inspect: (node) => {
      if (node !== store.state.node) store.change({ node });
    },
    leave: () => {},
    paint: (row, col, parts) => {
      if (row === col) return;
      const edge = edgeOf(row, col);
      const others = store.state.edges.filter((one) => one !== edge);
      store.change({ edges: parts ? others : [...others, edge] });
    },
  };
  const caption = h("p", { class: "pixels-caption" }, h("b", {}, "Edges"), " press a pair to join or part it");
  return exhibit<GraphScene, MatrixName>(
    { store, teller },
    {
      picture: {
        name: "graph",
        title: "Message passing on a graph",
        body: [board.element],
        more: [weighing.element, h("div", {}, caption, mask), matrices.line(...MATRICES)],
      },
      data: ({ state, weights, before, after }) => ({
        state,
        weights: Array.from(weights.data),
        before: Array.from(before.data),
        after: Array.from(after.data),
      }),
      say,
      menu: by.element,
      matrices,
      viewsOf,
      edit: (name, row, col, values) => {
        if (name === "M") store.change({ messages: withBlock(store.state.messages, row, col, values) });
      },
      madeFrom: ({ edges, messages, rounds, weighing }) => [edges, messages, rounds, weighing],
      *sceneOf(state) {
        yield;
        return graphScene(state);
      },
      draw: [
        (scene) => {
          const { state } = scene;
          weighing.show(state.weighing);
          by.show(state.by);
          mask.show({
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
          const stands = isMoving || Math.ceil(board.at) === state.rounds;
          board.show((at, width) => drawGraph(scene, at, width), stands ? board.at : state.rounds);
        },
      ],
      calls,
      read,
      first: ({ state }) => ({ name: "N", row: state.node, col: 0 }),
      explain,
      heedCode,
      torchCode,
    },
  );
}

function viewsOf({ state, weights, after }: GraphScene): Views<MatrixName> {
  const struck = (row: number, col: number): boolean => !joined(state.edges, row, col);
  const held = signed("at first", "", state.messages, NAMES, ["held"]);
  return {
    A: { ...weighed("A", "weights along edges", weights, NAMES, NAMES), struck },
    M: { ...held, editable: true },
    N: { ...held, title: "now", matrix: after },
  };
}

function say({ state: { edges, rounds } }: GraphScene): string {
  return edges.length === (NODES * (NODES - 1)) / 2
    ? "All are joined to all: this is attention without a mask. A transformer is message passing on the complete graph, so one round reaches everybody."
    : `A node’s output is the mean of what its neighbours hold, by its attention weights; other pairs are masked. After ${counted(rounds, "round")} it knows of nodes within ${counted(rounds, "edge")}. Join everybody, and it is a transformer’s attention.`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

function calls({ state, before }: GraphScene): readonly Call[] {
  const features = stack([featuresOf(state)]);
  const mask = { data: maskOf(state), shape: [1, 1, NODES, NODES] };
  return [{ q: features, k: features, v: stack([before]), options: { scale: SHARP, mask } }];
}

function read(scene: GraphScene, [answer]: readonly Answer[]): readonly [GraphScene, string] {
  const weights = unstack(NODES, NODES, answer?.weights.data ?? []);
  const after = scene.state.rounds === 0 ? scene.after : unstack(NODES, 1, answer?.output.data ?? []);
  const apart = Math.max(widestGap(weights, scene.made.weights), widestGap(after, scene.made.after));
  return [{ ...scene, weights, after, isAnswered: true }, agreed("Weights and the last round", apart)];
}

function explain(scene: GraphScene, { name, row, col }: NamedSpot<MatrixName>): Explanation {
  const { state, scores, weights, before, after, made, isAnswered } = scene;
  const [who, light] = [NAMES[row] ?? "", { name, row, col }];
  if (name === "M") return setByHand(`${who} at first`, at(state.messages, row, 0), light);
  const neighbours = NAMES.map((_, node) => node).filter((node) => joined(state.edges, row, node));
  const names = neighbours.map((node) => NAMES[node] ?? "");
  const result = at(name === "A" ? made.weights : made.after, row, col);
  const kernel = isAnswered ? at(name === "A" ? weights : after, row, col) : undefined;
  if (name === "A") {
    const subject = `${who} attends to ${NAMES[col]}`;
    const place = neighbours.indexOf(col);
    if (place < 0) return { subject, sentence: "Not joined: masked, so no message passes.", result, lights: [light] };
    const own = rowsOf(scores)[row]?.filter((score) => Number.isFinite(score)) ?? [];
    return softened(own, names, { subject, at: place, kernel, light });
  }
  if (state.rounds === 0) return { subject: `${who} now`, sentence: "No round yet.", result, lights: [light] };
  const terms = products(
    names,
    (index) => at(made.weights, row, neighbours[index] ?? 0),
    (index) => at(before, neighbours[index] ?? 0, 0),
    ["from", "weight", "held"],
  );
  const sentence = "What its neighbours and itself held before the round, by its attention weights.";
  return {
    subject: `${who} after round ${state.rounds}`,
    sentence,
    ...terms,
    result,
    kernel,
    lights: [light, { name: "A", row }],
  };
}

const aboutOf = ({ state }: GraphScene): string =>
  `Round ${Math.max(1, state.rounds)} of message passing, as masked attention`;

function heedCode(scene: GraphScene): string {
  return heedProgram(
    aboutOf(scene),
    `${heedTensor("features", [featuresOf(scene.state)])}
${heedTensor("held", [scene.before])}
const mask = { data: Uint8Array.of(${maskOf(scene.state).join(", ")}), shape: [${NODES}, ${NODES}] };

const { output } = await heed.attention(features, features, held, { scale: ${single(SHARP)}, mask });`,
  );
}

function torchCode(scene: GraphScene): string {
  return torchProgram(
    aboutOf(scene),
    `${torchTensor("features", [featuresOf(scene.state)])}
${torchTensor("held", [scene.before])}
mask = torch.tensor([${maskOf(scene.state).join(", ")}], dtype=torch.bool).view(${NODES}, ${NODES})

output = F.scaled_dot_product_attention(features, features, held, attn_mask=mask, scale=${single(SHARP)})`,
  );
}
