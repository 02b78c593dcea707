// Attention as message passing: who sees whom is a graph, and a round of messages is one masked call.

import type { Answer, Call } from "../../src/engine/engine.js";
import { at, fill, largest, multiply, stack, toSingle, unstack, widestGap, withBlock } from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import { agreed } from "../../src/page/room.js";
import { Board, mix, type Shape, shape, type View } from "../../src/ui/board.js";
import { h } from "../../src/ui/dom.js";
import { type Explanation, lit, products } from "../../src/ui/explanation.js";
import { HeedMask } from "../../src/ui/heed-mask.js";
import { type NamedSpot, signed, type Views, weighed } from "../../src/ui/named-matrices.js";
import type { Teller } from "../../src/ui/teller.js";
import { type Exhibit, exhibit, setByHand, turning } from "./exhibit.js";
import { CHOSEN, valued } from "./shapes.js";
import { edgeOf, joined, MOST_ROUNDS, NODES, store, type WhatElseState } from "./state.js";

/** No node differs from another, so that neighbours count alike. */
const ALIKE = fill(NODES, 1, () => 0);
const NAMES = Array.from({ length: NODES }, (_, node) => String.fromCharCode(97 + node));

const MATRICES = ["A", "M", "N"] as const;
type MatrixName = (typeof MATRICES)[number];

export function graphExhibit(teller: Teller): Exhibit {
  const matrices = turning(MATRICES);
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
  return exhibit<Scene, MatrixName>(teller, {
    picture: {
      name: "graph",
      title: "Message passing on a graph",
      body: [board.element],
      more: [h("div", {}, caption, mask), matrices.line(...MATRICES)],
    },
    data: ({ state, weights, before, after }) => {
      return { state, weights: weights.data, before: before.data, after: after.data };
    },
    say,
    by: "node",
    matrices,
    viewsOf,
    edit: (name, row, col, values) => {
      if (name === "M") store.change({ messages: withBlock(store.state.messages, row, col, values) });
    },
    madeFrom: ({ edges, messages, rounds }) => [edges, messages, rounds],
    sceneOf,
    draw: (scene) => {
      const { edges, rounds } = scene.state;
      mask.show({
        label: "Edges: which nodes are joined",
        rows: NODES,
        cols: NODES,
        rowName: (row) => NAMES[row] ?? "",
        colName: (col) => NAMES[col] ?? "",
        sees: (row, col) => joined(edges, row, col),
        painted: (row, col) => !joined(edges, row, col),
        tile: NODES,
      });
      const stands = isMoving || Math.ceil(board.at) === rounds;
      board.show((at, width) => drawGraph(scene, at, width), stands ? board.at : rounds);
    },
    calls,
    read,
    first: ({ state }) => ({ name: "N", row: state.node, col: 0 }),
    explain,
    programs: ({ state, before }) => {
      const mask = maskOf(state).join(", ");
      return {
        about: `Round ${Math.max(1, state.rounds)} of message passing, as masked attention`,
        tensors: { features: [[ALIKE]], held: [[before]] },
        heed: [
          `const mask = { data: Uint8Array.of(${mask}), shape: [${NODES}, ${NODES}] };

const { output } = await heed.attention(features, features, held, { mask });`,
        ],
        torch: [
          `mask = torch.tensor([${mask}], dtype=torch.bool).view(${NODES}, ${NODES})

output = F.scaled_dot_product_attention(features, features, held, attn_mask=mask)`,
        ],
      };
    },
  });
}

type Scene = ReturnType<typeof sceneOf>;

function maskOf({ edges }: WhatElseState): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: NODES * NODES }, (_, index) =>
    joined(edges, Math.floor(index / NODES), index % NODES) ? 1 : 0,
  );
}

function sceneOf(state: WhatElseState) {
  const weights = softmax(
    fill(NODES, NODES, (row, col) => (joined(state.edges, row, col) ? 0 : Number.NEGATIVE_INFINITY)),
  );
  /** What each node holds before the last round and after it. */
  let [before, after] = [toSingle(state.messages), toSingle(state.messages)];
  for (let round = 0; round < state.rounds; round++) {
    before = toSingle(after);
    after = multiply(weights, before);
  }
  // `made`: the page's own weights and last round; `weights` and `after` are the kernel's once they are there.
  return { state, weights, before, after, made: { weights, after }, isAnswered: false };
}

/** Where the nodes stand, from 0 to 1: two groups and a bridge. */
const ACROSS = [0.08, 0.1, 0.32, 0.52, 0.7, 0.93, 0.92];
const DOWN = [0.22, 0.78, 0.5, 0.5, 0.5, 0.24, 0.78];
const HEIGHT = 260;

