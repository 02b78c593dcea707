// Queries that are looked at together: their weights in this head, added up, and what reaches them through all layers.

import type { Engine } from "../../src/engine/engine.js";
import { button, h } from "../../src/ui/dom.js";
import { HeedChart, type Series } from "../../src/ui/heed-chart.js";
import { LongWork } from "../../src/ui/long-work.js";
import { exact, magnitude } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { heads, line, tableFrame } from "../../src/ui/table.js";
import { axisOf, binAt, binOf, binsOf } from "./bins.js";
import { lineOf, strongestOf } from "./explain.js";
import { type Rollout, rollout } from "./rollout.js";
import { askedOf, type BringScene } from "./scene.js";
import { type BringStore, MOST_CHOSEN } from "./state.js";
import { nameOf } from "./words.js";

const STRONGEST = 10;
/** On the line and in the table. */
const DECIMALS = 5;

interface Parts {
  readonly store: BringStore;
  readonly engine: Engine;
  /** Of a key, what its sum is made of. */
  readonly tell: (key: number) => void;
  /** When what was brought last is in all pictures. */
  readonly shown: () => Promise<void>;
}

export class TokensPicture {
  readonly #parts: Parts;
  readonly #picture;
  readonly #chart = new HeedChart();
  readonly #add = button("", () => this.#choose((chosen) => [...chosen, this.#scene?.row ?? 0].sort((a, b) => a - b)));
  readonly #chips = h("div", { class: "chips", role: "group", "aria-label": "Queries that are added up" });
  readonly #rows = h("tbody");
  readonly #roll = new LongWork({ name: "Through all layers", run: (signal, say) => this.#rollOut(signal, say) });
  #scene: BringScene | undefined;
  #sum = new Float64Array(0);
  #rolled: (Rollout & { readonly key: string }) | undefined;
  #key = "";
  #rollKey = "";

  constructor(parts: Parts) {
    const { store, tell } = parts;
    this.#parts = parts;
    this.#chart.choose = (bin) => {
      const [from, to] = binAt(bin, this.#sum.length);
      const [best = from] = strongestOf(this.#sum.subarray(from, to), 1).map((key) => from + key);
      store.change({ col: best });
      tell(best);
    };
    const table = h(
      "table",
      { class: "plain-table" },
      h("caption", {}, "The keys with the most"),
      heads("", "in this head", "through all layers"),
      this.#rows,
    );
    this.#picture = picture({
      name: "tokens",
      title: "Several queries together",
      body: [
        h("div", { class: "controls-hide" }, this.#add, this.#chips),
        this.#chart,
        this.#roll.line(),
        tableFrame("The keys with the most", table),
      ],
      data: () => ({
        state: store.state,
        queries: this.#scene === undefined ? [] : askedOf(this.#scene),
        sum: Array.from(this.#sum),
        rollout: Array.from(this.#fresh?.shares ?? []),
      }),
    });
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  show(scene: BringScene): void {
    this.#scene = scene;
    const { source, state, row, at } = scene;
    this.#add.textContent = `Add ${nameOf(source, "q", row, "query ")}`;
    this.#add.disabled = state.chosen.includes(row) || state.chosen.length >= MOST_CHOSEN;
    this.#roll.button.hidden = source.layers === 1 || source.queries !== source.keys;
    // The head in view does not matter to what comes through all layers.
    const rollKey = [source.name, state.seed, state.brought, at.causal, ...askedOf(scene)].join();
    const key = [at.layer, at.head, rollKey].join();
    if (key !== this.#key) this.#sum = sumOf(scene);
    if (rollKey !== this.#rollKey) this.#roll.renew();
    [this.#key, this.#rollKey] = [key, rollKey];
    this.#chips.replaceChildren(
      ...state.chosen.map((query) => {
        const leave = (): void => this.#choose((chosen) => chosen.filter((one) => one !== query));
        const chip = button(`${nameOf(source, "q", query, "")} ×`, leave, "chip plain");
        chip.ariaLabel = `Leave out ${nameOf(source, "q", query, "query ")}`;
        return chip;
      }),
    );
    this.#draw(scene);
  }

  #choose(next: (chosen: readonly number[]) => readonly number[]): void {
    const { store } = this.#parts;
    store.change({ chosen: next(store.state.chosen) });
  }

  get #fresh(): Rollout | undefined {
    return this.#rolled?.key === this.#rollKey ? this.#rolled : undefined;
  }

  #draw(scene: BringScene): void {
    const { source, col } = scene;
    const rolled = this.#fresh;
    const bins = binsOf(source.keys);
    const binned = (shares: Float64Array): number[] =>
      Array.from({ length: bins }, (_, bin) =>
        shares.subarray(...binAt(bin, source.keys)).reduce((sum, share) => sum + share, 0),
      );
    const series: Series[] = [{ name: "in this head", values: binned(this.#sum), tone: "share" }];
    if (rolled !== undefined) series.push({ name: "through all layers", values: binned(rolled.shares), tone: "value" });
    this.#chart.show({
      label: "Sum of attention weights over the keys",
      x: axisOf("key", "keys", source.keys, "added up"),
      y: { name: "weight", most: Math.max(1e-9, ...series.flatMap(({ values }) => values)), decimals: DECIMALS },
      series,
      cursor: binOf(col, source.keys),
    });
    const figures = (key: number): readonly string[] => [
      exact(this.#sum[key] ?? 0, DECIMALS),
      rolled === undefined ? "" : exact(rolled.shares[key] ?? 0, DECIMALS),
    ];
    const best = strongestOf(rolled?.shares ?? this.#sum, STRONGEST);
    this.#rows.replaceChildren(...best.map((key) => line(nameOf(source, "k", key), figures(key))));
    const asked = askedOf(scene);
    const whose = asked.length === 1 ? nameOf(source, "q", asked[0] ?? 0, "Query ") : `${asked.length} queries`;
    const many = source.keys > bins ? ` Each point adds up about ${Math.round(source.keys / bins)} keys.` : "";
    this.#picture.say(
      `${whose}: where the attention goes.${many} Choose a place on the curve to look at its largest key.`,
    );
  }

  async #rollOut(signal: AbortSignal, say: (text: string) => void): Promise<string> {
    await this.#parts.shown();
    signal.throwIfAborted();
    const scene = this.#scene;
    if (scene === undefined) return "";
    const key = this.#rollKey;
    const found = await rollout(scene, this.#parts.engine.heed, signal, (done) => say(`${Math.floor(done * 100)} %`));
    this.#rolled = { ...found, key };
    this.#draw(this.#scene ?? scene);
    const lost = found.lost === 0 ? "" : ` Rows that matter less were left out: ${magnitude(found.lost)} in all.`;
    return `Each layer passes on half by the mean of its heads, half as it was.${lost}`;
  }
}

function sumOf(scene: BringScene): Float64Array<ArrayBuffer> {
  const sum = new Float64Array(scene.source.keys);
  for (const query of askedOf(scene)) {
    const weights = lineOf(scene, query);
    for (let key = 0; key < sum.length; key++) sum[key] = (sum[key] ?? 0) + (weights[key] ?? 0);
  }
  return sum;
}
