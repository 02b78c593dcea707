// Query heads that share keys and values, and what that saves: from one pair a head to one pair for all.

import { button, h, indexed, svg } from "../../src/ui/dom.js";
import { bytes, whole } from "../../src/ui/numbers.js";
import { legend, picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { fact, heads, line, tableFrame } from "../../src/ui/table.js";
import { type Count, cachePerToken, countsOf, modelWidth, perLayer } from "./counts.js";
import { divisors, GPT3, type HeadsState, type HeadsStore } from "./state.js";

const HEAD_COUNTS: readonly number[] = [1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 64, 80, 96, 128];
const HEAD_WIDTHS: readonly number[] = [8, 16, 32, 64, 80, 96, 128, 192, 256];
const SIZES = ["queryHeads", "headWidth", "layers"] as const;
const [WIDE, HIGH] = [1000, 92];

export function countsPicture(store: HeadsStore) {
  const sharing = slider("Key and value heads G", { least: 0, most: 0, step: 1 }, (index) =>
    store.change({ kvHeads: divisors(store.state.queryHeads)[index] ?? 1 }),
  );
  const sliders = {
    queryHeads: slider("Query heads H", HEAD_COUNTS, (heads) => store.change({ queryHeads: heads, kvHeads: heads })),
    headWidth: slider("Head width D", HEAD_WIDTHS, (headWidth) => store.change({ headWidth })),
    layers: slider("Layers", { least: 1, most: 128, step: 1 }, (layers) => store.change({ layers })),
  };
  const given = h(
    "div",
    { class: "presets" },
    h("span", { class: "small-label" }, "Try"),
    button("GPT-3", () => store.change(GPT3, "new"), "link"),
    h("small", {}, "(sizes: Brown et al. 2020, table 2.1)"),
  );
  const lines = svg("svg", {
    class: "shared-heads",
    "aria-hidden": "true",
    viewBox: `0 0 ${WIDE} ${HIGH}`,
    preserveAspectRatio: "none",
  });
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
    controls: [sharing.element],
    more: [...Object.values(sliders).map((one) => one.element), given],
    data: () => {
      const { queryHeads, kvHeads, headWidth, layers } = store.state;
      const sizes = { queryHeads, kvHeads, headWidth, layers };
      return { ...sizes, perLayer: perLayer(sizes), matrices: countsOf(sizes), cache: cachePerToken(sizes) };
    },
  });
  const show = (state: HeadsState): void => {
    const { queryHeads, kvHeads, headWidth, layers } = state;
    for (const name of SIZES) sliders[name].show(state[name], String(state[name]));
    const choices = divisors(queryHeads);
    sharing.limit(choices.length - 1);
    sharing.show(choices.indexOf(kvHeads), String(kvHeads));
    lines.replaceChildren(...drawn(state));
    say(kindOf(state));
    const total = perLayer(state);
    rows.replaceChildren(...countsOf(state).map(lineOf), line("one layer", ["", whole(total)], "own"));
    const cache = cachePerToken(state);
    figures.replaceChildren(
      fact("Width of the model", whole(modelWidth(state)), `${queryHeads} × ${headWidth}`),
      fact(`In ${layers} layers`, `${((total * layers) / 1e9).toFixed(2)} billion`, "parameters of attention"),
      fact("One head, its output weights included", whole(Math.round(total / queryHeads)), "parameters"),
      fact("Cache for each token", bytes(cache.total), `${cache.factors.join(" × ")} bytes, in half precision`),
    );
  };
  return { element, show };
}

/** Query heads above, the keys and values that they share below. */
function drawn({ queryHeads, kvHeads }: HeadsState): readonly SVGElement[] {
  const x = (index: number, count: number): number => ((index + 0.5) * WIDE) / count;
  const queries = Array.from({ length: queryHeads }, (_, head) => x(head, queryHeads));
  const shared = Array.from({ length: kvHeads }, (_, head) => x(head, kvHeads));
  const dot = (tone: string, y: number) => (at: number) =>
    svg("rect", { class: tone, fill: "currentcolor", x: at - 3, y, width: 6, height: 8, rx: 2 });
  const look = { class: "tone-soft", fill: "none", stroke: "currentcolor", "stroke-width": 0.7 };
  const ways = queries.map((from, head) => {
    const to = shared[Math.floor((head * kvHeads) / queryHeads)] ?? 0;
    return svg("path", {
      ...look,
      "vector-effect": "non-scaling-stroke",
      d: `M${from} 12C${from} 50 ${to} 42 ${to} 80`,
    });
  });
  return [...ways, ...queries.map(dot("tone-query", 5)), ...shared.map(dot("tone-key", 79))];
}

function kindOf({ queryHeads, kvHeads }: HeadsState): string {
  if (queryHeads === kvHeads)
    return `Multi-head attention: each of ${queryHeads} query heads has keys and values of its own.`;
  const share = `${queryHeads / kvHeads} query heads read the same keys and values`;
  return kvHeads === 1
    ? `Multi-query attention: all ${share}. The cache shrinks to 1/${queryHeads}.`
    : `Grouped-query attention: ${share}, in ${kvHeads} groups. The cache shrinks to 1/${queryHeads / kvHeads}; queries stay ${queryHeads}.`;
}

function lineOf({ name, factors, total }: Count): HTMLElement {
  return line(h("i", {}, ...indexed(name)), [factors.map(whole).join(" × "), whole(total)]);
}
