// The queries of one head by entropy: which listen to a few keys, which to all.

import type { Heed } from "heed";
import { h } from "../../src/ui/dom.js";
import { HeedChart } from "../../src/ui/heed-chart.js";
import { LongWork } from "../../src/ui/long-work.js";
import { exact, whole } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { axisOf, binAt, binOf, binsOf } from "./bins.js";
import { rowsOf } from "./rows.js";
import type { BringScene } from "./scene.js";
import type { Source } from "./source.js";
import { nameOf } from "./words.js";

const LISTED = 6;
/** On the line and in the lists. */
const DECIMALS = 3;
const ROWS = 512;

export class SpreadPicture {
  readonly #picture: Picture;
  readonly #chart = new HeedChart();
  readonly #work = new LongWork({ name: "Look at every query", run: (signal, say) => this.#look(signal, say) });
  readonly #lists = h("div", { class: "spread-lists" });
  readonly #choose: (row: number) => void;
  readonly #shown: () => Promise<void>;
  #heed: Heed | undefined;
  #scene: BringScene | undefined;
  #found: { readonly source: Source; readonly key: string; readonly entropies: Float32Array } | undefined;

  /** `shown`: when what was brought last is in all pictures. */
  constructor(choose: (row: number) => void, shown: () => Promise<void>) {
    this.#choose = choose;
    this.#shown = shown;
    this.#chart.choose = (bin) => {
      const { entropies } = this.#fresh ?? {};
      if (entropies === undefined) return;
      const [from, to] = binAt(bin, entropies.length);
      const part = Array.from(entropies.subarray(from, to));
      choose(from + part.indexOf(Math.min(...part)));
    };
    this.#picture = picture({
      name: "spread",
      title: "Which queries are sure",
      body: [this.#work.line(), this.#chart, this.#lists],
      data: () => ({ ...this.#scene?.at, entropies: Array.from(this.#fresh?.entropies ?? []) }),
    });
    this.#picture.say(
      "The entropy of every query’s shares in this head: 0 where one key has all, the logarithm of their number where all have the same.",
    );
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  open(heed: Heed | undefined): void {
    this.#heed = heed;
  }

  show(scene: BringScene): void {
    const before = this.#scene;
    this.#scene = scene;
    if (scene.source !== before?.source || keyOf(scene) !== keyOf(before)) this.#work.renew();
    this.#draw();
  }

  get #fresh() {
    const [found, scene] = [this.#found, this.#scene];
    return found !== undefined && found.source === scene?.source && found.key === keyOf(scene) ? found : undefined;
  }

  async #look(signal: AbortSignal, say: (text: string) => void): Promise<string> {
    await this.#shown();
    signal.throwIfAborted();
    const scene = this.#scene;
    if (scene === undefined) return "";
    const { source, at } = scene;
    const rows = rowsOf(source, at, this.#heed);
    const entropies = new Float32Array(source.queries);
    try {
      for (let from = 0; from < source.queries; from += ROWS) {
        say(`${Math.floor((100 * from) / source.queries)} %`);
        const to = Math.min(source.queries, from + ROWS);
        entropies.set(await rows.entropies(from, to, signal), from);
        signal.throwIfAborted();
      }
    } finally {
      rows.dispose();
    }
    this.#found = { source, key: keyOf(scene), entropies };
    this.#draw();
    return `All ${whole(source.queries)} queries.`;
  }

  #draw(): void {
    const [found, scene] = [this.#fresh, this.#scene];
    this.#chart.hidden = found === undefined;
    this.#lists.hidden = found === undefined;
    if (found === undefined || scene === undefined) return;
    const { entropies } = found;
    const values = Array.from({ length: binsOf(entropies.length) }, (_, bin) => {
      const part = entropies.subarray(...binAt(bin, entropies.length));
      return part.reduce((sum, entropy) => sum + entropy, 0) / part.length;
    });
    this.#chart.show({
      label: "Entropy over the queries",
      x: axisOf("query", "queries", entropies.length, "their mean"),
      y: { name: "nats", most: Math.max(0.5, ...values), decimals: DECIMALS },
      series: [{ name: "entropy", values, tone: "query" }],
      cursor: binOf(scene.row, entropies.length),
    });
    const sorted = Array.from(entropies.keys()).sort((a, b) => (entropies[a] ?? 0) - (entropies[b] ?? 0));
    this.#lists.replaceChildren(
      this.#list("The most focused", sorted.slice(0, LISTED), entropies),
      this.#list("The most spread out", sorted.slice(-LISTED).reverse(), entropies),
    );
  }

  #list(name: string, queries: readonly number[], entropies: Float32Array): HTMLElement {
    const source = this.#scene?.source;
    return h(
      "table",
      { class: "plain-table" },
      h("caption", {}, name),
      h(
        "tbody",
        {},
        ...queries.map((query) => {
          const name = source === undefined ? "" : nameOf(source, "q", query, "query ");
          const button = h("button", { type: "button", class: "link" }, name);
          button.addEventListener("click", () => this.#choose(query));
          return h(
            "tr",
            {},
            h("th", { scope: "row" }, button),
            h("td", {}, `${exact(entropies[query] ?? 0, DECIMALS)} nats`),
          );
        }),
      ),
    );
  }
}

function keyOf({ at }: BringScene): string {
  return [at.layer, at.head, at.causal].join();
}
