// Attention as message passing: who sees whom is a graph, and a round of messages is one masked call.

import {
  at,
  fill,
  largest,
  type Matrix,
  multiply,
  stack,
  toSingle,
  unstack,
  widestGap,
} from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import { agreed } from "../../src/page/room.js";
import { Board, mix, type Shape, shape, type View } from "../../src/ui/board.js";
import { boundChoice } from "../../src/ui/controls.js";
import { type Explanation, lit, products } from "../../src/ui/explanation.js";
import { signed, weighed } from "../../src/ui/named-matrices.js";
import { type Exhibit, type Scene, type Spot, setByHand } from "./exhibit.js";
import { CHOSEN, valued } from "./shapes.js";
import { MOST_ROUNDS, NODES, store, type WhatElseState } from "./state.js";

const NAMES = Array.from("abcdefg");
const GRAPHS = {
  groups: "ab bc ac cd de ef fg eg",
  chain: "ab bc cd de ef fg",
  all: NAMES.flatMap((a, first) => NAMES.slice(first + 1).map((b) => a + b)).join(" "),
} as const;
/** No node differs from another, so that neighbours count alike. */
const ALIKE = fill(NODES, 1, () => 0);

export function graphExhibit(): Exhibit {
  const board = new Board({
    steps: Array.from({ length: MOST_ROUNDS + 1 }, (_, round) => counted(round, "round")),
    moved: (place) => {
      if (Math.ceil(place) !== store.state.rounds) store.change({ rounds: Math.ceil(place) });
    },
    picked: (node) => store.change({ node: Number(node) }),
  });
  const offered = { groups: "two groups and a bridge", chain: "a chain", all: "all to all" };
  return {
    picture: {
      name: "graph",
      title: "Message passing on a graph",
      body: [board.element],
      controls: [boundChoice(store, "graph", "Edges", offered, { entry: "new" })],
    },
    sceneOf: (state) => sceneOf(state, board),
  };
}

function sceneOf(state: WhatElseState, board: Board): Scene {
  const edges = GRAPHS[state.graph].split(" ");
  const joined = (a: number, b: number): boolean =>
    a === b || edges.includes(`${NAMES[Math.min(a, b)]}${NAMES[Math.max(a, b)]}`);
  const made = softmax(fill(NODES, NODES, (row, col) => (joined(row, col) ? 0 : Number.NEGATIVE_INFINITY)));
  /** What each node holds before the last round and after it. */
  let [before, last] = [toSingle(state.messages), toSingle(state.messages)];
  for (let round = 0; round < state.rounds; round++) {
    before = toSingle(last);
    last = multiply(made, before);
  }
  const mask = Uint8Array.from(made.data, (weight) => (weight > 0 ? 1 : 0));
  const features = stack([ALIKE]);
  const options = { mask: { data: mask, shape: [1, 1, NODES, NODES] } };
  return {
    state,
    calls: [{ q: features, k: features, v: stack([before]), options }],
    show: (answers) => {
      const [answer] = answers ?? [];
      const weights = answer === undefined ? made : unstack(NODES, NODES, answer.weights.data);
      const after = answer === undefined || state.rounds === 0 ? last : unstack(NODES, 1, answer.output.data);
      const stands = [board.at, board.goal].some((place) => Math.ceil(place) === state.rounds)
        ? board.at
        : state.rounds;
      board.show((place, width) => drawGraph({ state, edges, weights, before, after }, place, width), stands);
      const held = signed("at first", "", state.messages, NAMES, ["held"]);
      return {
        text: textOf(state),
        views: {
          A: { ...weighed("A", "weights along edges", weights, NAMES, NAMES), struck: (a, b) => !joined(a, b) },
          H: { ...held, editable: true },
          N: { ...held, title: "now", matrix: after },
        },
        data: { state, weights: weights.data, before: before.data, after: after.data },
        first: { name: "N", row: state.node, col: 0 },
        explain,
        agreed: agreed("Weights and the last round", Math.max(widestGap(weights, made), widestGap(after, last))),
      };

      function explain({ name, row, col }: Spot): Explanation {
        const [who = "", light] = [NAMES[row], { name, row, col }];
        if (name === "H") return setByHand(`${who} at first`, at(state.messages, row, 0), light);
        const neighbours = NAMES.flatMap((_, node) => (joined(row, node) ? [node] : []));
        const [result, kernel] =
          name === "A" ? [at(made, row, col), at(weights, row, col)] : [at(last, row, 0), at(after, row, 0)];
        const told = { result, kernel: answer && kernel, lights: [light] };
        if (name === "A") {
          const sentence = joined(row, col)
            ? `No node differs from another, so ${who} shares its attention among ${neighbours.length}: its neighbours and itself.`
            : "Not joined: masked, so no message passes.";
          return { ...told, subject: `${who} attends to ${NAMES[col]}`, sentence };
        }
        if (state.rounds === 0) return { ...told, subject: `${who} now`, sentence: "No round yet." };
        const names = neighbours.map((node) => NAMES[node] ?? "");
        const weight = (index: number): number => at(made, row, neighbours[index] ?? 0);
        const holds = (index: number): number => at(before, neighbours[index] ?? 0, 0);
        return {
          ...told,
          subject: `${who} after round ${state.rounds}`,
          sentence: "What its neighbours and itself held before the round, by its attention weights.",
          ...products(names, weight, holds, ["from", "weight", "held"]),
          lights: [light, lit("A", row)],
        };
      }
    },
    programs: () => ({
      about: `Round ${Math.max(1, state.rounds)} of message passing, as masked attention`,
      tensors: { features: [[ALIKE]], held: [[before]] },
      heed: [
        `const mask = { data: Uint8Array.of(${mask.join(", ")}), shape: [${NODES}, ${NODES}] };

const { output } = await heed.attention(features, features, held, { mask });`,
      ],
      torch: [
        `mask = torch.tensor([${mask.join(", ")}], dtype=torch.bool).view(${NODES}, ${NODES})

output = F.scaled_dot_product_attention(features, features, held, attn_mask=mask)`,
      ],
    }),
  };
}

