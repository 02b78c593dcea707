// Query heads that share keys and values, and what that saves: parameters and memory of attention layers, counted by their definitions.

import { boundSlider } from "../../src/ui/controls.js";
import { fact, h, heads, indexed, line, svg, tableFrame } from "../../src/ui/dom.js";
import { bytes, whole } from "../../src/ui/numbers.js";
import { legend, picture } from "../../src/ui/picture.js";
import { GPT3, type HeadsState, type HeadsStore, SHARED } from "./state.js";

const [WIDE, HIGH] = [1000, 92];
const MOST_DRAWN = 24;
const BYTES_IN_HALF_PRECISION = 2;

/** As a product, to be checked. */
function count(name: string, ...factors: readonly number[]) {
  return { name, factors, total: factors.reduce((product, factor) => product * factor, 1) };
}

function countsOf({ kvHeads }: HeadsState) {
  const { queryHeads, headWidth, layers } = GPT3;
  // The model is as wide as its query heads together.
  const width = queryHeads * headWidth;
  const matrices = [
    count("W_Q", width, queryHeads, headWidth),
    count("W_K", width, kvHeads, headWidth),
    count("W_V", width, kvHeads, headWidth),
    count("W_O", queryHeads, headWidth, width),
  ];
  const perLayer = matrices.reduce((sum, { total }) => sum + total, 0);
  // What one more token adds to the cache.
  const cache = count("keys and values", 2, kvHeads, headWidth, layers, BYTES_IN_HALF_PRECISION);
  return { ...GPT3, kvHeads, perLayer, matrices, cache };
}

export function countsPicture(store: HeadsStore) {
  const box = { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none" };
  const lines = svg("svg", { class: "shared-heads", "aria-hidden": "true", ...box });
  const rows = h("tbody");
  const figures = h("dl", { class: "figures" });
  const table = h("table", { class: "plain-table" }, heads("", "multiplied", "parameters"), rows);
  const { element, say } = picture({
    name: "counts",
    title: "Heads that share keys and values",
    body: [
      h("div", {}, lines),
      legend({ query: "query heads", key: "key and value heads" }),
      tableFrame("Parameters", table),
      figures,
    ],
    controls: [boundSlider(store, "kvHeads", "KV heads G", SHARED)],
    data: () => countsOf(store.state),
  });
  const show = (state: HeadsState): void => {
    const { queryHeads, kvHeads, headWidth, layers, perLayer, matrices, cache } = countsOf(state);
    lines.replaceChildren(...drawn(kvHeads));
    say(`${kindOf(kvHeads)} The first ${MOST_DRAWN} are drawn. Counted for GPT-3 (Brown et al. 2020, table 2.1).`);
    const counted = matrices.map(({ name, factors, total }) =>
      line(h("i", {}, ...indexed(name)), [factors.map(whole).join(" × "), whole(total)]),
    );
    rows.replaceChildren(...counted, line("one layer", ["", whole(perLayer)], "own"));
    const perHead = Math.round(perLayer / queryHeads);
    const four = kvHeads === queryHeads ? `4 × ${whole(perHead / 4)} ` : "";
    figures.replaceChildren(
      fact("Width of the model", whole(queryHeads * headWidth), `${queryHeads} × ${headWidth}`),
      fact(`In ${layers} layers`, `${((perLayer * layers) / 1e9).toFixed(2)} billion`, "parameters of attention"),
      fact("One head, its output weights included", whole(perHead), `${four}parameters`),
      fact("Cache for each token", bytes(cache.total), `${cache.factors.join(" × ")} bytes, in half precision`),
    );
  };
  return { element, show };
}

/** Query heads above, the keys and values that they share below: as many as can be told apart. */
function drawn(kvHeads: number): readonly SVGElement[] {
  const sharers = GPT3.queryHeads / kvHeads;
  const middles = (count: number) => Array.from({ length: count }, (_, index) => ((index + 0.5) * WIDE) / count);
  const [queries, shared] = [middles(MOST_DRAWN), middles(Math.ceil(MOST_DRAWN / sharers))];
  const dot = (tone: string, y: number) => (at: number) =>
    svg("rect", { class: tone, fill: "currentcolor", x: at - 3, y, width: 6, height: 8, rx: 2 });
  const look = { class: "tone-soft", fill: "none", stroke: "currentcolor", "stroke-width": 0.7 };
  const ways = queries.map((from, head) => {
    const to = shared[Math.floor(head / sharers)] ?? 0;
    const d = `M${from} 12C${from} 50 ${to} 42 ${to} 80`;
    return svg("path", { ...look, d, "vector-effect": "non-scaling-stroke" });
  });
  return [...ways, ...queries.map(dot("tone-query", 5)), ...shared.map(dot("tone-key", 79))];
}

function kindOf(kvHeads: number): string {
  const { queryHeads } = GPT3;
  if (queryHeads === kvHeads)
    return `Multi-head attention: each of ${queryHeads} query heads has keys and values of its own.`;
  const share = `${queryHeads / kvHeads} query heads read the same keys and values`;
  return kvHeads === 1
    ? `Multi-query attention: all ${share}. The cache shrinks to 1/${queryHeads}.`
    : `Grouped-query attention: ${share}, in ${kvHeads} groups. The cache shrinks to 1/${queryHeads / kvHeads}; queries stay ${queryHeads}.`;
}
