// Query heads that share keys and values, and what that saves: from one pair a head to one pair for all.

import { h, svg } from "../../src/ui/dom.js";
import { whole } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { type Count, cachePerToken, countsOf, modelWidth, perLayer } from "./counts.js";
import { divisors, GPT3, type HeadsState, type HeadsStore } from "./state.js";

const HEAD_COUNTS: readonly number[] = [1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 64, 80, 96, 128];
const HEAD_WIDTHS: readonly number[] = [8, 16, 32, 64, 80, 96, 128, 192, 256];
/** Dots beyond this many stop being countable. */
const [DRAWN, HIGH] = [128, 92];

export class CountsPicture {
  readonly #store: HeadsStore;
  readonly #picture: Picture;
  readonly #sliders;
  readonly #kv = h("div", { class: "chips", role: "group", "aria-label": "Key and value heads G" });
  readonly #lines = svg("svg", { class: "shared-heads", "aria-hidden": "true" });
  readonly #rows = h("tbody");
  readonly #figures = h("dl", { class: "figures" });

  constructor(store: HeadsStore) {
    this.#store = store;
    this.#sliders = {
      queryHeads: slider("Query heads H", HEAD_COUNTS, (queryHeads) =>
        store.change({ queryHeads, kvHeads: queryHeads }),
      ),
      headWidth: slider("Head width D", HEAD_WIDTHS, (headWidth) => store.change({ headWidth })),
      layers: slider("Layers", { least: 1, most: 128, step: 1 }, (layers) => store.change({ layers })),
    };
    const gpt3 = h("button", { type: "button", class: "link" }, "GPT-3");
    gpt3.addEventListener("click", () => store.change(GPT3, "new"));
    const head = ["", "multiplied", "parameters"].map((name) =>
      name === "" ? h("td") : h("th", { scope: "col" }, name),
    );
    this.#picture = picture({
      name: "counts",
      title: "Heads that share keys and values",
      body: [
        h(
          "div",
          { class: "controls-options" },
          ...Object.values(this.#sliders).map(({ element }) => element),
          h(
            "div",
            { class: "presets" },
            h("span", { class: "small-label" }, "Try"),
            gpt3,
            h("small", {}, "(sizes: Brown et al. 2020, table 2.1)"),
          ),
        ),
        h("div", { class: "controls-hide" }, h("span", { class: "small-label" }, "Key and value heads G"), this.#kv),
        h("div", {}, this.#lines),
        h(
          "div",
          { class: "table-frame", tabindex: 0, role: "region", "aria-label": "Parameters" },
          h("table", { class: "plain-table" }, h("thead", {}, h("tr", {}, ...head)), this.#rows),
        ),
        this.#figures,
      ],
      data: () => ({
        ...sizesOf(store.state),
        perLayer: perLayer(store.state),
        matrices: countsOf(store.state),
        cache: cachePerToken(store.state),
      }),
    });
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  show(state: HeadsState): void {
    const { queryHeads, headWidth, layers } = state;
    this.#sliders.queryHeads.show(queryHeads, String(queryHeads));
    this.#sliders.headWidth.show(headWidth, String(headWidth));
    this.#sliders.layers.show(layers, String(layers));
    this.#showChips(state);
    this.#draw(state);
    this.#picture.say(kindOf(state));
    const total = perLayer(state);
    this.#rows.replaceChildren(
      ...countsOf(state).map(line),
      h("tr", { class: "own" }, h("th", { scope: "row" }, "one layer"), h("td"), h("td", {}, whole(total))),
    );
    const cache = cachePerToken(state);
    const figure = (name: string, value: string, note: string): HTMLElement =>
      h("div", {}, h("dt", {}, name), h("dd", {}, value, " ", h("small", {}, note)));
    this.#figures.replaceChildren(
      figure("Width of the model", whole(modelWidth(state)), `${queryHeads} × ${headWidth}`),
      figure(`In ${layers} layers`, `${((total * layers) / 1e9).toFixed(2)} billion`, "parameters of attention"),
      figure("One head, its output weights included", whole(Math.round(total / queryHeads)), "parameters"),
      figure("Cache for each token", bytes(cache.total), `${cache.factors.join(" × ")} bytes, in half precision`),
    );
  }

  #showChips({ queryHeads, kvHeads }: HeadsState): void {
    this.#kv.replaceChildren(
      ...divisors(queryHeads).map((count) => {
        const chip = h(
          "button",
          { type: "button", class: "chip plain", "aria-pressed": String(count === kvHeads) },
          String(count),
        );
        chip.addEventListener("click", () => {
          this.#store.change({ kvHeads: count });
          this.#kv.querySelector<HTMLElement>('[aria-pressed="true"]')?.focus();
        });
        return chip;
      }),
    );
  }

  /** Query heads above, the keys and values that they share below. */
  #draw({ queryHeads, kvHeads }: HeadsState): void {
    const drawn = Math.min(queryHeads, DRAWN);
    const size = 1000;
    const x = (index: number, count: number): number => ((index + 0.5) * size) / count;
    const each = queryHeads / kvHeads;
    const parts = Array.from({ length: drawn }, (_, head) => {
      const [from, to] = [x(head, drawn), x(Math.floor(head / each), kvHeads)];
      return svg("path", { class: "shared-line", d: `M${from} 12C${from} 50 ${to} 42 ${to} 80` });
    });
    const dots = Array.from({ length: drawn }, (_, head) =>
      svg("rect", { class: "query-dot", x: x(head, drawn) - 3, y: 5, width: 6, height: 8, rx: 2 }),
    );
    const keys = Array.from({ length: kvHeads }, (_, head) =>
      svg("rect", { class: "key-dot", x: x(head, kvHeads) - 3, y: 79, width: 6, height: 8, rx: 2 }),
    );
    this.#lines.setAttribute("viewBox", `0 0 ${size} ${HIGH}`);
    this.#lines.setAttribute("preserveAspectRatio", "none");
    this.#lines.replaceChildren(...parts, ...dots, ...keys);
  }
}

function sizesOf({ queryHeads, kvHeads, headWidth, layers }: HeadsState) {
  return { queryHeads, kvHeads, headWidth, layers };
}

function kindOf({ queryHeads, kvHeads }: HeadsState): string {
  if (queryHeads === kvHeads)
    return `Multi-head attention: each of ${queryHeads} query heads has keys and values of its own.`;
  const share = `${queryHeads / kvHeads} query heads read the same keys and values`;
  return kvHeads === 1
    ? `Multi-query attention: all ${share}. The cache shrinks to 1/${queryHeads}.`
    : `Grouped-query attention: ${share}, in ${kvHeads} groups. The cache shrinks to 1/${queryHeads / kvHeads}; queries stay ${queryHeads}.`;
}

function line({ name, factors, total }: Count): HTMLElement {
  const [letter = "", below = ""] = name.split("_");
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, h("i", {}, letter), h("sub", {}, below)),
    h("td", {}, factors.map(whole).join(" × ")),
    h("td", {}, whole(total)),
  );
}

function bytes(count: number): string {
  return count >= 1e6
    ? `${(count / 1e6).toFixed(2)} MB`
    : count >= 1e3
      ? `${(count / 1e3).toFixed(1)} kB`
      : `${count} bytes`;
}