/** Where the nodes stand, from 0 to 1: two groups and a bridge. */
const ACROSS = [0.08, 0.1, 0.32, 0.52, 0.7, 0.93, 0.92];
const DOWN = [0.22, 0.78, 0.5, 0.5, 0.5, 0.24, 0.78];
const HEIGHT = 260;

interface Drawn extends Readonly<Record<"weights" | "before" | "after", Matrix>> {
  readonly state: WhatElseState;
  readonly edges: readonly string[];
}

/** `place`: rounds, of which the last one may be under way: its messages travel. */
function drawGraph({ state, edges, weights, before, after }: Drawn, place: number, width: number): View {
  const { node, rounds } = state;
  const way = rounds === 0 ? 1 : Math.min(1, Math.max(0, place - rounds + 1));
  const x = (index: number): number => 20 + (ACROSS[index] ?? 0) * (width - 40);
  const y = (index: number): number => 34 + (DOWN[index] ?? 0) * (HEIGHT - 56);
  const full = Math.max(largest(before), largest(after), 1e-9);
  const lines = edges.flatMap((edge): Shape[] => {
    const [a = 0, b = 0] = Array.from(edge, (name) => NAMES.indexOf(name));
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
    return [shape("line", edge, line), ...message(a, b), ...message(b, a)];
  });
  const nodes = NAMES.flatMap((name, index) => {
    const value = mix(at(before, index, 0), at(after, index, 0), way);
    const held = { x: x(index), y: y(index), name, value, full, isChosen: index === node, pick: String(index) };
    return valued("circle", `node ${index}`, held);
  });
  return { height: HEIGHT, shapes: [...lines, ...nodes], said: `A graph of ${NODES} nodes after ${rounds} rounds` };
}

function textOf({ graph, rounds }: WhatElseState): string {
  return graph === "all"
    ? "All are joined to all: this is attention without a mask. A transformer is message passing on the complete graph, so one round reaches everybody."
    : `A node’s output is the mean of what its neighbours hold, by its attention weights; other pairs are masked. After ${counted(rounds, "round")} it knows of nodes within ${counted(rounds, "edge")}. Join all to all, and it is a transformer’s attention.`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