/** `place`: rounds, of which the last one may be under way: its messages travel. */
function drawGraph({ state, weights, before, after }: Scene, place: number, width: number): View {
  const { edges, node, rounds } = state;
  const way = rounds === 0 ? 1 : Math.min(1, Math.max(0, place - rounds + 1));
  const x = (index: number): number => 20 + (ACROSS[index] ?? 0) * (width - 40);
  const y = (index: number): number => 34 + (DOWN[index] ?? 0) * (HEIGHT - 56);
  const full = Math.max(largest(before), largest(after), 1e-9);
  const lines = edges.flatMap((edge): Shape[] => {
    const [a, b] = [Math.floor(edge / NODES), edge % NODES];
    const other = a === node ? b : b === node ? a : -1;
    const thick = 1.2 + 9 * (other < 0 ? 0 : at(weights, node, other));
    const stroke = other < 0 ? "var(--line)" : CHOSEN;
    const line = { x1: x(a), y1: y(a), x2: x(b), y2: y(b), "stroke-width": thick.toFixed(2), stroke };
    const message = (from: number, to: number): Shape[] => {
      const size = Math.sqrt(Math.abs(at(weights, to, from) * at(before, from, 0)) / full);
      const [cx, cy] = [mix(x(from), x(to), way), mix(y(from), y(to), way)];
      const look = { cx, cy, r: 10 * size, fill: CHOSEN, class: "message" };
      return way === 1 || size === 0 ? [] : [shape("circle", `message ${from} ${to}`, look)];
    };
    return [shape("line", `edge ${edge}`, line), ...message(a, b), ...message(b, a)];
  });
  const nodes = NAMES.flatMap((name, index) => {
    const value = mix(at(before, index, 0), at(after, index, 0), way);
    const held = { x: x(index), y: y(index), name, value, full, isChosen: index === node, pick: String(index) };
    return valued("circle", `node ${index}`, held);
  });
  return { height: HEIGHT, shapes: [...lines, ...nodes], said: `A graph of ${NODES} nodes after ${rounds} rounds` };
}

function viewsOf({ state, weights, after }: Scene): Views<MatrixName> {
  const struck = (row: number, col: number): boolean => !joined(state.edges, row, col);
  const held = signed("at first", "", state.messages, NAMES, ["held"]);
  return {
    A: { ...weighed("A", "weights along edges", weights, NAMES, NAMES), struck },
    M: { ...held, editable: true },
    N: { ...held, title: "now", matrix: after },
  };
}

function say({ state: { edges, rounds } }: Scene): string {
  return edges.length === (NODES * (NODES - 1)) / 2
    ? "All are joined to all: this is attention without a mask. A transformer is message passing on the complete graph, so one round reaches everybody."
    : `A node’s output is the mean of what its neighbours hold, by its attention weights; other pairs are masked. After ${counted(rounds, "round")} it knows of nodes within ${counted(rounds, "edge")}. Join everybody, and it is a transformer’s attention.`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

function calls({ state, before }: Scene): readonly Call[] {
  const features = stack([ALIKE]);
  const mask = { data: maskOf(state), shape: [1, 1, NODES, NODES] };
  return [{ q: features, k: features, v: stack([before]), options: { mask } }];
}

function read(scene: Scene, [answer]: readonly Answer[]): readonly [Scene, string] {
  const weights = unstack(NODES, NODES, answer?.weights.data ?? []);
  const after = scene.state.rounds === 0 ? scene.after : unstack(NODES, 1, answer?.output.data ?? []);
  const apart = Math.max(widestGap(weights, scene.made.weights), widestGap(after, scene.made.after));
  return [{ ...scene, weights, after, isAnswered: true }, agreed("Weights and the last round", apart)];
}

function explain(scene: Scene, { name, row, col }: NamedSpot<MatrixName>): Explanation {
  const { state, weights, before, after, made, isAnswered } = scene;
  const [who, light] = [NAMES[row] ?? "", { name, row, col }];
  if (name === "M") return setByHand(`${who} at first`, at(state.messages, row, 0), light);
  const neighbours = NAMES.map((_, node) => node).filter((node) => joined(state.edges, row, node));
  const names = neighbours.map((node) => NAMES[node] ?? "");
  const result = at(name === "A" ? made.weights : made.after, row, col);
  const kernel = isAnswered ? at(name === "A" ? weights : after, row, col) : undefined;
  if (name === "A") {
    const sentence = neighbours.includes(col)
      ? `No node differs from another, so ${who} shares its attention among ${neighbours.length}: its neighbours and itself.`
      : "Not joined: masked, so no message passes.";
    return { subject: `${who} attends to ${NAMES[col]}`, sentence, result, kernel, lights: [light] };
  }
  if (state.rounds === 0) return { subject: `${who} now`, sentence: "No round yet.", result, lights: [light] };
  const weight = (index: number): number => at(made.weights, row, neighbours[index] ?? 0);
  const held = (index: number): number => at(before, neighbours[index] ?? 0, 0);
  return {
    subject: `${who} after round ${state.rounds}`,
    sentence: "What its neighbours and itself held before the round, by its attention weights.",
    ...products(names, weight, held, ["from", "weight", "held"]),
    result,
    kernel,
    lights: [light, lit("A", row)],
  };
}
